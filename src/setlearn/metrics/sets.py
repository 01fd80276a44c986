"""How near predicted sets come to the true ones, when an element is either right or wrong.

Everything rests on three numbers a sample: the sizes of the true set, of the predicted set and
of what they share. Wherever a share is undefined because its whole is empty, it is 1 if both
sets are empty, which is a perfect answer, and 0 otherwise.
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
    """The sizes that every metric of this file is made of, one of each a sample."""

    shared: IntArray
    true: IntArray
    predicted: IntArray
    n_labels: int

    @classmethod
    def of(cls, Y_true: Samples, Y_pred: Samples) -> Self:
        """Count what the two sides share, without ever making a sparse indicator dense."""
        true, predicted = read_indicator_pair(Y_true, Y_pred)
        shared = true.multiply(predicted).tocsr()
        n_shared, n_true, n_predicted = (np.diff(m.indptr) for m in (shared, true, predicted))
        return cls(n_shared, n_true, n_predicted, n_labels=true.shape[1])

    @property
    def f1(self) -> FloatArray:
        """The harmonic mean of precision and recall: 2 |shared| / (|true| + |predicted|)."""
        return self._share(2 * self.shared, self.true + self.predicted)

    @property
    def precision(self) -> FloatArray:
        """The share of the predicted set that is true."""
        return self._share(self.shared, self.predicted)

    @property
    def recall(self) -> FloatArray:
        """The share of the true set that was predicted."""
        return self._share(self.shared, self.true)

    @property
    def jaccard(self) -> FloatArray:
        """The share of the union that lies on both sides."""
        return self._share(self.shared, self.true + self.predicted - self.shared)

    @property
    def exact(self) -> BoolArray:
        """Whether the two sets are equal."""
        return np.asarray((self.shared == self.true) & (self.shared == self.predicted))

    def hamming(self, n_labels: int | None = None) -> FloatArray:
        """Take the share of all labels on which the two sets differ."""
        different = self.true + self.predicted - 2 * self.shared
        whole = self.n_labels if n_labels is None else n_labels
        return np.asarray(different / max(1, whole))  # where no label exists, no set differs

    def _share(self, part: IntArray, whole: IntArray) -> FloatArray:
        both_empty = (self.true + self.predicted == 0).astype(float)
        return np.asarray(np.divide(part, whole, out=both_empty, where=whole > 0))


def mean_f1(Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None) -> float:
    """F1 of the true and the predicted set, averaged over samples: the paper's mF1.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        Sets may be sets, frozensets, lists or tuples of labels; an indicator may be an array, a
        DataFrame or sparse. Both sides are sets, or both are indicators. Lists are sets: wrap
        rows of 0 and 1 in ``np.array`` to make them an indicator.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts; all the same by default.

    Returns
    -------
    float
        From 0 to 1. Two empty sets score 1, an empty and a non-empty one 0.

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

    Takes what `mean_f1` takes.

    Examples
    --------
    >>> exact_match([{"sea", "sun"}, {"city"}, set()], [{"sea"}, {"city"}, {"sun"}])
    0.3333333333333333
    """
    return sample_mean(Overlaps.of(Y_true, Y_pred).exact.astype(float), sample_weight)


def mean_precision(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of each predicted set that is true, averaged over samples.

    Takes what `mean_f1` takes. An empty prediction scores 1 if nothing was to be found, else 0.

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

    Takes what `mean_f1` takes. An empty truth scores 1 if nothing was predicted, else 0.

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

    Takes what `mean_f1` takes. Two empty sets score 1.

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

    Takes what `mean_f1` takes, and one thing more.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        What is true and what was predicted.
    n_labels : int, optional
        How many labels there are. By default the number of columns; of sets, the number of
        distinct labels met on either side.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts; all the same by default.

    Returns
    -------
    float
        From 0, all sets equal, to 1.

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

    Takes one side of what `mean_f1` takes.

    Examples
    --------
    >>> mean_set_size([{"sea", "sun"}, {"city"}, set()])
    1.0
    """
    return sample_mean(np.diff(read_indicator(Y).indptr).astype(float), sample_weight)


def _check_n_labels(n_labels: int | None, n_met: int) -> None:
    if n_labels is not None and (not isinstance(n_labels, Integral) or n_labels < n_met):
        raise ParameterError(
            f"n_labels must be a whole number and at least the {n_met} labels that Y_true and "
            f"Y_pred have, got {n_labels!r}; leave it out to use these"
        )
