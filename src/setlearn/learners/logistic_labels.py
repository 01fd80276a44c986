"""Logistic regression for all labels at once, on dense rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from setlearn.learners.held_out import held_out_parts
from setlearn.learners.log_loss import log_loss
from setlearn.learners.row_draws import drawn_rows
from setlearn.learners.similarity import new_ranker, standardised, standardised_ranks
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.row_blocks import product_by_rows
from setlearn.savable import savable

__all__ = ["LogisticLabels"]

PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
"""What half the sum of squared coefficients is multiplied by, from much to little."""
FOLDS = 5
ROWS_TO_CHOOSE_ON, LABELS_TO_CHOOSE_ON = 2000, 30
"""If there are more, the penalty is chosen on a random part of them."""
MOST_ENTRIES, LEAST_ROWS = 12_000_000, 16_000
"""The largest number of entries of X to learn from, in more rows than the second number: more rows
of few features change little, and with many features they would take too much memory."""
FARTHEST = 8.0
"""Values farther from the mean, in standard deviations, count as this far: outliers must not
decide."""
MOST_ITERATIONS = 100
TOLERANCE = 1e-6


@savable(parts={"scaler_": (StandardScaler,), "ranker_": (QuantileTransformer, None)})
class LogisticLabels:
    """P(label | x) by logistic regression on standardised values, and on ranks if that is better.

    Ranks help where features are skewed. Whether they are used, and the penalty, are chosen by the
    log loss on held-out rows, for all labels together.
    """

    def fit_held_out(self, X: Any, Y: BoolArray, weight: FloatArray, rows: IntArray) -> FloatArray:
        """Fit, and answer for training rows by models that have not seen them.

        Parameters
        ----------
        X : array of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.
        rows : array of int
            The training rows to answer for.

        Returns
        -------
        array of shape (rows, labels)
        """
        used = drawn_rows(len(Y), max(LEAST_ROWS, MOST_ENTRIES // X.shape[1]))
        if len(used) < len(Y):
            used = np.union1d(used, rows)
            X, Y, weight, rows = X[used], Y[used], weight[used], np.searchsorted(used, rows)
        (n, n_labels), weight = Y.shape, np.broadcast_to(weight, Y.shape)
        some = np.ix_(drawn_rows(n, ROWS_TO_CHOOSE_ON), drawn_rows(n_labels, LABELS_TO_CHOOSE_ON))
        self.scaler_ = StandardScaler().fit(X)
        settings = []
        for ranker in (None, new_ranker(X)) if X.shape[1] < n else (None,):
            self.ranker_ = ranker
            features = _rotated(self._features(X[some[0].ravel()]))
            settings.append((*_best_penalty(features, Y[some], weight[some]), ranker))
        _, self.penalty_, held_out, self.ranker_ = min(settings, key=lambda setting: setting[0])
        features = self._features(X)
        if held_out.shape != Y.shape:
            parts = held_out_parts(n, rows, FOLDS)
            held_out, _ = _held_out(_rotated(features), Y, weight, self.penalty_, parts)
        self.coefficients_ = _minimised(features, Y, weight, self.penalty_)
        return held_out[rows]

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels)."""
        coefficients, intercepts = self.coefficients_[:-1], self.coefficients_[-1]
        logits = product_by_rows(self._features(X), coefficients) + intercepts
        probabilities: FloatArray = expit(logits)
        return probabilities

    def _features(self, X: Any) -> FloatArray:
        values = standardised(X, self.scaler_)
        if self.ranker_ is not None:
            # Divided, so that a feature counts as much as if it were there once.
            both = [values, standardised_ranks(X, self.ranker_)]
            values = np.hstack(both) / np.sqrt(len(both))
        return np.clip(values, -FARTHEST, FARTHEST)


def _best_penalty(
    features: FloatArray, Y: BoolArray, weight: FloatArray
) -> tuple[float, float, FloatArray]:
    """The least log loss on held-out rows, its penalty, and the held-out probabilities."""
    best: tuple[float, float, FloatArray] | None = None
    # Not by place, because neighbours are often similar.
    parts, starts = held_out_parts(len(Y), np.arange(len(Y)), FOLDS), None
    for penalty in PENALTIES:
        probabilities, starts = _held_out(features, Y, weight, penalty, parts, starts)
        loss = log_loss(probabilities, Y, weight)
        if best is not None and loss >= best[0]:  # with less of a penalty it gets even worse
            break
        best = loss, penalty, probabilities
    assert best is not None
    return best


def _held_out(
    features: FloatArray,
    Y: BoolArray,
    weight: FloatArray,
    penalty: float,
    parts: list[BoolArray],
    starts: list[FloatArray] | None = None,
) -> tuple[FloatArray, list[FloatArray]]:
    """Probabilities by models that have not seen the row, and the coefficients of these models.

    ``parts`` are the rows that each model leaves out, and ``starts`` coefficients to begin with,
    such as those for another penalty.
    """
    probabilities = np.empty(Y.shape)
    found = []
    for k, held in enumerate(parts):
        others = held if held.all() else ~held
        start = None if starts is None else starts[k]
        coefficients = _minimised(features[others], Y[others], weight[others], penalty, start)
        probabilities[held] = expit(features[held] @ coefficients[:-1] + coefficients[-1])
        found.append(coefficients)
    return probabilities, found


def _minimised(
    features: FloatArray,
    Y: BoolArray,
    weight: FloatArray,
    penalty: float,
    start: FloatArray | None = None,
) -> FloatArray:
    """Coefficients with the least penalised log loss; the last row holds the intercepts."""
    shape = (features.shape[1] + 1, Y.shape[1])
    share = np.broadcast_to(weight / np.maximum(weight.sum(axis=0), 1e-12), Y.shape)
    right = (share * Y).sum(axis=0)
    if start is None:
        start = np.zeros(shape)
        start[-1] = np.log((right + 1 / len(Y)) / (1 - right + 1 / len(Y)))
    # Single precision is enough here, and faster.
    features, share = features.astype(np.float32), share.astype(np.float32)
    shared_targets = share * Y

    def loss_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients = flat.reshape(shape)
        logits = features @ coefficients[:-1].astype(np.float32)  # (n, labels)
        logits += coefficients[-1].astype(np.float32)
        small = np.exp(-np.abs(logits))
        probabilities = np.where(logits >= 0, np.float32(1), small) / (1 + small)
        losses = share * (np.maximum(logits, 0) + np.log1p(small)) - shared_targets * logits
        loss = losses.sum(dtype=np.float64)
        loss += penalty / 2 * np.vdot(coefficients[:-1], coefficients[:-1])
        error = share * probabilities - shared_targets
        gradient = np.empty(shape)
        gradient[:-1] = features.T @ error + penalty * coefficients[:-1]
        gradient[-1] = error.sum(axis=0, dtype=np.float64)
        return float(loss), gradient.ravel()

    found = minimize(
        loss_and_gradient,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_ITERATIONS, "ftol": TOLERANCE},
    )
    coefficients: FloatArray = found.x.reshape(shape)
    return coefficients


def _rotated(features: FloatArray) -> FloatArray:
    """The same rows in as many coordinates as there are rows, if there are more features.

    Products of rows stay as they are, so a penalised regression gives the same answers.
    """
    n, n_features = features.shape
    if n_features <= n:
        return features
    squares, directions = np.linalg.eigh(features @ features.T)
    rotated: FloatArray = directions * np.sqrt(np.maximum(squares, 0))
    return rotated
