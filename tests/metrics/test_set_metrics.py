"""Metrics over sets whose elements are right or wrong."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from setlearn import metrics
from setlearn.errors import DataError, KindError, ParameterError
from setlearn.metrics import (
    exact_match,
    hamming_distance,
    mean_f1,
    mean_jaccard,
    mean_precision,
    mean_recall,
    mean_set_size,
    set_report,
    size_table,
)

METRICS = [exact_match, hamming_distance, mean_f1, mean_jaccard, mean_precision, mean_recall]


@st.composite
def indicator_pairs(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(2, 5)))
    return tuple(draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 1))) for _ in range(2))


def as_sets(indicator):
    return [frozenset(np.flatnonzero(row).tolist()) for row in indicator]


@given(indicator_pairs(), st.sampled_from(METRICS))
def test_every_kind_of_input_gives_the_same_figure(pair, metric):
    expected = metric(*pair)
    n_columns = pair[0].shape[1]
    options = {"n_labels": n_columns} if metric is hamming_distance else {}

    assert metric(*map(sparse.csr_matrix, pair)) == expected
    assert metric(*map(sparse.coo_array, pair)) == expected
    assert metric(pair[0].astype(bool), sparse.csc_array(pair[1])) == expected
    assert metric(*map(pd.DataFrame, pair)) == expected
    assert metric(*map(as_sets, pair), **options) == expected


@given(indicator_pairs())
def test_agrees_with_scikit_learn(pair):
    samples = {"average": "samples", "zero_division": 1}

    assert mean_f1(*pair) == pytest.approx(sklearn_metrics.f1_score(*pair, **samples))
    assert mean_jaccard(*pair) == pytest.approx(sklearn_metrics.jaccard_score(*pair, **samples))
    assert hamming_distance(*pair) == pytest.approx(sklearn_metrics.hamming_loss(*pair))
    assert exact_match(*pair) == pytest.approx(sklearn_metrics.accuracy_score(*pair))


@given(indicator_pairs())
def test_precision_and_recall_mirror_each_other_and_the_rest_is_symmetric(pair):
    true, predicted = pair
    assert mean_precision(true, predicted) == mean_recall(predicted, true)
    for metric in (mean_f1, mean_jaccard, exact_match, hamming_distance):
        assert metric(true, predicted) == metric(predicted, true)


@given(indicator_pairs())
def test_weights_act_like_repetitions(pair):
    weights = np.arange(len(pair[0])) + 1
    repeated = [np.repeat(side, weights, axis=0) for side in pair]
    for metric in METRICS:
        assert metric(*pair, sample_weight=weights) == pytest.approx(metric(*repeated))
    assert mean_set_size(pair[0], sample_weight=weights) == pytest.approx(
        mean_set_size(repeated[0])
    )


@pytest.mark.parametrize(
    ("true", "predicted", "f1", "precision", "recall", "jaccard"),
    [
        (set(), set(), 1, 1, 1, 1),
        ({1}, set(), 0, 0, 0, 0),
        (set(), {1}, 0, 0, 0, 0),
        ({1, 2}, {1}, 2 / 3, 1, 1 / 2, 1 / 2),
        ({1}, {1, 2, 3}, 1 / 2, 1 / 3, 1, 1 / 3),
    ],
)
def test_single_samples(true, predicted, f1, precision, recall, jaccard):
    assert mean_f1([true], [predicted]) == pytest.approx(f1)
    assert mean_precision([true], [predicted]) == pytest.approx(precision)
    assert mean_recall([true], [predicted]) == pytest.approx(recall)
    assert mean_jaccard([true], [predicted]) == pytest.approx(jaccard)


def test_sets_may_be_lists_tuples_generators_and_object_arrays():
    true = [{"a", "b"}, {1}]
    assert mean_f1(true, [["b", "a", "a"], (1,)]) == 1
    assert mean_f1(iter(true), (frozenset(y) for y in true)) == 1
    assert mean_f1(np.array(true, dtype=object), pd.Series(true)) == 1


def test_labels_of_different_kinds_stay_apart():
    assert mean_f1([{1}, {"1"}, {(1,)}], [{"1"}, {(1,)}, {1}]) == 0


def test_hamming_counts_the_labels_met_unless_told():
    true, predicted = [{"a", "b"}, {"c"}], [{"a"}, {"c", "d"}]
    assert hamming_distance(true, predicted) == 1 / 4
    assert hamming_distance(true, predicted, n_labels=10) == 1 / 10
    assert hamming_distance([set()], [set()]) == hamming_distance([set()], [set()], n_labels=0) == 0


def test_set_sizes():
    assert mean_set_size([{"a", "b"}, ["c", "c"], set()]) == 1
    assert mean_set_size(np.eye(3)) == mean_set_size(sparse.eye_array(3)) == 1


def test_wide_sparse_indicators_are_never_made_dense():
    shape = (3, 2**40)  # 3 TiB if dense
    true = sparse.csr_array(([1, 1, 1], ([0, 1, 1], [5, 5, 2**39])), shape=shape)
    predicted = sparse.csr_array(([1, 1], ([0, 1], [5, 5])), shape=shape)
    assert mean_f1(true, predicted) == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert mean_set_size(true) == 1


def test_sparse_input_is_read_by_value_and_left_alone():
    stored_zero = sparse.csr_array(
        (np.array([0, 1]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2)
    )
    assert mean_f1(stored_zero, np.array([[0, 1]])) == 1
    assert stored_zero.nnz == 2


def test_tables_of_mixed_columns_are_read():
    table = pd.DataFrame({"a": [True, False], "b": [0, 1]})
    assert mean_f1(table, np.array([[1, 0], [0, 1]])) == 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("true", "predicted", "error", "message"),
    [
        ([{"a"}, "ab"], [{"a"}, {"b"}], KindError, r"sample 1 of Y_true is the str 'ab'"),
        ([{"a"}], ["ab"], KindError, r"sample 0 of Y_pred is the str 'ab'; write \{'ab'\}"),
        ([{"a"}], np.array(["ab"]), KindError, "sample 0 of Y_pred"),
        (["a, b"], [{"a"}], KindError, r"if it is several .*text\.split\(','\) if part\.strip"),
        (
            [{"a"}, np.nan],
            [{"a"}] * 2,
            KindError,
            r"sample 1 .* nan, .*write set\(\) for no labels",
        ),
        ([{"a"}], [3], KindError, "sample 0 of Y_pred is the int 3, not a set"),
        ([{"a"}], [{"a": 1}], KindError, "sample 0 of Y_pred is the dict"),
        ([{"a"}], [[["a"]]], KindError, "sample 0 of Y_pred holds .* hashed"),
        ("ab", [{"a"}], KindError, "Y_true is the str 'ab', not a list of sets"),
        (5, [{"a"}], KindError, "Y_true is the int 5"),
        ({frozenset("a")}, [{"a"}], KindError, "Y_true is itself a set"),
        ([{0}], np.array([[1]]), KindError, "Y_true holds sets but Y_pred is an indicator"),
        (sparse.eye_array(2), [{0}, {1}], KindError, "Y_pred holds sets but Y_true is an ind"),
        ([[1, 0, 0]], [[0, 0, 1]], KindError, r"Y_true consists of lists .* np\.array"),
        ([{"a"}], [{"a"}, {"b"}], DataError, "Y_true has 1 samples but Y_pred has 2"),
        (np.eye(2), np.eye(3)[:, :2], DataError, "Y_true has 2 samples but Y_pred has 3"),
        (np.eye(2), np.eye(3)[:2], DataError, "Y_true has 2 columns but Y_pred has 3"),
        (np.eye(2), np.eye(2) / 2, DataError, r"Y_pred holds .*0\.5.*threshold"),
        (np.eye(2), np.full((2, 2), np.nan), DataError, "Y_pred holds .*nan"),
        (sparse.eye_array(2) * 2, np.eye(2), DataError, r"Y_true holds .*2\.0"),
        (np.eye(2), np.array([["a", "b"]] * 2), DataError, "Y_pred holds .*'a'"),
        (np.eye(2)[:1], pd.DataFrame([[pd.NA, 1]]), DataError, "Y_pred holds <NA>"),
        (np.zeros((1, 1, 1)), np.eye(1), DataError, r"Y_true has 3 dimension"),
        (sparse.coo_array(np.array([1, 0])), np.eye(2), DataError, r"Y_true has 1 dimension"),
        ([], [], DataError, "0 samples"),
        (np.zeros((0, 3)), np.zeros((0, 3)), DataError, "0 samples"),
    ],
)
def test_refusals(metric, true, predicted, error, message):
    with pytest.raises(error, match=message):
        metric(true, predicted)


@pytest.mark.parametrize(
    ("Y", "error", "message"),
    [
        ([], DataError, "0 samples"),
        (np.zeros((0, 2)), DataError, "0 samples"),
        (["ab"], KindError, "sample 0 of Y is"),
        (np.eye(2) * 3, DataError, "Y holds"),
    ],
)
def test_refusals_of_one_side(Y, error, message):
    with pytest.raises(error, match=message):
        mean_set_size(Y)


@pytest.mark.parametrize("n_labels", [1, -1, 2.0, "3"])
def test_refusals_of_n_labels(n_labels):
    with pytest.raises(ParameterError, match="at least the 2 labels"):
        hamming_distance([{"a"}], [{"b"}], n_labels=n_labels)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"shape \(1,\) but there are 2 samples"),
        (1.0, r"shape \(\)"),
        ([1, -1], "not negative"),
        ([1, np.nan], "finite"),
        ([0, 0], "not all zero"),
        (["a", "b"], "must be numbers"),
    ],
)
def test_refusals_of_weights(weights, message):
    with pytest.raises(DataError, match=message):
        mean_f1([{1}, {2}], [{1}, {2}], sample_weight=weights)


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric in METRICS:
            metric([set(), {1}], [set(), set()])


def test_the_surface_is_sorted_and_complete():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(getattr(metrics, name).__doc__ for name in metrics.__all__)


def test_samples_of_which_nothing_is_known_are_left_out():
    """They are neither right nor wrong, whatever is predicted."""
    rng, nothing = np.random.default_rng(0), np.full((3, 4), np.nan)
    true, predicted = rng.random((20, 4)) < 0.5, rng.random((23, 4)) < 0.5
    partly = np.vstack([true, nothing])
    weight = rng.random(23)
    for metric in METRICS:
        assert metric(partly, predicted) == metric(true, predicted[:20])
        weighted = metric(partly, predicted, sample_weight=weight)
        assert weighted == pytest.approx(metric(true, predicted[:20], sample_weight=weight[:20]))
    report, known = set_report(partly, predicted), set_report(true, predicted[:20])
    assert dataclasses.replace(report, n_unknown=0) == known
    assert report.n_unknown == 12
    assert size_table(partly, predicted) == size_table(true, predicted[:20])
    with pytest.raises(DataError, match=r"every entry of Y_true is unknown.*pass samples"):
        mean_f1(nothing, predicted[:3])
