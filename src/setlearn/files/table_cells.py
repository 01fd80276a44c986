"""Records as the lines of a table."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setlearn.errors import DataError
from setlearn.files.plain_values import plain
from setlearn.files.table import DELIMITERS, check_columns

__all__ = ["table_lines"]

ELEMENT_SEPARATOR = ";"
NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, which UTF-8 cannot hold."""


def table_lines(rows: Iterable[Mapping[str, Any]], delimiter: str) -> Iterator[bytes]:
    """Write a header with the names of the first record, then a line a record.

    Sets and lists become elements with semicolons between, or a JSON list if an element holds a
    semicolon or could be mistaken in another way. What a record lacks is an empty cell.
    """
    columns: list[str] = []
    for number, row in enumerate(rows, start=1):
        record = plain(row)
        if number == 1:
            columns = list(record)
            # Readers take blanks off the names, after which they must still differ.
            check_columns([name.strip() for name in columns], "the first record")
            # Quotes keep the names from looking as if another delimiter stood between.
            yield _line([_quoted(name, "".join(DELIMITERS)) for name in columns], delimiter, number)
        unknown = record.keys() - set(columns)
        if unknown:
            raise DataError(
                f"record {number} has the column {min(unknown)!r}, which the first one lacks; "
                f"give all records the same columns, or write JSON lines"
            )
        cells = [_quoted(_cell(record.get(name)), delimiter) for name in columns]
        yield _line(cells, delimiter, number)


def _line(cells: list[str], delimiter: str, number: int) -> bytes:
    # A lone empty cell would make a blank line, which readers pass over.
    line = delimiter.join(cells) or '""'
    unfit = NO_TEXT.search(line)
    if unfit:
        raise DataError(
            f"record {number} holds {unfit.group()!r}, which is no text for a table; "
            f"write JSON lines, which have an escape for it"
        )
    return f"{line}\n".encode()


def _quoted(cell: str, special: str) -> str:
    # What cannot be printed includes the ends of lines and a byte order mark.
    if cell.isprintable() and not any(character in cell for character in f'"{special}'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(map(_is_simple, value)):
        return ELEMENT_SEPARATOR.join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _is_simple(element: Any) -> bool:
    """Whether the element is told from its neighbours, and from the start of a JSON list."""
    if isinstance(element, str):
        is_bare = element == element.strip() and element != ""
        return is_bare and ELEMENT_SEPARATOR not in element and not element.startswith("[")
    return isinstance(element, int | float) and not isinstance(element, bool)
