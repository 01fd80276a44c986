"""Several opinions about the same candidates, pooled into one probability for each."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from setlearn.nodes import BoolArray, FloatArray, IntArray, log_odds
from setlearn.savable import savable

__all__ = ["LogOddsPool", "useful_pool"]

PENALTY = 1.0
"""Of the squared distance between learned weights and equal ones, in units of log-loss."""


LEAST_GAIN = 2.0
"""By how much a scorer must lower the log-loss: by 1 for each number that is learned about it, as
in Akaike's criterion."""


@savable(extra=("weights", "unlisted", "intercept"))
class LogOddsPool:
    """A weighted sum of log-odds.

    A scorer that does not know a candidate at all gives it a probability of 0. What that means is
    learned too: it can be a strong sign against the candidate, or none.

    Parameters
    ----------
    n_scorers : int

    Attributes
    ----------
    weights : array of shape (n_scorers,)
        Of the log-odds of each scorer; not negative. Equal if nothing could be learned.
    unlisted : array of shape (n_scorers,)
        What is added for each scorer that gives a candidate a probability of 0.
    intercept : float

    Examples
    --------
    The first scorer is right, the second knows nothing:

    >>> import numpy as np
    >>> right = np.array([True, True, False, False] * 10)
    >>> scores = np.array([np.where(right, 0.9, 0.1), np.full(40, 0.5)])
    >>> pool = LogOddsPool(2).fit(scores, right)
    >>> pool.pooled(np.array([[0.9, 0.1], [0.5, 0.5]])).round(1)
    array([1., 0.])
    """

    def __init__(self, n_scorers: int) -> None:
        self.n_scorers = n_scorers
        self.weights: FloatArray = np.full(n_scorers, 1 / n_scorers)
        self.unlisted: FloatArray = np.zeros(n_scorers)
        self.intercept = 0.0

    def fit(
        self, scores: FloatArray, right: BoolArray, candidate_weight: FloatArray | None = None
    ) -> Self:
        """Learn the weights; without both right and wrong candidates they stay equal.

        Parameters
        ----------
        scores : array of shape (n_scorers, n_candidates)
            The probability that each scorer gives to each candidate.
        right : bool array of shape (n_candidates,)
        candidate_weight : array of shape (n_candidates,), optional
            How much each candidate counts in the loss; by default all count 1.

        Returns
        -------
        self
        """
        if not 0 < right.sum() < len(right):
            return self
        n = self.n_scorers
        counts = np.ones(len(right)) if candidate_weight is None else candidate_weight
        features = _features(scores)
        start = np.concatenate([self.weights, self.unlisted, [self.intercept]])
        sign = np.where(right, 1.0, -1.0)

        def loss(values: FloatArray) -> tuple[float, FloatArray]:
            logits = values[:-1] @ features + values[-1]
            away = values - start
            away[-1] = 0
            slope = -counts * sign * expit(-sign * logits)
            total = counts @ np.logaddexp(0, -sign * logits) + PENALTY / 2 * (away @ away)
            return total, np.append(features @ slope, slope.sum()) + PENALTY * away

        bounds = [(0, None)] * (2 * n) + [(None, None)]
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        self.weights, self.unlisted = found.x[:n], found.x[n:-1]
        self.intercept = float(found.x[-1])
        return self

    def log_loss(self, scores: FloatArray, right: BoolArray) -> float:
        """The sum over candidates.

        Parameters
        ----------
        scores : array of shape (n_scorers, n_candidates)
        right : bool array of shape (n_candidates,)

        Returns
        -------
        float
        """
        logits = self._logits(scores)
        return float(np.logaddexp(0, np.where(right, -logits, logits)).sum())

    def pooled(self, scores: FloatArray) -> FloatArray:
        """One probability for each candidate.

        Parameters
        ----------
        scores : array of shape (n_scorers, n_candidates)

        Returns
        -------
        array of shape (n_candidates,)
        """
        probability: FloatArray = expit(self._logits(scores))
        return probability

    def _logits(self, scores: FloatArray) -> FloatArray:
        weights = np.concatenate([self.weights, self.unlisted])
        # Not a matrix product: the result for a candidate must not depend on the others.
        logits: FloatArray = (weights[:, None] * _features(scores)).sum(axis=0) + self.intercept
        return logits


def useful_pool(scores: FloatArray, right: BoolArray) -> tuple[LogOddsPool, IntArray]:
    """A pool of the scorers that are worth their time; the others are dropped one by one.

    Parameters
    ----------
    scores : array of shape (n_scorers, n_candidates)
    right : bool array of shape (n_candidates,)

    Returns
    -------
    pool : LogOddsPool
        Fitted.
    left : array of int
        The scorers that it takes.
    """
    left: IntArray = np.arange(len(scores))
    pool = LogOddsPool(len(left)).fit(scores, right)
    loss = pool.log_loss(scores, right)
    while len(left) > 1 and 0 < right.sum() < len(right):
        parts = [np.delete(left, k) for k in range(len(left))]
        pools = [LogOddsPool(len(part)).fit(scores[part], right) for part in parts]
        losses = [p.log_loss(scores[part], right) for p, part in zip(pools, parts, strict=True)]
        best = int(np.argmin(losses))
        if losses[best] - loss >= LEAST_GAIN:
            break
        left, pool, loss = parts[best], pools[best], losses[best]
    return pool, left


def _features(scores: FloatArray) -> FloatArray:
    """The log-odds of each scorer, then whether it does not know the candidate at all."""
    return np.concatenate([log_odds(scores), scores == 0])
