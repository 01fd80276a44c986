"""Splits: who is held out, and what training keeps."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn.datasets import load_benchmark, random_split, stratified_split
from setlearn.datasets.splitting import MOST_ROWS, MOST_WORK
from setlearn.errors import DataError, KindError, ParameterError

label_sets = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=4), min_size=2)
shares = st.floats(0.01, 0.99)
needs_data = pytest.mark.skipif(
    not os.environ.get("SETLEARN_DATA"), reason="SETLEARN_DATA names no folder with the data sets"
)


def wanted_size(n, share):
    return min(max(round(share * n), 1), n - 1)


def skewed_labels(n_samples, n_labels, seed=0):
    """Three labels a sample; the k-th is drawn with a probability in proportion to 1 / k."""
    rng = np.random.RandomState(seed)
    weights = 1 / np.arange(1, n_labels + 1)
    columns = rng.choice(n_labels, size=3 * n_samples, p=weights / weights.sum())
    rows = np.repeat(np.arange(n_samples), 3)
    counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_samples, n_labels))
    return sparse.csr_array(counts > 0)


def times_seen(Y):
    return np.asarray(Y.sum(axis=0)).ravel()


def mean_error(Y, rows, share):
    """How far the labels' held-out shares are from what they should be, on average."""
    seen = times_seen(Y) >= 2
    return np.abs(times_seen(Y[rows])[seen] / times_seen(Y)[seen] - share).mean()


@given(label_sets, shares, st.integers(0, 5))
@settings(max_examples=200, deadline=None)
def test_what_is_promised_holds(Y, share, seed):
    train, held_out = stratified_split(Y, share, random_state=seed)
    assert sorted([*train, *held_out]) == list(range(len(Y)))
    assert train.tolist() == sorted(train)
    assert held_out.tolist() == sorted(held_out)
    assert len(train)
    assert 1 <= len(held_out) <= wanted_size(len(Y), share)
    seen = Counter(label for labels in Y for label in labels)
    in_training = Counter(label for row in train for label in Y[row])
    assert all(in_training[label] for label, times in seen.items() if times >= 2)
    if len(held_out) < wanted_size(len(Y), share):
        assert all(is_needed(Y, row, train, in_training, seen) for row in train)


def is_needed(Y, row, train, in_training, seen):
    """Whether the row is the last of its kind in training."""
    lasting = [label for label in Y[row] if seen[label] >= 2]
    if lasting:
        return any(in_training[label] == 1 for label in lasting)
    return sum(not any(seen[label] >= 2 for label in Y[other]) for other in train) == 1


@given(label_sets, shares)
@settings(max_examples=50, deadline=None)
def test_sets_and_indicators_are_split_alike(Y, share):
    labels = sorted(frozenset().union(*Y))
    indicator = np.array([[label in elements for label in labels] for elements in Y], dtype=int)
    expected = [side.tolist() for side in stratified_split(Y, share, random_state=0)]
    for other in (indicator, sparse.csr_array(indicator), sparse.coo_matrix(indicator)):
        assert [s.tolist() for s in stratified_split(other, share, random_state=0)] == expected


@given(st.integers(2, 50), shares)
@settings(max_examples=50, deadline=None)
def test_random_splits_have_the_exact_size(n, share):
    train, held_out = random_split(n, share, random_state=0)
    assert len(held_out) == wanted_size(n, share)
    assert sorted([*train, *held_out]) == list(range(n))


@needs_data
@pytest.mark.parametrize("name", ["yeast", "bibtex"])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_labels_keep_their_shares_better_than_by_chance(name, share):
    Y = load_benchmark(name).Y
    stratified, random = [], []
    for seed in range(3):
        held_out = stratified_split(Y, share, random_state=seed)[1]
        assert len(held_out) == wanted_size(Y.shape[0], share)
        stratified.append(mean_error(Y, held_out, share))
        by_chance = random_split(Y.shape[0], share, random_state=seed)[1]
        random.append(mean_error(Y, by_chance, share))
    assert np.mean(stratified) < np.mean(random) / 2


def test_empty_sets_keep_their_share_too():
    Y = [{"a"}] * 40 + [set()] * 40
    _, held_out = stratified_split(Y, 0.25, random_state=0)
    assert (held_out >= 40).sum() == 10


