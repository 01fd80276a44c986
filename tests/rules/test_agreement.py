"""The metrics of choice points are those of setlearn.metrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setlearn.errors import ParameterError
from setlearn.metrics import exact_match, hamming_distance, mean_f1, mean_jaccard
from setlearn.rules import Auto, Threshold
from setlearn.rules.agreement import METRICS, agreement, check_metric

masks = st.lists(st.tuples(*[st.booleans()] * 8), min_size=1, max_size=5)


@given(masks)
def test_they_agree_with_the_metrics_of_sets(rows):
    true, kept = np.array(rows)[:, :4], np.array(rows)[:, 4:]
    of_sets = {
        "exact": exact_match(true.astype(int), kept.astype(int)),
        "f1": mean_f1(true.astype(int), kept.astype(int)),
        "hamming": 1 - hamming_distance(true.astype(int), kept.astype(int)),
        "jaccard": mean_jaccard(true.astype(int), kept.astype(int)),
    }
    assert set(of_sets) == set(METRICS)
    sizes = {
        "shared": (true & kept).sum(axis=1),
        "true": true.sum(axis=1),
        "kept": kept.sum(axis=1),
    }
    for metric, expected in of_sets.items():
        assert agreement(metric, n_choices=4, **sizes).mean() == pytest.approx(expected)


def test_equal_sets_agree_fully_in_all_metrics():
    sizes = np.array([0, 1, 3])
    for metric in METRICS:
        values = agreement(metric, shared=sizes, true=sizes, kept=sizes, n_choices=5)
        assert values.tolist() == [1, 1, 1]


@pytest.mark.parametrize("wrong", ["accuracy", "macro_f1", "", None, 1, ["f1"]])
def test_other_names_are_refused(wrong):
    message = r"metric must be one of \['exact', 'f1', 'hamming', 'jaccard'\], got"
    with pytest.raises(ParameterError, match=message):
        check_metric(wrong)
    for rule in (Auto(metric=wrong), Threshold(metric=wrong)):
        with pytest.raises(ParameterError, match=message):
            rule.check_parameters()


@pytest.mark.parametrize("rule", [Auto, Threshold])
@pytest.mark.parametrize(
    ("other", "meant"),
    [
        ("exact_match", "'exact'"),
        (exact_match, "'exact'"),
        ("mean_f1", "'f1'"),
        ("F1", "'f1'"),
        ("f1_samples", "'f1'"),
        ("hamming_distance", "'hamming'"),
        (mean_jaccard, "'jaccard'"),
    ],
)
def test_other_names_of_a_metric_lead_to_its_name(rule, other, meant):
    with pytest.raises(ParameterError, match=rf"got '\w+'; write metric={meant}$"):
        rule(metric=other).check_parameters()


@pytest.mark.parametrize("other", ["accuracy", None, 3])
def test_what_is_no_metric_gets_the_list(other):
    message = rf"'jaccard'\], got {other!r}; write one of these names$"
    with pytest.raises(ParameterError, match=message):
        Auto(metric=other).check_parameters()
