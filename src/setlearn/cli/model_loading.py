"""Opening a model for the rows of a file, or for an input that stands in the command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setlearn.cli.console import say
from setlearn.cli.options import Opening, Talking
from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.files import Rows
    from setlearn.records import RecordModel

__all__ = ["model_for_input", "opened_model"]


def opened_model(path: Path, opening: Opening, rows: Rows, talking: Talking) -> RecordModel:
    """The model, as one that reads records.

    A model that was saved from Python knows no columns. They are found by the first row, and said.
    """
    from setlearn.persistence import load
    from setlearn.records import RecordModel, record_model_for

    model, notes = load(path, trusted=opening.trust or ()), rows.notes
    if isinstance(model, RecordModel):
        _refuse_inputs(model, opening)
        say(notes, quiet=talking.quiet)
        return model
    reading, said = record_model_for(model, rows.first(), opening.inputs)
    say([*notes, *said], quiet=talking.quiet)
    return reading


def model_for_input(path: Path, opening: Opening, given: Any, talking: Talking) -> RecordModel:
    """The model, as one that reads this input: a record, or a bare value."""
    from setlearn.files import Row
    from setlearn.persistence import load
    from setlearn.records import RecordModel, reading_x, record_model_for

    model = load(path, trusted=opening.trust or ())
    if isinstance(model, RecordModel):
        _refuse_inputs(model, opening)
        return model
    if isinstance(given, dict):
        reading, said = record_model_for(model, Row("--text", given), opening.inputs)
        say(said, quiet=talking.quiet)
        return reading
    if opening.inputs:
        raise ParameterError(
            f"--input names columns, but --text is no record: {given!r}; leave --input out, or "
            "write a JSON object"
        )
    return reading_x(model)


def _refuse_inputs(model: RecordModel, opening: Opening) -> None:
    if opening.inputs:
        names = ", ".join(column.name for column in model.reader.columns)
        raise ParameterError(
            f"--input is for models without columns; this one reads {names}: leave it out"
        )
