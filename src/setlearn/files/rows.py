"""Rows, whatever file they come from."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from setlearn.errors import DataError
from setlearn.files.source import Source, reading_errors

__all__ = ["Row", "Rows"]


class Row(NamedTuple):
    """A record, and where it stands.

    Examples
    --------
    >>> row = Row("birds.csv, line 2", {"name": "robin"})
    >>> f"{row.place}: {row.record['name']}"
    'birds.csv, line 2: robin'
    """

    place: str
    record: dict[str, Any]


class Rows(Iterator[Row]):
    r"""The rows of one file, to be read once; `open_rows` makes them.

    The file is closed at the end of its rows, at an error, and by `close`, which a ``with`` block
    calls. A file without any row to give is an error at its end.

    Parameters
    ----------
    source : Source
        The file.
    rows : iterator of Row
        What its reader finds there.
    columns, target, categories
        As below.

    Attributes
    ----------
    name : str
        The file's name for messages.
    format : str
        One of `FORMATS`.
    columns : list of str or None
        The names in each record, where the format knows them beforehand.
    target : str or None
        The name under which the format itself puts a set of labels.
    categories : list of str
        Columns that the file itself declares as categories, whatever their values look like.
    notes : list of str
        What was guessed, for people.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from setlearn.files import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "birds.csv"
    ...     _ = path.write_text("name;colours\nrobin;red brown\n\nraven;black;?\n")
    ...     with open_rows(path, skip_bad=True) as rows:
    ...         columns, found = rows.columns, list(rows)
    >>> columns, found
    (['name', 'colours'], [Row(place='birds.csv, line 2', record={'name': 'robin', ...})])
    >>> rows.notes, rows.n_bad, rows.bad
    (["read as CSV with ';' between columns"], 1, ['birds.csv, line 4: has 3 columns instead of 2'])
    """

    def __init__(
        self,
        source: Source,
        rows: Iterator[Row],
        *,
        columns: list[str] | None = None,
        target: str | None = None,
        categories: Sequence[str] = (),
    ) -> None:
        self.name = source.name
        self.format = source.format
        self.columns = columns
        self.target = target
        self.categories = list(categories)
        self.notes = source.notes
        self._source = source
        self._rows = self._read(rows)
        self._looked_at: Row | None = None

    @property
    def n_bad(self) -> int:
        """How many rows were left out so far."""
        return self._source.bad_rows.n

    @property
    def bad(self) -> list[str]:
        """The first ten of them, in words."""
        return self._source.bad_rows.first

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Row:
        row, self._looked_at = self._looked_at, None
        return next(self._rows) if row is None else row

    def __enter__(self) -> Rows:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def first(self) -> Row:
        """The row that comes next, which is given again when rows are asked for."""
        if self._looked_at is None:
            self._looked_at = next(self._rows)
        return self._looked_at

    def leave_out(self, told: str) -> None:
        """Count a row that was read but that whoever asked for it cannot use."""
        self._source.bad_rows.count(told)

    def close(self) -> None:
        """Close the file; there are no more rows then."""
        self._rows.close()
        self._looked_at = None
        self._source.closing.close()

    def _read(self, rows: Iterator[Row]) -> Generator[Row, None, None]:
        n_read = 0
        with self._source.closing, reading_errors(self.name):
            for row in rows:
                n_read += 1
                yield row
        if n_read == 0:
            raise DataError(f"{self.name} holds no rows{self._reason()}; check how it was made")

    def _reason(self) -> str:
        if not self.n_bad:
            return ""
        return f" that can be used: all {self.n_bad} were left out, the first as {self.bad[0]}"
