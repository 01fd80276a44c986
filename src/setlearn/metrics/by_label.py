"""How well each label is predicted, and all labels together."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from setlearn.metrics._reading import json_ready, read_named_pair, sample_mean
from setlearn.metrics.sets import Overlaps
from setlearn.ordering import canonical_rank
from setlearn.set_reading import Samples

__all__ = ["LabelFigures", "LabelReport", "MeanFigures", "aligned_table", "label_report"]


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """The figures of one label.

    Attributes
    ----------
    label : hashable
        The label itself, or the name or number of its column.
    precision, recall, f1 : float
        From 0 to 1: the share of its predictions that are correct, the share of its true
        occurrences that were predicted, and the harmonic mean of both.
    support, predicted : int
        The number of true and of predicted sets that hold it.
    """

    label: Hashable
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """Precision, recall and F1 of all labels together."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class LabelReport:
    """The result of `label_report`; ``str()`` is a table, ``to_dict()`` is ready for JSON.

    Attributes
    ----------
    labels : tuple of LabelFigures
        The figures of each label, the most frequent first, then by name.
    macro : MeanFigures
        Means over labels, in which rare labels count as much as frequent ones.
    micro : MeanFigures
        The figures of all decisions together, in which each occurrence counts the same.

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
        """Return one dictionary of figures per label."""
        return [asdict(figures) | {"label": json_ready(figures.label)} for figures in self.labels]

    def to_dict(self) -> dict[str, Any]:
        """Return the means by name, and the labels as in `to_list`."""
        return {
            "macro": asdict(self.macro),
            "micro": asdict(self.micro),
            "labels": self.to_list(),
        }

    def __str__(self) -> str:
        rows = [
            (str(figures.label), *_ratios(figures), str(figures.support), str(figures.predicted))
            for figures in self.labels
        ]
        support = sum(figures.support for figures in self.labels)
        predicted = sum(figures.predicted for figures in self.labels)
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
    """Compute precision, recall and F1 of every label that occurs on either side.

    An undefined ratio is 0: the precision of a label that was never predicted, and the recall of
    one that is never true. A column that is empty on both sides is left out, as it is with sets;
    a score of 1 for it would only raise the means.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`. Columns of a DataFrame in ``Y_true`` are the names of the labels.

    Returns
    -------
    LabelReport
        The figures of each label, and their means, which are 1 if all sets are empty. Print it
        for a table.

    Raises
    ------
    DataError
        If the shapes differ, or there are no samples.
    KindError
        If one side has sets and the other is an indicator.

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
    # Transposed: for each label, the set of samples that hold it.
    overlaps = Overlaps.of(pair.true.T, pair.predicted.T)
    columns = (
        overlaps.precision,
        overlaps.recall,
        overlaps.f1,
        overlaps.true,
        overlaps.predicted,
    )
    figures = map(LabelFigures, pair.labels, *(column.tolist() for column in columns))
    ranked = sorted(figures, key=lambda label: (-label.support, canonical_rank(label.label)))
    return LabelReport(tuple(ranked), macro=_means(overlaps), micro=_means(_summed(overlaps)))


def aligned_table(rows: Sequence[Sequence[str]]) -> str:
    """Lay out rows as a table: the first column aligned left, all others aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _summed(overlaps: Overlaps) -> Overlaps:
    """Add up the counts of all labels, as if they were one label."""
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
