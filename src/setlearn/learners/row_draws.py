"""Rows and folds that are drawn for the same fit in the same way, without a seed.

They are drawn at random, because rows are often in some order: those of one label stand together,
or labels take turns.
"""

from __future__ import annotations

import numpy as np

from setlearn.nodes import IntArray

__all__ = ["drawn_folds", "drawn_rows"]


def drawn_rows(n_rows: int, most: int) -> IntArray:
    """Some of the rows, ascending, where all of them would take too long.

    Parameters
    ----------
    n_rows : int
    most : int

    Returns
    -------
    array of int
        All rows if they are not more than ``most``.

    Examples
    --------
    >>> drawn_rows(9, 3), drawn_rows(3, 5)
    (array([1, 2, 7]), array([0, 1, 2]))
    """
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:most])


def drawn_folds(n_rows: int, n_folds: int) -> IntArray:
    """The fold of each row.

    Parameters
    ----------
    n_rows : int
    n_folds : int

    Returns
    -------
    array of int
        Numbers from 0 to ``n_folds`` - 1, all about equally often.
    """
    return np.random.RandomState(0).permutation(n_rows) % n_folds
