"""Opening a model for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from setlearn.cli.options import Opening, Talking
from setlearn.cli.saying import say

if TYPE_CHECKING:
    from setlearn.datasets.files import Rows
    from setlearn.records import RecordModel

__all__ = ["opened_model"]


def opened_model(path: Path, opening: Opening, rows: Rows, talking: Talking) -> RecordModel:
    """The model, as one that reads records.

    A model that was saved from Python knows no columns. They are found by the first row, and said.
    """
    from setlearn.errors import ParameterError
    from setlearn.persistence import load
    from setlearn.records import RecordModel, record_model_for

    model, notes = load(path, trusted=opening.trust or ()), rows.notes
    if not isinstance(model, RecordModel):
        reading, said = record_model_for(model, rows.first(), opening.inputs)
        say([*notes, *said], quiet=talking.quiet)
        return reading
    if opening.inputs:
        names = ", ".join(column.name for column in model.reader.columns)
        raise ParameterError(
            f"--input is for models without columns; this one reads {names}: leave it out"
        )
    say(notes, quiet=talking.quiet)
    return model
