"""How similar rows are to the training rows: the kernels of ridge regression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.preprocessing import QuantileTransformer, StandardScaler, normalize

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["CityBlock", "Cosine", "Similarity", "unit_rows"]

MOST_RANKS = 200
ROWS_FOR_MEDIAN = 1000


class Similarity(ABC):
    """Keeps training rows and compares other rows with them."""

    widths: tuple[float, ...]
    """The widths to choose from, for ``kernel``."""
    ridges: tuple[float, ...]
    """The ridges to choose from."""

    @abstractmethod
    def fit(self, X: Any) -> Self:
        """Keep the training rows."""

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
    """

    widths: tuple[float, ...] = (1.0, 2.0, 4.0)
    ridges: tuple[float, ...] = (0.1, 1.0)

    def fit(self, X: Any) -> Self:
        """Keep the training rows."""
        n = len(X)
        self.scaler_ = StandardScaler().fit(X)
        self.ranker_ = QuantileTransformer(n_quantiles=min(MOST_RANKS, n), subsample=None).fit(X)
        rows = np.linspace(0, n - 1, min(n, ROWS_FOR_MEDIAN)).astype(np.intp)
        # In units of their medians both distances count the same for any number of features.
        self.units_ = [
            2 * _median_distance(scaler.transform(X[rows]))
            for scaler in (self.scaler_, self.ranker_)
        ]
        self.train_ = self._scaled(X).astype(np.float32)
        return self

    def rows(self, chosen: IntArray) -> Self:
        """The same with only the given training rows."""
        part = type(self)()
        part.scaler_, part.ranker_, part.units_ = self.scaler_, self.ranker_, self.units_
        part.train_ = self.train_[chosen]
        return part

    def compare(self, X: Any = None) -> FloatArray:
        """Distances to the training rows."""
        distances: FloatArray = manhattan_distances(
            self.train_ if X is None else self._scaled(X), self.train_
        )
        return distances

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """Similarities from distances."""
        similarities: FloatArray = np.exp(-width * compared)
        return similarities

    def _scaled(self, X: Any) -> FloatArray:
        parts = (self.scaler_.transform(X), self.ranker_.transform(X))
        return np.hstack([part / unit for part, unit in zip(parts, self.units_, strict=True)])


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
        cosines: FloatArray = (rows @ self.train_.T).toarray()
        return cosines

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """The cosines, unchanged."""
        return compared


def unit_rows(X: Any) -> sparse.csr_array:
    """Sparse rows scaled to length 1."""
    unit: sparse.csr_array = normalize(sparse.csr_array(X).astype(np.float64))
    return unit


def _median_distance(rows: FloatArray) -> float:
    """The median over all pairs; 1 if most rows are equal."""
    return float(np.median(manhattan_distances(rows))) or 1.0
