"""The log loss, by which the parts of `SetMixture` choose their settings."""

from __future__ import annotations

import numpy as np

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["log_loss", "row_losses"]


def log_loss(probabilities: FloatArray, Y: BoolArray, weight: FloatArray) -> float:
    """The mean negative log-likelihood per entry.

    Parameters
    ----------
    probabilities : array of shape (n, labels)
    Y : array of bool of shape (n, labels)
    weight : array of shape (n, 1) or (n, labels)
        0 for entries that are unknown.

    Returns
    -------
    float

    Examples
    --------
    >>> P, Y = np.array([[0.5, 0.9]]), np.array([[True, False]])
    >>> round(log_loss(P, Y, np.array([[1.0, 0.0]])), 4)
    0.6931
    """
    return float(row_losses(probabilities, Y, weight).mean())


def row_losses(probabilities: FloatArray, Y: BoolArray, weight: FloatArray) -> FloatArray:
    """What each row adds to the log loss, (n,): their mean is the loss.

    Parameters
    ----------
    probabilities : array of shape (n, labels)
    Y : array of bool of shape (n, labels)
    weight : array of shape (n, 1) or (n, labels)
        0 for entries that are unknown.

    Returns
    -------
    array of shape (n,)
    """
    weights = np.broadcast_to(weight, Y.shape)
    chance = np.clip(np.where(Y, probabilities, 1 - probabilities), 1e-12, 1)
    losses: FloatArray = -(weights * np.log(chance)).sum(axis=1) * len(Y) / weights.sum()
    return losses
