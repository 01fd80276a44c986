"""Numbers that are too large for learners that compute in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setlearn.errors import DataError

__all__ = ["check_range"]

LARGEST = float(np.finfo(np.float32).max)

MOST_NAMES = 5


def check_range(X: Any, names: Sequence[Any] | None = None) -> None:
    """Raise if numbers of X are finite, but too large for single precision.

    Parameters
    ----------
    X : array of shape (n, features)
        Missing values (NaN) are left alone.
    names : sequence, optional
        The names of the columns. By default they are numbered.

    Raises
    ------
    DataError
        It names the columns.

    Examples
    --------
    >>> check_range(np.array([[1.0, 1e300]]), ["age", "mass"])
    Traceback (most recent call last):
    setlearn.errors.DataError: column 'mass' of X has values as large as 1e+300, ...
    """
    X = np.asarray(X)
    if X.dtype.kind != "f" or X.size == 0:
        return
    largest = np.maximum(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))  # (features,)
    columns = np.flatnonzero(largest > LARGEST)
    if len(columns) == 0:
        return
    shown = ", ".join(repr(int(k) if names is None else names[k]) for k in columns[:MOST_NAMES])
    more = f" and {len(columns) - MOST_NAMES} more" if len(columns) > MOST_NAMES else ""
    what = f"column {shown} of X has" if len(columns) == 1 else f"columns {shown}{more} of X have"
    raise DataError(
        f"{what} values as large as {largest.max():.3g}, but the learner takes none beyond "
        f"{LARGEST:.2g}; use a smaller unit, or the logarithm, for such columns, or leave them out"
    )
