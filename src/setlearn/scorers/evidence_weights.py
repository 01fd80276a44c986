"""How much each kind of evidence counts: learned, or near to what holds without learning."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit

from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["learned_weights"]

PENALTIES = (300.0, 30.0, 3.0)
"""Of the distance between the weights of evidence and those that are used where none are learned:
with some dozens of samples, weights that are learned freely may do harm."""

N_PARTS = 5
"""Of samples, for choosing the penalty by cross-validation."""

LEAST_OUTCOMES = 10
"""With fewer right or fewer wrong candidates only the weight of the constant 1 is learned."""


def learned_weights(
    features: FloatArray, right: BoolArray, sample: IntArray, usual: FloatArray
) -> FloatArray:
    """Learn the weights of evidence from candidates of samples that it was not taken from.

    Parameters
    ----------
    features : array of shape (n_candidates, n_kinds)
        The evidence for each candidate.
    right : bool array of shape (n_candidates,)
        Which of them are right.
    sample : array of int, shape (n_candidates,)
        The sample of each candidate.
    usual : array of shape (n_kinds + 1,)
        The weights that are used where none can be learned, the last one of the constant 1.

    Returns
    -------
    array of shape (n_kinds + 1,)
    """
    if len(features) == 0:
        return usual
    if min(right.sum(), (~right).sum()) < LEAST_OUTCOMES:
        return _shifted(usual, features, right)
    return _logistic_weights(features, right, sample, usual)


def _shifted(weights: FloatArray, features: FloatArray, right: BoolArray) -> FloatArray:
    """The weights with a constant at which as many candidates are expected as were right."""
    scores = features @ weights[:-1]
    share = (right.sum() + 0.5) / (len(right) + 1)
    shift = brentq(lambda constant: expit(scores + constant).mean() - share, -50, 50)
    return np.append(weights[:-1], shift)


def _logistic_weights(
    features: FloatArray, right: BoolArray, sample: IntArray, prior: FloatArray
) -> FloatArray:
    """The weights of a logistic regression, as near to prior ones as cross-validation says."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread < 1e-6] = 1.0
    scaled = np.column_stack([(features - mean) / spread, np.ones(len(features))])
    usual = np.append(prior[:-1] * spread, prior[-1] + mean @ prior[:-1])
    signed = np.where(right, 1.0, -1.0)
    fold = sample % N_PARTS

    def loss_on_others(penalty: float) -> float:
        loss = 0.0
        for part in range(N_PARTS):
            own, other = fold == part, fold != part
            weights = _near_weights(scaled[other], signed[other], usual, penalty)
            loss += np.logaddexp(0, -signed[own] * (scaled[own] @ weights)).sum()
        return loss

    found = _near_weights(scaled, signed, usual, min(PENALTIES, key=loss_on_others))
    weights = found[:-1] / spread
    return np.append(weights, found[-1] - mean @ weights)


def _near_weights(
    features: FloatArray, signed: FloatArray, usual: FloatArray, penalty: float
) -> FloatArray:
    """The weights with the least log loss plus a penalty on their distance from usual ones."""

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margin, excess = signed * (features @ weights), weights - usual
        gradient = penalty * excess - (signed * expit(-margin)) @ features
        return np.logaddexp(0, -margin).sum() + penalty * excess @ excess / 2, gradient

    found: FloatArray = minimize(
        loss, usual, jac=True, method="L-BFGS-B", options={"maxiter": 2000}
    ).x
    return found
