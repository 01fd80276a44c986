"""Probabilities from decision values: one logistic curve per label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit

from setlearn.learners.row_draws import drawn_folds
from setlearn.nodes import BoolArray, FloatArray
from setlearn.savable import savable

__all__ = ["Platt", "cross_fitted"]

BLOCK_ENTRIES = 1_000_000
"""Decision values whose curves are fitted together: 8 MB per temporary array."""
FOLDS = 3
MOST_NEWTON_STEPS = 50
LONGEST = 4.0
"""The longest step of Newton's method: far from the optimum it asks for steps that are too long."""
SMALLEST_STEP = 1e-4
"""A curve that moves less than this, in units of its standardised input, is done."""
STEEPEST = 50.0
"""The largest slope of a curve: without it, separable decisions would give a step."""


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
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.

        Returns
        -------
        Platt
        """
        n, n_labels = Y.shape
        size = max(1, BLOCK_ENTRIES // n)
        weights = np.broadcast_to(weight / weight[weight > 0].mean(), Y.shape)
        labels = [slice(k, k + size) for k in range(0, n_labels, size)]
        blocks = [cls._fit_block(decisions[:, k], Y[:, k], weights[:, k]) for k in labels]
        slope, intercept = np.concatenate([np.empty((2, 0)), *blocks], axis=1)
        return cls(slope, intercept)

    @staticmethod
    def _fit_block(decisions: FloatArray, Y: BoolArray, weight: FloatArray) -> FloatArray:
        """Slopes and intercepts (2, labels) of some labels."""
        right, total = np.einsum("nl,nl->l", weight, Y), weight.sum(axis=0)
        wrong = total - right
        target = np.where(Y, (right + 1) / (right + 2), 1 / (wrong + 2)).T  # (labels, n)
        some = np.maximum(total, 1e-12)  # a part of the rows may have no known entry
        centre = np.einsum("nl,nl->l", weight, decisions) / some
        centred = (decisions - centre).T
        unit = np.sqrt(np.einsum("ln,nl->l", centred**2, weight) / some)
        unit = np.where(unit > 0, unit, 1.0)
        slope, intercept = _logistic_curves(
            centred / unit[:, None],
            target,
            np.ascontiguousarray(weight.T),
            start=np.log((right + 1) / (wrong + 1)),
            steepest=STEEPEST * unit,
        )
        return np.array([slope / unit, intercept - slope / unit * centre])

    def __call__(self, decisions: FloatArray) -> FloatArray:
        """Probabilities from decision values (n, labels)."""
        probabilities: FloatArray = expit(self.slope * decisions + self.intercept)
        return probabilities


def cross_fitted(decisions: FloatArray, Y: BoolArray, weight: FloatArray) -> FloatArray:
    """The probability of each row from curves that were fitted on other rows.

    Parameters
    ----------
    decisions : array of shape (n, labels)
    Y : array of bool of shape (n, labels)
    weight : array of shape (n, 1) or (n, labels)
        0 for entries that are unknown.

    Returns
    -------
    array of shape (n, labels)
    """
    n = len(Y)
    if n <= FOLDS:
        return Platt.fit(decisions, Y, weight)(decisions)
    fold = drawn_folds(n, FOLDS)
    probabilities = np.empty(Y.shape)
    for k in range(FOLDS):
        held, others = fold == k, fold != k
        curves = Platt.fit(decisions[others], Y[others], weight[others])
        probabilities[held] = curves(decisions[held])
    return probabilities


def _logistic_curves(
    inputs: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    *,
    start: FloatArray,
    steepest: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Slopes and intercepts of one curve per row of inputs, target and weight, all (labels, n).

    Newton's method, for all curves together. A step after which the loss is larger is halved, and
    curves that are done are left out of the next step.
    """
    slope, intercept = np.zeros(len(inputs)), start.copy()
    step, least_loss = np.zeros((2, len(inputs))), np.full(len(inputs), np.inf)
    active = np.arange(len(inputs))
    for _ in range(MOST_NEWTON_STEPS):
        logits = slope[active, None] * inputs + intercept[active, None]
        loss = np.einsum("ln,ln->l", np.logaddexp(0, logits) - target * logits, weight)
        newton = _newton_step(expit(logits), inputs, target, weight, slope[active])
        # A slope that would leave its range stays at the bound, and the intercept moves alone.
        is_out = (slope[active] < newton[0]) | (slope[active] - newton[0] > steepest[active])
        newton[1] = np.where(is_out, newton[2], newton[1])
        too_far = loss > least_loss[active] * (1 + 1e-12)
        move = np.where(too_far, -step[:, active] / 2, np.clip(newton[:2], -LONGEST, LONGEST))
        new_slope = np.clip(slope[active] - move[0], 0, steepest[active])
        move[0] = slope[active] - new_slope
        slope[active], intercept[active] = new_slope, intercept[active] - move[1]
        step[:, active] = np.where(too_far, -move, move)
        least_loss[active] = np.where(too_far, least_loss[active], loss)
        goes_on = np.abs(move).max(axis=0) > SMALLEST_STEP
        if not goes_on.any():
            break
        active = active[goes_on]
        inputs, target, weight = inputs[goes_on], target[goes_on], weight[goes_on]
    return slope, intercept


def _newton_step(
    p: FloatArray, inputs: FloatArray, target: FloatArray, weight: FloatArray, slope: FloatArray
) -> FloatArray:
    """Newton's step (3, labels) of slope and intercept, and that of the intercept alone."""
    error = weight * (p - target)
    curve = weight * np.maximum(p * (1 - p), 1e-6)
    # The small terms keep the 2 × 2 systems solvable if all inputs are equal.
    a = np.einsum("ln,ln,ln->l", curve, inputs, inputs) + 1e-3
    b, c = np.einsum("ln,ln->l", curve, inputs), curve.sum(axis=1) + 1e-6
    g, h = np.einsum("ln,ln->l", error, inputs) + 1e-3 * slope, error.sum(axis=1)
    determinant = a * c - b * b
    return np.array([(c * g - b * h) / determinant, (a * h - b * g) / determinant, h / c])
