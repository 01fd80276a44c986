"""ARFF as Weka writes it, with MULAN's labels if an XML file names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from reprlib import repr as shortened
from typing import Any

from setlearn.errors import DataError
from setlearn.files.arff_attributes import TARGET, Attributes
from setlearn.files.mulan_labels import find_label_file, read_label_names
from setlearn.files.rows import Row, Rows
from setlearn.files.source import Source

__all__ = ["read_arff"]


def read_arff(source: Source) -> Rows:
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


def _header_lines(source: Source, lines: Iterator[tuple[int, str]]) -> list[str]:
    header = []
    for _, line in lines:
        # liac-arff wants a blank after the keyword, but many files have a tab.
        header.append(re.sub(r"^\s*(@\w+)\s+", r"\1 ", line))
        if line.strip().lower().startswith("@data"):
            return header
    raise DataError(f"{source.name} has no @data line; check that it is an ARFF file")


def _label_names(source: Source) -> list[str] | None:
    path = find_label_file(source)
    if path is None:
        source.notes.append("no label file, so that all attributes are read as columns")
        return None
    source.notes.append(f"labels from {path.name}")
    return read_label_names(path)


def _rows(
    source: Source,
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
    source: Source, header: list[str], data: Iterator[tuple[int, str]], *, is_sparse: bool
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
            # A decoder does not survive a bad line, so a new one goes on after it. What it says
            # is not repeated, for it does not know the line and stumbles over values with a %.
            source.bad_rows.add(
                source.place(last[0]),
                f"does not fit the attributes that are declared: {shortened(last[1].strip())}",
            )
