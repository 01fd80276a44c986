"""``setlearn predict``: the set of each row of a file."""

from __future__ import annotations

from typing import Annotated

import typer

from setlearn.cli.options import (
    Data,
    Model,
    ModelOptions,
    OtherRule,
    Out,
    OutputOptions,
    ReadingOptions,
    Scores,
    Top,
)

__all__ = ["predict"]


def predict(
    model: Model,
    data: Data,
    out: Out = "-",
    scores: Scores = False,
    top: Top = None,
    rule: OtherRule = None,
    with_input: Annotated[
        bool, typer.Option("--with-input", help="Repeat the row before its answer.")
    ] = False,
    *,
    reading: ReadingOptions,
    loading: ModelOptions,
    output: OutputOptions,
) -> None:
    """Predict the set of each row, in the order of the rows.

    Rows are read and answered in batches, so that memory does not grow with the file.
    """
    from setlearn.cli.answers import write_answers
    from setlearn.cli.model_loading import model_for_rows
    from setlearn.records.answers import PredictionForm

    form = PredictionForm(scores, top, with_input, reading.skip_bad)
    with reading.open(data) as rows:
        loaded = model_for_rows(model, loading, rows, output, rule=rule)
        write_answers(form.records(loaded, rows), rows, out, output)
