"""``setlearn complete``: given these elements, what else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import Data, IfUnknown, Model, Opening, Out, Reading, Talking, Unknown
from setlearn.cli.written_answers import write_answers

if TYPE_CHECKING:
    from setlearn.files import Row

__all__ = ["complete"]


def complete(
    model: Model,
    data: Data,
    known: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column with the known elements.", show_default=False
        ),
    ],
    out: Out = "-",
    unknown: IfUnknown = Unknown.error,
    *,
    reading: Reading,
    opening: Opening,
    talking: Talking,
) -> None:
    """Given some elements of each row's set, predict the others.

    Known elements are written as the targets of training are. They are never repeated.
    """
    from setlearn.cli.answers import answer_rows
    from setlearn.cli.model_loading import opened_model

    with reading.open(data) as rows:
        found = opened_model(model, opening, rows, talking)

        def complete_batch(batch: Sequence[Row]) -> list[Any]:
            given = found.known_sets(batch, known)
            return list(
                zip(given, found.complete(batch, given, unknown=unknown.value), strict=True)
            )

        answers = (
            {
                **({"row": row.place} if reading.skip_bad else {}),
                "known": given,
                "prediction": others,
            }
            for row, (given, others) in answer_rows(rows, complete_batch, skip_bad=reading.skip_bad)
        )
        write_answers(answers, rows, out, talking)
