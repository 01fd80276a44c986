"""``setlearn trace``: how the set of one row is built, step by step."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import (
    IfUnknown,
    Model,
    ModelOptions,
    OtherRule,
    OutputOptions,
    ReadingOptions,
    Unknown,
)

if TYPE_CHECKING:
    from setlearn.files import Row, Rows

__all__ = ["trace"]


def trace(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="A file with the row; - for stdin.", show_default=False
        ),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Which row of the file, from 1. [1]"),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="INPUT", help="The input itself instead of a file: a text, or a record as JSON."
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ELEMENT", help="An element that is known from the start; may be repeated."
        ),
    ] = None,
    unknown: IfUnknown = Unknown.error,
    rule: OtherRule = None,
    *,
    reading: ReadingOptions,
    loading: ModelOptions,
    output: OutputOptions,
) -> None:
    """Show step by step how the set of one input is built."""
    from setlearn.cli.console import print_result
    from setlearn.cli.model_loading import model_for_input, model_for_rows
    from setlearn.errors import ParameterError

    if text is not None and data is None:
        if row is not None:
            raise ParameterError(f"--row {row} is for a file, but --text is given; leave one out")
        loaded, record = model_for_input(model, loading, _read_text(text), output, rule=rule)
    elif data is not None and text is None:
        _check_is_no_text(data)
        with reading.open(data) as rows:
            loaded = model_for_rows(model, loading, rows, output, rule=rule)
            record = _row_number(rows, row or 1)
    else:
        raise ParameterError("pass either a file or --text to say what to trace")
    [known_elements] = loaded.as_elements([known or []])
    steps = loaded.trace(record, known_elements, unknown=unknown.value)
    print_result(steps, steps.to_dict(), output)


def _check_is_no_text(data: str) -> None:
    """Raise if there is no such file: then it may be the input itself."""
    from setlearn.errors import DataError
    from setlearn.files.formats import STANDARD_STREAM

    if data != STANDARD_STREAM and not os.path.exists(data):  # Path.exists fails for long texts
        raise DataError(
            f"there is no file {data!r:.80}; check the path, or put --text before it if it is the "
            "input itself"
        )


def _row_number(rows: Rows, number: int) -> Row:
    from setlearn.cli.console import counted
    from setlearn.errors import DataError

    for count, row in enumerate(rows, 1):
        if count == number:
            return row
    raise DataError(f"{rows.name} has {counted(count, 'row')}, so there is no row {number}")


def _read_text(text: str) -> Any:
    """Read a JSON object or list as such, and anything else, also a number, as a text."""
    from setlearn.errors import ParameterError
    from setlearn.strict_json import StrictJsonError, parse_strict_json

    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_strict_json(text, allow_surrogates=True)
    except StrictJsonError as error:
        if error.position is not None:  # not JSON, but a text such as "[blurred] a boat"
            return text
        raise ParameterError(f"--text is JSON that cannot be read: {error}; correct it") from None
