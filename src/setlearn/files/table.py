"""CSV and TSV: a header, then one record per line, or over several lines with quotes."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from setlearn.errors import DataError, ParameterError
from setlearn.files.formats import Format
from setlearn.files.plain_values import plain
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource

__all__ = ["CSV", "TSV", "check_columns"]

DELIMITERS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
"""The delimiters that are searched for in a header, the most likely first, with their names."""

LONGEST_CELL = 10_000_000
"""In characters. An unclosed quote reads this much before it is detected."""

ELEMENT_SEPARATOR = ";"
NOT_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, which UTF-8 cannot encode."""


def read_csv(source: FileSource) -> Rows:
    """Read a table whose delimiter is given, or else found in the header."""
    lines = _Lines(source.lines())
    delimiter = source.delimiter
    if delimiter is None:
        delimiter = _delimiter_of_header(source, lines)
    return _read_table(source, lines, delimiter)


def read_tsv(source: FileSource) -> Rows:
    """Read a table whose delimiter is given, or else a tab."""
    delimiter = "\t" if source.delimiter is None else source.delimiter
    return _read_table(source, _Lines(source.lines()), delimiter)


def check_columns(columns: Sequence[str], where: str) -> None:
    """Refuse column names that are empty or used twice.

    Parameters
    ----------
    columns : sequence of str
        The names.
    where : str
        The place of the header, for the error message.

    Raises
    ------
    DataError
        If there are no columns, or a name is empty or used twice.
    """
    if not columns:
        raise DataError(f"{where}: there are no columns; add at least one")
    if "" in columns:
        raise DataError(
            f"{where}: column {columns.index('') + 1} of the header has no name; add a name"
        )
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise DataError(
            f"{where}: the header has more than one column {repeated[0]!r}; rename all but one"
        )


def _read_table(source: FileSource, lines: _Lines, delimiter: str) -> Rows:
    """Read the header, then records of strings, with None for an empty cell."""
    records = _Records(lines, _check_delimiter(delimiter))
    try:
        header = next(records, None)
    except csv.Error as error:
        raise DataError(
            f"{source.place(lines.first)}: the header cannot be read: {error}; correct it"
        ) from None
    if header is None:
        raise DataError(f"{source.name} holds no rows, not even a header; check how it was made")
    columns = _column_names(source, header)
    check_columns(columns, source.place(lines.first))
    return Rows(source, _rows(source, records, columns), columns=columns)


def _column_names(source: FileSource, header: list[str]) -> list[str]:
    """Strip the names. The first column may have none, as in files written by pandas."""
    columns = [name.strip() for name in header]
    if len(columns) > 1 and not columns[0]:
        columns[0] = "column 1"
        source.notes.append(f"the first column has no name, so it is called {columns[0]!r}")
    return columns


def _check_delimiter(delimiter: str) -> str:
    r"""Return the delimiter, and a tab for ``\t`` as people type it in a shell."""
    if delimiter == r"\t":
        return "\t"
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise ParameterError(
            f"a delimiter is one character that is neither a quote nor the end of a line, "
            f"got {delimiter!r}; the usual ones are , ; | and \\t",
            advice={"delimiter": None},
        )
    return delimiter


def _delimiter_of_header(source: FileSource, lines: _Lines) -> str:
    header = lines.peek()
    unquoted = "".join(header.split('"')[::2])
    delimiter = max(DELIMITERS, key=unquoted.count)  # the first one if several are as frequent
    if delimiter != ",":
        if delimiter not in unquoted:
            return ","
        source.notes.append(f"read as CSV with {DELIMITERS[delimiter]} between columns")
    return delimiter


def _rows(source: FileSource, records: _Records, columns: list[str]) -> Iterator[Row]:
    while True:
        try:
            cells = next(records, None)
        except csv.Error as error:
            source.bad_rows.add(source.place(records.lines.first), _problem(error))
            records.lines.give_back()
            continue
        if cells is None:
            return
        place = source.place(records.lines.first)
        if len(cells) != len(columns):
            source.bad_rows.add(place, f"has {len(cells)} columns instead of {len(columns)}")
        elif any("\0" in cell for cell in cells):
            source.bad_rows.add(place, "holds a NUL byte, which is not text")
        else:
            yield Row(place, {n: cell or None for n, cell in zip(columns, cells, strict=True)})


