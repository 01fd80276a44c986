"""JSON: one object per line, or one array of objects."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from reprlib import repr as shortened
from typing import Any, BinaryIO

import numpy as np

from setlearn.errors import DataError
from setlearn.files.formats import Format
from setlearn.files.plain_values import plain
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource, Section
from setlearn.strict_json import StrictJsonError, parse_strict_json

__all__ = ["JSON", "JSONL"]

BLOCK = 2**23
LINE_FEED = ord("\n")


def read_jsonl(source: FileSource) -> Rows:
    """Read one JSON object per line; blank lines are skipped."""
    return Rows(source, _objects(source, source.lines()))


def read_json(source: FileSource) -> Rows:
    """Read an array of objects, all at once; a file without an array is read line by line."""
    lines = source.lines()
    first = next(((number, line) for number, line in lines if not line.isspace()), (0, ""))
    lines = chain([first], lines)
    if not first[1].lstrip().startswith("["):
        source.notes.append("the file holds no array, so it is read as one JSON object per line")
        return Rows(source, _objects(source, lines))
    text = "".join(line for _, line in lines)
    try:
        values = _parse(text)
    except StrictJsonError as error:
        where = source.name if error.line is None else source.place(first[0] + error.line - 1)
        raise DataError(f"{where}: is not JSON: {error}; correct it") from None
    return Rows(source, _items(source, values))


def jsonl_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield each record as a line of JSON."""
    for record in rows:
        line = plain(record)
        try:
            yield (json.dumps(line, ensure_ascii=False) + "\n").encode()
        except UnicodeEncodeError:
            # UTF-8 cannot encode half a surrogate pair, but JSON can escape it.
            yield (json.dumps(line) + "\n").encode()


def split_lines(file: BinaryIO, n_lines: int) -> Iterator[Section]:
    """Yield sections of a number of lines each.

    Parameters
    ----------
    file : binary file
    n_lines : int
        The number of lines in each section, except for the last.

    Yields
    ------
    Section
    """
    start, n_before, offset, n_seen = 0, 0, 0, 0
    while block := file.read(BLOCK):
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == LINE_FEED) + (offset + 1)
        for end in ends[n_before + n_lines - n_seen - 1 :: n_lines].tolist():
            yield Section(start, end, n_before)
            start, n_before = end, n_before + n_lines
        n_seen += len(ends)
        offset += len(block)
    if offset > start:
        yield Section(start, offset, n_before)


def _objects(source: FileSource, lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        place = source.place(number)
        try:
            value = _parse(line.rstrip())
        except StrictJsonError as error:
            source.bad_rows.add(place, f"is not JSON: {error}")
            continue
        yield from _checked(source, place, value)


def _items(source: FileSource, values: list[Any]) -> Iterator[Row]:
    for number, value in enumerate(values, start=1):
        yield from _checked(source, source.place(number, "item"), value)


def _checked(source: FileSource, place: str, value: object) -> Iterator[Row]:
    if isinstance(value, dict):
        yield Row(place, value)
    else:
        source.bad_rows.add(
            place, f'holds {shortened(value)}, not an object such as {{"x": ..., "y": [...]}}'
        )


def _parse(text: str) -> Any:
    # Half a surrogate pair is no text, but Python's strings and the escapes of JSON hold it.
    return parse_strict_json(text, allow_surrogates=True)


JSONL = Format(
    "jsonl",
    (".jsonl", ".ndjson"),
    read=read_jsonl,
    write=jsonl_lines,
    split=split_lines,
    description="JSON, one object per line",
    start=b"{",
)
JSON = Format(
    "json", (".json",), read=read_json, description="JSON, one array of objects", start=b"["
)
