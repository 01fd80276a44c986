"""One support vector machine per label, for texts that are too many and too long for a kernel."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from setlearn.learners.platt import Platt, cross_fitted
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.progress import progress
from setlearn.savable import savable

__all__ = ["LinearLabels"]

CERTAIN = 10.0
"""The decision value of a label that all rows have."""
SMALLEST_COEFFICIENT = 0.01
"""Smaller coefficients count as 0, as most are. That changes answers little and models much."""
CHUNK_ENTRIES = 8_000_000


@savable(parts={"platt_": (Platt, None)})
class LinearLabels:
    """P(label | x) by one linear support vector machine per label, on sparse rows of length 1.

    Their decision values for rows that they have not seen are turned into probabilities. For
    texts this is faster than logistic regression, and more accurate.
    """

    largest_held_out_share: ClassVar[float] = 0.2
    """The share of the rows that a second fit may leave out."""

    platt_: Platt | None

    def fit_held_out(self, X: Any, Y: BoolArray, weight: FloatArray, rows: IntArray) -> FloatArray:
        """Fit on all rows, and answer for the given ones by models that have not seen them.

        Parameters
        ----------
        X : sparse matrix of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.
        rows : array of int
            The rows to answer for. Models are fitted on the others.

        Returns
        -------
        array of shape (rows, labels)
        """
        others = np.setdiff1d(np.arange(len(Y)), rows)
        with progress("fitting", [len(others), len(Y)]) as advance:
            part = type(self)()._fit_machines(X[others], Y[others], weight[others])
            held_out = part._decisions(X[rows])
            advance()
            self._fit_machines(X, Y, weight)
        self.platt_ = Platt.fit(held_out, Y[rows], weight[rows])
        return cross_fitted(held_out, Y[rows], weight[rows])

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels)."""
        n, n_labels = X.shape[0], self.coefficients_.shape[1]
        probabilities = np.empty((n, n_labels))
        size = max(1, CHUNK_ENTRIES // n_labels)
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            decisions = self._decisions(X[rows])
            # Models of older versions are logistic regressions.
            probabilities[rows] = (
                expit(decisions) if self.platt_ is None else self.platt_(decisions)
            )
        return probabilities

    def _fit_machines(self, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        self.scaler_ = Normalizer().fit(X)
        rows = _with_short_indices(self.scaler_.transform(X))
        model = LinearSVC(C=1.0, dual=True, tol=1e-2, random_state=0)
        columns = []
        with progress("fitting labels", Y.shape[1]) as advance:
            for right, counts in zip(Y.T, np.broadcast_to(weight, Y.shape).T, strict=True):
                known = counts > 0
                if right[known].all() or not right[known].any():
                    intercept = CERTAIN if right[known].any() else -CERTAIN
                    column = np.append(np.zeros(X.shape[1]), intercept)
                else:
                    relative = counts[known] / counts[known].mean()
                    model.fit(rows[known], right[known], sample_weight=relative)
                    large = np.abs(model.coef_[0]) >= SMALLEST_COEFFICIENT
                    column = np.append(np.where(large, model.coef_[0], 0.0), model.intercept_)
                columns.append(sparse.csc_array(column[:, None].astype(np.float32)))
                advance()
        self.coefficients_ = sparse.csr_array(sparse.hstack(columns))  # (features + 1, labels)
        return self

    def _decisions(self, X: Any) -> FloatArray:
        """Decision values (n, labels)."""
        values = sparse.csr_array(self._with_ones(X) @ self.coefficients_)
        decisions: FloatArray = values.toarray().astype(np.float64)
        return decisions

    def _with_ones(self, X: Any) -> sparse.csr_array:
        """Scaled rows with one more feature, which is 1: its coefficients are the intercepts."""
        rows = sparse.csr_array(self.scaler_.transform(X))
        return sparse.csr_array(
            sparse.hstack([rows, sparse.csr_array(np.ones((rows.shape[0], 1)))])
        )


def _with_short_indices(rows: Any) -> sparse.csr_array:
    """The same with indices of 32 bits, which is all that support vector machines read."""
    indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_array((rows.data, indices, indptr), shape=rows.shape)
