"""The set that a record is labelled with: from a list, a text with separators, or flags."""

from __future__ import annotations

import json
from collections.abc import Hashable, Set
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from setlearn.errors import DataError
from setlearn.files import Row
from setlearn.records.cells import as_list, as_number, is_missing, shown
from setlearn.records.column_names import no_column
from setlearn.savable import savable

__all__ = ["USUAL_SEPARATOR", "TargetReader", "Task", "as_flag", "listed_in_cell"]

Task: TypeAlias = Literal["labels", "sequences"]

USUAL_SEPARATOR = ";"
"""What sets are written with, and read with where the data say nothing else."""

FLAGS = {"yes": True, "no": False}
"""Words for 1 and 0, beside true and false."""


@savable()
@dataclass(frozen=True, slots=True)
class TargetReader:
    """Reads the set of a record.

    Attributes
    ----------
    columns : tuple of str
        The column that holds the set; or several, one a label, which hold flags.
    separator : str or None
        What stands between the elements of a text; None if a text is one element.
    task : {"labels", "sequences"}
    labels : tuple of labels
        With one column a label: the label of each column. By default, a single column holds the
        set, and several are called like their labels.

    Examples
    --------
    >>> reader = TargetReader(("tags",), ";", "labels")
    >>> sorted(reader.read(Row("photos.csv, line 2", {"tags": "sun; sea"})))
    ['sea', 'sun']
    """

    columns: tuple[str, ...]
    separator: str | None
    task: Task
    labels: tuple[Hashable, ...] = ()

    @property
    def reads_flags(self) -> bool:
        """Whether there is one column a label."""
        return len(self.columns) > 1 or bool(self.labels)

    def read(self, row: Row) -> frozenset[Hashable]:
        """The set of one row; the target must be there, but may be empty."""
        if not self.reads_flags:
            return self.read_column(row, self.columns[0])
        labels = dict(zip(self.columns, self.labels or self.columns, strict=True))
        flags = {name: _cell(row, name) for name in self.columns}
        return frozenset(
            labels[n] for n, flag in flags.items() if _is_set(flag, f"{row.place}: {n!r}")
        )

    def read_column(self, row: Row, name: str) -> frozenset[Hashable]:
        """A set that is written like targets, from any column."""
        return self.elements(_cell(row, name), f"{row.place}: {name!r}")

    def elements(self, value: Any, where: str) -> frozenset[Hashable]:
        """The set that one value stands for; ``where`` is what errors call it.

        Examples
        --------
        >>> reader = TargetReader(("tags",), ";", "labels")
        >>> sorted(reader.elements('["one; two", "three"]', "known"))
        ['one; two', 'three']
        """
        if is_missing(value):
            return frozenset()
        if isinstance(value, str):
            listed = listed_in_cell(value)
            pieces: list[Any] | None = self._pieces(value) if listed is None else listed
        elif isinstance(value, Set):
            pieces = list(value)
        else:
            pieces = as_list(value) if isinstance(value, list | tuple | np.ndarray) else [value]
        if pieces is None:
            raise DataError(f"{where} is {shown(value)}, which is no set; write a list of elements")
        return frozenset(self._element(piece, where) for piece in pieces)

    def _pieces(self, text: str) -> list[str]:
        pieces = [text] if self.separator is None else text.split(self.separator)
        return [piece.strip() for piece in pieces if piece.strip()]

    def _element(self, piece: Any, where: str) -> Hashable:
        element: Hashable = _hashable(piece, where)
        if self.task == "sequences" and not isinstance(element, str | tuple):
            raise DataError(
                f"{where} holds {shown(piece)}, which is no sequence; "
                "write strings or lists of tokens, or choose the task labels"
            )
        return element


def _cell(row: Row, name: str) -> Any:
    if name not in row.record:
        raise no_column(name, row.record, where=row.place)
    return row.record[name]


def listed_in_cell(text: str) -> list[Any] | None:
    """The elements of a JSON list that is written out in a text, else None."""
    if not (text.lstrip().startswith("[") and text.rstrip().endswith("]")):
        return None
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return listed if isinstance(listed, list) else None


def _hashable(piece: Any, where: str) -> Any:
    """An element as it is; a list of tokens as a tuple."""
    tokens = as_list(piece)
    if tokens:
        return tuple(_hashable(token, where) for token in tokens)
    if isinstance(piece, str | Real) and not is_missing(piece):
        return piece
    raise DataError(
        f"{where} holds {shown(piece)}, which is no element of a set; "
        "write strings, numbers or lists of tokens, and leave out what is empty"
    )


def as_flag(value: object) -> bool | None:
    """Whether a value says yes or no, also by being missing; None if it says something else."""
    if is_missing(value):
        return False
    number = as_number(value)
    if number in (0, 1):
        return number == 1
    return FLAGS.get(value.strip().lower()) if isinstance(value, str) else None


def _is_set(flag: Any, where: str) -> bool:
    said = as_flag(flag)
    if said is not None:
        return said
    raise DataError(
        f"{where} holds {shown(flag)}, but with one column a label it must say whether the label "
        "is there; write 0 or 1, no or yes, false or true, or name a single target column"
    )
