"""How similar rows are to the training rows: the kernels of ridge regression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from setlearn.learners.row_draws import drawn_rows
from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = [
    "CityBlock",
    "Cosine",
    "Similarity",
    "interpolated_ranks",
    "new_ranker",
    "standardised",
    "standardised_ranks",
    "unit_rows",
]

MOST_RANKS = 200
ROWS_FOR_MEDIAN = 300
COPIED_ROWS = 128
RANKED_ROWS = 4096
FEW_ROWS = 16
"""For so many rows it is faster to compare with all quantiles than to search in those of each
feature."""


class Similarity(ABC):
    """Keeps training rows and compares other rows with them."""

    widths: tuple[float, ...]
    """The widths to choose from, for ``kernel``."""
    ridges: tuple[float, ...]
    """The ridges to choose from."""
    train_: Any
    """The training rows, in the form in which they are compared."""

    @abstractmethod
    def fit(self, X: Any) -> Self:
        """Keep the training rows."""

    @property
    def n_rows(self) -> int:
        """The number of training rows."""
        return int(self.train_.shape[0])

    @abstractmethod
    def rows(self, chosen: IntArray) -> Self:
        """The same with only the given training rows."""

    @abstractmethod
    def compare(self, X: Any = None) -> FloatArray:
        """Compare each row of X, or else each training row, with each training row."""

    @abstractmethod
    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """Turn comparisons into similarities, 1 for equal rows.

        Parameters
        ----------
        compared : array of shape (n, training rows)
            From ``compare``.
        width : float

        Returns
        -------
        array of shape (n, training rows)
        """


@savable()
class CityBlock(Similarity):
    """The Laplace kernel exp(-width · distance), for dense rows.

    The distance is the sum of absolute differences, half of it between standardised values and
    half between ranks. So outliers and skewed features do little harm, and both order and size
    count.

    Parameters
    ----------
    relevance : array of shape (features,), optional
        What differences in each feature are multiplied by. By default all count the same.
    """

    widths: tuple[float, ...] = (1.0, 2.0, 4.0)
    ridges: tuple[float, ...] = (0.1, 1.0)

    def __init__(self, relevance: FloatArray | None = None) -> None:
        self.relevance = relevance

    def fit(self, X: Any) -> Self:
        """Keep the training rows."""
        self.scaler_ = StandardScaler().fit(X)
        self.ranker_ = new_ranker(X)
        rows = drawn_rows(len(X), ROWS_FOR_MEDIAN)
        # In units of their medians both distances count the same for any number of features.
        self.units_ = [2 * _median_distance(part) for part in self._parts(X[rows])]
        self.train_ = self._scaled(X).astype(np.float32)
        return self

    def rows(self, chosen: IntArray) -> Self:
        """The same with only the given training rows."""
        part = type(self)(self.relevance)
        part.scaler_, part.ranker_, part.units_ = self.scaler_, self.ranker_, self.units_
        part.train_ = self.train_[chosen]
        return part

    def compare(self, X: Any = None) -> FloatArray:
        """Distances to the training rows."""
        if X is None:
            return squareform(pdist(self.train_, "cityblock"))
        rows = self._scaled(X)
        distances = np.empty((len(rows), len(self.train_)))
        # A part at a time: cdist needs a copy in float64.
        for start in range(0, len(self.train_), COPIED_ROWS):
            part = slice(start, start + COPIED_ROWS)
            distances[:, part] = cdist(rows, self.train_[part], "cityblock")
        return distances

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """Similarities from distances."""
        similarities: FloatArray = np.exp(-width * compared)
        return similarities

    def _scaled(self, X: Any) -> FloatArray:
        parts = zip(self._parts(X), self.units_, strict=True)
        return np.hstack([part / unit for part, unit in parts])

    def _parts(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Standardised values, and ranks."""
        values, ranks = standardised(X, self.scaler_), _ranks(X, self.ranker_)
        if self.relevance is None:
            return values, ranks
        return values * self.relevance, ranks * self.relevance


@savable()
class Cosine(Similarity):
    """The cosine between sparse rows, as usual for texts; it has no width."""

    widths: tuple[float, ...] = (1.0,)
    ridges: tuple[float, ...] = (0.3, 1.0, 3.0)

    def fit(self, X: Any) -> Self:
        """Keep the training rows."""
        self.train_ = unit_rows(X)
        return self

    def rows(self, chosen: IntArray) -> Self:
        """The same with only the given training rows."""
        part = type(self)()
        part.train_ = self.train_[chosen]
        return part

    def compare(self, X: Any = None) -> FloatArray:
        """Cosines with the training rows."""
        rows = self.train_ if X is None else unit_rows(X)
        # In this order the transposed copy that SciPy makes is that of a few rows.
        return np.ascontiguousarray((self.train_ @ rows.T).toarray().T)

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """The cosines, unchanged."""
        return compared


