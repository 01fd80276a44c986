"""What people hand over as records: rows of files, dicts, tables, or bare values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setlearn.errors import DataError, KindError
from setlearn.files import Row
from setlearn.records.cells import shown
from setlearn.records.column_names import listed_names
from setlearn.records.columns import Column
from setlearn.records.kinds import guess_kind

__all__ = ["as_rows"]


def as_rows(records: Any, columns: Sequence[Column] = ()) -> list[Row]:
    """Rows with a place each.

    Parameters
    ----------
    records : Rows, dicts, a DataFrame, or bare values if there is one column alone
    columns : the columns that will be read, which tell what a bare value is

    Examples
    --------
    >>> as_rows(["a text"], [Column("title", "text")])
    [Row(place='record 0', record={'title': 'a text'})]
    """
    if hasattr(records, "to_dict") and hasattr(records, "columns"):
        records = records.to_dict("records")
    if isinstance(records, str | bytes | Mapping | Row) or not isinstance(records, Iterable):
        raise KindError(f"expected a list of records, got {shown(records)} alone; put it in a list")
    rows = [_as_row(number, record, columns) for number, record in enumerate(records)]
    if not rows:
        raise DataError("there are 0 records to read; give at least one")
    return rows


def _as_row(number: int, record: Any, columns: Sequence[Column]) -> Row:
    if isinstance(record, Row):
        return record
    place = f"record {number}"
    if isinstance(record, Mapping) and not _is_bare_bag(record, columns):
        return Row(place, {str(name): value for name, value in record.items()})
    if len(columns) != 1:
        names = listed_names([column.name for column in columns])
        wanted = f"the columns {names}" if columns else "all columns"
        raise KindError(f"{place} is {shown(record)}; give a dict with {wanted}")
    return Row(place, {columns[0].name: record})


def _is_bare_bag(record: Mapping[Any, Any], columns: Sequence[Column]) -> bool:
    """Whether a mapping is no record but the value of the only column."""
    if len(columns) != 1 or columns[0].kind != "bag":
        return False
    return columns[0].name not in record and guess_kind([record]) == "bag"
