"""``setlearn predict``: the set of each row of a file."""

from __future__ import annotations

from typing import Annotated

import typer

from setlearn.cli.options import Data, Model, Opening, Out, Reading, Talking
from setlearn.cli.written_answers import write_answers

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
    from setlearn.cli.opening import opened_model

    with reading.open(data) as rows:
        found = opened_model(model, opening, rows, talking)
        answered = answer_rows(
            rows, found.predict_ranked if scores else found.predict, skip_bad=reading.skip_bad
        )
        answers = (
            {
                **(row.record if with_input else {}),
                # Where rows are left out, the place says which one an answer belongs to.
                **({"row": row.place} if reading.skip_bad else {}),
                "prediction": answer,
            }
            for row, answer in answered
        )
        write_answers(answers, rows, out, talking)
