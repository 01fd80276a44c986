"""Decision values to probabilities, by a logistic curve a label (Platt's way)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["Platt"]

MOST_STEPS = 50
STEEPEST = 50.0
"""Separable decisions would make the curve a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Platt:
    """One logistic curve a label: P = 1 / (1 + exp(-(slope · decision + intercept)))."""

    slope: FloatArray  # (labels,), never negative
    intercept: FloatArray

    @classmethod
    def fit(cls, decisions: FloatArray, Y: BoolArray, weight: FloatArray) -> Self:
        """Fit all curves together, by Newton's method on decisions that are held out.

        Targets are drawn in from 0 and 1 by how few rows there are, as Platt does, so that a
        label which is told apart perfectly does not get certainties.
        """
        weight = weight / weight.mean()
        right = weight @ Y
        wrong = weight.sum() - right
        target = np.where(Y, (right + 1) / (right + 2), 1 / (wrong + 2))
        slope, intercept = np.zeros(Y.shape[1]), np.log((right + 1) / (wrong + 1))
        for _ in range(MOST_STEPS):
            p = expit(slope * decisions + intercept)
            error = weight[:, None] * (p - target)
            curve = weight[:, None] * np.maximum(p * (1 - p), 1e-6)
            # The little that is added keeps the 2 × 2 systems solvable where decisions are equal.
            a = (curve * decisions**2).sum(axis=0) + 1e-3
            b, c = (curve * decisions).sum(axis=0), curve.sum(axis=0) + 1e-6
            g, h = (error * decisions).sum(axis=0) + 1e-3 * slope, error.sum(axis=0)
            determinant = a * c - b * b
            # Bounded, because far from the optimum Newton's steps are too long.
            step = np.clip(np.array([c * g - b * h, a * h - b * g]) / determinant, -2, 2)
            slope, intercept = np.clip(slope - step[0], 0, STEEPEST), intercept - step[1]
            if np.abs(step).max(initial=0) < 1e-6:
                break
        return cls(slope, intercept)

    def __call__(self, decisions: FloatArray) -> FloatArray:
        """The probabilities of decisions (n, labels)."""
        probabilities: FloatArray = expit(self.slope * decisions + self.intercept)
        return probabilities


def log_loss(probabilities: FloatArray, Y: BoolArray, weight: FloatArray) -> float:
    """The mean negative log-likelihood of a label."""
    chance = np.clip(np.where(Y, probabilities, 1 - probabilities), 1e-12, 1)
    return float(-np.average(np.log(chance).mean(axis=1), weights=weight))
