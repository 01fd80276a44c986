"""``setlearn trace``: how the set of one row came about, and why it ended there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.console import show
from setlearn.cli.options import IfUnknown, Model, Opening, Reading, Talking, Unknown

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
            metavar="ELEMENT", help="An element that is known from the start; may be given again."
        ),
    ] = None,
    unknown: IfUnknown = Unknown.error,
    *,
    reading: Reading,
    opening: Opening,
    talking: Talking,
) -> None:
    """Tell step by step how the set of one input comes about."""
    from setlearn.cli.model_loading import model_for_input, opened_model
    from setlearn.errors import ParameterError

    if text is not None and data is None:
        if row is not None:
            raise ParameterError(f"--row {row} is for a file, but --text is given; leave one out")
        record = _read_text(text)
        found = model_for_input(model, opening, record, talking)
    elif data is not None and text is None:
        with reading.open(data) as rows:
            found = opened_model(model, opening, rows, talking)
            record = _row_number(rows, row or 1)
    else:
        raise ParameterError("give either a file or --text, to say what to trace")
    told = found.trace(record, found.elements_named(known or []), unknown=unknown.value)
    show(told, told.to_dict(), talking)


def _row_number(rows: Rows, number: int) -> Row:
    from setlearn.errors import DataError

    for count, row in enumerate(rows, 1):
        if count == number:
            return row
    raise DataError(f"{rows.name} has {count} rows, but row {number} was asked for")


def _read_text(text: str) -> Any:
    """A JSON object or list as such, and all else, numbers too, as the text that it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text
