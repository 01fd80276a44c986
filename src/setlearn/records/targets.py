"""The set of a record: read from a list, a text with separators, or one column per label."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import Task
from setlearn.features.cells import as_list, as_number, short_repr
from setlearn.features.columns import join_names, matching_columns, missing_column
from setlearn.files import Row
from setlearn.missing_values import is_missing
from setlearn.savable import savable
from setlearn.written_lists import written_list

__all__ = ["USUAL_SEPARATOR", "TargetReader", "as_flag", "is_left_out"]

USUAL_SEPARATOR = ";"
"""What sets are written with, and read with unless the data show another separator."""

FLAGS = {"yes": True, "no": False}
"""Words for 1 and 0, in addition to true and false."""


@savable()
@dataclass(frozen=True, slots=True)
class TargetReader:
    """Reads the set of a record.

    Attributes
    ----------
    columns : tuple of str
        The column that holds the set; or several columns, one per label, that hold flags.
    separator : str or None
        What separates the elements of a text; None if a text is one element.
    task : {"labels", "sequences", "candidates"}
    labels : tuple of labels
        With one column per label: the label of each column. If empty, a single column holds the
        set, and several columns are named after their labels.

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
        """Whether there is one column per label."""
        return len(self.columns) > 1 or bool(self.labels)

    def read(self, row: Row) -> frozenset[Hashable]:
        """Read the set of one row; the target column must exist, but may be empty."""
        if not self.reads_flags:
            return self.read_column(row, self.columns[0])
        labels = dict(zip(self.columns, self.labels or self.columns, strict=True))
        flags = {name: _value(row, name) for name in self.columns}
        return frozenset(
            labels[n] for n, flag in flags.items() if _is_set(flag, f"{row.place}: {n!r}")
        )

    def read_column(self, row: Row, name: str) -> frozenset[Hashable]:
        """Read a set from another column, written in the same way as the targets.

        Parameters
        ----------
        row : Row
        name : str
            The column.

        Returns
        -------
        frozenset

        Raises
        ------
        DataError
            If the row lacks the column, or its value is not a set.
        """
        return self.elements(_value(row, name), f"{row.place}: {name!r}")

    def elements(self, value: Any, where: str) -> frozenset[Hashable]:
        """Read the set that one value stands for.

        Parameters
        ----------
        value : list, set, array, text, or a single element
        where : str
            How error messages name the value.

        Returns
        -------
        frozenset

        Raises
        ------
        DataError
            If the value is not a set of strings, numbers or lists of tokens.

        Examples
        --------
        >>> reader = TargetReader(("tags",), ";", "labels")
        >>> sorted(reader.elements('["one; two", "three"]', "known"))
        ['one; two', 'three']
        """
        return frozenset(self.listed(value, where))

    def listed(self, value: Any, where: str) -> list[Hashable]:
        """As `elements`, in the order in which they are written.

        Parameters
        ----------
        value : anything
        where : str

        Returns
        -------
        list

        Raises
        ------
        DataError
            If the value is not a set, or has elements that cannot be in one.
        """
        if is_left_out(value):
            return []
        if isinstance(value, str):
            written = written_list(value, where)
            parts: list[Any] | None = self.split(value) if written is None else written
        elif isinstance(value, Set):
            parts = list(value)
        else:
            parts = as_list(value) if isinstance(value, list | tuple | np.ndarray) else [value]
        if parts is None:
            raise DataError(
                f"{where} is {short_repr(value)}, which is not a set; write a list of elements"
            )
        return [self._element(part, where) for part in parts]

    def for_other_columns(
        self,
        row: Row,
        names: Sequence[str] | None,
        separator: str | None,
        labels: Sequence[Hashable],
    ) -> TargetReader:
        """Return a reader for rows whose sets are in other columns or written differently.

        Parameters
        ----------
        row : Row
            One of these rows.
        names : sequence of names or patterns, or None
            None keeps the columns. Several columns are read as one column per label.
        separator : str or None
            What separates the elements of a text; "" keeps texts whole, None changes nothing.
        labels : sequence
            The labels of the model in their order; empty if elements are sequences.

        Returns
        -------
        TargetReader

        Raises
        ------
        DataError
            If a column does not exist, or a label has no column.
        ParameterError
            If a separator or sequences do not go with one column per label.

        Examples
        --------
        >>> usual = TargetReader(("tags",), ";", "labels")
        >>> row = Row("", {"is_a": 1, "is_b": 0})
        >>> usual.for_other_columns(row, ["is_*"], None, [0, 1]).read(row)
        frozenset({0})
        """
        columns = tuple(matching_columns(names, row.record)) if names else self.columns
        if names:
            reads_flags = len(columns) > 1 or _is_label_flag(row, columns[0], names, labels)
        else:
            reads_flags = self.reads_flags
        if not reads_flags:
            return self.written_otherwise(columns, separator)
        if separator is not None:
            raise ParameterError(
                f"a separator is for a column that holds sets, but there is one column per label "
                f"({join_names(columns)}), got {separator!r}; leave it out"
            )
        reader = replace(self, columns=columns)
        reader.check_flags()
        return replace(reader, labels=_column_labels(columns, labels)) if names else self

    def split(self, text: str) -> list[str]:
        """Split a text into its elements, without blanks around them or empty ones."""
        parts = [text] if self.separator is None else text.split(self.separator)
        return [part.strip() for part in parts if part.strip()]

    def written_otherwise(self, columns: tuple[str, ...], separator: str | None) -> TargetReader:
        """Return a reader for a single column, with another separator unless it is None.

        Parameters
        ----------
        columns : tuple of str
            The column.
        separator : str or None
            As in `for_other_columns`.

        Returns
        -------
        TargetReader
        """
        between = self.separator if separator is None else separator or None
        return TargetReader(columns, between, self.task)

    def check_flags(self) -> None:
        """Raise if elements are no labels: columns of flags cannot hold others."""
        if self.task != "labels":
            raise ParameterError(
                f"one column per label cannot hold {self.task}, got {join_names(self.columns)}; "
                "name the column that holds the sets",
                advice={"target": None},
            )

    def _element(self, part: Any, where: str) -> Hashable:
        element: Hashable = _hashable(part, where)
        if self.task == "sequences" and not isinstance(element, str | tuple):
            raise DataError(
                f"{where} holds {short_repr(part)}, which is not a sequence; "
                "write strings or lists of tokens, or choose the task labels",
                advice={"task": "labels"},
            )
        return element


