"""Turns scores into probabilities, by how they compare with the others of their choice point."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, dense_mask, log_odds
from setlearn.savable import savable

__all__ = ["Calibration"]

SOFTENING = 1e-2
"""Added before the logarithm of a sum of probabilities."""

MOST_CHOICES = 500_000
"""Choices to learn from, padding included. Of more, every second, third, ... choice point is used:
four weights need no more."""


@savable(extra=("weights",))
class Calibration:
    """A logistic regression on few numbers, the same for all choices.

    The log-odds of a choice say how probable it is if the scores are right. How far it is from the
    best choice, and how many right ones are expected before it, correct scores that share a
    probability among several choices, or that are products of many.

    Attributes
    ----------
    weights : array of shape (4,)
        Of the three numbers, and the intercept.

    Examples
    --------
    Scores that are shares of 1, where two of three choices are right:

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> nodes = Nodes.roots(np.tile([0.48, 0.47, 0.05], (50, 1)))
    >>> right = np.tile([True, True, False], (50, 1))
    >>> Calibration().fit(nodes, right).applied(nodes).probabilities[0].round(1)
    array([1., 1., 0.])
    """

    def __init__(self) -> None:
        self.weights: FloatArray = np.array([1.0, 0.0, 0.0, 0.0])

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn the weights; without both right and wrong choices scores stay as they are.

        If there are more than half a million choices, evenly spaced choice points are used.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)

        Returns
        -------
        self
        """
        from sklearn.linear_model import LogisticRegression  # slow to import

        every = slice(None, None, -(-nodes.probabilities.size // MOST_CHOICES) or 1)
        nodes, positive = nodes[every], positive[every]
        features, right = [], []
        for rows in nodes.row_chunks():
            part = nodes[rows]
            scored = _scored(part)
            features.append(_features(part)[scored])
            right.append(dense_mask(positive, rows)[scored])
        target = np.concatenate(right)
        if 0 < target.sum() < len(target):
            model = LogisticRegression(C=10.0, max_iter=1000)
            model.fit(np.concatenate(features), target)
            self.weights = np.append(model.coef_[0], model.intercept_)
        return self

    def applied(self, nodes: Nodes) -> Nodes:
        """The nodes with calibrated probabilities; what has a score of 0 keeps it."""
        logits = np.clip(_features(nodes) @ self.weights[:-1] + self.weights[-1], -30, 30)
        probabilities = np.where(_scored(nodes), 1 / (1 + np.exp(-logits)), 0.0)
        return replace(nodes, probabilities=probabilities, prefix_probability=None)


def _scored(nodes: Nodes) -> BoolArray:
    scored: BoolArray = nodes.membership > 0
    return scored


def _features(nodes: Nodes) -> FloatArray:
    """Of each choice (n, V, 3): log-odds, distance from the best, expected right ones before it."""
    scores = nodes.masked(nodes.membership.astype(np.float64), 0.0)
    order = np.argsort(-scores, axis=1, kind="stable")
    descending = np.take_along_axis(scores, order, axis=1)
    before = np.empty_like(scores)
    np.put_along_axis(before, order, np.cumsum(descending, axis=1) - descending, axis=1)
    logits = log_odds(scores)
    gap = logits - logits.max(axis=1, initial=-np.inf, keepdims=True)
    return np.stack([logits, gap, np.log(before + SOFTENING)], axis=2)
