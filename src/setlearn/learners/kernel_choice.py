"""Which kernel suits the data: the relevance of features, a width and a ridge.

All are chosen by the log loss on left-out rows, which kernel ridge regression knows without further
fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from sklearn.ensemble import ExtraTreesRegressor

from setlearn.learners.log_loss import row_losses
from setlearn.learners.platt import Platt
from setlearn.learners.row_draws import drawn_folds, drawn_rows
from setlearn.learners.set_forest import tree_targets
from setlearn.learners.similarity import CityBlock, Cosine, Similarity
from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["CentredTargets", "KernelChoice", "solve_kernel"]

ROWS_TO_CHOOSE_ON, ROWS_TO_JUDGE_ON = 2000, 1200
"""The largest numbers of rows that a setting is chosen on, and that relevances are judged on."""
MOST_ROWS = 16_000
"""Of more rows, so many are enough for scales, ranks, importances and rows to compare with."""
EXPONENTS = (0.5, 1.0)
"""The powers of the importances that are tried as relevances; 0 would treat all features alike."""
LEAST_ERRORS = 2.0
"""By how many standard errors relevances must lower the loss to be used."""
RELEVANCE_TREES = 40


@dataclass(frozen=True, slots=True, eq=False)
class CentredTargets:
    """What ridge regression is fitted on: 1 and -1, minus the mean of each label.

    Unknown entries have the mean itself. A guess from other rows would be better, but these rows
    would then find their own labels in it when they are left out.
    """

    values: FloatArray  # (n, labels), 0 where unknown
    mean: FloatArray  # (labels,)
    weight: FloatArray  # (n,), with a mean of 1: what matters is how weights compare

    @classmethod
    def of(cls, Y: BoolArray, weight: FloatArray) -> Self:
        """Turn an indicator into targets.

        Parameters
        ----------
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.

        Returns
        -------
        CentredTargets
        """
        values = np.where(Y, 1.0, -1.0)
        total = np.broadcast_to(weight, Y.shape).sum(axis=0)
        mean = (weight * values).sum(axis=0) / np.maximum(total, 1e-12)
        of_row = weight.max(axis=1)
        return cls(np.where(weight > 0, values - mean, 0), mean, of_row / of_row.mean())


@dataclass(frozen=True, slots=True, eq=False)
class KernelChoice:
    """A kernel with its training rows, or some of them, its width, and the ridge."""

    similarity: Similarity
    width: float
    ridge: float

    @classmethod
    def of(cls, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        """Choose on 2000 rows at most, for a kernel that keeps 16,000 at most.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.

        Returns
        -------
        KernelChoice
        """
        kept = drawn_rows(len(Y), MOST_ROWS)
        if len(kept) < len(Y):
            X, Y, weight = X[kept], Y[kept], weight[kept]
        rows = drawn_rows(len(Y), ROWS_TO_CHOOSE_ON)
        similarities = [s.fit(X) for s in _similarities(X[rows], Y[rows], weight[rows])]
        settings = [_best_setting(s.rows(rows), Y[rows], weight[rows]) for s in similarities]
        best = int(np.argmin([losses.mean() for _, _, losses in settings]))
        width, ridge, _ = settings[best]
        return cls(similarities[best], width, ridge)


def solve_kernel(
    kernel: FloatArray, targets: CentredTargets, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Solve kernel ridge regression.

    A row of weight w counts like w rows: its ridge is divided by w.

    Parameters
    ----------
    kernel : array of shape (n, n)
    targets : CentredTargets
    ridge : float

    Returns
    -------
    dual : array of shape (n, labels)
    left_out : array of shape (n, labels)
        Each row's decision value if it is left out.
    """
    system = kernel.copy()
    system[np.diag_indices_from(system)] += ridge / targets.weight
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    dual: FloatArray = cho_solve(factor, targets.values, check_finite=False)
    inverse, _ = dpotri(factor[0], lower=True, overwrite_c=True)
    return dual, targets.values - dual / np.diag(inverse)[:, None]


def _best_setting(
    similarity: Similarity, Y: BoolArray, weight: FloatArray
) -> tuple[float, float, FloatArray]:
    """The width and ridge with the least log loss on left-out rows, and the loss of each row."""
    compared, targets = similarity.compare(), CentredTargets.of(Y, weight)
    losses = {}
    for width in similarity.widths:
        kernel = similarity.kernel(compared, width)
        for ridge in similarity.ridges:
            decisions = solve_kernel(kernel, targets, ridge)[1] + targets.mean
            probabilities = Platt.fit(decisions, Y, weight)(decisions)
            losses[width, ridge] = row_losses(probabilities, Y, weight)
    width, ridge = min(losses, key=lambda setting: losses[setting].mean())
    return width, ridge, losses[width, ridge]


def _similarities(X: Any, Y: BoolArray, weight: FloatArray) -> list[Similarity]:
    """What to compare rows by, not fitted; there is a choice only for dense rows."""
    if sparse.issparse(X):
        return [Cosine()]
    return [CityBlock(relevance) for relevance in _relevances(X, Y, weight)]


def _relevances(X: FloatArray, Y: BoolArray, weight: FloatArray) -> list[FloatArray | None]:
    """How much each feature may count; None, where all count the same, is always possible.

    Importances that come from the same rows as the loss look better than they are. So they are
    first judged on the half of the rows that they do not come from.
    """
    n = len(Y)
    if n < 4:
        return [None]
    rows = drawn_rows(n, ROWS_TO_JUDGE_ON)
    half = drawn_folds(len(rows), 2)
    halves = rows[half == 0], rows[half == 1]
    parts = []
    for source, judged in (halves, halves[::-1]):
        importances = _importances(X, Y, weight, source)
        relevances = [None, *(importances**exponent for exponent in EXPONENTS)]
        similarities = [CityBlock(relevance).fit(X[judged]) for relevance in relevances]
        parts.append([_best_setting(s, Y[judged], weight[judged])[2] for s in similarities])
    usual, *losses = np.concatenate(parts, axis=1)  # of each row
    best = int(np.mean(losses, axis=1).argmin())
    gain = usual - losses[best]
    if gain.mean() <= LEAST_ERRORS * gain.std() / np.sqrt(len(rows)):
        return [None]
    return [None, _importances(X, Y, weight, np.arange(n)) ** EXPONENTS[best]]


def _importances(X: FloatArray, Y: BoolArray, weight: FloatArray, rows: IntArray) -> FloatArray:
    """The importance of each feature for trees, 1 for the most important one."""
    trees = ExtraTreesRegressor(
        RELEVANCE_TREES, max_features=1 / 3, min_samples_leaf=5, random_state=0
    )
    trees.fit(X[rows], tree_targets(Y[rows]), sample_weight=weight[rows].max(axis=1))
    # Rounding makes those of features that hardly matter negative, and a root of them nan.
    importances: FloatArray = np.maximum(trees.feature_importances_, 0)
    largest = importances.max()
    return importances / largest if largest > 0 else np.ones_like(importances)
