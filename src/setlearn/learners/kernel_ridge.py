"""Kernel ridge regression for all labels at once, calibrated without a single further fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from setlearn.learners.platt import Platt, log_loss
from setlearn.learners.similarity import CityBlock, Cosine, Similarity
from setlearn.nodes import BoolArray, FloatArray

__all__ = ["KernelLabels"]

ROWS_TO_CHOOSE_ON = 2000
CHUNK_ENTRIES = 8_000_000


class KernelLabels:
    """P(label | x) by ridge regression on how alike x and each training row are.

    One factorisation serves all labels, and its inverse holds each row's decision as it would be
    had the row been left out. From these the kernel's width and the ridge are chosen (by log-loss)
    and decisions are turned into probabilities: what a support vector machine needs inner folds
    for. Time grows with the cube of the rows, memory with their square.
    """

    def fit(self, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        """Choose width and ridge, and solve."""
        self.similarity_ = Cosine().fit(X) if sparse.issparse(X) else CityBlock().fit(X)
        n = len(Y)
        # Evenly spread rows are as good as random ones here, and need no seed.
        some = np.linspace(0, n - 1, min(n, ROWS_TO_CHOOSE_ON)).astype(np.intp)
        width, ridge = _best_setting(self.similarity_.rows(some), Y[some], weight[some])
        self.width_, self.ridge_ = width, ridge
        kernel = self.similarity_.kernel(self.similarity_.compare(), width)
        self.mean_: FloatArray = np.average(_targets(Y), weights=weight, axis=0)
        self.dual_, left_out = _solve(kernel, _targets(Y) - self.mean_, ridge, weight)
        self.platt_ = Platt.fit(left_out + self.mean_, Y, weight)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Each label's probability, (n, labels)."""
        n, n_train = X.shape[0], len(self.dual_)
        probabilities = np.empty((n, self.dual_.shape[1]))
        size = max(1, CHUNK_ENTRIES // n_train)
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            kernel = self.similarity_.kernel(self.similarity_.compare(X[rows]), self.width_)
            probabilities[rows] = self.platt_(kernel @ self.dual_ + self.mean_)
        return probabilities


def _best_setting(similarity: Similarity, Y: BoolArray, weight: FloatArray) -> tuple[float, float]:
    """The width and ridge with the best log-loss on left-out rows; of equals the smoothest."""
    compared = similarity.compare()
    mean = np.average(_targets(Y), weights=weight, axis=0)
    losses = {}
    for width in similarity.widths:
        kernel = similarity.kernel(compared, width)
        for ridge in similarity.ridges:
            decisions = _solve(kernel, _targets(Y) - mean, ridge, weight)[1] + mean
            probabilities = Platt.fit(decisions, Y, weight)(decisions)
            losses[width, ridge] = log_loss(probabilities, Y, weight)
    return min(losses, key=lambda setting: losses[setting])


def _targets(Y: BoolArray) -> FloatArray:
    return np.where(Y, 1.0, -1.0)


def _solve(
    kernel: FloatArray, targets: FloatArray, ridge: float, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Dual coefficients, and the decisions of rows that were left out, both (n, labels).

    A row of weight w is fitted as w rows would be: its own ridge is 1/w of the others'.
    """
    system = kernel.copy()
    system[np.diag_indices_from(system)] += ridge * weight.mean() / weight
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    dual: FloatArray = cho_solve(factor, targets, check_finite=False)
    inverse, _ = dpotri(factor[0], lower=True, overwrite_c=True)
    return dual, targets - dual / np.diag(inverse)[:, None]
