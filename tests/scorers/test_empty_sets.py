"""Which inputs have empty sets: learned where they say so, and the share of all where not."""

import itertools
import random

import numpy as np
import pytest

from setlearn.scorers.empty_sets import EmptySets
from setlearn.sequence_inputs import Inputs

N_TOKENS = 5


def inputs(n, seed=0):
    rng = random.Random(seed)
    rows = [rng.choices(range(1, N_TOKENS), k=rng.randint(1, 5)) for _ in range(n)]
    return rows, read(rows)


def read(rows):
    return Inputs(np.array([len(row) for row in rows]), np.array([t for row in rows for t in row]))


def learned(is_empty, n=300):
    rows, read_rows = inputs(n)
    empty = np.array([is_empty(row) for row in rows])
    return EmptySets.fit(read_rows, empty, N_TOKENS, np.random.RandomState(0)), float(empty.mean())


@pytest.mark.parametrize(
    "is_empty",
    [
        lambda row: row[0] < 3,
        lambda row: row[-1] == 2,
        lambda row: 4 in row,
        lambda row: (1, 2) in itertools.pairwise(row),
    ],
    ids=["first", "last", "anywhere", "neighbours"],
)
def test_what_is_learned(is_empty):
    model, _ = learned(is_empty)
    rows, read_rows = inputs(200, seed=1)
    right = (model.probabilities(read_rows) > 0.5) == [is_empty(row) for row in rows]
    assert right.mean() > 0.95


def test_chance_gives_all_inputs_the_share():
    rng = random.Random(3)
    model, share = learned(lambda row: rng.random() < 0.4)
    assert model.probabilities(inputs(20, seed=1)[1]) == pytest.approx(share)


def test_a_few_empty_sets_give_all_inputs_their_share():
    model, share = learned(lambda row: row == [1, 2])
    assert 0 < share < 10 / 300
    assert model.probabilities(inputs(20, seed=1)[1]) == pytest.approx(share)


def test_unknown_tokens_and_batches_change_nothing():
    model, _ = learned(lambda row: row[0] < 3)
    rows, read_rows = inputs(50, seed=1)
    together = model.probabilities(read_rows)
    assert [model.probabilities(read([row]))[0] for row in rows] == together.tolist()
    assert 0 < model.probabilities(read([[0, 0]]))[0] < 1


def test_few_of_many_samples_are_not_enough_if_only_some_are_drawn(monkeypatch):
    monkeypatch.setattr("setlearn.scorers.empty_sets.MOST_TOKENS", 100)
    _, read_rows = inputs(2000)
    empty = np.arange(2000) % 150 == 0
    model = EmptySets.fit(read_rows, empty, N_TOKENS, np.random.RandomState(0))
    assert model.probabilities(read_rows) == pytest.approx(float(empty.mean()))
