"""CSV and TSV: a header, then a record a line or, with quotes, over several."""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from setlearn.errors import DataError, ParameterError
from setlearn.files.rows import Row, Rows
from setlearn.files.source import Source

__all__ = ["DELIMITERS", "check_columns", "check_delimiter", "read_table"]

DELIMITERS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
"""Those that a header is searched for, the likeliest first, and what messages call them."""

LONGEST_CELL = 10_000_000
"""Characters. An unclosed quote swallows so much before it is found out."""


def read_table(source: Source) -> Rows:
    """Read the header, then records of strings, with None for an empty cell."""
    lines = _Lines(source.lines())
    delimiter = source.delimiter or _usual_delimiter(source, lines)
    records = _Records(lines, delimiter)
    try:
        columns = next(records, None)
    except csv.Error as error:
        raise DataError(
            f"{source.place(lines.first)}: the header cannot be read: {error}; correct it"
        ) from None
    if columns is None:
        raise DataError(f"{source.name} holds no rows, not even a header; check how it was made")
    columns = _named(source, columns)
    check_columns(columns, source.place(lines.first))
    return Rows(source, _rows(source, records, columns), columns=columns)


def _named(source: Source, header: list[str]) -> list[str]:
    """The names without blanks around; the first column may lack one, as pandas writes it."""
    columns = [name.strip() for name in header]
    if len(columns) > 1 and not columns[0]:
        columns[0] = "column 1"
        source.notes.append(f"the first column has no name, so it is called {columns[0]!r}")
    return columns


def check_columns(columns: Sequence[str], where: str) -> None:
    """Refuse names that are empty or used twice."""
    if not columns:
        raise DataError(f"{where}: there are no columns; give at least one")
    if "" in columns:
        raise DataError(
            f"{where}: column {columns.index('') + 1} of the header has no name; give it one"
        )
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{where}: the header has more than one column {twice[0]!r}; rename all but one"
        )


def check_delimiter(delimiter: str) -> str:
    r"""Give the delimiter back, and a tab for ``\t`` as people type it in a shell."""
    if delimiter == r"\t":
        return "\t"
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise ParameterError(
            f"a delimiter is one character that is neither a quote nor the end of a line, "
            f"got {delimiter!r}; the usual ones are , ; | and \\t"
        )
    return delimiter


def _usual_delimiter(source: Source, lines: _Lines) -> str:
    if source.format == "tsv":
        return "\t"
    header = lines.peek()
    unquoted = "".join(header.split('"')[::2])
    delimiter = max(DELIMITERS, key=unquoted.count)  # the first of equals
    if delimiter != ",":
        if delimiter not in unquoted:
            return ","
        source.notes.append(f"read as CSV with {DELIMITERS[delimiter]} between columns")
    return delimiter


def _rows(source: Source, records: _Records, columns: list[str]) -> Iterator[Row]:
    while True:
        try:
            cells = next(records, None)
        except csv.Error as error:
            source.bad_rows.add(source.place(records.lines.first), _problem(error))
            records.read_again_from_the_next_line()
            continue
        if cells is None:
            return
        place = source.place(records.lines.first)
        if len(cells) != len(columns):
            source.bad_rows.add(place, f"has {len(cells)} columns instead of {len(columns)}")
        elif any("\0" in cell for cell in cells):
            source.bad_rows.add(place, "holds a NUL byte, which no text has")
        else:
            yield Row(place, {n: cell or None for n, cell in zip(columns, cells, strict=True)})


def _problem(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "has a quote that is never closed"
    return f"is not CSV: {error}"


class _Records(Iterator[list[str]]):
    """The cells of each record; blank lines are passed over."""

    def __init__(self, lines: _Lines, delimiter: str) -> None:
        self.lines = lines
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def __next__(self) -> list[str]:
        cells: list[str] = []
        while not cells:
            self.lines.start_record()
            # The limit is one for the whole process, so it is only ours while we read.
            usual = csv.field_size_limit(LONGEST_CELL)
            try:
                cells = next(self._reader)
            finally:
                csv.field_size_limit(usual)
        return cells

    def read_again_from_the_next_line(self) -> None:
        """Take back the lines that a stray quote has swallowed after the first."""
        self.lines.take_back()


class _Lines(Iterator[str]):
    """Feeds lines to the CSV parser and remembers those of the present record."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self._again: deque[tuple[int, str]] = deque()
        self._record: list[tuple[int, str]] = []

    @property
    def first(self) -> int:
        """The number of the line that the present record starts at."""
        return self._record[0][0]

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self._record.append(line)
        return line[1]

    def peek(self) -> str:
        """The next line that is not blank, which stays the next."""
        for number, line in self._lines:
            if line.strip("\r\n"):
                self._again.append((number, line))
                return line
        return ""

    def start_record(self) -> None:
        self._record = []

    def take_back(self) -> None:
        self._again.extendleft(reversed(self._record[1:]))
