"""The samples that were answered worst."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn.errors import DataError, ParameterError
from setlearn.metrics import mean_f1, worst_samples

sets = st.frozensets(st.integers(0, 4))
pairs = st.lists(st.tuples(sets, sets), min_size=1, max_size=12)


@given(pairs, st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_the_worst_come_first(pairs, n):
    true, predicted = zip(*pairs, strict=True)
    ranks = sorted((mean_f1([t], [p]), -len(t ^ p), i) for i, (t, p) in enumerate(pairs) if t != p)
    worst = worst_samples(true, predicted, n)
    assert [(s.f1, -len(s.missed | s.wrong), s.index) for s in worst] == ranks[:n]
    for sample in worst:
        assert sample.missed == true[sample.index] - predicted[sample.index]
        assert sample.wrong == predicted[sample.index] - true[sample.index]


def test_perfect_answers_are_never_listed():
    assert worst_samples([{1}, set()], [{1}, set()]) == []


def test_sets_without_any_label():
    assert worst_samples([set()], [set()]) == []


def test_indicators_speak_of_columns():
    true, predicted = np.array([[1, 1, 0], [0, 0, 1]]), np.array([[1, 0, 1], [0, 0, 1]])
    (worst,) = worst_samples(true, sparse.csr_array(predicted))
    assert (worst.missed, worst.wrong) == ({1}, {2})
    (worst,) = worst_samples(pd.DataFrame(true, columns=["sea", "sun", "city"]), predicted)
    assert (worst.missed, worst.wrong) == ({"sun"}, {"city"})


def test_elements_may_be_sequences():
    (worst,) = worst_samples([{("a", "b"), ("c",)}], [{("a", "b"), ("d",)}])
    assert json.loads(json.dumps(worst.to_dict())) == {
        "index": 0,
        "f1": 0.5,
        "missed": [["c"]],
        "wrong": [["d"]],
    }


def test_a_sample_is_frozen():
    with pytest.raises(FrozenInstanceError):
        worst_samples([{1}], [set()])[0].f1 = 1.0


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", None, True])
def test_refusals_of_n(n):
    with pytest.raises(ParameterError, match="n must be a whole number of 1 or more, got"):
        worst_samples([{1}], [{1}], n)


def test_sides_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="Y_true has 1 samples but Y_pred has 2"):
        worst_samples([{1}], [{1}, {2}])