def test_training_gets_more_rows_where_every_label_needs_them():
    Y = [{"a"}, {"a"}, {"b"}, {"b"}]
    train, held_out = stratified_split(Y, 0.75, random_state=0)
    assert sorted(min(Y[row]) for row in train) == ["a", "b"]
    assert len(held_out) == 2


def test_with_many_labels_the_frequent_ones_are_stratified():
    Y = skewed_labels(10_000, 1000)
    repeated = times_seen(Y) >= 2
    assert 10_000 * repeated.sum() ** 2 > MOST_WORK
    train, held_out = stratified_split(Y, 0.2, random_state=0)
    assert len(held_out) == 2000
    assert times_seen(Y[train])[repeated].min() >= 1
    frequent = Y[:, np.argsort(-times_seen(Y))[:50]]
    by_chance = random_split(10_000, 0.2, random_state=0)[1]
    assert mean_error(frequent, held_out, 0.2) < mean_error(frequent, by_chance, 0.2) / 2


def test_very_many_rows_are_drawn_at_random_and_still_repaired():
    n = MOST_ROWS + 1
    plain = sparse.csr_array(np.ones((n, 1), dtype=bool))
    split = stratified_split(plain, 0.2, random_state=0)
    drawn = random_split(n, 0.2, random_state=0)
    assert split[1].tolist() == drawn[1].tolist()

    Y = skewed_labels(n, 50_000)
    train, held_out = stratified_split(Y, 0.2, random_state=0)
    assert len(held_out) == wanted_size(n, 0.2)
    assert times_seen(Y[train])[times_seen(Y) >= 2].min() >= 1


def test_elements_that_never_repeat_leave_it_to_chance():
    Y = [{f"sequence {k}"} for k in range(20)]
    split = stratified_split(Y, 0.25, random_state=3)
    assert split[1].tolist() == random_split(20, 0.25, random_state=3)[1].tolist()


@pytest.mark.parametrize("random_state", [0, None])
def test_the_global_generator_is_left_alone(random_state):
    before = np.random.get_state()[1].tolist()
    stratified_split([{"a"}, {"a", "b"}, {"b"}, set()] * 5, 0.5, random_state=random_state)
    random_split(10, 0.5, random_state=random_state)
    assert np.random.get_state()[1].tolist() == before


def test_a_seed_and_its_generator_give_the_same_split_and_others_do_not():
    Y = [{"a"}, {"a", "b"}, {"b"}, set()] * 20
    _, first = stratified_split(Y, 0.5, random_state=7)
    _, again = stratified_split(Y, 0.5, random_state=np.random.RandomState(7))
    _, other = stratified_split(Y, 0.5, random_state=8)
    assert first.tolist() == again.tolist() != other.tolist()


def test_the_hash_seed_does_not_matter():
    code = (
        "from setlearn.datasets import stratified_split;"
        "Y = [{chr(97 + k % 7), chr(97 + k % 5), chr(97 + k % 3)} for k in range(60)];"
        "print(stratified_split(Y, 0.3, random_state=0)[1].tolist())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


@pytest.mark.parametrize("share", [0, 1, -0.5, 1.5, float("nan"), "0.2", None])
def test_refusals_of_the_share(share):
    with pytest.raises(ParameterError, match="share must be a number between 0 and 1, got"):
        stratified_split([{"a"}, {"b"}], share, random_state=0)
    with pytest.raises(ParameterError, match="share must be a number between 0 and 1, got"):
        random_split(2, share, random_state=0)


@pytest.mark.parametrize("Y", [[], [{"a"}], np.zeros((1, 3)), np.zeros((0, 3))])
def test_too_few_samples_are_refused(Y):
    with pytest.raises(DataError, match=f"at least two samples, .* got {len(Y)}"):
        stratified_split(Y, 0.5, random_state=0)
    with pytest.raises(DataError, match=f"at least two samples, .* got {len(Y)}"):
        random_split(len(Y), 0.5, random_state=0)


def test_other_refusals():
    with pytest.raises(KindError, match="sample 0 of Y is the str 'ab'"):
        stratified_split(["ab", "c"], 0.5, random_state=0)
    with pytest.raises(ParameterError, match=r"random_state must be a seed, .* got 'x'"):
        stratified_split([{"a"}, {"b"}], 0.5, random_state="x")
