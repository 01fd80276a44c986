"""Metrics of predicted sets.

For all sets: `mean_f1`, `exact_match` and others, which count elements as right or wrong. For
sets of sequences also the edit distances, which measure how close wrong elements are.
`set_report` computes all of them.

To see where predictions fail, use `label_report` (by label), `size_table` (by set size) and
`worst_samples` (sample by sample). `set_scorer` makes a metric a scorer for scikit-learn.
"""

from setlearn.metrics.breakdown import (
    LabelReport,
    SizeTable,
    WorstSample,
    label_report,
    size_table,
    worst_samples,
)
from setlearn.metrics.report import SetReport, set_report
from setlearn.metrics.scorer import set_scorer
from setlearn.metrics.sequences import matched_edit_distance, mean_edit_distance
from setlearn.metrics.sets import (
    exact_match,
    hamming_distance,
    mean_f1,
    mean_jaccard,
    mean_precision,
    mean_recall,
    mean_set_size,
)

__all__ = [
    "LabelReport",
    "SetReport",
    "SizeTable",
    "WorstSample",
    "exact_match",
    "hamming_distance",
    "label_report",
    "matched_edit_distance",
    "mean_edit_distance",
    "mean_f1",
    "mean_jaccard",
    "mean_precision",
    "mean_recall",
    "mean_set_size",
    "set_report",
    "set_scorer",
    "size_table",
    "worst_samples",
]
