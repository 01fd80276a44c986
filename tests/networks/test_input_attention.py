"""Attention between the positions of inputs: in chunks as at once, with the same gradients."""

import pytest
import torch

from setlearn.networks import input_attention
from setlearn.networks.input_attention import (
    BEFORE,
    EARLIER,
    LATER,
    NEXT,
    attend_within,
    same_token_pairs,
)

B, HEADS, N, D = 3, 2, 5, 4
VALUES = torch.tensor([[1, 2, 1, 1, 2], [3, 0, 0, 3, 0], [1, 2, 3, 0, 0]])


@pytest.fixture(params=["at once", "one sample at a time"], autouse=True)
def chunks(request, monkeypatch):
    most = 10**6 if request.param == "at once" else 1
    monkeypatch.setattr(input_attention, "MOST_SCORES", most)


def parts():
    """Random queries, keys, values and biases."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(B, HEADS, N, D), (B, HEADS, N + 1, D), (B, HEADS, N + 1, D), (HEADS, 2 * N - 1)]
    shapes.append((len(same_token_pairs(VALUES).place), HEADS))
    return [torch.randn(s, generator=generator, dtype=torch.double) for s in shapes]


def key_bias():
    return torch.linspace(-1, 1, B * (N + 1), dtype=torch.double).view(B, N + 1)


def test_scores_are_biased_by_distance_and_by_equal_tokens():
    query, key, value, distance, pair = parts()
    pairs = same_token_pairs(VALUES)
    bias = key_bias()[:, None, None].expand(B, HEADS, N, N + 1).clone()
    for i in range(N):
        for j in range(N):
            bias[:, :, i, j] += distance[:, j - i + N - 1]
    for sample in range(B):
        for row in range(pairs.bounds[sample], pairs.bounds[sample + 1]):
            bias[sample, :, pairs.place[row] // (N + 1), pairs.place[row] % (N + 1)] += pair[row]
    expected = (query @ key.mT * D**-0.5 + bias).softmax(-1) @ value
    attended = attend_within(query, key, value, key_bias(), distance, pair, pairs)
    torch.testing.assert_close(attended, expected)


def test_gradients_are_right():
    given = [part.requires_grad_() for part in parts()]

    def attended(query, key, value, distance, pair):
        pairs = same_token_pairs(VALUES)
        return attend_within(query, key, value, key_bias(), distance, pair, pairs)

    assert torch.autograd.gradcheck(attended, given)


def test_equal_tokens_are_paired_by_how_near_they_are():
    pairs = same_token_pairs(VALUES)
    found = [
        {
            (int(place) // (N + 1), int(place) % (N + 1)): int(relation)
            for place, relation in zip(pairs.place[low:high], pairs.relation[low:high], strict=True)
        }
        for low, high in zip(pairs.bounds, pairs.bounds[1:], strict=False)
    ]
    ones = {(0, 2): NEXT, (2, 3): NEXT, (0, 3): LATER, (2, 0): BEFORE, (3, 2): BEFORE}
    assert found[0] == ones | {(3, 0): EARLIER, (1, 4): NEXT, (4, 1): BEFORE}
    assert found[1] == {(0, 3): NEXT, (3, 0): BEFORE}  # unknown tokens are equal to nothing
    assert found[2] == {}
    again, both, before_only = 1, 3, 2
    assert pairs.occurrence[0].tolist() == [again, again, both, before_only, before_only]
    assert pairs.occurrence[1].tolist() == [again, 0, 0, before_only, 0]
