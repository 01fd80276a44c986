"""The paper's two tasks, and what trivial answers score on them."""

from __future__ import annotations

import numpy as np
import pytest

from setlearn import datasets
from setlearn.datasets import leading_digits, substrings
from setlearn.datasets.tasks import _leading_set, _substring_set
from setlearn.errors import ParameterError
from setlearn.metrics import matched_edit_distance, mean_edit_distance, mean_f1, set_report

TASKS = [leading_digits, substrings]


def test_the_papers_example_of_task_1():
    assert _leading_set("33874") == {"3", "8"}


def test_the_papers_example_of_task_2():
    assert _substring_set("00490000349172105519") == {"2", "10551"}


def test_leading_digits_follow_their_definition():
    X, Y = leading_digits(500, random_state=0)
    assert {len(x) for x in X} == {10}
    assert {x[0] for x in X} == set("123456789")
    assert all(y == {x[i] for i in range(int(x[0]))} for x, y in zip(X, Y, strict=True))


def test_a_number_shorter_than_it_asks_for_yields_all_its_digits():
    X, Y = leading_digits(200, length=4, random_state=0)
    assert all(y == set(x) for x, y in zip(X, Y, strict=True) if int(x[0]) >= 4)
    assert leading_digits(1, length=1, random_state=0)[1][0] == set(
        leading_digits(1, length=1, random_state=0)[0][0]
    )


def test_substrings_follow_their_definition():
    X, Y = substrings(500, random_state=0)
    for x, y in zip(X, Y, strict=True):
        spans = [(int(x[i]), int(x[i + 1])) for i in range(0, 10, 2)]
        assert y == {x[10 + start : 10 + end] for start, end in spans if start < end}
        assert len(x) == 20
        assert len(y) <= 5
        assert "" not in y


def test_all_digits_of_the_input_already_score_on_task_1():
    X, Y = leading_digits(5000, random_state=0)
    assert mean_f1(Y, [set(x) for x in X]) == pytest.approx(0.71, abs=0.01)


def test_what_the_papers_mean_edit_distance_says_of_task_2():
    X, Y = substrings(5000, random_state=0)
    perfect = set_report(Y, Y, sequences=True)
    assert perfect.mean_edit_distance == pytest.approx(1.58, abs=0.04)
    assert perfect.matched_edit_distance == 0
    assert perfect.n_without_pairs == perfect.n_empty_true
    assert perfect.n_empty_true / 5000 == pytest.approx(0.05, abs=0.01)

    constant = [{x[13:16]} for x in X]
    assert mean_edit_distance(Y, constant) == pytest.approx(2.74, abs=0.04)
    assert matched_edit_distance(Y, constant) > 1


@pytest.mark.parametrize("task", TASKS)
def test_seeds_decide_and_the_global_state_does_not(task):
    assert task(20, random_state=3) == task(20, random_state=3)
    assert task(20, random_state=3) != task(20, random_state=4)
    assert task(20, random_state=np.random.RandomState(3)) == task(20, random_state=3)

    before = np.random.get_state()[1].copy()
    task(20, random_state=3)
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize("task", TASKS)
def test_sizes(task):
    X, Y = task(7)
    assert len(X) == len(Y) == 7
    assert len(task()[0]) == 1000
    assert all(isinstance(y, frozenset) for y in Y)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("value", [0, -1, 2.0, "5", None, True])
def test_refusals_of_sizes(task, value):
    with pytest.raises(ParameterError, match="n_samples must be a whole number"):
        task(value)


@pytest.mark.parametrize("value", [0, 2.5])
def test_refusals_of_lengths(value):
    with pytest.raises(ParameterError, match="length must be a whole number"):
        leading_digits(5, length=value)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("value", ["seed", -1, np.random.default_rng(0)])
def test_refusals_of_random_states(task, value):
    with pytest.raises(ParameterError, match="random_state must be a seed"):
        task(5, random_state=value)


def test_the_surface_is_sorted_and_complete():
    assert datasets.__all__ == sorted(datasets.__all__)
    assert all(getattr(datasets, name).__doc__ for name in datasets.__all__)
