"""Figures that tell how good predicted sets are.

For sets of labels, and of anything else that is either right or wrong: `mean_f1`,
`exact_match` and their kin. For sets of sequences also the edit distances, which tell nearly
right from wrong. `set_report` gives them all at once.

To see where answers fail: `label_report` by label, `size_table` by size, `worst_samples` one by
one.
"""

from setlearn.metrics.label_report import LabelReport, label_report
from setlearn.metrics.report import SetReport, set_report
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
from setlearn.metrics.size_table import SizeTable, size_table
from setlearn.metrics.worst_samples import WorstSample, worst_samples

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
    "size_table",
    "worst_samples",
]
