"""``setlearn trace``: how the set of one row came about, and why it ended there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import Model, Opening, Reading, Talking

if TYPE_CHECKING:
    from setlearn.datasets.files import Row, Rows

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
        int, typer.Option(min=1, metavar="NUMBER", help="Which row of the file, from 1.")
    ] = 1,
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
    *,
    reading: Reading,
    opening: Opening,
    talking: Talking,
) -> None:
    """Tell step by step how the set of one input comes about."""
    from setlearn.cli.opening import opened_model
    from setlearn.errors import ParameterError
    from setlearn.persistence import load

    if text is not None and data is None:
        found, record = load(model, trusted=opening.trust or ()), _read_text(text)
    elif data is not None and text is None:
        with reading.open(data) as rows:
            found = opened_model(model, opening, rows, talking)
            record = _row_number(rows, row)
    else:
        raise ParameterError("give either a file or --text, to say what to trace")
    told = found.trace(record, _elements(found, known or []))
    typer.echo(json.dumps(told.to_dict()) if talking.as_json else str(told))


def _row_number(rows: Rows, number: int) -> Row:
    from setlearn.errors import DataError

    for count, row in enumerate(rows, 1):
        if count == number:
            return row
    raise DataError(f"{rows.name} has {count} rows, but row {number} was asked for")


def _read_text(text: str) -> Any:
    """A JSON object, list or number as such, and all else as the text that it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def _elements(model: Any, known: list[str]) -> frozenset[Any]:
    """Elements by the names that people type; numbers are labels that look like them."""
    inner = getattr(model, "model", model)
    if not hasattr(inner, "classes_"):
        return frozenset(known)
    by_name = {str(label): label for label in inner.classes_.tolist()}
    return frozenset(by_name.get(name, name) for name in known)
