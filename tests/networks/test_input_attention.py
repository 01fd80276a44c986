"""Attention between the positions of inputs: by the definition, in chunks and in windows."""

import pytest
import torch

from setlearn.networks import input_attention, windows
from setlearn.networks.input_attention import (
    BEFORE,
    EARLIER,
    LATER,
    N_PAIR_RELATIONS,
    NEXT,
    InputBias,
    attend_within,
    same_token_pairs,
)
from setlearn.networks.windows import Windows

B, HEADS, N, D = 3, 2, 9, 2
VALUES = torch.tensor(
    [[1, 2, 1, 1, 2, 4, 5, 1, 2], [3, 0, 0, 3, 0, 0, 0, 0, 3], [1, 2, 3, 0, 0, 0, 0, 0, 0]]
)
LENGTHS = torch.tensor([9, 9, 3])


@pytest.fixture(params=["at once", "one block at a time"], autouse=True)
def chunks(request, monkeypatch):
    most = 10**6 if request.param == "at once" else 1
    monkeypatch.setattr(input_attention, "MOST_SCORES", most)


@pytest.fixture(params=[128, 2])
def window(request, monkeypatch):
    """All positions in one window, or two in each of five blocks, and one at either end."""
    monkeypatch.setattr(windows, "WINDOW", request.param)
    monkeypatch.setattr(windows, "ENDS", 1)
    return request.param


def parts():
    """Random queries, keys, values and biases by distance and relation."""
    generator = torch.Generator().manual_seed(0)
    n_distances = len(Windows.of(N).distances(torch.device("cpu")))
    shapes = [(B, HEADS, N, D), (B, HEADS, N + 1, D), (B, HEADS, N + 1, D)]
    shapes += [(HEADS, n_distances), (N_PAIR_RELATIONS, HEADS)]
    drawn = [torch.randn(s, generator=generator, dtype=torch.double) for s in shapes]
    for nothing in drawn[1:3]:
        nothing[:, :, -1] = 0
    # What is far is all the same; in one window nothing is.
    drawn[3][:, [0, -1]] = torch.tensor([0.3, -0.2], dtype=torch.double)
    return drawn


def attended(query, key, value, distance, relation):
    bias = InputBias(LENGTHS, distance, relation, same_token_pairs(VALUES))
    return attend_within(query, key, value, bias)


def relation_of(sample, i, j):
    """How position j relates to position i by the definition; how many occurrences apart."""
    token = int(VALUES[sample, i])
    if token == 0 or i == j or int(VALUES[sample, j]) != token:
        return None, 0
    low, high = min(i, j), max(i, j)
    apart = 1 + int((VALUES[sample, low + 1 : high] == token).sum())
    if apart == 1:
        return (NEXT if j > i else BEFORE), apart
    return (LATER if j > i else EARLIER), apart


def attended_by_definition(query, key, value, distance, relation, window):
    """All that each position attends to, one after the other."""
    found, middle = torch.zeros_like(query), len(distance[0]) // 2
    for sample in range(B):
        for i in range(N):
            places, biases = [N], [torch.zeros(HEADS, dtype=torch.double)]
            for j in range(int(LENGTHS[sample])):
                kind, apart = relation_of(sample, i, j)
                related = 0 if kind is None else relation[kind]
                if window == 128 or abs(i // 2 - j // 2) <= 1:
                    places.append(j)
                    biases.append(distance[:, j - i + middle] + related)
                    continue
                far_away = distance[:, -1 if j > i else 0]
                if j in (0, LENGTHS[sample] - 1):
                    # The last position counts as after, the first one as before.
                    places.append(j)
                    biases.append(distance[:, -1 if j else 0])
                if kind is not None and apart <= input_attention.MOST_FAR:
                    places.append(j)
                    biases.append(far_away + related)
            scores = (query[sample, :, i, None] * key[sample][:, places]).sum(-1) * D**-0.5
            weights = (scores + torch.stack(biases, dim=1)).softmax(-1)
            found[sample, :, i] = (weights[..., None] * value[sample][:, places]).sum(1)
    return found


def test_scores_are_biased_by_distance_and_by_equal_tokens(window):
    expected = attended_by_definition(*parts(), window)
    found = attended(*parts())
    inside = (torch.arange(N) < LENGTHS[:, None])[:, None, :, None]
    torch.testing.assert_close(found * inside, expected * inside)


def test_gradients_are_right(window):
    query, key, value, distance, relation = parts()

    def of_keys(query, key, value, distance, relation):
        with_nothing = (torch.nn.functional.pad(x, (0, 0, 0, 1)) for x in (key, value))
        return attended(query, *with_nothing, distance, relation)

    given = [query, key[:, :, :-1], value[:, :, :-1], distance, relation]
    given = [part.clone().requires_grad_() for part in given]
    assert torch.autograd.gradcheck(of_keys, given)


def test_equal_tokens_are_paired_by_how_near_they_are(window):
    pairs = same_token_pairs(VALUES)
    shape = Windows.of(N)
    found = {}
    for number, (low, high) in enumerate(zip(pairs.bounds, pairs.bounds[1:], strict=False)):
        sample, block = divmod(number, shape.n_blocks)
        for place, relation in zip(pairs.place[low:high], pairs.relation[low:high], strict=True):
            i, j = divmod(int(place), shape.n_seen + 1)
            first = block * shape.size
            found[sample, first + i, first - shape.around + j - shape.ends] = int(relation)
    far = pairs.far
    for i, j, relation in zip(far.query, far.key, far.relation, strict=True):
        assert window == 2
        found[int(i) // N, int(i) % N, int(j) % N] = int(relation)
    expected = {
        (sample, i, j): relation_of(sample, i, j)[0]
        for sample in range(B)
        for i in range(N)
        for j in range(N)
    }
    assert found == {place: kind for place, kind in expected.items() if kind is not None}
    again, both, before_only = 1, 3, 2
    assert pairs.occurrence[0].tolist() == [again, again, both, both, both, 0, 0, 2, before_only]
    assert pairs.occurrence[1].tolist() == [again, 0, 0, both, 0, 0, 0, 0, before_only]


def test_of_far_occurrences_the_nearest_ones_count(monkeypatch):
    monkeypatch.setattr(windows, "WINDOW", 1)
    values = torch.tensor([[7, 1, 2, 3, 7, 4, 7, 5, 7, 6, 7, 8, 7]])
    far = same_token_pairs(values).far
    from_first = far.key[far.query == 0].tolist()
    assert from_first == [4, 6, 8, 10]
