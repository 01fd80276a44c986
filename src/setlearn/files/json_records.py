"""JSON: one object a line, or one array of objects."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from reprlib import repr as shortened
from typing import Any, NoReturn

from setlearn.errors import DataError
from setlearn.files.plain_values import plain
from setlearn.files.rows import Row, Rows
from setlearn.files.source import Source

__all__ = ["jsonl_lines", "read_json", "read_jsonl"]


def read_jsonl(source: Source) -> Rows:
    """Read one JSON object a line; blank lines are passed over."""
    return Rows(source, _objects(source, source.lines()))


def read_json(source: Source) -> Rows:
    """Read an array of objects, all at once; without an array these are lines of JSON."""
    lines = source.lines()
    first = next(((number, line) for number, line in lines if not line.isspace()), (0, ""))
    lines = chain([first], lines)
    if not first[1].lstrip().startswith("["):
        source.notes.append("holds no array, so it is read as one JSON object a line")
        return Rows(source, _objects(source, lines))
    text = "".join(line for _, line in lines)
    try:
        values = _parse(text)
    except (ValueError, RecursionError) as error:
        where = source.name
        if isinstance(error, json.JSONDecodeError):
            where = source.place(first[0] + error.lineno - 1)
        raise DataError(f"{where}: {_problem(error)}; correct it") from None
    return Rows(source, _items(source, values))


def jsonl_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Write each record as a line of JSON."""
    for record in rows:
        line = plain(record)
        try:
            yield (json.dumps(line, ensure_ascii=False) + "\n").encode()
        except UnicodeEncodeError:
            # Half a surrogate pair is no text for UTF-8, but JSON has an escape for it.
            yield (json.dumps(line) + "\n").encode()


def _objects(source: Source, lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        place = source.place(number)
        try:
            value = _parse(line.rstrip())
        except (ValueError, RecursionError) as error:
            source.bad_rows.add(place, _problem(error))
            continue
        yield from _checked(source, place, value)


def _items(source: Source, values: list[Any]) -> Iterator[Row]:
    for number, value in enumerate(values, start=1):
        yield from _checked(source, source.place(number, "item"), value)


def _checked(source: Source, place: str, value: object) -> Iterator[Row]:
    if isinstance(value, dict):
        yield Row(place, value)
    else:
        source.bad_rows.add(
            place, f'holds {shortened(value)}, not an object such as {{"x": ..., "y": [...]}}'
        )


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which JSON does not know (null is JSON's word for nothing)")


def _problem(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON ({error.msg} at character {error.colno})"
    if isinstance(error, RecursionError):
        return "holds lists or objects nested too deeply"
    return str(error)
