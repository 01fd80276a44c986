"""How well each label is found, and how well all of them together."""

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

from setlearn.metrics._aligned_table import aligned_table
from setlearn.metrics._named_labels import json_ready, read_named_pair
from setlearn.metrics._reading import sample_mean
from setlearn.metrics.sets import Overlaps
from setlearn.ordering import canonical_rank
from setlearn.set_reading import Samples

__all__ = ["LabelFigures", "LabelReport", "MeanFigures", "label_report"]


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """What is known of one label.

    Attributes
    ----------
    label : hashable
        The label itself, or the name or number of its column.
    precision, recall, f1 : float
        From 0 to 1: the share of its predictions that are right, the share of its true
        occurrences that were found, and the harmonic mean of both.
    support, predicted : int
        In how many true and in how many predicted sets it is.
    """

    label: Hashable
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """One figure of each kind for all labels together."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What `label_report` found; ``str()`` is a table, ``to_dict()`` is ready for JSON.

    Attributes
    ----------
    labels : tuple of LabelFigures
        The figures of each label, the most frequent first, then by name.
    macro : MeanFigures
        Plain means over labels, in which rare ones count as much as frequent ones.
    micro : MeanFigures
        The figures of all decisions taken together, in which each occurrence counts the same.

    Examples
    --------
    >>> report = label_report([{"sea", "sun"}, {"sea"}], [{"sea"}, {"sea", "city"}])
    >>> report.labels[0].label, report.labels[0].f1
    ('sea', 1.0)
    >>> round(report.macro.f1, 3), round(report.micro.f1, 3)
    (0.333, 0.667)
    """

    labels: tuple[LabelFigures, ...]
    macro: MeanFigures
    micro: MeanFigures

    def to_list(self) -> list[dict[str, Any]]:
        """The figures of each label by name, as one dictionary a label."""
        return [asdict(figures) | {"label": json_ready(figures.label)} for figures in self.labels]

    def to_dict(self) -> dict[str, Any]:
        """The means by name, and all labels as `to_list` gives them."""
        return {
            "macro": asdict(self.macro),
            "micro": asdict(self.micro),
            "labels": self.to_list(),
        }

    def __str__(self) -> str:
        rows = [
            (str(one.label), *_ratios(one), str(one.support), str(one.predicted))
            for one in self.labels
        ]
        support = sum(one.support for one in self.labels)
        predicted = sum(one.predicted for one in self.labels)
        return aligned_table(
            [
                ("label", "precision", "recall", "F1", "support", "predicted"),
                *rows,
                ("",) * 6,
                ("macro mean", *_ratios(self.macro), "", ""),
                ("micro mean", *_ratios(self.micro), str(support), str(predicted)),
            ]
        )


def label_report(Y_true: Samples, Y_pred: Samples) -> LabelReport:
    """Compute precision, recall and F1 of every label that is met on either side.

    A ratio without a whole is 0 here as in all of this package: the precision of a label that
    was never predicted, the recall of one that is never true. A column that is empty on both
    sides is left out, as sets would not know of it; its perfect 1 would only lift the means.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        What `mean_f1` takes. Columns of a DataFrame in ``Y_true`` give the labels their names.

    Returns
    -------
    LabelReport
        The figures of each label, and their means, which are 1 if all sets are empty; print it
        for a table.

    Examples
    --------
    >>> print(label_report([{"sea", "sun"}, {"sea"}], [{"sea"}, {"sea", "city"}]))
    label       precision  recall      F1  support  predicted
    sea            1.0000  1.0000  1.0000        2          2
    sun            0.0000  0.0000  0.0000        1          0
    city           0.0000  0.0000  0.0000        0          1
    <BLANKLINE>
    macro mean     0.3333  0.3333  0.3333
    micro mean     0.6667  0.6667  0.6667        3          3
    """
    pair = read_named_pair(Y_true, Y_pred)
    if not pair.labels:
        perfect = MeanFigures(1.0, 1.0, 1.0)
        return LabelReport((), macro=perfect, micro=perfect)
    # The samples that hold a label are a set as the labels of a sample are.
    overlaps = Overlaps.of(pair.true.T, pair.predicted.T)
    columns = (
        overlaps.precision,
        overlaps.recall,
        overlaps.f1,
        overlaps.true,
        overlaps.predicted,
    )
    figures = map(LabelFigures, pair.labels, *(column.tolist() for column in columns))
    ranked = sorted(figures, key=lambda one: (-one.support, canonical_rank(one.label)))
    return LabelReport(tuple(ranked), macro=_means(overlaps), micro=_means(_summed(overlaps)))


def _summed(overlaps: Overlaps) -> Overlaps:
    """The counts of all labels as those of a single one."""
    return Overlaps(
        shared=overlaps.shared.sum(keepdims=True),
        true=overlaps.true.sum(keepdims=True),
        predicted=overlaps.predicted.sum(keepdims=True),
        n_labels=overlaps.n_labels,
    )


def _means(overlaps: Overlaps) -> MeanFigures:
    figures = (overlaps.precision, overlaps.recall, overlaps.f1)
    return MeanFigures(*map(sample_mean, figures))


def _ratios(figures: LabelFigures | MeanFigures) -> tuple[str, str, str]:
    return f"{figures.precision:.4f}", f"{figures.recall:.4f}", f"{figures.f1:.4f}"
