"""How alike two rows are: kernels that look only at what inputs of any scale have in common."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.preprocessing import QuantileTransformer, StandardScaler, normalize

from setlearn.nodes import FloatArray, IntArray

__all__ = ["CityBlock", "Cosine", "Similarity"]

MOST_RANKS = 200
ROWS_FOR_MEDIAN = 1000


class Similarity(Protocol):
    """Knows the training rows, and compares others with them."""

    widths: tuple[float, ...]
    """What may be passed to ``kernel``; the best one is for the learner to find."""
    ridges: tuple[float, ...]
    """How much to smooth, to choose from likewise."""

    def fit(self, X: Any) -> Self:
        """Remember the training rows."""
        ...

    def rows(self, chosen: IntArray) -> Self:
        """The same, with the given training rows alone."""
        ...

    def compare(self, X: Any = None) -> FloatArray:
        """What ``kernel`` needs of each row with each training row; without X, of these."""
        ...

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """How alike they are, 1 for equal rows."""
        ...


class CityBlock:
    """exp(-width · distance) for dense rows: Laplace's kernel.

    The distance is the sum of absolute differences, in half between standardised values and in
    half between ranks: outliers and skewed features cost little, and order and size both count.
    """

    widths: tuple[float, ...] = (1.0, 2.0, 4.0)
    ridges: tuple[float, ...] = (0.1, 1.0)

    def fit(self, X: Any) -> Self:
        """Remember the training rows."""
        n = len(X)
        self.scaler_ = StandardScaler().fit(X)
        self.ranker_ = QuantileTransformer(n_quantiles=min(MOST_RANKS, n), subsample=None).fit(X)
        some = np.linspace(0, n - 1, min(n, ROWS_FOR_MEDIAN)).astype(np.intp)
        # In units of the median both distances count alike, whatever the number of features.
        self.units_ = [
            2 * _median_distance(place.transform(X[some])) for place in (self.scaler_, self.ranker_)
        ]
        self.train_ = self._placed(X)
        return self

    def rows(self, chosen: IntArray) -> Self:
        """The same, with the given training rows alone."""
        part = type(self)()
        part.scaler_, part.ranker_, part.units_ = self.scaler_, self.ranker_, self.units_
        part.train_ = self.train_[chosen]
        return part

    def compare(self, X: Any = None) -> FloatArray:
        """Distances to the training rows."""
        distances: FloatArray = manhattan_distances(
            self.train_ if X is None else self._placed(X), self.train_
        )
        return distances

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """From distances to similarities."""
        similar: FloatArray = np.exp(-width * compared)
        return similar

    def _placed(self, X: Any) -> FloatArray:
        parts = (self.scaler_.transform(X), self.ranker_.transform(X))
        return np.hstack([part / unit for part, unit in zip(parts, self.units_, strict=True)])


class Cosine:
    """The angle between sparse rows, as usual for texts; it has no width."""

    widths: tuple[float, ...] = (1.0,)
    ridges: tuple[float, ...] = (0.3, 1.0, 3.0)

    def fit(self, X: Any) -> Self:
        """Remember the training rows."""
        self.train_ = normalize(X.astype(np.float64))
        return self

    def rows(self, chosen: IntArray) -> Self:
        """The same, with the given training rows alone."""
        part = type(self)()
        part.train_ = self.train_[chosen]
        return part

    def compare(self, X: Any = None) -> FloatArray:
        """Cosines with the training rows."""
        rows = self.train_ if X is None else normalize(X.astype(np.float64))
        cosines: FloatArray = (rows @ self.train_.T).toarray()
        return cosines

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """The cosines as they are."""
        return compared


def _median_distance(rows: FloatArray) -> float:
    """The median over pairs; 1 where most rows are equal."""
    return float(np.median(manhattan_distances(rows))) or 1.0
