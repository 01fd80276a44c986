"""From records to the inputs of sequence models: one text, or one list of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setlearn.errors import DataError
from setlearn.features import Column
from setlearn.files import Row
from setlearn.savable import savable

__all__ = ["JoinedTextReader", "TextReader", "lacks_input", "text_reader"]


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TextReader:
    """Reads each record as one text or one list of tokens, the inputs of sequence models.

    Examples
    --------
    >>> TextReader(Column("word", "text")).read([Row("", {"word": "sea"})])
    ['sea']
    """

    column: Column

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return (self.column,)

    def read(self, rows: Sequence[Row]) -> list[Any]:
        """Return the text or the tokens of each row; a missing value is an error."""
        _check_inputs(self.columns, rows)
        cells = self.column.cells(rows)
        return [cell.tokens() if self.column.kind == "tokens" else cell.text() for cell in cells]


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class JoinedTextReader:
    """Reads several columns as one text, with a space between them.

    Examples
    --------
    >>> reader = JoinedTextReader((Column("lemma", "text"), Column("tense", "text")))
    >>> reader.read([Row("", {"lemma": "go", "tense": "past"})])
    ['go past']
    """

    columns: tuple[Column, ...]

    def read(self, rows: Sequence[Row]) -> list[str]:
        """Return the text of each row; a missing value is empty, but its space stays.

        If all values are missing, that is an error.
        """
        _check_inputs(self.columns, rows)
        texts = [[cell.text_or_empty() for cell in column.cells(rows)] for column in self.columns]
        return list(map(" ".join, zip(*texts, strict=True)))


def text_reader(columns: Sequence[Column]) -> TextReader | JoinedTextReader:
    """Make the reader for one or several columns of texts, or for one of lists of tokens."""
    return TextReader(columns[0]) if len(columns) == 1 else JoinedTextReader(tuple(columns))


def lacks_input(columns: Sequence[Column], row: Row) -> bool:
    """Say whether a row has no value in any of these columns.

    Parameters
    ----------
    columns : sequence of Column
    row : Row

    Returns
    -------
    bool
    """
    return all(cell.missing for column in columns for cell in column.cells([row]))


def _check_inputs(columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Raise, naming the row, if one has no input: nothing can be predicted from it."""
    for row in rows:
        if lacks_input(columns, row):
            names = " and ".join(repr(column.name) for column in columns)
            empty = f"column {names} is" if len(columns) == 1 else f"the columns {names} are"
            problem = f"there is no input, because {empty} empty"
            raise DataError(
                f"{row.place}: {problem}; fill it in, or leave the row out",
                advice={"skip_bad": True},
                without_values=problem,
            )
