"""The floor that `Margin` learns beside λ. It is not in the paper.

If all scores of a choice point are low, all of them are within λ of the best, and λ alone would
keep nearly everything. So choices beyond the least size must also exceed a floor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, dense_mask
from setlearn.rules.agreement import agreement
from setlearn.rules.min_size import ENOUGH, fill_up
from setlearn.rules.threshold import best_cut

__all__ = ["above_floor", "learned_choice_floor"]

CLEAR = 2.5
"""A floor helps clearly if the gain in mean F1 is more than this number of its standard errors. Two
are reached by chance too often, because the best of many floors is taken."""

SAFE = 0.5
"""A floor at this share of the lowest right choice that is kept loses nothing."""

LEAST_FLOOR = 1e-30
"""Drops choices with a score of 0 alone. A floor of 0 would be none."""


def learned_choice_floor(
    nodes: Nodes, positive: Mask, min_size: int, keep: Callable[[Nodes], BoolArray]
) -> float:
    """The floor with the best mean F1, if it helps clearly; else one that loses nothing.

    The best floor is found exactly, among the choices that are kept without one. On some data it
    only fits chance. Then the floor is half the probability of the lowest right choice that is
    kept: it matters for inputs whose scores are all lower than any in training.

    Parameters
    ----------
    nodes : Nodes
    positive : mask of shape (n, V)
        The right choices.
    min_size : int
        The number of choices that are kept whatever the floor.
    keep : callable
        What is kept without a floor: from nodes to a mask.

    Returns
    -------
    float
        A probability; 0 if there is no floor.
    """
    floor = max(best_cut(nodes, positive, min_size, among=keep), LEAST_FLOOR)
    gains, lowest = [], np.inf
    for rows in nodes.row_chunks():
        part, right = nodes[rows], dense_mask(positive, rows)
        kept = keep(part)
        always = fill_up(np.zeros_like(kept), part, min_size)
        lowest = min(lowest, part.probabilities[kept & right & ~always].min(initial=np.inf))
        before = _f1(kept, right)
        gains.append(_f1(above_floor(kept, part, floor, min_size), right) - before)
    gain = np.concatenate(gains)
    error = gain.std() / np.sqrt(len(gain))
    if len(gain) >= ENOUGH and gain.mean() > CLEAR * error:
        return floor
    return SAFE * float(lowest) if np.isfinite(lowest) else 0.0


def above_floor(kept: BoolArray, nodes: Nodes, floor: float, min_size: int) -> BoolArray:
    """Drop what does not exceed the floor, in place, but keep the best ``min_size`` choices.

    Parameters
    ----------
    kept : bool array of shape (n, V)
    nodes : Nodes
    floor : float
    min_size : int

    Returns
    -------
    bool array of shape (n, V)
        ``kept`` itself, with known choices and without padding.
    """
    if floor > 0:
        for rows in nodes.row_chunks():
            kept[rows] &= nodes.probabilities[rows] > floor
    return fill_up(nodes.completed(kept), nodes, min_size)


def _f1(kept: BoolArray, right: BoolArray) -> FloatArray:
    return agreement(
        "f1",
        shared=(kept & right).sum(axis=1),
        true=right.sum(axis=1),
        kept=kept.sum(axis=1),
        n_choices=kept.shape[1],
    )
