"""``setlearn predict``: the set of each row of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import Data, Model, Opening, Out, Reading, Talking
from setlearn.cli.written_answers import write_answers

if TYPE_CHECKING:
    from setlearn.files import Row

__all__ = ["predict"]


def predict(
    model: Model,
    data: Data,
    out: Out = "-",
    scores: Annotated[
        bool, typer.Option("--scores", help="Give each element's score too, best first.")
    ] = False,
    with_input: Annotated[
        bool, typer.Option("--with-input", help="Repeat the row before its answer.")
    ] = False,
    *,
    reading: Reading,
    opening: Opening,
    talking: Talking,
) -> None:
    """Predict the set of each row, in the order of the rows.

    Rows are read and answered a batch at a time, so that memory does not grow with the file.
    """
    from setlearn.cli.answers import answer_rows
    from setlearn.cli.model_loading import opened_model

    with reading.open(data) as rows:
        found = opened_model(model, opening, rows, talking)
        # Where rows are left out, the place says which one an answer belongs to.
        own = ("row", "prediction") if reading.skip_bad else ("prediction",)
        answered = answer_rows(
            rows, found.predict_ranked if scores else found.predict, skip_bad=reading.skip_bad
        )
        answers = (
            {
                **(_repeated(row, own) if with_input else {}),
                **({"row": row.place} if reading.skip_bad else {}),
                "prediction": answer,
            }
            for row, answer in answered
        )
        write_answers(answers, rows, out, talking)


def _repeated(row: Row, own: Sequence[str]) -> dict[str, Any]:
    """What the row says, if the names of the answer's own columns are free."""
    from setlearn.errors import ParameterError

    for name in own:
        if name in row.record:
            raise ParameterError(
                f"{row.place}: there is a column {name!r}, but --with-input needs that name for "
                "the answer; rename the column, or leave out --with-input"
            )
    return row.record
