"""From records to queries with lists of candidates, the inputs of a `SetSelector`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from setlearn.errors import DataError
from setlearn.features import Column
from setlearn.features.cells import short_repr
from setlearn.files import Row
from setlearn.records.readers import JoinedTextReader, TextReader
from setlearn.records.targets import USUAL_SEPARATOR, TargetReader
from setlearn.savable import savable

__all__ = ["CandidateReader"]


@savable(parts={"query": (TextReader, JoinedTextReader)})
@dataclass(frozen=True, slots=True, eq=False)
class CandidateReader:
    """Reads each record as a query with its list of candidates, the inputs of a `SetSelector`.

    Attributes
    ----------
    query : TextReader or JoinedTextReader
    candidates : Column
        Holds lists, texts with separators, or lists that were written as texts.
    separator : str or None
        What separates the candidates of a text; None if a text is one candidate.

    Examples
    --------
    >>> query = TextReader(Column("query", "text"))
    >>> reader = CandidateReader(query, Column("candidates", "candidates"))
    >>> reader.read([Row("", {"query": "sea", "candidates": ["sun", ["wave", "foam"]]})])
    [('sea', ['sun', ('wave', 'foam')])]
    """

    query: TextReader | JoinedTextReader
    candidates: Column
    separator: str | None = USUAL_SEPARATOR

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return (*self.query.columns, self.candidates)

    def read(self, rows: Sequence[Row]) -> list[tuple[Any, list[Hashable]]]:
        """Return the query and the candidates of each row; without candidates, an empty list."""
        queries = self.query.read(rows)
        written = TargetReader((self.candidates.name,), self.separator, "candidates")
        lists = []
        for cell in self.candidates.cells(rows):
            try:
                lists.append(written.listed(cell.value, f"{cell.place}: {cell.column!r}"))
            except DataError as error:
                error.without_values = f"column {cell.column!r} is not a list of candidates"
                raise
        return list(zip(queries, lists, strict=True))

    def check_chosen(self, row: Row, chosen: frozenset[Hashable]) -> None:
        """Raise if a set holds an element that is not among the candidates of its row.

        Parameters
        ----------
        row : Row
        chosen : frozenset

        Raises
        ------
        DataError
        """
        [(_, candidates)] = self.read([row])
        for element in chosen.difference(candidates):
            raise DataError(
                f"{row.place}: {short_repr(element)} is chosen, but it is not among the "
                f"{len(candidates)} candidates in {self.candidates.name!r}; add it to them, leave "
                "the row out, or say what separates the elements of a text",
                advice={"skip_bad": True, "separator": None},
            )
