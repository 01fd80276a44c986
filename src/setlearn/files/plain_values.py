"""Converts sets, arrays and NumPy numbers to values that JSON can hold."""

import math
from collections.abc import Mapping, Set
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np

from setlearn.errors import KindError
from setlearn.ordering import canonical_rank

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Convert a value to None, bool, int, float, str, list and dict.

    Sets become sorted lists, and dates become text. NaN and infinity become None, because JSON
    has no such numbers.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"y": {"sun", "sea"}, "score": np.float32(0.5), "lowest": float("nan")})
    {'y': ['sea', 'sun'], 'score': 0.5, 'lowest': None}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return [plain(item) for item in sorted(value, key=canonical_rank)]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, date | time | Decimal):
        return str(value)
    raise KindError(
        f"a file cannot hold the {type(value).__name__} {value!r}; "
        f"convert it to text, a number, or a list or set of these"
    )


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(plain(key))
