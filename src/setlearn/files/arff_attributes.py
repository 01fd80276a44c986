"""What the columns of an ARFF file are, and what a row of values says of each."""

from __future__ import annotations

from dataclasses import dataclass
from operator import length_hint
from reprlib import repr as shortened
from typing import Any

from setlearn.errors import DataError
from setlearn.files.source import Source

__all__ = ["TARGET", "Attributes"]

TARGET = "labels"
NUMERIC = ("NUMERIC", "REAL", "INTEGER")


@dataclass(frozen=True, slots=True)
class Attributes:
    """The columns of the file.

    Attributes
    ----------
    names : list of str
    numeric : set of int
        Columns whose values are declared as numbers.
    binary : set of int
        Columns that can only be 0 or 1.
    nominal : set of int
        Columns with any other list of values.
    usual : dict from int to str
        What a sparse row means if it leaves a column out, where that is not 0.
    labels : list of int or None
        The columns that are labels.
    """

    names: list[str]
    numeric: set[int]
    binary: set[int]
    nominal: set[int]
    usual: dict[int, str]
    labels: list[int] | None

    @classmethod
    def of(cls, source: Source, header: list[str], labels: list[str] | None) -> Attributes:
        """Read the declarations, with the names of the labels if these are known."""
        declared = _declared(source, header)
        names = [name for name, _ in declared]
        kinds = dict(enumerate(kind for _, kind in declared))
        binary = {i for i, kind in kinds.items() if set(kind) <= {"0", "1"}}
        numeric = {i for i, kind in kinds.items() if kind in NUMERIC}
        attributes = cls(
            names,
            numeric,
            binary,
            {i for i, kind in kinds.items() if isinstance(kind, list)} - binary,
            # Sparse rows leave out the first nominal value, even if that is 1.
            {i: "1" for i in binary if kinds[i][0] == "1"},
            None if labels is None else _label_columns(source, names, labels),
        )
        for label in attributes.labels or ():
            if label not in binary | numeric:
                raise DataError(
                    f"{source.name}: the label {names[label]!r} takes the values "
                    f"{shortened(kinds[label])}, but a label takes 0 and 1; declare it {{0,1}}"
                )
        return attributes

    def feature_names(self) -> list[str]:
        """Name all columns but the labels."""
        labels = set(self.labels or ())
        return [name for i, name in enumerate(self.names) if i not in labels]

    def category_names(self) -> list[str]:
        """Name the columns whose values are listed, though these may look like numbers."""
        return [self.names[i] for i in sorted(self.nominal)]

    def record(self, values: list[Any] | dict[int, Any]) -> dict[str, Any]:
        """Put names to values; a dict is a sparse row."""
        labels = set(self.labels or ())
        if isinstance(values, dict):
            numbers = self.numeric | self.binary
            row = {**self.usual, **values}
        else:
            numbers = self.numeric
            row = dict(enumerate(values))
        features = {
            self.names[i]: float(value) if i in numbers and value is not None else value
            for i, value in row.items()
            if i not in labels
        }
        record: dict[str, Any] = {"x": features} if isinstance(values, dict) else features
        if self.labels is not None:
            record[TARGET] = [self.names[i] for i in self.labels if self._is_on(i, row.get(i, 0))]
        return record

    def _is_on(self, label: int, value: Any) -> bool:
        if value is None or float(value) not in (0, 1):
            shown = "?" if value is None else value
            raise ValueError(f"the label {self.names[label]!r} is {shown}, neither 0 nor 1")
        return float(value) == 1


def _declared(source: Source, header: list[str]) -> list[tuple[str, str | list[str]]]:
    import arff

    lines = iter(header)
    try:
        read = arff.load(lines, return_type=arff.DENSE_GEN)
    except (arff.ArffException, ValueError) as error:
        number = len(header) - length_hint(lines)  # not all of these errors know their line
        is_twice = isinstance(error, arff.BadAttributeName)
        problem = "declares a name once more" if is_twice else "is no declaration known here"
        raise DataError(
            f"{source.place(number)}: {shortened(header[number - 1].strip())} {problem}; "
            f"attributes are numeric, real, integer, string or {{nominal, values}}"
        ) from None
    declared: list[tuple[str, str | list[str]]] = read["attributes"]
    return declared


def _label_columns(source: Source, names: list[str], labels: list[str]) -> list[int]:
    column = {name: i for i, name in enumerate(names)}
    unknown = [label for label in labels if label not in column]
    if unknown:
        raise DataError(
            f"{source.name} has no attribute for {len(unknown)} label(s) of its label file: "
            f"{', '.join(unknown[:5])}; check that the two belong together"
        )
    if TARGET in column and TARGET not in labels:
        raise DataError(
            f"{source.name} has an attribute {TARGET!r}, which is what the set of labels is "
            f"called here; rename the attribute"
        )
    return [column[label] for label in labels]
