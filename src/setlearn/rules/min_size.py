"""The least size of a set: given, or learned from the right choices."""

from __future__ import annotations

import numpy as np

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, IntArray, Mask, Nodes

__all__ = ["check_min_size", "fill_up", "learned_min_size"]

ENOUGH = 100
"""Choice points that show how small sets can be."""


def check_min_size(min_size: int | None) -> None:
    """Raise unless ``min_size`` is None or a count."""
    if min_size is not None and (not isinstance(min_size, int | np.integer) or min_size < 0):
        raise ParameterError(
            f"min_size must be None (learned) or a whole number of at least 0, got {min_size!r}"
        )


def learned_min_size(min_size: int | None, nodes: Nodes, positive: Mask) -> int:
    """``min_size`` itself or, if None, the smallest number of right choices of a choice point.

    With fewer than 100 choice points it is 1 at most, because larger numbers may be chance. In
    prefix trees it is 1: sequences end with one choice, the end symbol.

    Parameters
    ----------
    min_size : int or None
    nodes : Nodes
    positive : mask of shape (n, V)

    Returns
    -------
    int
    """
    check_min_size(min_size)
    if min_size is not None:
        return int(min_size)
    smallest = int(np.asarray(positive.sum(axis=1)).min())
    return smallest if len(nodes) >= ENOUGH else min(smallest, 1)


def fill_up(kept: BoolArray, nodes: Nodes, min_size: int) -> BoolArray:
    """Add the best remaining choices, in place, where fewer than ``min_size`` were kept.

    Parameters
    ----------
    kept : bool array of shape (n, V)
    nodes : Nodes
    min_size : int

    Returns
    -------
    bool array of shape (n, V)
        ``kept`` itself.
    """
    if min_size == 0:
        return kept
    missing = min_size - kept.sum(axis=1)
    for rows in nodes.row_chunks():
        short = rows.start + np.flatnonzero(missing[rows] > 0)
        if len(short):
            _add_best(kept, nodes, short, missing[short])
    return nodes.completed(kept)


def _add_best(kept: BoolArray, nodes: Nodes, rows: IntArray, missing: IntArray) -> None:
    """Add so many of the best remaining choices of these rows; ties go to the earlier choice."""
    others = np.where(kept[rows], -np.inf, nodes.probabilities[rows])
    if nodes.available is not None:
        others[~nodes.available[rows]] = -np.inf
    for turn in range(int(min(missing.max(), nodes.n_choices))):
        best = others.argmax(axis=1)
        is_choice = others[np.arange(len(rows)), best] > -np.inf
        added = np.flatnonzero((missing > turn) & is_choice)
        kept[rows[added], best[added]] = True
        others[added, best[added]] = -np.inf
