"""Where predicted sets fail: by label, by size, and sample by sample."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from setlearn.errors import ParameterError
from setlearn.metrics._reading import NamedPair, json_ready, read_named_pair, sample_mean
from setlearn.metrics.sets import Overlaps
from setlearn.ordering import canonical_rank
from setlearn.set_reading import Samples

__all__ = [
    "LabelFigures",
    "LabelReport",
    "MeanFigures",
    "SizeTable",
    "WorstSample",
    "aligned_table",
    "label_report",
    "size_table",
    "worst_samples",
]


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


@dataclass(frozen=True, slots=True)
class SizeTable:
    """The result of `size_table`; ``str()`` is a table, ``to_dict()`` is ready for JSON.

    Attributes
    ----------
    sizes : tuple of str
        The sizes of the rows and the columns: "0", "1" and so on up to the largest size on
        either side. The last may be a group such as "8+".
    counts : tuple of tuples of int
        The number of samples by the size of the true set (rows) and the predicted set (columns).

    Examples
    --------
    >>> table = size_table([{"sea", "sun"}, {"city"}], [{"sea"}, set()])
    >>> table.sizes
    ('0', '1', '2')
    >>> table.counts
    ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    """

    sizes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes, and the counts with one list per true size."""
        return {"sizes": list(self.sizes), "counts": [list(row) for row in self.counts]}

    def __str__(self) -> str:
        with_sums = [(*row, sum(row)) for row in self.counts]
        with_sums.append(tuple(map(sum, zip(*with_sums, strict=True))))
        names = (*self.sizes, "all")
        rows = [(name, *map(str, row)) for name, row in zip(names, with_sums, strict=True)]
        return aligned_table([("true / predicted", *names), *rows])


def size_table(Y_true: Samples, Y_pred: Samples, *, most: int = 8) -> SizeTable:
    """Count the samples by the size of their true and of their predicted set.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`.
    most : int
        Sets of this size or larger are counted together.

    Returns
    -------
    SizeTable
        The counts. Print it for a table with sums.

    Raises
    ------
    DataError
        If the shapes differ, or there are no samples.
    KindError
        If one side has sets and the other is an indicator.
    ParameterError
        If ``most`` is not a whole number of 1 or more.

    Examples
    --------
    >>> print(size_table([{1, 2}, {3}, {4, 5, 6}], [{1}, {3}, {4, 5}], most=2))
    true / predicted  0  1  2+  all
    0                 0  0   0    0
    1                 0  1   0    1
    2+                0  1   1    2
    all               0  2   1    3
    """
    if not isinstance(most, Integral) or isinstance(most, bool) or most < 1:
        raise ParameterError(
            f"most must be a whole number of 1 or more, got {most!r}; "
            f"pass the size from which sets are counted together"
        )
    overlaps = Overlaps.of(Y_true, Y_pred)
    known = overlaps.is_labelled
    true = np.minimum(overlaps.true[known], most)
    predicted = np.minimum(overlaps.predicted[known], most)
    largest = int(max(true.max(), predicted.max()))
    counts = np.zeros((largest + 1, largest + 1), dtype=np.intp)
    np.add.at(counts, (true, predicted), 1)
    sizes = [str(size) for size in range(largest + 1)]
    if largest == most:
        sizes[-1] += "+"
    return SizeTable(tuple(sizes), tuple(map(tuple, counts.tolist())))


@dataclass(frozen=True, slots=True)
class WorstSample:
    """A sample whose predicted set is not exactly the true one.

    Attributes
    ----------
    index : int
        The number of the sample, counted from 0.
    f1 : float
        The F1 of its true and its predicted set.
    missed : frozenset
        True elements that were not predicted.
    wrong : frozenset
        Predicted elements that are not true.

    Examples
    --------
    >>> worst = worst_samples([{"sea", "sun"}, {"city"}], [{"sea"}, {"city"}])
    >>> worst[0].index, worst[0].missed
    (0, frozenset({'sun'}))
    """

    index: int
    f1: float
    missed: frozenset[Hashable]
    wrong: frozenset[Hashable]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, with the sets as sorted lists, ready for JSON."""
        return {
            "index": self.index,
            "f1": self.f1,
            "missed": json_ready(self.missed),
            "wrong": json_ready(self.wrong),
        }


def worst_samples(Y_true: Samples, Y_pred: Samples, n: int = 10) -> list[WorstSample]:
    """Find the samples with the lowest F1.

    Samples with the same F1 are ordered by the number of missed and wrong elements, the most
    first, then by index. Perfect predictions are never listed.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`. Columns of a DataFrame in ``Y_true`` are the names of the labels.
    n : int
        How many samples to list. There are fewer if all others are perfect.

    Returns
    -------
    list of WorstSample
        The worst sample first.

    Raises
    ------
    DataError
        If the shapes differ, or there are no samples.
    KindError
        If one side has sets and the other is an indicator.
    ParameterError
        If ``n`` is not a whole number of 1 or more.

    Examples
    --------
    >>> for sample in worst_samples([{1}, {1, 2}, {3}], [{1}, {2}, {4}]):
    ...     print(sample)
    WorstSample(index=2, f1=0.0, missed=frozenset({3}), wrong=frozenset({4}))
    WorstSample(index=1, f1=0.6666666666666666, missed=frozenset({1}), wrong=frozenset())
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ParameterError(
            f"n must be a whole number of 1 or more, got {n!r}; pass how many samples to list"
        )
    pair = read_named_pair(Y_true, Y_pred)
    overlaps = Overlaps.of(pair.true, pair.predicted)
    n_errors = overlaps.true + overlaps.predicted - 2 * overlaps.shared
    imperfect = np.flatnonzero(n_errors)
    ranked = imperfect[np.lexsort((imperfect, -n_errors[imperfect], overlaps.f1[imperfect]))]
    return [_describe(pair, int(i), float(overlaps.f1[i])) for i in ranked[:n]]


def _describe(pair: NamedPair, index: int, f1: float) -> WorstSample:
    true, predicted = (_row(side, index, pair.labels) for side in (pair.true, pair.predicted))
    return WorstSample(index, f1, missed=true - predicted, wrong=predicted - true)


def _row(matrix: sparse.csr_array, row: int, labels: list[Hashable]) -> frozenset[Hashable]:
    columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return frozenset(labels[k] for k in columns.tolist())
