"""Ridge regression for all labels at once, calibrated on left-out rows without further fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from setlearn.learners.held_out import judged_rows
from setlearn.learners.kernel_choice import CentredTargets, KernelChoice, solve_kernel
from setlearn.learners.platt import Platt, cross_fitted
from setlearn.learners.row_draws import drawn_rows
from setlearn.learners.similarity import Similarity, unit_rows
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.row_blocks import product_by_rows
from setlearn.savable import savable

__all__ = ["KernelLabels", "LandmarkLabels", "RidgeLabels", "SparseRidgeLabels"]

CHUNK_ENTRIES = 8_000_000
LANDMARKS = 2000
JITTER = 1e-6
"""Added to the diagonal of a kernel matrix whose rows may be equal."""
CLOSEST_TO_ONE = 1e-9
"""The smallest distance of a row's own influence from 1, which would mean that it alone decides."""


class RidgeLabels(ABC):
    """P(label | x) by ridge regression on targets of 1 and -1.

    One factorisation serves all labels, and it gives each row's decision value as if the row had
    been left out. These values are used to choose the width and the ridge, and to calibrate the
    probabilities, for which other learners would need inner folds.
    """

    largest_held_out_share: ClassVar[float] = 1.0
    """The share of the training rows that it can answer for as if they had been left out."""

    width_: float
    ridge_: float
    mean_: FloatArray
    platt_: Platt

    def fit_held_out(self, X: Any, Y: BoolArray, weight: FloatArray, rows: IntArray) -> FloatArray:
        """Fit, and return the probabilities that training rows have if they are left out.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.
        rows : array of int
            The training rows to answer for.

        Returns
        -------
        array of shape (rows, labels)
        """
        judged = judged_rows(len(Y), rows)
        decisions = self._fit_decisions(X, Y, weight, judged)[np.searchsorted(judged, rows)]
        return cross_fitted(decisions, Y[rows], weight[rows])

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels)."""
        probabilities = np.empty((X.shape[0], len(self.mean_)))
        for rows in _chunks(X.shape[0], self._width_of_rows):
            probabilities[rows] = self.platt_(self._decisions(X[rows]) + self.mean_)
        return probabilities

    def _fit_decisions(
        self, X: Any, Y: BoolArray, weight: FloatArray, judged: IntArray
    ) -> FloatArray:
        """Fit and calibrate, and return the decision values of rows if left out, (rows, labels)."""
        choice, targets = KernelChoice.of(X, Y, weight), CentredTargets.of(Y, weight)
        self.width_, self.ridge_, self.mean_ = choice.width, choice.ridge, targets.mean
        decisions = self._solve(X, choice.similarity, targets, judged) + self.mean_
        self.platt_ = Platt.fit(decisions, Y[judged], weight[judged])
        return decisions

    @abstractmethod
    def _solve(
        self, X: Any, similarity: Similarity, targets: CentredTargets, judged: IntArray
    ) -> FloatArray:
        """Learn the coefficients; the decision values of rows if left out, (rows, labels)."""

    @abstractmethod
    def _decisions(self, X: Any) -> FloatArray:
        """Decision values without the mean, (n, labels)."""

    @property
    @abstractmethod
    def _width_of_rows(self) -> int:
        """How many numbers a row needs while its decision values are computed."""


@savable()
class KernelLabels(RidgeLabels):
    """Ridge regression on the similarity of x to each training row.

    The kernel is that of `CityBlock` for dense rows and that of `Cosine` for sparse ones. Time
    grows with the cube of the number of rows, memory with its square.
    """

    def _solve(
        self, X: Any, similarity: Similarity, targets: CentredTargets, judged: IntArray
    ) -> FloatArray:
        self.similarity_ = similarity
        kernel = similarity.kernel(similarity.compare(), self.width_)
        self.dual_, left_out = solve_kernel(kernel, targets, self.ridge_)
        return left_out if len(judged) == len(left_out) else left_out[judged]

    def _decisions(self, X: Any) -> FloatArray:
        kernel = self.similarity_.kernel(self.similarity_.compare(X), self.width_)
        return product_by_rows(kernel, self.dual_)

    @property
    def _width_of_rows(self) -> int:
        return len(self.dual_)


class PrimalRidge(RidgeLabels):
    """Ridge regression on a few features of x, whatever the number of rows.

    The decision values of left-out rows follow from the inverse of the features' matrix: time
    grows with the number of rows, and memory does not grow.
    """

    coefficients_: FloatArray  # (features, labels)

    @abstractmethod
    def _features(self, X: Any) -> Any:
        """The features of rows, (n, features)."""

    def _solve_primal(
        self, X: Any, penalty: FloatArray, targets: CentredTargets, judged: IntArray
    ) -> FloatArray:
        """As `_solve`; ``penalty`` is the matrix that the ridge multiplies."""
        values, weight = targets.values, targets.weight
        system = self.ridge_ * penalty
        product = np.zeros((len(penalty), values.shape[1]))
        for rows in _chunks(len(values), len(penalty)):
            features = self._features(X[rows])
            system += self._products(features, weight[rows])
            product += features.T @ (weight[rows, None] * values[rows])
        factor, _ = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        coefficients = cho_solve((factor, True), product, check_finite=False)
        self.coefficients_ = np.ascontiguousarray(coefficients)  # else products copy it each time
        inverse, _ = dpotri(factor, lower=True, overwrite_c=True)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        left_out = values[judged]
        for part in _chunks(len(judged), len(penalty)):
            chosen = judged[part]
            features = self._features(X[chosen])
            influence = weight[chosen] * self._norms(features, inverse)
            rest = np.maximum(1 - influence, CLOSEST_TO_ONE)[:, None]
            left_out[part] -= (values[chosen] - features @ self.coefficients_) / rest
        return left_out

    def _products(self, features: Any, weight: FloatArray) -> FloatArray:
        """The weighted sum over rows of the products of all pairs of features."""
        products: FloatArray = (features.T * weight) @ features
        return products

    def _norms(self, features: Any, inverse: FloatArray) -> FloatArray:
        """The squared length of each row, measured by a matrix."""
        norms: FloatArray = np.einsum("np,np->n", features @ inverse, features)
        return norms

    @property
    def _width_of_rows(self) -> int:
        return len(self.coefficients_)


@savable()
class LandmarkLabels(PrimalRidge):
    """Ridge regression on the similarity of x to some of the training rows: Nyström's method.

    For dense rows that are too many for `KernelLabels`.
    """

    def _solve(
        self, X: Any, similarity: Similarity, targets: CentredTargets, judged: IntArray
    ) -> FloatArray:
        self.similarity_ = similarity.rows(drawn_rows(similarity.n_rows, LANDMARKS))
        penalty = self.similarity_.kernel(self.similarity_.compare(), self.width_)
        penalty[np.diag_indices_from(penalty)] += JITTER
        return self._solve_primal(X, penalty, targets, judged)

    def _features(self, X: Any) -> FloatArray:
        return self.similarity_.kernel(self.similarity_.compare(X), self.width_)

    def _decisions(self, X: Any) -> FloatArray:
        return product_by_rows(self._features(X), self.coefficients_)


@savable()
class SparseRidgeLabels(PrimalRidge):
    """Ridge regression on sparse rows of length 1, if they have fewer features than rows.

    It answers as `KernelLabels` does, whose kernel for sparse rows is the cosine.
    """

    def _solve(
        self, X: Any, similarity: Similarity, targets: CentredTargets, judged: IntArray
    ) -> FloatArray:
        return self._solve_primal(X, np.eye(X.shape[1]), targets, judged)

    def _features(self, X: Any) -> sparse.csr_array:
        return unit_rows(X)

    def _decisions(self, X: Any) -> FloatArray:
        decisions: FloatArray = self._features(X) @ self.coefficients_
        return decisions

    def _products(self, features: Any, weight: FloatArray) -> FloatArray:
        products: FloatArray = (features.multiply(weight[:, None]).T @ features).toarray()
        return products

    def _norms(self, features: Any, inverse: FloatArray) -> FloatArray:
        return np.asarray(features.multiply(features @ inverse).sum(axis=1)).ravel()


def _chunks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices of rows that need that many numbers each."""
    size = max(1, CHUNK_ENTRIES // max(1, width))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
