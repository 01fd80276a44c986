"""Figures label by label."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.metrics import precision_recall_fscore_support

from setlearn.errors import DataError, KindError
from setlearn.metrics import label_report

TRUE = [{"sea", "sun"}, {"sea"}, set()]
PREDICTED = [{"sea"}, {"sea", "city"}, {"city"}]


@st.composite
def indicator_pairs(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(2, 5)))
    return tuple(draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 1))) for _ in range(2))


def as_sets(indicator):
    return [frozenset(np.flatnonzero(row).tolist()) for row in indicator]


@given(indicator_pairs())
@settings(max_examples=100, deadline=None)
def test_agrees_with_scikit_learn(pair):
    report = label_report(*pair)
    met = np.flatnonzero((pair[0] | pair[1]).any(axis=0))
    assert sorted(one.label for one in report.labels) == met.tolist()
    if not len(met):
        return
    options = {"labels": met, "zero_division": 0}
    expected = precision_recall_fscore_support(*pair, **options)
    for label, *figures in zip(met.tolist(), *expected, strict=True):
        one = next(one for one in report.labels if one.label == label)
        assert (one.precision, one.recall, one.f1, one.support) == pytest.approx(tuple(figures))
        assert one.predicted == pair[1][:, label].sum()
    for average in ("macro", "micro"):
        *expected, _ = precision_recall_fscore_support(*pair, average=average, **options)
        means = getattr(report, average)
        assert (means.precision, means.recall, means.f1) == pytest.approx(tuple(expected))


@given(indicator_pairs())
@settings(max_examples=50, deadline=None)
def test_every_kind_of_input_gives_the_same_report(pair):
    expected = label_report(*pair)
    assert label_report(*map(as_sets, pair)) == expected
    assert label_report(*map(sparse.coo_array, pair)) == expected
    assert label_report(pair[0].astype(bool), sparse.csc_matrix(pair[1])) == expected
    assert label_report(*map(pd.DataFrame, pair)) == expected


@given(indicator_pairs())
@settings(max_examples=50, deadline=None)
def test_frequent_labels_come_first_then_names(pair):
    ranks = [(-one.support, one.label) for one in label_report(*pair).labels]
    assert ranks == sorted(ranks)


def test_labels_of_all_kinds_are_sorted_by_name():
    labels = [1, 2.5, "1", "a", ("a", 1), frozenset("b"), None]
    report = label_report([set(labels)], [set()])
    assert [one.label for one in report.labels] == labels


def test_columns_of_a_table_give_the_names():
    table = pd.DataFrame({"sea": [1, 0], "city": [1, 1], "sun": [0, 0]})
    report = label_report(table, table.to_numpy())
    assert [one.label for one in report.labels] == ["city", "sea"]


def test_without_any_label_all_is_perfect():
    for nothing in ([set(), set()], np.zeros((2, 3), int)):
        report = label_report(nothing, nothing)
        assert report.labels == ()
        assert report.macro == report.micro
        assert report.macro.f1 == report.macro.precision == report.macro.recall == 1
        assert "micro mean" in str(report)


def test_the_table_is_aligned():
    lines = str(label_report(iter(TRUE), iter(PREDICTED))).splitlines()
    names = [line.split()[0] for line in lines if line]
    assert names == ["label", "sea", "sun", "city", "macro", "micro"]
    full = [line for line in lines if line and not line.startswith("macro")]
    assert {len(line) for line in full} == {len(lines[0])}


def test_json_holds_labels_of_any_kind():
    labels = [3, "a", ("b", ("c",)), frozenset({2, 1}), None, np.int64(7), 1j]
    report = label_report([set(labels)], [set(labels)])
    read = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert read["macro"] == read["micro"] == {"precision": 1, "recall": 1, "f1": 1}
    found = [row["label"] for row in read["labels"]]
    assert found == [3, 7, "a", ["b", ["c"]], [1, 2], None, "1j"]
    assert read["labels"] == json.loads(json.dumps(report.to_list()))
    assert set(read["labels"][0]) == {
        "label",
        "precision",
        "recall",
        "f1",
        "support",
        "predicted",
    }


def test_wide_sparse_indicators_are_never_made_dense():
    wide = sparse.csr_array(([1, 1], ([0, 1], [5, 2**39])), shape=(2, 2**40))
    assert [one.label for one in label_report(wide, wide).labels] == [5, 2**39]


@pytest.mark.parametrize(
    ("true", "predicted", "error", "message"),
    [
        ([{"a"}], [{"a"}, {"b"}], DataError, "Y_true has 1 samples but Y_pred has 2"),
        ([], [], DataError, "0 samples"),
        (np.eye(2), np.eye(3)[:2], DataError, "Y_true has 2 columns but Y_pred has 3"),
        ([{0}], np.array([[1]]), KindError, "Y_true holds sets but Y_pred is an indicator"),
    ],
)
def test_refusals(true, predicted, error, message):
    with pytest.raises(error, match=message):
        label_report(true, predicted)