def _problem(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "has a quote that is never closed"
    return f"is not CSV: {error}"


class _Records(Iterator[list[str]]):
    """The cells of each record; blank lines are skipped."""

    def __init__(self, lines: _Lines, delimiter: str) -> None:
        self.lines = lines
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def __next__(self) -> list[str]:
        cells: list[str] = []
        while not cells:
            self.lines.start_record()
            # The limit is global to the process, so it is changed only while we read.
            previous_limit = csv.field_size_limit(LONGEST_CELL)
            try:
                cells = next(self._reader)
            finally:
                csv.field_size_limit(previous_limit)
        return cells


class _Lines(Iterator[str]):
    """Passes lines to the CSV parser and remembers those of the current record."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self._again: deque[tuple[int, str]] = deque()
        self._record: list[tuple[int, str]] = []

    @property
    def first(self) -> int:
        """The number of the first line of the current record."""
        return self._record[0][0]

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self._record.append(line)
        return line[1]

    def peek(self) -> str:
        """Return the next line that is not blank, without consuming it."""
        for number, line in self._lines:
            if line.strip("\r\n"):
                self._again.append((number, line))
                return line
        return ""

    def start_record(self) -> None:
        self._record = []

    def give_back(self) -> None:
        """Read the lines after the first again, which belong to other records after an error."""
        self._again.extendleft(reversed(self._record[1:]))


def table_lines(rows: Iterable[Mapping[str, Any]], delimiter: str) -> Iterator[bytes]:
    """Yield a header with the names of the first record, then one line per record.

    Sets and lists are written with semicolons between their elements, or as a JSON list if an
    element holds a semicolon or would be ambiguous for another reason. A missing value is an
    empty cell.

    Parameters
    ----------
    rows : iterable of dict
        The records.
    delimiter : str
        The character between columns.

    Yields
    ------
    bytes
        The lines in UTF-8.

    Raises
    ------
    DataError
        If a record has a column that the first one lacks, or holds a character that is not text.
    """
    columns: list[str] = []
    for number, row in enumerate(rows, start=1):
        record = plain(row)
        if number == 1:
            columns = list(record)
            # Readers strip the names, so they must also differ after that.
            check_columns([name.strip() for name in columns], "the first record")
            # Quoted if they hold any delimiter, so that a reader finds the right one.
            yield _line([_quoted(name, "".join(DELIMITERS)) for name in columns], delimiter, number)
        unknown = record.keys() - set(columns)
        if unknown:
            raise DataError(
                f"record {number} has the column {min(unknown)!r}, which the first one lacks; "
                f"use the same columns for all records, or write JSON lines"
            )
        cells = [_quoted(_cell(record.get(name)), delimiter) for name in columns]
        yield _line(cells, delimiter, number)


def _line(cells: list[str], delimiter: str, number: int) -> bytes:
    # A single empty cell would be a blank line, which readers skip.
    line = delimiter.join(cells) or '""'
    unfit = NOT_TEXT.search(line)
    if unfit:
        raise DataError(
            f"record {number} holds {unfit.group()!r}, which a table cannot hold; "
            f"write JSON lines, which can escape it"
        )
    return f"{line}\n".encode()


def _quoted(cell: str, special: str) -> str:
    # Line ends and a byte order mark are not printable, so they are quoted too.
    if cell.isprintable() and not any(character in cell for character in f'"{special}'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(map(_is_simple, value)):
        return ELEMENT_SEPARATOR.join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _is_simple(element: Any) -> bool:
    """Whether the element can stand between semicolons and be read back unchanged."""
    if isinstance(element, str):
        is_bare = element == element.strip() and element != ""
        return is_bare and ELEMENT_SEPARATOR not in element and not element.startswith("[")
    return isinstance(element, int | float) and not isinstance(element, bool)


CSV = Format(
    "csv",
    (".csv",),
    read=read_csv,
    write=partial(table_lines, delimiter=","),
    options=frozenset({"delimiter"}),
    description="CSV",
)
TSV = Format(
    "tsv",
    (".tsv", ".tab"),
    read=read_tsv,
    write=partial(table_lines, delimiter="\t"),
    options=frozenset({"delimiter"}),
    description="TSV",
)
