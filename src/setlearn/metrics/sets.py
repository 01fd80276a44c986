"""Metrics that count each element of a predicted set as right or wrong.

All of them are computed from three numbers per sample: the sizes of the true set, of the
predicted set and of their intersection. A ratio with denominator 0 is 1 if both sets are empty,
because that is a perfect prediction, and 0 otherwise.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from setlearn.errors import ParameterError
from setlearn.metrics._reading import read_indicator, read_indicator_pair, sample_mean
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.set_reading import Samples

__all__ = [
    "exact_match",
    "hamming_distance",
    "mean_f1",
    "mean_jaccard",
    "mean_precision",
    "mean_recall",
    "mean_set_size",
]


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """The sizes from which every metric of this file is computed, one of each per sample.

    A sample of which no label is known has no metric: it is nan.
    """

    shared: IntArray
    true: IntArray
    predicted: IntArray
    n_labels: int
    n_unknown_of: IntArray | None = None  # how many labels are unknown; None if all are known

    @classmethod
    def of(cls, Y_true: Samples, Y_pred: Samples) -> Self:
        """Count the elements of both sides and of their intersections.

        Sparse indicators are never made dense.

        Parameters
        ----------
        Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
            As for `mean_f1`.

        Returns
        -------
        Overlaps
            The sizes.

        Raises
        ------
        DataError, KindError
            As for `mean_f1`.
        """
        true, predicted, unknown = read_indicator_pair(Y_true, Y_pred)
        shared = true.multiply(predicted).tocsr()
        n_shared, n_true, n_predicted = (np.diff(m.indptr) for m in (shared, true, predicted))
        n_unknown = None if unknown is None else np.diff(unknown.indptr)
        return cls(n_shared, n_true, n_predicted, n_labels=true.shape[1], n_unknown_of=n_unknown)

    @property
    def is_labelled(self) -> BoolArray:
        """Of which samples something is known."""
        if self.n_unknown_of is None:
            return np.ones(len(self.true), dtype=bool)
        return self.n_unknown_of < self.n_labels

    @property
    def n_unknown(self) -> int:
        """The number of unknown entries."""
        return 0 if self.n_unknown_of is None else int(self.n_unknown_of.sum())

    @property
    def f1(self) -> FloatArray:
        """The harmonic mean of precision and recall: 2 |shared| / (|true| + |predicted|)."""
        return self._share(2 * self.shared, self.true + self.predicted)

    @property
    def precision(self) -> FloatArray:
        """The share of the predicted set that is true."""
        return self._share(self.shared, self.predicted)

    @property
    def controlled_precision(self) -> FloatArray:
        """The share of the predicted set that is true; 1 if it is empty, as nothing is wrong."""
        return self._of_labelled(np.where(self.predicted == 0, 1.0, self.precision))

    @property
    def recall(self) -> FloatArray:
        """The share of the true set that was predicted."""
        return self._share(self.shared, self.true)

    @property
    def controlled_recall(self) -> FloatArray:
        """The share of the true set that was predicted; 1 if it is empty: nothing is missing."""
        return self._of_labelled(np.where(self.true == 0, 1.0, self.recall))

    @property
    def jaccard(self) -> FloatArray:
        """The size of the intersection divided by that of the union."""
        return self._share(self.shared, self.true + self.predicted - self.shared)

    @property
    def exact(self) -> FloatArray:
        """1 if the two sets are equal, else 0."""
        equal = (self.shared == self.true) & (self.shared == self.predicted)
        return self._of_labelled(equal.astype(float))

    def hamming(self, n_labels: int | IntArray | None = None) -> FloatArray:
        """Return the share of all labels on which the two sets differ."""
        different = self.true + self.predicted - 2 * self.shared
        n_labels = self.n_labels if n_labels is None else n_labels
        return self._of_labelled(different / np.maximum(1, n_labels))  # no labels: no difference

    def sizes(self, side: IntArray) -> FloatArray:
        """The size of each true or predicted set."""
        return self._of_labelled(side.astype(float))

    def _share(self, part: IntArray, whole: IntArray) -> FloatArray:
        both_empty = (self.true + self.predicted == 0).astype(float)
        return self._of_labelled(np.divide(part, whole, out=both_empty, where=whole > 0))

    def _of_labelled(self, values: FloatArray) -> FloatArray:
        return values if self.n_unknown_of is None else np.where(self.is_labelled, values, np.nan)


def mean_f1(Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None) -> float:
    """F1 of the true and the predicted set, averaged over samples: the paper's mF1.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        A set may be a set, frozenset, list or tuple of labels. An indicator may be an array, a
        DataFrame or a sparse matrix. Both sides must be sets, or both indicators. Lists are read
        as sets; turn rows of 0 and 1 into an indicator with ``np.array``. An entry of an indicator
        ``Y_true`` that is NaN is unknown, and left out of both sides.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        From 0 to 1. Two empty sets score 1, an empty and a non-empty one 0.

    Raises
    ------
    DataError
        If the two sides differ in length or columns, there are no samples, an indicator holds
        other values than 0 and 1, or the weights cannot be used.
    KindError
        If one side has sets and the other is an indicator, or a sample is not a set.

    Examples
    --------
    >>> round(mean_f1([{"sea", "sun"}, {"city"}], [{"sea"}, {"city"}]), 3)
    0.833
    >>> import numpy as np
    >>> mean_f1(np.array([[1, 1, 0], [0, 0, 1]]), np.array([[1, 1, 0], [0, 1, 0]]))
    0.5
    """
    return sample_mean(Overlaps.of(Y_true, Y_pred).f1, sample_weight)


def exact_match(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of samples whose predicted set equals the true one.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    DataError, KindError
        As for `mean_f1`.

    Examples
    --------
    >>> exact_match([{"sea", "sun"}, {"city"}, set()], [{"sea"}, {"city"}, {"sun"}])
    0.3333333333333333
    """
    return sample_mean(Overlaps.of(Y_true, Y_pred).exact, sample_weight)


