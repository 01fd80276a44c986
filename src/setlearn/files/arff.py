"""ARFF, as Weka writes it, with the labels that MULAN lists in a separate XML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import length_hint
from pathlib import Path
from reprlib import repr as shortened
from typing import Any
from xml.parsers import expat

from setlearn.errors import DataError
from setlearn.files.formats import Format
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource

__all__ = ["ARFF"]

TARGET = "labels"
NUMERIC = ("NUMERIC", "REAL", "INTEGER")


def read_arff(source: FileSource) -> Rows:
    """Read records of attributes by name, or ``{"x": {name: value}}`` if rows are sparse.

    With a label file, ``"labels"`` lists the labels that are 1.
    """
    lines = source.lines()
    header = _header_lines(source, lines)
    labels = _label_names(source)
    attributes = Attributes.of(source, header, labels)
    data = ((number, line) for number, line in lines if not re.match(r"\s*(%|$)", line))
    first = next(data, None)
    if first is None:
        return Rows(source, iter(()))
    is_sparse = first[1].lstrip().startswith("{")
    decoded = _decoded(source, header, chain([first], data), is_sparse=is_sparse)
    columns = ["x"] if is_sparse else attributes.feature_names()
    return Rows(
        source,
        _rows(source, attributes, decoded),
        columns=columns if labels is None else [*columns, TARGET],
        target=None if labels is None else TARGET,
        categories=() if is_sparse else attributes.category_names(),
    )


def _header_lines(source: FileSource, lines: Iterator[tuple[int, str]]) -> list[str]:
    header = []
    for _, line in lines:
        # liac-arff expects a space after the keyword, but many files have a tab.
        header.append(re.sub(r"^\s*(@\w+)\s+", r"\1 ", line))
        if line.strip().lower().startswith("@data"):
            return header
    raise DataError(f"{source.name} has no @data line; check that it is an ARFF file")


def _rows(
    source: FileSource,
    attributes: Attributes,
    decoded: Iterator[tuple[int, list[Any] | dict[int, Any]]],
) -> Iterator[Row]:
    for number, values in decoded:
        place = source.place(number)
        try:
            record = attributes.record(values)
        except ValueError as error:
            source.bad_rows.add(place, str(error))
            continue
        yield Row(place, record)


def _decoded(
    source: FileSource, header: list[str], data: Iterator[tuple[int, str]], *, is_sparse: bool
) -> Iterator[tuple[int, list[Any] | dict[int, Any]]]:
    import arff

    last = 0, ""

    def feed() -> Iterator[str]:
        nonlocal last
        for last in data:
            yield last[1]

    layout = arff.LOD_GEN if is_sparse else arff.DENSE_GEN
    while True:
        try:
            for values in arff.load(chain(header, feed()), return_type=layout)["data"]:
                yield last[0], values
            return
        except DataError:
            raise
        except (arff.ArffException, ValueError, OverflowError):
            # A decoder cannot go on after a bad line, so a new one reads the rest. Its message
            # is not used, because it does not know the line and fails on values with a %.
            source.bad_rows.add(
                source.place(last[0]),
                f"does not match the declared attributes: {shortened(last[1].strip())}",
            )


@dataclass(frozen=True, slots=True)
class Attributes:
    """The columns of the file.

    Attributes
    ----------
    names : list of str
        The names of all columns.
    numeric : set of int
        Columns that are declared as numbers.
    binary : set of int
        Columns whose only values are 0 and 1.
    nominal : set of int
        Columns with any other list of values.
    sparse_default : dict from int to str
        The value of a column that a sparse row leaves out, where that is not 0.
    labels : list of int or None
        The columns that are labels.
    """

    names: list[str]
    numeric: set[int]
    binary: set[int]
    nominal: set[int]
    sparse_default: dict[int, str]
    labels: list[int] | None

    @classmethod
    def of(cls, source: FileSource, header: list[str], labels: list[str] | None) -> Attributes:
        """Read the declarations in the header.

        Parameters
        ----------
        source : FileSource
            The file, for error messages.
        header : list of str
            The lines up to ``@data``.
        labels : list of str or None
            The names of the labels; None if they are not known.

        Returns
        -------
        columns : Attributes
            The declared columns.

        Raises
        ------
        DataError
            If a declaration is wrong, or a label is missing or is not declared as 0 and 1.
        """
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
                    f"{source.name}: the label {names[label]!r} has the values "
                    f"{shortened(kinds[label])}, but a label has 0 and 1; declare it as {{0,1}}"
                )
        return attributes

    def feature_names(self) -> list[str]:
        """The names of all columns that are not labels."""
        labels = set(self.labels or ())
        return [name for i, name in enumerate(self.names) if i not in labels]

    def category_names(self) -> list[str]:
        """The names of the columns with a list of values, even if these look like numbers."""
        return [self.names[i] for i in sorted(self.nominal)]

    def record(self, values: list[Any] | dict[int, Any]) -> dict[str, Any]:
        """Make a record of the values of one row; a dict is a sparse row."""
        labels = set(self.labels or ())
        if isinstance(values, dict):
            numbers = self.numeric | self.binary
            row = {**self.sparse_default, **values}
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


def _declared(source: FileSource, header: list[str]) -> list[tuple[str, str | list[str]]]:
    import arff

    lines = iter(header)
    try:
        content = arff.load(lines, return_type=arff.DENSE_GEN)
    except (arff.ArffException, ValueError) as error:
        number = len(header) - length_hint(lines)  # not all of these errors know their line
        is_repeated = isinstance(error, arff.BadAttributeName)
        problem = "declares a name for the second time" if is_repeated else "is not a declaration"
        raise DataError(
            f"{source.place(number)}: {shortened(header[number - 1].strip())} {problem}; "
            f"attributes are numeric, real, integer, string or {{nominal, values}}"
        ) from None
    declared: list[tuple[str, str | list[str]]] = content["attributes"]
    return declared


def _label_columns(source: FileSource, names: list[str], labels: list[str]) -> list[int]:
    column = {name: i for i, name in enumerate(names)}
    unknown = [label for label in labels if label not in column]
    if unknown:
        raise DataError(
            f"{source.name} has no attribute for {len(unknown)} label(s) of its label file: "
            f"{', '.join(unknown[:5])}; check that the two files belong together"
        )
    if TARGET in column and TARGET not in labels:
        raise DataError(
            f"{source.name} has an attribute {TARGET!r}, which is the name reserved for the set "
            f"of labels; rename the attribute"
        )
    return [column[label] for label in labels]


def _label_names(source: FileSource) -> list[str] | None:
    path = _find_label_file(source)
    if path is None:
        source.notes.append("there is no label file, so all attributes are read as columns")
        return None
    source.notes.append(f"labels from {path.name}")
    return _read_label_names(path)


def _find_label_file(source: FileSource) -> Path | None:
    """Return the label file that was given, or the one in the same folder.

    For flags-train.arff, flags-train.xml is tried before flags.xml, which all parts of a data set
    share.
    """
    if source.label_file is not None:
        return source.label_file
    if source.path is None:
        return None
    stem = source.path.name.removesuffix(".gz").rpartition(".")[0]
    for name in (stem, stem.partition("-")[0]):
        path = source.path.with_name(f"{name}.xml")
        if name and path.is_file():
            return path
    return None


def _read_label_names(path: Path) -> list[str]:
    """List the labels in the order of the file, including labels nested in other labels."""
    names: list[str] = []

    def add_label(element: str, attributes: dict[str, str]) -> None:
        if element.rpartition(":")[2] == "label":
            if "name" not in attributes:
                line = parser.CurrentLineNumber
                raise DataError(f"{path.name}, line {line}: a label has no name; add one")
            names.append(attributes["name"])

    def refuse_document_type(*_: object) -> None:
        # Its entities may expand without bound, or refer to other files.
        raise DataError(f"{path.name} has a DOCTYPE, which label files do not need; remove it")

    parser = expat.ParserCreate()
    parser.StartElementHandler = add_label
    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except OSError as error:
        raise DataError(
            f"the label file {path} cannot be read: {error.strerror}; check the path"
        ) from error
    except expat.ExpatError as error:
        raise DataError(f"{path.name} is not XML: {error}; correct it") from error
    if not names:
        raise DataError(f'{path.name} names no labels; it should hold <label name="..."/> for each')
    return names


ARFF = Format(
    "arff",
    (".arff",),
    read=read_arff,
    options=frozenset({"label_file"}),
    description="ARFF",
)
