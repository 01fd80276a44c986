"""A cut for each label: the ones with the best mean F1 together, drawn towards a common cut."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, dense_mask

__all__ = ["label_cuts"]

PASSES = 2
"""How often the cut of each label is chosen anew, given those of the others."""

SHRINKAGE = 300
"""The common cut counts as much as this number of samples that have the label."""

LEAST = 1e-4
"""Cuts are averaged on the scale of log-odds, where they must be this far from 0 and 1."""


def label_cuts(nodes: Nodes, positive: Mask, common: float, min_size: int) -> FloatArray:
    """Choose a cut for each label.

    One label after the other gets the cut with the best mean F1, given the cuts of the others.
    A rare label says little about its best cut, so that is drawn towards the common one.

    Parameters
    ----------
    nodes : Nodes
        All choices are available at each of them.
    positive : mask of shape (n, V)
        The right choices.
    common : float
        The best cut if all labels have the same.
    min_size : int
        The number of labels that are kept whatever the cuts.

    Returns
    -------
    array of shape (V,)
    """
    right = dense_mask(positive, slice(None))
    own = _best_together(nodes.probabilities, right, common, min_size)
    weight = right.sum(axis=0) / (right.sum(axis=0) + SHRINKAGE)
    cuts: FloatArray = expit(weight * _log_odds(own) + (1 - weight) * _log_odds(common))
    return cuts


def _best_together(
    scores: FloatArray, right: BoolArray, common: float, min_size: int = 0
) -> FloatArray:
    """The cuts (V,) after some passes of choosing one at a time."""
    cuts = np.full(scores.shape[1], common)
    always = np.zeros(scores.shape, dtype=bool)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :min_size]
    np.put_along_axis(always, best, True, axis=1)
    kept = always | (scores > common)
    n_true = right.sum(axis=1)
    n_kept, n_right = kept.sum(axis=1), (kept & right).sum(axis=1)
    for _ in range(PASSES):
        for label, (score, is_right) in enumerate(zip(scores.T, right.T, strict=True)):
            n_kept -= kept[:, label]
            n_right -= kept[:, label] & is_right
            gain = _f1(n_right + is_right, n_kept + 1 + n_true) - _f1(n_right, n_kept + n_true)
            cuts[label] = _best_cut(score, np.where(always[:, label], 0.0, gain))
            kept[:, label] = always[:, label] | (score > cuts[label])
            n_kept += kept[:, label]
            n_right += kept[:, label] & is_right
    return cuts


def _f1(n_right: FloatArray, sizes: FloatArray) -> FloatArray:
    """The F1 of each sample, 1 if the true and the predicted set are empty."""
    f1: FloatArray = np.where(sizes > 0, 2 * n_right / np.maximum(sizes, 1), 1.0)
    return f1


def _best_cut(score: FloatArray, gain: FloatArray) -> float:
    """The cut above which the gains add up to most; the highest of equals."""
    order = np.argsort(-score, kind="stable")
    descending = score[order]
    total = np.concatenate([[0.0], np.cumsum(gain[order])])
    # A cut cannot divide equal scores, nor keep scores of 0.
    possible = np.concatenate([[True], descending[1:] < descending[:-1], [True]])
    possible[1:] &= descending > 0
    best = int(np.argmax(np.where(possible, total, -np.inf)))
    above, below = np.concatenate([[1.0], descending, [0.0]])[best : best + 2].tolist()
    middle = float(below + (above - below) / 2)
    return middle if middle < above else float(below)  # some pairs have nothing between them


def _log_odds(cut: FloatArray | float) -> FloatArray:
    log_odds: FloatArray = logit(np.clip(cut, LEAST, 1 - LEAST))
    return log_odds
