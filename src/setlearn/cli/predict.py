"""``setlearn predict``: the set of each row of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from setlearn.files import Row

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
    from setlearn.cli.answers import answer_rows, write_answers
    from setlearn.cli.model_loading import model_for_rows

    with reading.open(data) as rows:
        loaded = model_for_rows(model, loading, rows, output, rule=rule)

        def answer(batch: Sequence[Row]) -> Sequence[Any]:
            if scores or top is not None:
                return loaded.predict_ranked(batch, top=top)
            return loaded.predict(batch)

        # If rows are left out, each answer says which row it belongs to.
        own_columns = ("row", "prediction") if reading.skip_bad else ("prediction",)
        answers = (
            {
                **(_repeated(row, own_columns) if with_input else {}),
                **({"row": row.place} if reading.skip_bad else {}),
                "prediction": row_answer,
            }
            for row, row_answer in answer_rows(rows, answer, skip_bad=reading.skip_bad)
        )
        write_answers(answers, rows, out, output)


def _repeated(row: Row, own_columns: Sequence[str]) -> dict[str, Any]:
    """Return the record, if it has none of the columns of the answer."""
    from setlearn.errors import ParameterError

    for name in own_columns:
        if name in row.record:
            raise ParameterError(
                f"{row.place}: there is a column {name!r}, but --with-input needs that name for "
                "the answer; rename the column, or leave out --with-input"
            )
    return row.record
