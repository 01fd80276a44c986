"""What a learner answers for training rows as if it had not seen them, and for which rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setlearn.learners.row_draws import drawn_folds, drawn_rows
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray

__all__ = ["HeldOut", "held_out_parts", "held_out_rows", "judged_rows"]

MOST_HELD_OUT = 10_000
"""The largest number of rows that held-out scores are computed for: rules need no more."""

MOST_HELD_OUT_SCORES = 5_000_000
LEAST_HELD_OUT = 1000
"""If there are many labels, fewer rows are held out, but so many at least."""

MANY_ROWS = 4 * MOST_HELD_OUT
"""With so many rows, those that are held out are a part small enough to leave out at once. No fold
is needed to judge and calibrate a model, and no more rows."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What a learner answers for training rows as if it had not seen them."""

    rows: IntArray  # (m,) which training rows
    probabilities: FloatArray  # (m, labels)
    examples: Examples | None = None


def held_out_rows(shape: tuple[int, ...], largest_share: float = 1.0) -> IntArray:
    """Choose the rows to hold out.

    Parameters
    ----------
    shape : (rows, labels)
    largest_share : float, default=1.0
        The share of the rows that may be held out.

    Returns
    -------
    array of int, ascending
    """
    n, n_labels = shape
    most = min(MOST_HELD_OUT, max(LEAST_HELD_OUT, MOST_HELD_OUT_SCORES // n_labels))
    return drawn_rows(n, min(most, max(1, int(largest_share * n))))


def judged_rows(n_rows: int, rows: IntArray) -> IntArray:
    """Choose the training rows that a model is judged and calibrated on.

    Parameters
    ----------
    n_rows : int
    rows : array of int
        The rows to hold out.

    Returns
    -------
    array of int, ascending
        All rows, or the given ones if there are many rows.

    Examples
    --------
    >>> judged_rows(4, np.array([1, 3]))
    array([0, 1, 2, 3])
    >>> judged_rows(50_000, np.array([1, 3]))
    array([1, 3])
    """
    return rows if n_rows >= MANY_ROWS else np.arange(n_rows)


def held_out_parts(n_rows: int, rows: IntArray, n_folds: int) -> list[BoolArray]:
    """Divide the rows that a model is judged on: one part is left out of each fit.

    Parameters
    ----------
    n_rows : int
    rows : array of int
        The rows to hold out.
    n_folds : int
        The number of parts, unless there are many rows: then there is a single one.

    Returns
    -------
    list of arrays of bool of shape (n_rows,)

    Examples
    --------
    >>> held_out_parts(4, np.array([1, 3]), 2)
    [array([ True, False, False,  True]), array([False,  True,  True, False])]
    """
    if n_rows >= MANY_ROWS:
        return [np.isin(np.arange(n_rows), rows)]
    fold = drawn_folds(n_rows, n_folds)
    return [fold == k for k in range(n_folds)]
