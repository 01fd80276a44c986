"""All figures at once."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError
from math import isnan

import numpy as np
import pytest

from setlearn import metrics
from setlearn.errors import KindError
from setlearn.metrics import set_report
from setlearn.nodes import Nodes
from setlearn.rules.precision_guarantee import total_losses

TRUE = [{"ab", "c"}, {"d"}, set(), {"e"}]
PREDICTED = [{"a", "c"}, {"d"}, set(), set()]


def test_figures_equal_those_of_the_functions():
    report = set_report(iter(TRUE), iter(PREDICTED), sequences=True)
    for name in (
        "mean_f1",
        "exact_match",
        "mean_precision",
        "mean_recall",
        "mean_jaccard",
        "hamming_distance",
        "mean_edit_distance",
        "matched_edit_distance",
    ):
        assert getattr(report, name) == getattr(metrics, name)(TRUE, PREDICTED), name
    assert report.mean_true_size == metrics.mean_set_size(TRUE)
    assert report.mean_predicted_size == metrics.mean_set_size(PREDICTED)
    assert (report.n_samples, report.n_empty_true, report.n_empty_predicted) == (4, 1, 2)
    assert report.n_without_pairs == 2


def test_standard_error_is_that_of_the_mean():
    report = set_report(TRUE, PREDICTED)
    scores = [0.5, 1, 1, 0]
    assert report.mean_f1_error == pytest.approx(np.std(scores, ddof=1) / 2)


def test_a_single_sample_has_no_standard_error():
    report = set_report([{1}], [{1}])
    assert isnan(report.mean_f1_error)
    assert report.to_dict()["mean_f1_error"] is None
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["mean_f1"] == 1


def test_without_any_pair_the_mean_edit_distance_is_none_in_json():
    report = set_report([{"a"}], [set()], sequences=True)
    assert isnan(report.mean_edit_distance)
    assert report.to_dict()["mean_edit_distance"] is None
    assert "nan" in str(report)


def test_edit_distances_come_only_when_asked_for():
    report = set_report(np.eye(2), np.eye(2))
    assert report.mean_edit_distance is report.matched_edit_distance is None
    assert "edit" not in str(report)
    with pytest.raises(KindError, match="matrix"):
        set_report(np.eye(2), np.eye(2), sequences=True)


def test_sequences_may_be_lists():
    assert set_report([[["a", "b"]]], [[["a", "b"]]], sequences=True).exact_match == 1


def test_the_table_is_aligned():
    lines = str(set_report(TRUE, PREDICTED, sequences=True)).splitlines()
    name, figure = r"[A-Za-z1 ]+?", r"[\d.]+"
    ends = {re.match(f"{name} +({figure})(  |$)", line).end(1) for line in lines}
    assert len(ends) == 1
    assert len(lines) == 12
    assert lines[-1].endswith("samples left out: 2")


def test_controlled_precision_is_what_risk_control_controls():
    rng = np.random.default_rng(0)
    scores, true = rng.random((50, 4)), rng.random((50, 4)) < 0.3
    [losses] = total_losses(Nodes.roots(scores), true, np.array([0.8]))
    report = set_report(true, scores >= 0.8)
    assert report.n_empty_predicted > 0
    assert report.controlled_precision == pytest.approx(1 - losses / 50)
    assert report.controlled_precision > report.mean_precision
    assert report.to_dict()["controlled_precision"] == report.controlled_precision
    assert "controlled precision" in str(report)
    assert "controlled precision" not in str(set_report([{1}, set()], [{1, 2}, set()]))


def test_nothing_is_missing_from_an_empty_set():
    report = set_report([{1}, set()], [{1}, {2}])
    assert (report.mean_recall, report.controlled_recall) == (0.5, 1.0)
    assert "controlled recall" in str(report)
    assert "controlled recall" not in str(set_report([{1}, set()], [{1}, set()]))


def test_a_report_is_frozen():
    with pytest.raises(FrozenInstanceError):
        set_report([{1}], [{1}]).mean_f1 = 0.5
