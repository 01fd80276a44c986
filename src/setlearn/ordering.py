"""One sort order for values of all kinds, which does not depend on the hash seed."""

from collections.abc import Hashable
from numbers import Real
from typing import Any

__all__ = ["canonical_rank"]


def canonical_rank(token: Hashable) -> tuple[int, Any]:
    """Return a sort key: numbers by value, then strings, tuples, frozensets, then all others.

    Values of different groups are ordered by their group alone, so any two values can be sorted.

    Examples
    --------
    >>> sorted(["b", 2, (1, "a"), "a", 1.5, None], key=canonical_rank)
    [1.5, 2, 'a', 'b', (1, 'a'), None]
    """
    if isinstance(token, Real) and token == token:  # nan cannot be ordered among the numbers
        return 0, token
    if isinstance(token, str):
        return 1, token
    if isinstance(token, tuple):
        return 2, tuple(map(canonical_rank, token))
    if isinstance(token, frozenset):
        return 3, tuple(sorted(map(canonical_rank, token)))
    return 4, (type(token).__qualname__, repr(token))
