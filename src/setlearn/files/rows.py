"""Rows of a file of any format."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from setlearn.errors import DataError
from setlearn.files.source import FileSource, reading_errors

__all__ = ["Row", "Rows"]


class Row(NamedTuple):
    """A record and its place in the file.

    Attributes
    ----------
    place : str
        The file and the line, row or item, for messages.
    record : dict from str to object
        The values by column name.

    Examples
    --------
    >>> row = Row("birds.csv, line 2", {"name": "robin"})
    >>> f"{row.place}: {row.record['name']}"
    'birds.csv, line 2: robin'
    """

    place: str
    record: dict[str, Any]


class Rows(Iterator[Row]):
    r"""An iterator over the rows of one file, returned by `open_rows`.

    The file is closed after its last row, after an error, and by `close`, which a ``with`` block
    calls. If the file has no usable row, iteration ends with a DataError; a section may have none.

    Parameters
    ----------
    source : FileSource
        The file.
    rows : iterator of Row
        The rows that the reader of the format yields.
    columns, target, categories
        See the attributes.

    Attributes
    ----------
    name : str
        The file's name in messages.
    format : str
        The name of the format.
    columns : list of str or None
        The keys of each record, if the format declares them before the first row.
    target : str or None
        The column in which the format itself stores the set of labels.
    categories : list of str
        Columns that the file declares as categories, whatever their values look like.
    notes : list of str
        What was guessed about the file, for people to read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from setlearn.files import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "birds.csv"
    ...     _ = path.write_text("name;colours\nrobin;red brown\n\nraven;black;?\n")
    ...     with open_rows(path, skip_bad=True) as rows:
    ...         columns, usable = rows.columns, list(rows)
    >>> columns, usable
    (['name', 'colours'], [Row(place='birds.csv, line 2', record={'name': 'robin', ...})])
    >>> rows.notes, rows.n_bad, rows.bad
    (["read as CSV with ';' between columns"], 1, ['birds.csv, line 4: has 3 columns instead of 2'])
    """

    def __init__(
        self,
        source: FileSource,
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
        self._peeked: Row | None = None

    @property
    def n_bad(self) -> int:
        """How many rows were skipped so far."""
        return self._source.bad_rows.n

    @property
    def bad(self) -> list[str]:
        """Descriptions of the first ten skipped rows."""
        return self._source.bad_rows.first

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Row:
        row, self._peeked = self._peeked, None
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
        """Return the next row without consuming it."""
        if self._peeked is None:
            self._peeked = next(self._rows)
        return self._peeked

    def leave_out(self, description: str) -> None:
        """Count a row as skipped that was read, but that the caller cannot use."""
        self._source.bad_rows.count(description)

    def close(self) -> None:
        """Close the file; iteration then ends."""
        self._rows.close()
        self._peeked = None
        self._source.closing.close()

    def _read(self, rows: Iterator[Row]) -> Generator[Row, None, None]:
        n_read = 0
        with self._source.closing, reading_errors(self.name):
            for row in rows:
                n_read += 1
                yield row
        if n_read == 0 and self._source.section is None:
            raise DataError(f"{self.name} holds no rows{self._reason()}; check how it was made")

    def _reason(self) -> str:
        if not self.n_bad:
            return ""
        return f" that can be used: all {self.n_bad} were skipped; the first: {self.bad[0]}"
