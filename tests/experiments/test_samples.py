"""Splits do not overlap, and the same samples have the same name everywhere."""

import numpy as np
import pytest

from setlearn.experiments.samples import BenchmarkSource, Samples, Split, TaskSource
from setlearn.experiments.systems import YARDSTICKS, best_constant_set
from setlearn.metrics import mean_f1

SAMPLES = TaskSource("leading_digits", n_samples=100).load(0)


def test_seventy_to_thirty_with_none_in_both():
    split = Split.draw(SAMPLES, 0, 1.0)
    assert (len(split.train), len(split.test)) == (70, 30)
    assert not set(split.train.X) & set(split.test.X)


def test_smaller_shares_lie_in_larger_ones_and_are_tested_alike():
    whole, half, eighth = (Split.draw(SAMPLES, 3, share) for share in (1, 0.5, 0.125))
    assert (len(half.train), len(eighth.train)) == (35, 9)
    assert whole.train.X[:35] == half.train.X
    assert half.train.X[:9] == eighth.train.X
    assert half.test.X == whole.test.X


def test_a_task_is_drawn_anew_for_each_split():
    source = TaskSource("substrings", n_samples=20)
    assert source.load(0).X == source.load(0).X
    assert source.load(0).X != source.load(1).X


def test_a_benchmark_is_the_same_for_each_split():
    source = BenchmarkSource("digits")
    assert source.load(0).digest() == source.load(1).digest()
    assert all(isinstance(label, str) for label in source.load(0).sets[0])


@pytest.mark.parametrize("change", ["input", "set"])
def test_the_digest_tells_samples_apart(change):
    X, sets = list(SAMPLES.X), list(SAMPLES.sets)
    if change == "input":
        X[7] = "0" + X[7][1:]
    else:
        sets[7] = sets[7] | {"x"}
    assert Samples(X, sets, "").digest() != SAMPLES.digest()
    assert Samples(SAMPLES.X, SAMPLES.sets, "elsewhere").digest() == SAMPLES.digest()


def test_the_best_constant_set_beats_all_others_on_the_training_part():
    rng = np.random.RandomState(0)
    sets = [frozenset("abcd"[k] for k in np.flatnonzero(rng.rand(4) < 0.5)) for _ in range(30)]
    best = best_constant_set(Samples(["x"] * 30, sets, ""))
    subsets = [frozenset("abcd"[k] for k in range(4) if n >> k & 1) for n in range(16)]
    scores = {subset: mean_f1(sets, [subset] * 30) for subset in subsets}
    assert scores[best] == pytest.approx(max(scores.values()))


def test_yardsticks_of_the_tasks():
    split = Split.draw(TaskSource("substrings", n_samples=20).load(0), 0, 1.0)
    assert YARDSTICKS["a perfect answer"](split) == split.test.sets
    [first, *_] = YARDSTICKS["the substring a[3:6]"](split)
    assert first == {split.test.X[0][13:16]}
    split = Split.draw(SAMPLES, 0, 1.0)
    for x, y in zip(split.test.X, YARDSTICKS["all digits of the input"](split), strict=True):
        assert y == set(x)
    assert YARDSTICKS["every label"](split)[0] == set("0123456789")
