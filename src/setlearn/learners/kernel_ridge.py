"""Kernel ridge regression for all labels at once, calibrated without further fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.special import expit
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.preprocessing import QuantileTransformer, StandardScaler, normalize

from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["CityBlock", "Cosine", "KernelLabels", "Platt", "Similarity"]

ROWS_TO_CHOOSE_ON = 2000
CHUNK_ENTRIES = 8_000_000
MOST_RANKS = 200
ROWS_FOR_MEDIAN = 1000
MOST_NEWTON_STEPS = 50
STEEPEST = 50.0
"""The largest slope of a calibration curve: without it, separable decisions would give a step."""


@savable()
class KernelLabels:
    """P(label | x) by ridge regression on the similarity of x to each training row.

    One factorisation serves all labels, and its inverse gives each row's decision value as if the
    row had been left out. These values are used to choose the kernel's width and the ridge (by log
    loss) and to calibrate the probabilities, for which a support vector machine would need inner
    folds. Time grows with the cube of the number of rows, memory with its square.
    """

    def fit(self, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        """Choose the width and the ridge, and solve.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n,)
            All above 0.

        Returns
        -------
        self
        """
        self.similarity_ = Cosine().fit(X) if sparse.issparse(X) else CityBlock().fit(X)
        n = len(Y)
        # Evenly spaced rows are as good as random ones here, and need no seed.
        rows = np.linspace(0, n - 1, min(n, ROWS_TO_CHOOSE_ON)).astype(np.intp)
        width, ridge = _best_setting(self.similarity_.rows(rows), Y[rows], weight[rows])
        self.width_, self.ridge_ = width, ridge
        kernel = self.similarity_.kernel(self.similarity_.compare(), width)
        self.mean_: FloatArray = np.average(_targets(Y), weights=weight, axis=0)
        self.dual_, left_out = _solve(kernel, _targets(Y) - self.mean_, ridge, weight)
        self.platt_ = Platt.fit(left_out + self.mean_, Y, weight)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels)."""
        n, n_train = X.shape[0], len(self.dual_)
        probabilities = np.empty((n, self.dual_.shape[1]))
        size = max(1, CHUNK_ENTRIES // n_train)
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            kernel = self.similarity_.kernel(self.similarity_.compare(X[rows]), self.width_)
            probabilities[rows] = self.platt_(kernel @ self.dual_ + self.mean_)
        return probabilities


def _best_setting(similarity: Similarity, Y: BoolArray, weight: FloatArray) -> tuple[float, float]:
    """The width and ridge with the best log loss on left-out rows; the first of equals."""
    compared = similarity.compare()
    mean = np.average(_targets(Y), weights=weight, axis=0)
    losses = {}
    for width in similarity.widths:
        kernel = similarity.kernel(compared, width)
        for ridge in similarity.ridges:
            decisions = _solve(kernel, _targets(Y) - mean, ridge, weight)[1] + mean
            probabilities = Platt.fit(decisions, Y, weight)(decisions)
            losses[width, ridge] = _log_loss(probabilities, Y, weight)
    return min(losses, key=lambda setting: losses[setting])


def _targets(Y: BoolArray) -> FloatArray:
    return np.where(Y, 1.0, -1.0)


def _solve(
    kernel: FloatArray, targets: FloatArray, ridge: float, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Dual coefficients, and each row's decision value if left out, both (n, labels).

    A row of weight w counts like w rows: its ridge is divided by w.
    """
    system = kernel.copy()
    system[np.diag_indices_from(system)] += ridge * weight.mean() / weight
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    dual: FloatArray = cho_solve(factor, targets, check_finite=False)
    inverse, _ = dpotri(factor[0], lower=True, overwrite_c=True)
    return dual, targets - dual / np.diag(inverse)[:, None]


class Similarity(ABC):
    """Keeps the training rows and compares other rows with them."""

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
        self.train_ = self._scaled(X)
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
        self.train_ = _unit_rows(X)
        return self

    def rows(self, chosen: IntArray) -> Self:
        """The same with only the given training rows."""
        part = type(self)()
        part.train_ = self.train_[chosen]
        return part

    def compare(self, X: Any = None) -> FloatArray:
        """Cosines with the training rows."""
        rows = self.train_ if X is None else _unit_rows(X)
        cosines: FloatArray = (rows @ self.train_.T).toarray()
        return cosines

    def kernel(self, compared: FloatArray, width: float) -> FloatArray:
        """The cosines, unchanged."""
        return compared


def _median_distance(rows: FloatArray) -> float:
    """The median over all pairs; 1 if most rows are equal."""
    return float(np.median(manhattan_distances(rows))) or 1.0


def _unit_rows(X: Any) -> sparse.csr_array:
    unit: sparse.csr_array = normalize(sparse.csr_array(X).astype(np.float64))
    return unit


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Platt:
    """One logistic curve per label: P = 1 / (1 + exp(-(slope · decision + intercept)))."""

    slope: FloatArray  # (labels,), never negative
    intercept: FloatArray

    @classmethod
    def fit(cls, decisions: FloatArray, Y: BoolArray, weight: FloatArray) -> Self:
        """Fit all curves together by Newton's method on held-out decision values.

        As in Platt's paper, the targets are moved away from 0 and 1, the more the fewer rows there
        are, so that a perfectly separated label does not get probabilities of 0 and 1.

        Parameters
        ----------
        decisions : array of shape (n, labels)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n,)

        Returns
        -------
        Platt
        """
        weight = weight / weight.mean()
        right = weight @ Y
        wrong = weight.sum() - right
        target = np.where(Y, (right + 1) / (right + 2), 1 / (wrong + 2))
        slope, intercept = np.zeros(Y.shape[1]), np.log((right + 1) / (wrong + 1))
        for _ in range(MOST_NEWTON_STEPS):
            p = expit(slope * decisions + intercept)
            error = weight[:, None] * (p - target)
            curve = weight[:, None] * np.maximum(p * (1 - p), 1e-6)
            # The small terms keep the 2 × 2 systems solvable if all decisions are equal.
            a = (curve * decisions**2).sum(axis=0) + 1e-3
            b, c = (curve * decisions).sum(axis=0), curve.sum(axis=0) + 1e-6
            g, h = (error * decisions).sum(axis=0) + 1e-3 * slope, error.sum(axis=0)
            determinant = a * c - b * b
            # Bounded, because far from the optimum Newton steps are too long.
            step = np.clip(np.array([c * g - b * h, a * h - b * g]) / determinant, -2, 2)
            slope, intercept = np.clip(slope - step[0], 0, STEEPEST), intercept - step[1]
            if np.abs(step).max(initial=0) < 1e-6:
                break
        return cls(slope, intercept)

    def __call__(self, decisions: FloatArray) -> FloatArray:
        """Probabilities from decision values (n, labels)."""
        probabilities: FloatArray = expit(self.slope * decisions + self.intercept)
        return probabilities


def _log_loss(probabilities: FloatArray, Y: BoolArray, weight: FloatArray) -> float:
    """The mean negative log-likelihood per label."""
    chance = np.clip(np.where(Y, probabilities, 1 - probabilities), 1e-12, 1)
    return float(-np.average(np.log(chance).mean(axis=1), weights=weight))