def standardised(X: FloatArray, scaler: StandardScaler) -> FloatArray:
    """What the scaler's ``transform`` returns, for one row in a fraction of the time.

    Parameters
    ----------
    X : array of shape (n, features)
    scaler : StandardScaler
        Fitted.

    Returns
    -------
    array of shape (n, features)
    """
    values: FloatArray = (X - scaler.mean_) / scaler.scale_
    return values


def new_ranker(X: FloatArray) -> QuantileTransformer:
    """Learn the quantiles of each feature."""
    n_quantiles = min(MOST_RANKS, len(X))
    return QuantileTransformer(n_quantiles=n_quantiles, subsample=None).fit(X)


def standardised_ranks(X: FloatArray, ranker: QuantileTransformer) -> FloatArray:
    """Ranks among the training rows, with mean 0 and variance 1 for a feature without ties.

    Parameters
    ----------
    X : array of shape (n, features)
    ranker : QuantileTransformer
        From `new_ranker`.

    Returns
    -------
    array of shape (n, features)
    """
    ranks: FloatArray = (_ranks(X, ranker) - 0.5) * np.sqrt(12)
    return ranks


def _ranks(X: FloatArray, ranker: QuantileTransformer) -> FloatArray:
    return interpolated_ranks(X, ranker.quantiles_, ranker.references_)


def interpolated_ranks(X: FloatArray, quantiles: FloatArray, references: FloatArray) -> FloatArray:
    """The rank of each value among the quantiles of its feature, from 0 to 1.

    Does what `QuantileTransformer.transform` does, but for one row in a tenth of the time.

    Parameters
    ----------
    X : array of shape (n, features)
    quantiles : array of shape (q, features)
        Ascending.
    references : array of shape (q,)
        The ranks of the quantiles.

    Returns
    -------
    array of shape (n, features)
    """
    ranks = np.empty(X.shape)
    for start in range(0, len(X), RANKED_ROWS):
        rows = slice(start, start + RANKED_ROWS)
        ranks[rows] = _ranks_of_some(X[rows], quantiles, references)
    return ranks


def _ranks_of_some(X: FloatArray, quantiles: FloatArray, references: FloatArray) -> FloatArray:
    x = np.clip(X, quantiles[0], quantiles[-1])
    last = len(quantiles) - 1
    # A value that equals several quantiles gets the mean of the first and the last of their ranks.
    n_below, n_up_to = _counts(x, quantiles)
    lower, upper = np.clip(n_up_to - 1, 0, last), np.clip(n_below, 0, last)
    low, high = (np.take_along_axis(quantiles, k, axis=0) for k in (lower, upper))
    is_between = lower < upper
    share = np.divide(x - low, high - low, out=np.full(x.shape, 0.5), where=is_between)
    first, second = references[np.minimum(lower, upper)], references[np.maximum(lower, upper)]
    ranks: FloatArray = first + share * (second - first)
    # However many quantiles equal them, the smallest value has rank 0 and the largest rank 1.
    ranks[quantiles[-1] <= X] = 1.0
    ranks[quantiles[0] >= X] = 0.0
    return ranks


def _counts(x: FloatArray, quantiles: FloatArray) -> tuple[IntArray, IntArray]:
    """How many quantiles of the feature are below each value, and how many are not above it."""
    if len(x) <= FEW_ROWS:
        compared = quantiles[:, None, :]
        return (compared < x).sum(axis=0), (compared <= x).sum(axis=0)
    columns = list(zip(quantiles.T, x.T, strict=True))
    below, up_to = (
        np.column_stack([np.searchsorted(q, values, side) for q, values in columns])
        for side in ("left", "right")
    )
    return below, up_to


def unit_rows(X: Any) -> sparse.csr_array:
    """Sparse rows scaled to length 1; rows of zeros stay as they are."""
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    largest, squares = np.zeros((2, rows.shape[0]))
    np.maximum.at(largest, row, np.abs(rows.data))
    # Divided by their largest entry first, whose square might be too large or too small.
    rows.data /= np.where(largest > 0, largest, 1)[row]
    np.add.at(squares, row, rows.data**2)
    rows.data /= np.sqrt(np.where(squares > 0, squares, 1))[row]
    return rows


def _median_distance(rows: FloatArray) -> float:
    """The median over all pairs; 1 if most rows are equal."""
    return float(np.median(squareform(pdist(rows, "cityblock")))) or 1.0
