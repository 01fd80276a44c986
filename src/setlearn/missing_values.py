"""What counts as a missing value, wherever it comes from, and what stands in for a number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["is_missing", "lower_medians", "missing_entries"]

PANDAS_MISSING = {"NAType", "NaTType"}
"""What pandas has for missing values, which cannot be compared like others."""


def is_missing(value: object) -> bool:
    """Whether a value is None, nan, or a blank string."""
    if isinstance(value, str):
        return not value.strip()
    if value is None or type(value).__name__ in PANDAS_MISSING:
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def missing_entries(array: NDArray[np.generic]) -> BoolArray:
    """Which entries of an array are missing, as a mask of the same shape.

    The masked entries of a masked array are.

    Examples
    --------
    >>> missing_entries(np.array([[1.0, np.nan]]))
    array([[False,  True]])
    """
    if isinstance(array, np.ma.MaskedArray):
        hidden: BoolArray = np.ma.getmaskarray(array)
        return hidden | missing_entries(array.data)
    if array.dtype.kind == "f":
        return np.asarray(array != array)
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    return np.array([is_missing(value) for value in array.flat], bool).reshape(array.shape)


def lower_medians(numbers: FloatArray) -> FloatArray:
    """The median of each column without its missing values (NaN); 0 if nothing is left.

    Of an even number of values it is the lower one in the middle, because the mean of both may
    overflow.

    Parameters
    ----------
    numbers : array of shape (n, columns)

    Returns
    -------
    array of shape (columns,)

    Examples
    --------
    >>> lower_medians(np.array([[4.0, np.nan], [1.0, np.nan], [np.nan, np.nan]]))
    array([1., 0.])
    """
    ordered = np.sort(numbers, axis=0)  # nan at the end
    count = (~np.isnan(ordered)).sum(axis=0)
    middle = ordered[np.maximum(count - 1, 0) // 2, np.arange(numbers.shape[1])]
    medians: FloatArray = np.nan_to_num(middle)
    return medians
