"""Which columns records have, and which of them a user means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from setlearn.errors import DataError
from setlearn.files import Row

__all__ = ["count_columns", "listed_names", "no_column", "resolve_names"]

MOST_NAMES = 20


def count_columns(rows: Sequence[Row]) -> Counter[str]:
    """In how many rows each column is there, in the order in which they first appear."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.record.keys())
    return counts


def resolve_names(names: Iterable[str], there: Iterable[str]) -> list[str]:
    """The columns that names and patterns such as ``tag_*`` stand for, each once.

    A column that is itself called like a pattern is meant by that name.
    """
    there = list(there)
    found: dict[str, None] = {}
    for name in names:
        matches = [name] if name in there else [each for each in there if fnmatchcase(each, name)]
        if not matches:
            raise no_column(name, there)
        found.update(dict.fromkeys(matches))
    return list(found)


def no_column(name: str, there: Iterable[str], where: str = "the data") -> DataError:
    """The error for a column that is not there: it names those that are, the likeliest first."""
    there = list(there)
    close = get_close_matches(name, there, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ";"
    return DataError(
        f"{where}: there is no column {name!r}{meant} the columns are "
        f"{listed_names([*close, *(each for each in there if each not in close)])}"
    )


def listed_names(names: Sequence[str]) -> str:
    """Names in one line, cut where there are too many to read."""
    if not names:
        return "(none)"
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
