"""What people are told of columns: a line each, but one line for many of which the same is said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from setlearn.records.columns import Column

__all__ = ["column_notes"]

MOST_ALIKE = 5
SHOWN = 3


def column_notes(columns: Sequence[Column]) -> list[str]:
    """All columns in a few lines, in their order.

    Examples
    --------
    >>> column_notes([Column(f"x{k}", "number") for k in range(100)])
    ['x0, x1, x2 and 97 more: number']
    """
    alike: dict[str, list[Column]] = defaultdict(list)
    for column in columns:
        alike[column.said].append(column)
    notes = []
    for column in columns:
        group = alike[column.said]
        if len(group) <= MOST_ALIKE:
            notes.append(column.note)
        elif column is group[0]:
            names = ", ".join(each.name for each in group[:SHOWN])
            notes.append(f"{names} and {len(group) - SHOWN} more: {column.said}")
    return notes