def as_flag(value: object) -> bool | None:
    """Read a value as yes or no; a missing value is no, and anything else is None."""
    if is_missing(value):
        return False
    number = as_number(value)
    if number in (0, 1):
        return number == 1
    return FLAGS.get(value.strip().lower()) if isinstance(value, str) else None


def is_left_out(value: object) -> bool:
    """Whether a cell has no value, or holds what pandas may write for one that is missing."""
    written_nan = isinstance(value, str) and value.strip() in ("nan", "NaN")
    return written_nan or is_missing(value)


def _value(row: Row, name: str) -> Any:
    if name not in row.record:
        raise missing_column(name, columns=row.record, where=row.place)
    return row.record[name]


def _hashable(part: Any, where: str) -> Any:
    """Return an element as it is; a list of tokens becomes a tuple."""
    tokens = as_list(part)
    if tokens:
        return tuple(_hashable(token, where) for token in tokens)
    if isinstance(part, str | Real) and not is_missing(part):
        return part
    raise DataError(
        f"{where} holds {short_repr(part)}, which cannot be an element of a set; "
        "write strings, numbers or lists of tokens, and leave out empty elements"
    )


def _is_set(value: Any, where: str) -> bool:
    flag = as_flag(value)
    if flag is not None:
        return flag
    raise DataError(
        f"{where} holds {short_repr(value)}, but with one column per label it must say whether "
        "the label is in the set; write 0 or 1, no or yes, false or true, or name a single "
        "target column",
        advice={"target": None},
    )


def _is_label_flag(row: Row, name: str, names: Sequence[str], labels: Sequence[Hashable]) -> bool:
    """Whether the only column is the flag of one label.

    It must hold yes or no, and be named after a label or found by a pattern.
    """
    is_meant = name not in names or name in map(str, labels)
    return bool(labels) and is_meant and as_flag(row.record[name]) is not None


def _column_labels(columns: Sequence[str], labels: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Find the label of each column: by its name or, if labels are 0, 1, …, by its position."""
    by_name = {str(label): label for label in labels}
    missing = [name for name in by_name if name not in columns]
    if not missing:
        return tuple(by_name.get(name, name) for name in columns)
    if len(missing) == len(columns) and list(labels) == list(range(len(columns))):
        return tuple(labels)
    raise DataError(
        f"with one column per label, each label of the model needs a column, but there is none "
        f"for {join_names(missing)} among {join_names(columns)}; name all of them, or the column "
        "that holds the sets",
        advice={"target": None},
    )
