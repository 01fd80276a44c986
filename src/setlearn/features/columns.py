"""The columns of records: their names, how each is read, and rows made of what users pass."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from setlearn.errors import DataError, KindError
from setlearn.features.cells import Cell, Kind, guess_kind, short_repr
from setlearn.files import Row
from setlearn.savable import savable

__all__ = [
    "Column",
    "as_rows",
    "check_columns",
    "column_notes",
    "count_columns",
    "join_names",
    "matching_columns",
    "missing_column",
    "read_columns",
]

MOST_NAMES = 20
"""Names in one message."""

MOST_SINGLE_NOTES = 5
"""With more columns than this that have the same description, one line describes them all."""
NAMES_IN_NOTE = 3


@savable()
@dataclass(frozen=True, slots=True)
class Column:
    """A column and how it is read.

    Attributes
    ----------
    name : str
    kind : Kind
    optional : bool
        Whether some training rows lacked the column, so that other rows may lack it too.
    remark : str
        A remark for users, shown after the kind.

    Examples
    --------
    >>> Column("row_id", "ignored", remark="numbers the rows").note
    'row_id: ignored (numbers the rows)'
    """

    name: str
    kind: Kind
    optional: bool = False
    remark: str = ""

    @property
    def note(self) -> str:
        """The column in one line."""
        return f"{self.name}: {self.description}"

    @property
    def description(self) -> str:
        """The kind and the remark."""
        return f"{self.kind} ({self.remark})" if self.remark else self.kind

    def cells(self, rows: Sequence[Row]) -> list[Cell]:
        """Return the column's value in each row; a row without the column is an error."""
        check_columns([self], rows)
        return [Cell(row.place, self.name, row.record.get(self.name)) for row in rows]


def read_columns(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return the columns that are read, without the ignored ones."""
    return tuple(column for column in columns if column.kind != "ignored")


def column_notes(columns: Sequence[Column]) -> list[str]:
    """Describe all columns in a few lines, in their order.

    Examples
    --------
    >>> column_notes([Column(f"x{k}", "number") for k in range(100)])
    ['x0, x1, x2 and 97 more: number']
    """
    groups: dict[str, list[Column]] = defaultdict(list)
    for column in columns:
        groups[column.description].append(column)
    notes = []
    for column in columns:
        group = groups[column.description]
        if len(group) <= MOST_SINGLE_NOTES:
            notes.append(column.note)
        elif column is group[0]:
            names = ", ".join(other.name for other in group[:NAMES_IN_NOTE])
            notes.append(f"{names} and {len(group) - NAMES_IN_NOTE} more: {column.description}")
    return notes


def check_columns(columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Raise if a row lacks columns that it must have; the error names all of the first such row.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of Row

    Raises
    ------
    DataError
    """
    needed = [column.name for column in columns if not column.optional]
    for row in rows:
        missing = [name for name in needed if name not in row.record]
        if missing:
            raise missing_column(*missing, columns=row.record, where=row.place)


def count_columns(rows: Sequence[Row]) -> Counter[str]:
    """Count the rows that have each column, in the order in which columns first appear."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.record.keys())
    return counts


def matching_columns(names: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Find the columns that names and patterns such as ``tag_*`` stand for.

    Parameters
    ----------
    names : iterable of str
        Names or patterns. If a column has the same name as a pattern, only that column is meant.
    columns : iterable of str
        The columns that exist.

    Returns
    -------
    list of str
        Each column once.

    Raises
    ------
    DataError
        If a name or pattern matches no column.
    """
    columns = list(columns)
    matching: dict[str, None] = {}
    for name in names:
        matches = [name] if name in columns else [c for c in columns if fnmatchcase(c, name)]
        if not matches:
            raise missing_column(name, columns=columns)
        matching.update(dict.fromkeys(matches))
    return list(matching)


def missing_column(*names: str, columns: Iterable[str], where: str = "the data") -> DataError:
    """Make the error for missing columns; it lists the columns, the closest match first.

    Parameters
    ----------
    *names : str
        The missing columns.
    columns : iterable of str
        The columns that exist.
    where : str, default="the data"
        Where the columns were looked for.

    Returns
    -------
    DataError

    Examples
    --------
    >>> print(missing_column("size", columns=["colour", "sizes"]))
    the data: there is no column 'size'; did you mean 'sizes'? the columns are sizes, colour
    """
    columns = list(columns)
    close = get_close_matches(names[0], columns, n=1)
    suggestion = f"; did you mean {close[0]!r}?" if close and len(names) == 1 else ";"
    ordered = [*close, *(column for column in columns if column not in close)]
    listed = join_names(list(map(repr, names)))
    problem = (
        f"there is no column {listed}" if len(names) == 1 else f"there are no columns {listed}"
    )
    return DataError(
        f"{where}: {problem}{suggestion} the columns are {join_names(ordered)}",
        without_values=problem,
    )


def join_names(names: Sequence[Any]) -> str:
    """List names in one line, cut off if there are too many to read."""
    if not names:
        return "(none)"
    more = len(names) - MOST_NAMES
    return ", ".join(map(str, names[:MOST_NAMES])) + (f" and {more} more" if more > 0 else "")


def as_rows(records: Any, columns: Sequence[Column] = ()) -> list[Row]:
    """Make rows of records, each with a place for error messages.

    Parameters
    ----------
    records : iterable of Row or dict, DataFrame, or iterable of values
        Plain values are allowed if exactly one column is read.
    columns : sequence of Column, optional
        The columns that will be read.

    Returns
    -------
    list of Row

    Raises
    ------
    KindError
        If a record is neither a row, a dict, nor the value of a single column.

    Examples
    --------
    >>> as_rows(["a text"], [Column("title", "text")])
    [Row(place='record 0', record={'title': 'a text'})]
    """
    if hasattr(records, "to_dict") and hasattr(records, "columns"):
        records = records.to_dict("records")
    if isinstance(records, str | bytes | Mapping | Row) or not isinstance(records, Iterable):
        raise KindError(
            f"expected a list of records, got the single value {short_repr(records)}; "
            "put it in a list"
        )
    return [_as_row(number, record, columns) for number, record in enumerate(records)]


def _as_row(number: int, record: Any, columns: Sequence[Column]) -> Row:
    if isinstance(record, Row):
        return record
    place = f"record {number}"
    if isinstance(record, Mapping) and not _is_bag_value(record, columns):
        return Row(place, {str(name): value for name, value in record.items()})
    if len(columns) != 1:
        names = join_names([column.name for column in columns])
        needed = f"the columns {names}" if columns else "all columns"
        raise KindError(
            f"{place} is {short_repr(record)}; pass a dict with {needed}",
            without_values=f"it is a single value, but {needed} are needed",
        )
    return Row(place, {columns[0].name: record})


def _is_bag_value(record: Mapping[Any, Any], columns: Sequence[Column]) -> bool:
    """Whether a mapping is the value of the only column, not a record."""
    if len(columns) != 1 or columns[0].kind != "bag":
        return False
    return columns[0].name not in record and guess_kind([record]) == "bag"
