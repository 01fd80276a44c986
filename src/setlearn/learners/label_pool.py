"""The answers of several models about the same rows and labels, pooled into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setlearn.learners.log_odds_pool import LogOddsPool
from setlearn.learners.row_draws import drawn_rows
from setlearn.nodes import BoolArray, FloatArray

__all__ = ["fitted_pool", "label_frequencies", "pooled"]

MOST_POOLED = 300_000
"""The largest number of held-out scores that the weights of the models are learned from."""


def label_frequencies(Y: BoolArray, weight: FloatArray) -> FloatArray:
    """How often each label is right, (labels,), strictly between 0 and 1.

    Parameters
    ----------
    Y : array of bool of shape (n, labels)
    weight : array of shape (n, 1) or (n, labels)

    Returns
    -------
    array of shape (labels,)
    """
    weights = np.broadcast_to(weight / weight[weight > 0].mean(), Y.shape)
    frequencies: FloatArray = ((weights * Y).sum(axis=0) + 0.5) / (weights.sum(axis=0) + 1)
    return frequencies


def fitted_pool(
    answers: Sequence[FloatArray], frequencies: FloatArray, Y: BoolArray, weight: FloatArray
) -> LogOddsPool:
    """Learn the weights of models from their held-out answers.

    The last weight is that of the frequencies, for rows that no model knows much about.

    Parameters
    ----------
    answers : sequence of arrays of shape (n, labels)
    frequencies : array of shape (labels,)
    Y : array of bool of shape (n, labels)
    weight : array of shape (n, 1) or (n, labels)

    Returns
    -------
    LogOddsPool
    """
    n, n_labels = Y.shape
    some = drawn_rows(n, max(1, MOST_POOLED // n_labels))
    weight = np.broadcast_to(weight, Y.shape)[some]
    scores = _stacked([answer[some] for answer in answers], frequencies)
    return LogOddsPool(len(scores)).fit(scores, Y[some].ravel(), (weight / weight.mean()).ravel())


def pooled(
    pool: LogOddsPool, answers: Sequence[FloatArray], frequencies: FloatArray | None
) -> FloatArray:
    """One answer from several.

    Parameters
    ----------
    pool : LogOddsPool
    answers : sequence of arrays of shape (n, labels)
    frequencies : array of shape (labels,) or None
        None for a pool that has no weight for them.

    Returns
    -------
    array of shape (n, labels)
    """
    return pool.pooled(_stacked(answers, frequencies)).reshape(answers[0].shape)


def _stacked(answers: Sequence[FloatArray], frequencies: FloatArray | None) -> FloatArray:
    """The scores of all models, and then the frequencies, (models, n · labels)."""
    flat = [answer.ravel() for answer in answers]
    if frequencies is not None:
        flat.append(np.broadcast_to(frequencies, answers[0].shape).ravel())
    return np.stack(flat)
