"""The floor under which a best score means the empty set."""

from __future__ import annotations

import numpy as np

from setlearn.nodes import FloatArray, Mask

__all__ = ["best_floor"]


def best_floor(top_scores: FloatArray, positive: Mask) -> float:
    """The cut on the top score that tells empty from non-empty training sets most often.

    A choice point whose top score is at or below it gets the empty set; -inf where answering
    "empty" never pays.
    """
    empty = np.asarray(positive.sum(axis=1)).ravel() == 0
    order = np.argsort(top_scores, kind="stable")
    scores, empty = top_scores[order], empty[order]
    # Net samples set right by calling the k + 1 lowest empty.
    gain = np.cumsum(np.where(empty, 1, -1))
    ends_tie = np.append(scores[1:] > scores[:-1], True)
    gain = np.where(ends_tie, gain, -1)
    best = int(np.argmax(gain))
    if gain[best] <= 0:
        return -np.inf
    if best + 1 == len(scores):
        return float(scores[best])
    return float((scores[best] + scores[best + 1]) / 2)
