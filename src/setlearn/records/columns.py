"""The columns of records: which are inputs, and how each is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records.cells import Cell, as_number, as_text, is_missing, says_missing, shown
from setlearn.records.column_names import count_columns, no_column, resolve_names
from setlearn.records.kinds import KINDS, Kind, guess_kind, is_constant
from setlearn.savable import savable

__all__ = ["Column", "guess_columns", "inputs_of", "spread"]

MOST_LOOKED_AT = 5000
"""Rows, spread over the data, that guesses are made from."""


@savable()
@dataclass(frozen=True, slots=True)
class Column:
    """A column and how it is read.

    Attributes
    ----------
    name : str
    kind : Kind
    optional : bool
        Whether it was absent from some training rows, so that it may be absent again.
    remark : str
        What people are told beside the kind.

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
        return f"{self.name}: {self.said}"

    @property
    def said(self) -> str:
        """All that the line says but the name."""
        return f"{self.kind} ({self.remark})" if self.remark else self.kind

    def cells(self, rows: Sequence[Row]) -> list[Cell]:
        """The column's value in each row; a row without the column is an error."""
        if not self.optional:
            for row in rows:
                if self.name not in row.record:
                    raise no_column(self.name, row.record, where=row.place)
        return [Cell(row.place, self.name, row.record.get(self.name)) for row in rows]


def guess_columns(
    rows: Sequence[Row],
    *,
    target_columns: Sequence[str] = (),
    given: Mapping[str, Kind] | None = None,
    inputs: Sequence[str] | None = None,
    declared: Sequence[str] = (),
) -> tuple[Column, ...]:
    """Find out how each column is read, from values of some thousand rows.

    Parameters
    ----------
    rows : sequence of Row
    target_columns : names that are no inputs
    given : kinds by name or pattern, which win over any guess
    inputs : names or patterns, optional
        The only columns to read, whatever kinds are given. They are read even if they look useless.
    declared : names
        Columns that the file itself declares as categories, whatever their values look like.

    Examples
    --------
    >>> rows = [Row("", {"id": k, "size": k / 7, "tags": []}) for k in range(9)]
    >>> [column.note for column in guess_columns(rows, target_columns=["tags"])]
    ['id: ignored (an id by its name)', 'size: number']
    """
    counts = count_columns(rows)
    kinds = _given_kinds(given or {}, counts, target_columns)
    wanted = _wanted(inputs, counts, target_columns) if inputs else None
    columns = []
    for name in counts:
        if name in target_columns:
            continue
        optional = counts[name] < len(rows)
        if wanted is not None and name not in wanted:
            columns.append(Column(name, "ignored", optional, "not among the inputs"))
        elif name in kinds:
            columns.append(Column(name, kinds[name], optional, "as asked"))
        elif name in declared:
            columns.append(Column(name, "category", optional, "declared by the file"))
        else:
            kind, remark = _guess(rows, name, must=wanted is not None)
            columns.append(Column(name, kind, optional, remark))
    return tuple(columns)


def inputs_of(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that are read."""
    return tuple(column for column in columns if column.kind != "ignored")


def spread(n_rows: int) -> range:
    """The numbers of some thousand rows at most, from all over the data."""
    return range(0, n_rows, -(-n_rows // MOST_LOOKED_AT) or 1)


def _given_kinds(
    given: Mapping[str, Kind], there: Mapping[str, int], target_columns: Sequence[str]
) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for pattern, kind in given.items():
        if kind not in KINDS:
            raise ParameterError(
                f"the kind of column {pattern!r} must be one of {', '.join(KINDS)}, got {kind!r}"
            )
        kinds |= dict.fromkeys(_wanted([pattern], there, target_columns), kind)
    return kinds


def _wanted(
    names: Sequence[str], there: Mapping[str, int], target_columns: Sequence[str]
) -> list[str]:
    for name in names:
        if name in target_columns:
            raise ParameterError(
                f"column {name!r} is the target, so it cannot be an input too; leave it out"
            )
    return [name for name in resolve_names(names, there) if name not in target_columns]


def _guess(rows: Sequence[Row], name: str, *, must: bool) -> tuple[Kind, str]:
    """The kind and a remark; a column that ``must`` be read is not ignored."""
    looked_at = spread(len(rows))
    values = {k: rows[k].record.get(name) for k in looked_at}
    present = [value for value in values.values() if not is_missing(value)]
    useless = "" if must else _useless(name, values, present)
    if useless:
        return "ignored", useless
    if not present:
        raise DataError(f"column {name!r} is always empty; leave it out of the inputs")
    kind = guess_kind(present)
    if kind == "number":
        return kind, _said_of_missing([row.record.get(name) for row in rows])
    if kind is not None:
        return kind, _remark(kind, present)
    if must:
        raise DataError(
            f"no kind of column takes all values of {name!r}, such as {shown(present[0])}; "
            "write them alike, or leave the column out of the inputs"
        )
    return "ignored", f"no kind takes values such as {shown(present[0])}"


def _remark(kind: Kind, present: Sequence[Any]) -> str:
    if kind == "category":
        return f"{len(set(map(as_text, present)))} different"
    return f"{len(present[0])} numbers" if kind == "vector" else ""


def _said_of_missing(values: Sequence[Any]) -> str:
    words = [value for value in values if says_missing(value)]
    if not words:
        return ""
    how_many = (
        "1 value such as {} is" if len(words) == 1 else f"{len(words)} values such as {{}} are"
    )
    return f"{how_many.format(repr(words[0]))} missing"


def _useless(name: str, values: Mapping[int, Any], present: Sequence[Any]) -> str:
    """Why there is nothing to learn from a column, or ""."""
    if not present:
        return "always empty"
    if name.lower() == "id" or name.lower().endswith("_id"):
        return "an id by its name"
    if len(values) < 2:
        return ""
    if _numbers_the_rows(values):
        return "numbers the rows"
    constant = len(present) == len(values) and is_constant(present)
    return "always the same" if constant else ""


def _numbers_the_rows(values: Mapping[int, Any]) -> bool:
    numbers = [as_number(value) for value in values.values()]
    first = numbers[0]
    return (
        first is not None
        and first in (0, 1)
        and all(number == first + k for k, number in zip(values, numbers, strict=True))
    )
