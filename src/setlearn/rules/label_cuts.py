"""A cut for each label: the ones that are best together, drawn towards a common cut."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from setlearn.nodes import FloatArray, IntArray, Mask, Nodes, dense_mask
from setlearn.rules.agreement import Metric, agreement

__all__ = ["label_cuts"]

PASSES = 2
"""How often the cut of each label is chosen anew, given those of the others."""

SHRINKAGE = 300
"""The common cut counts as much as this number of samples that have the label."""

LEAST = 1e-4
"""Cuts are averaged on the scale of log-odds, where they must be this far from 0 and 1."""

TIE = 1e-9
"""Sums of gains that differ by less are equal: their last digits depend on the order of adding."""


def label_cuts(
    nodes: Nodes, positive: Mask, common: float, min_size: int, metric: Metric = "f1"
) -> FloatArray:
    """Choose a cut for each label.

    One label after the other gets the cut with the best mean F1, or another metric, given the cuts
    of the others. A rare label says little about its best cut, so that is drawn towards the common
    one.

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
    metric : {"f1", "exact", "hamming", "jaccard"}, default="f1"

    Returns
    -------
    array of shape (V,)
    """
    own = _best_together(nodes, positive, common, min_size, metric)
    count = np.asarray(positive.sum(axis=0)).ravel()
    weight = count / (count + SHRINKAGE)
    cuts: FloatArray = expit(weight * _log_odds(own) + (1 - weight) * _log_odds(common))
    return cuts


def _best_together(
    nodes: Nodes, positive: Mask, common: float, min_size: int = 0, metric: Metric = "f1"
) -> FloatArray:
    """The cuts (V,) after some passes of choosing one at a time.

    Only the sizes of all sets are kept from label to label, so that memory does not grow with the
    number of scores.
    """
    scores, right = nodes.probabilities, sparse.csc_array(positive)
    n_samples, n_labels = scores.shape
    cuts = np.full(n_labels, common)
    best = _best_labels(nodes, min_size)
    n_true, n_kept, n_shared = _sizes(nodes, positive, common, best)
    for _ in range(PASSES):
        for label in range(n_labels):
            score, always = scores[:, label], (best == label).any(axis=1)
            has_label = right.indices[right.indptr[label] : right.indptr[label + 1]]
            is_right = np.zeros(n_samples, dtype=bool)
            is_right[has_label] = True
            kept = always | (score > cuts[label])
            n_kept -= kept
            n_shared -= kept & is_right
            without, with_it = (
                agreement(
                    metric,
                    shared=n_shared + added * is_right,
                    true=n_true,
                    kept=n_kept + added,
                    n_choices=n_labels,
                )
                for added in (0, 1)
            )
            gain = np.where(always, 0.0, with_it - without)
            cuts[label] = _best_cut(score, gain, has_label)
            kept = always | (score > cuts[label])
            n_kept += kept
            n_shared += kept & is_right
    return cuts


def _best_labels(nodes: Nodes, min_size: int) -> IntArray:
    """The labels (n, min_size) that are kept whatever the cuts."""
    best = np.empty((len(nodes), min(min_size, nodes.n_choices)), dtype=np.intp)
    for rows in nodes.row_chunks():
        order = np.argsort(-nodes.probabilities[rows], axis=1, kind="stable")
        best[rows] = order[:, :min_size]
    return best


def _sizes(
    nodes: Nodes, positive: Mask, common: float, best: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The sizes (n,) of right sets, of those kept under a common cut, and of what they share."""
    n_true, n_kept, n_shared = np.empty((3, len(nodes)), dtype=np.intp)
    for rows in nodes.row_chunks():
        kept, right = nodes.probabilities[rows] > common, dense_mask(positive, rows)
        np.put_along_axis(kept, best[rows], True, axis=1)
        n_true[rows], n_kept[rows] = right.sum(axis=1), kept.sum(axis=1)
        n_shared[rows] = (kept & right).sum(axis=1)
    return n_true, n_kept, n_shared


def _best_cut(score: FloatArray, gain: FloatArray, right: IntArray) -> float:
    """The cut above which the gains add up to most; the highest of equals.

    Keeping the label where it is wrong never gains anything, so the cut lies just below the score
    of a sample in which it is right, or above all scores. It cannot lie below scores of 0.
    """
    levels = np.unique(score[right])
    levels = levels[levels > 0]
    level = np.searchsorted(levels, score, side="right")  # 0: below all of them
    total = np.cumsum(np.bincount(level, gain, minlength=len(levels) + 1)[:0:-1])
    most = total.max(initial=0.0) - TIE
    if most > 0:
        above = float(levels[-1 - int(np.argmax(total >= most))])
        below = float(score[score < above].max(initial=0.0))
    else:
        above, below = 1.0, float(score.max())
    middle = below + (above - below) / 2
    return middle if middle < above else below  # some pairs have nothing between them


def _log_odds(cut: FloatArray | float) -> FloatArray:
    log_odds: FloatArray = logit(np.clip(cut, LEAST, 1 - LEAST))
    return log_odds
