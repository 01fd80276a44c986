"""Entries of sparse matrices: which there are, whatever their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["entries_in", "sparse_mask", "with_entries"]


def sparse_mask(mask: NDArray[np.bool_]) -> sparse.csr_array:
    """A dense mask as a sparse one; SciPy's own way takes twice as long by way of coordinates."""
    n_columns = mask.shape[1]
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(mask, axis=1))])
    indices = np.flatnonzero(mask) % n_columns
    return sparse.csr_array((np.ones(len(indices), bool), indices, indptr), shape=mask.shape)


def with_entries(matrix: sparse.csr_array, more: sparse.csr_array) -> sparse.csr_array:
    """Add the entries of another sparse matrix, as zeros where the first has none.

    Parameters
    ----------
    matrix, more : csr_array of shape (n, columns)

    Returns
    -------
    csr_array
        With sorted indices.

    Examples
    --------
    >>> matrix = sparse.csr_array([[0.5, 0.0, 0.0]])
    >>> with_entries(matrix, sparse.csr_array([[True, False, True]])).data
    array([0.5, 0. ])
    """
    present, wanted = _keys(matrix), _keys(more)
    keys = np.union1d(present, wanted)
    data = np.zeros(len(keys), dtype=matrix.dtype)
    data[np.searchsorted(keys, present)] = matrix.data
    n, n_columns = matrix.shape
    row, column = keys // n_columns, keys % n_columns
    bounds = np.searchsorted(row, np.arange(n + 1))
    return sparse.csr_array((data, column, bounds), shape=matrix.shape)


def entries_in(matrix: sparse.csr_array, other: sparse.csr_array) -> NDArray[np.bool_]:
    """Say for each entry of a sparse matrix, in order, whether another has an entry there too.

    Parameters
    ----------
    matrix, other : csr_array of shape (n, columns)

    Returns
    -------
    array of bool of shape (entries,)

    Examples
    --------
    >>> matrix, other = sparse.csr_array([[0.5, 0.2]]), sparse.csr_array([[False, True]])
    >>> entries_in(matrix, other)
    array([False,  True])
    """
    is_in: NDArray[np.bool_] = np.isin(_keys(matrix), _keys(other))
    return is_in


def _keys(matrix: sparse.csr_array) -> NDArray[np.int64]:
    """One number for each entry, by its row and column."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return row * matrix.shape[1] + matrix.indices.astype(np.int64)