def mean_precision(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of each predicted set that is true, averaged over samples.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        From 0 to 1. An empty prediction scores 1 if the true set is empty too, else 0.

    Raises
    ------
    DataError, KindError
        As for `mean_f1`.

    Examples
    --------
    >>> mean_precision([{"sea", "sun"}, {"city"}], [{"sea"}, {"city", "sun"}])
    0.75
    """
    return sample_mean(Overlaps.of(Y_true, Y_pred).precision, sample_weight)


def mean_recall(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of each true set that was predicted, averaged over samples.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        From 0 to 1. An empty true set scores 1 if the prediction is empty too, else 0.

    Raises
    ------
    DataError, KindError
        As for `mean_f1`.

    Examples
    --------
    >>> mean_recall([{"sea", "sun"}, {"city"}], [{"sea"}, {"city", "sun"}])
    0.75
    """
    return sample_mean(Overlaps.of(Y_true, Y_pred).recall, sample_weight)


def mean_jaccard(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Size of the intersection over that of the union, averaged over samples.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        From 0 to 1. Two empty sets score 1.

    Raises
    ------
    DataError, KindError
        As for `mean_f1`.

    Examples
    --------
    >>> mean_jaccard([{"sea", "sun"}, {"city"}], [{"sea"}, {"city"}])
    0.75
    """
    return sample_mean(Overlaps.of(Y_true, Y_pred).jaccard, sample_weight)


def hamming_distance(
    Y_true: Samples,
    Y_pred: Samples,
    *,
    n_labels: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of all labels on which the two sets differ, averaged over samples.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`.
    n_labels : int, optional
        The number of all labels. By default the number of columns; for sets, the number of
        distinct labels on either side.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        From 0, if all sets are equal, to 1.

    Raises
    ------
    DataError, KindError
        As for `mean_f1`.
    ParameterError
        If ``n_labels`` is less than the number of labels that occur.

    Examples
    --------
    >>> hamming_distance([{"sea", "sun"}, {"city"}], [{"sea"}, {"city"}], n_labels=5)
    0.1
    """
    overlaps = Overlaps.of(Y_true, Y_pred)
    _check_n_labels(n_labels, overlaps.n_labels)
    return sample_mean(overlaps.hamming(n_labels), sample_weight)


def mean_set_size(Y: Samples, *, sample_weight: ArrayLike | None = None) -> float:
    """Size of the sets, averaged over samples.

    Parameters
    ----------
    Y : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        The sets.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.

    Returns
    -------
    float
        The mean size.

    Raises
    ------
    DataError, KindError
        As for `mean_f1`.

    Examples
    --------
    >>> mean_set_size([{"sea", "sun"}, {"city"}, set()])
    1.0
    """
    return sample_mean(np.diff(read_indicator(Y).indptr).astype(float), sample_weight)


def _check_n_labels(n_labels: int | None, n_used: int) -> None:
    if n_labels is not None and (not isinstance(n_labels, Integral) or n_labels < n_used):
        raise ParameterError(
            f"n_labels must be a whole number and at least the {n_used} labels that Y_true and "
            f"Y_pred have, got {n_labels!r}; leave it out to use this number"
        )
