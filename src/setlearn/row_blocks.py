"""Rows that are computed together, in blocks that are always full.

Matrix products are computed a few rows at a time, and leftover rows are rounded differently. If
none are left over, the result for a row does not depend, to the last bit, on the others.
"""

from __future__ import annotations

import numpy as np

from setlearn.nodes import FloatArray, IntArray

__all__ = ["BLOCK_ROWS", "product_by_rows", "rows_of_full_blocks"]

BLOCK_ROWS = 8
"""Rows that BLAS and torch process at a time; with 4, some scores still differed."""

PRODUCT_ROWS = 32


def rows_of_full_blocks(n_rows: int) -> IntArray:
    """Numbers of rows whose count is a multiple of 8: all rows, and the last one repeated.

    Examples
    --------
    >>> rows_of_full_blocks(5)
    array([0, 1, 2, 3, 4, 4, 4, 4])
    """
    n_blocks = -(-n_rows // BLOCK_ROWS)
    return np.minimum(np.arange(n_blocks * BLOCK_ROWS), n_rows - 1)


def product_by_rows(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """The matrix product, in which no row of the result depends on other rows.

    Parameters
    ----------
    rows : array of shape (n, k)
    matrix : array of shape (k, m)

    Returns
    -------
    array of shape (n, m)
    """
    n = len(rows)
    product = np.empty((n, matrix.shape[1]))
    # Always the same number of rows: for others BLAS may choose another order of additions.
    block = np.zeros((PRODUCT_ROWS, rows.shape[1]))
    for start in range(0, n, PRODUCT_ROWS):
        part = rows[start : start + PRODUCT_ROWS]
        if len(part) < PRODUCT_ROWS:
            block[: len(part)] = part
            part = block
        product[start : start + PRODUCT_ROWS] = (part @ matrix)[: n - start]
    return product
