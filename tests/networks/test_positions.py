"""Positions of inputs: which embedding each has, and late starts in training."""

import pytest
import torch

from setlearn.networks import Transformer
from setlearn.networks.positions import MOST_POSITIONS, late_starts, position_numbers
from setlearn.networks.runtime import seeded


def test_near_positions_have_embeddings_of_their_own_and_far_ones_share() -> None:
    numbers = position_numbers(torch.arange(10_000), far_ones_share=True).tolist()
    assert numbers[:24] == list(range(24))
    assert numbers == sorted(numbers)
    for start in (24, 48, 96, 192):  # each doubling has four
        assert len(set(numbers[start : 2 * start])) == 4
    assert len(set(numbers)) < 64


def test_without_sharing_only_the_last_embedding_is_shared() -> None:
    numbers = position_numbers(torch.arange(600), far_ones_share=False).tolist()
    assert numbers == [min(position, MOST_POSITIONS - 1) for position in range(600)]


def test_half_of_the_inputs_start_late_and_end_with_the_longest_at_the_latest() -> None:
    length = torch.full((4000,), 3)
    length[0] = 12
    with seeded(0):
        starts = late_starts(length)
    assert starts[0] == 0
    assert set(starts.tolist()) == set(range(10))
    assert 0.45 < (starts > 0).float().mean() / 0.9 < 0.55


def test_inputs_of_one_length_start_at_the_first_position() -> None:
    assert not late_starts(torch.full((50,), 6)).any()


@pytest.mark.parametrize("match_tokens", [True, False])
def test_late_starts_are_for_training_only(match_tokens: bool) -> None:
    recipe = Transformer(width=16, dropout=0.0, match_tokens=match_tokens)
    with seeded(0):
        network = recipe.build(n_choices=5, n_tokens=5, n_features=0)
    values = torch.randint(1, 5, (40, 6), generator=torch.Generator().manual_seed(1))
    length = torch.arange(40) % 6 + 1

    def scores(seed: int) -> torch.Tensor:
        with seeded(seed):
            logits, _ = network.start(network.encode(values, length))
        return logits

    network.eval()
    assert torch.equal(scores(1), scores(2))
    predicted = scores(1)
    network.train()
    same = (scores(1) == predicted).all(dim=1)
    assert 0 < same.sum() < 40  # those that start at the first position
