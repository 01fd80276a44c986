"""Indicators: matrices with a row per sample and a column per label, 1 where it has the label."""

from collections.abc import Hashable, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import DataError
from setlearn.missing_values import is_missing, missing_entries
from setlearn.nodes import BoolArray

__all__ = [
    "are_indicator_rows",
    "indicator_of_rows",
    "indicator_of_sets",
    "read_indicator",
    "read_partly_known_indicator",
]


def read_indicator(Y: Any, name: str) -> sparse.csr_array:
    """Read a matrix of 0 and 1, dense or sparse.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n_samples, n_labels)
    name : str
        The name of the argument in error messages.

    Returns
    -------
    csr_array of bool
        A new one; ``Y`` is not changed.

    Raises
    ------
    DataError
        If it does not have two dimensions, or holds values other than 0 and 1.
    """
    if Y.ndim != 2:
        raise DataError(
            f"an indicator is a matrix (samples, labels), but {name} has {Y.ndim} dimension(s); "
            f"reshape a single sample with Y[None, :]"
        )
    if sparse.issparse(Y):
        return _read_sparse(Y, name)
    _check_values(Y, name)
    return sparse.csr_array(Y.astype(bool))


def read_partly_known_indicator(
    Y: Any, name: str
) -> tuple[sparse.csr_array, sparse.csr_array | None]:
    """Read a matrix of 0 and 1, of which entries may be missing, which means that they are unknown.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n_samples, n_labels)
    name : str
        The name of the argument in error messages.

    Returns
    -------
    right : csr_array of bool
        False where an entry is unknown.
    unknown : csr_array of bool, or None
        The unknown entries; None if all are known.

    Raises
    ------
    DataError
        As `read_indicator`.
    """
    if sparse.issparse(Y):
        return _read_partly_known_sparse(Y, name)
    missing = missing_entries(Y)
    if not missing.any():
        return read_indicator(Y, name), None
    return read_indicator(np.where(missing, 0, Y), name), sparse.csr_array(missing)


def are_indicator_rows(Y: object) -> bool:
    """Whether plain lists look like the rows of an indicator, as scikit-learn accepts them.

    Unknown entries are None or NaN. As sets, such rows would all be {0}, {1} or {0, 1}. To mean
    these, write them as sets.
    """
    if not isinstance(Y, list | tuple) or not Y:
        return False
    if not all(isinstance(row, list | tuple | np.ndarray) for row in Y):
        return False
    width = len(Y[0])
    if width < 2 or any(len(row) != width for row in Y):
        return False
    known = [v for row in Y for v in row if isinstance(v, str) or not is_missing(v)]
    return bool(known) and all(isinstance(v, Number | np.bool_) and v in (0, 1) for v in known)


def indicator_of_sets(
    sets: Sequence[frozenset[Hashable]], labels: Sequence[Hashable]
) -> sparse.csr_array:
    """Turn sets of labels into an indicator matrix.

    Parameters
    ----------
    sets : list of frozenset
        The sets, one per row.
    labels : sequence of hashable
        The labels, one per column. They include all labels of the sets.

    Returns
    -------
    csr_array of bool, shape (n_sets, n_labels)
        True where the set of the row holds the label of the column.
    """
    column = {label: k for k, label in enumerate(labels)}
    return indicator_of_rows(
        [[column[label] for label in one_set] for one_set in sets], len(column)
    )


def indicator_of_rows(rows: list[list[int]], n_columns: int) -> sparse.csr_array:
    """Turn lists of column numbers into an indicator matrix.

    Parameters
    ----------
    rows : list of lists of int
        The columns that are True in each row.
    n_columns : int
        The number of columns.

    Returns
    -------
    csr_array of bool, shape (n_rows, n_columns)
        The matrix, with sorted indices.
    """
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter((column for row in rows for column in row), np.intp, int(indptr[-1]))
    present = np.ones(len(indices), dtype=bool)
    matrix = sparse.csr_array((present, indices, indptr), shape=(len(rows), n_columns))
    matrix.sort_indices()
    return matrix


def _read_sparse(Y: Any, name: str) -> sparse.csr_array:
    matrix = sparse.csr_array(Y, copy=True)  # the user's matrix must not be changed in place
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    _check_values(matrix.data, name)
    return matrix.astype(bool)


def _read_partly_known_sparse(
    Y: Any, name: str
) -> tuple[sparse.csr_array, sparse.csr_array | None]:
    matrix = sparse.csr_array(Y)
    missing = missing_entries(matrix.data)
    if not missing.any():
        return read_indicator(Y, name), None
    data = np.where(missing, 0, matrix.data)
    known, unknown = (  # copies, because removing zeros changes the indices in place
        sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
        for values in (data, missing)
    )
    unknown.eliminate_zeros()
    return read_indicator(known, name), unknown


def _check_values(values: NDArray[Any], name: str) -> None:
    usable = _is_zero_or_one(values)
    if not usable.all():
        raise DataError(
            f"an indicator holds only 0 and 1, but {name} holds {values[~usable].tolist()[0]!r}; "
            f"threshold scores first, or pass sets of labels"
        )


def _is_zero_or_one(values: NDArray[Any]) -> BoolArray:
    if values.dtype.kind in "biuf":
        return np.asarray((values == 0) | (values == 1))
    # Tables of mixed columns arrive as objects, and pandas' NA cannot be compared.
    usable = [isinstance(v, Number | np.bool_) and v in (0, 1) for v in values.flat]
    return np.array(usable, dtype=bool).reshape(values.shape)
