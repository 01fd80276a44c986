"""``setlearn complete``: given some elements of a set, the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import (
    Data,
    IfUnknown,
    Model,
    ModelOptions,
    OtherRule,
    Out,
    OutputOptions,
    ReadingOptions,
    Scores,
    Top,
    Unknown,
)

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
    scores: Scores = False,
    top: Top = None,
    unknown: IfUnknown = Unknown.error,
    rule: OtherRule = None,
    *,
    reading: ReadingOptions,
    loading: ModelOptions,
    output: OutputOptions,
) -> None:
    """Given some elements of each row's set, predict the others.

    Known elements are written in the same way as the targets of training. They are never repeated.
    """
    from setlearn.cli.answers import write_answers
    from setlearn.cli.model_loading import model_for_rows
    from setlearn.records.answers import answer_rows

    with reading.open(data) as rows:
        loaded = model_for_rows(model, loading, rows, output, rule=rule)

        def complete_batch(batch: Sequence[Row]) -> list[Any]:
            known_sets = loaded.known_sets(batch, known)
            others: Sequence[Any]
            if scores or top is not None:
                others = loaded.complete_ranked(batch, known_sets, top=top, unknown=unknown.value)
            else:
                others = loaded.complete(batch, known_sets, unknown=unknown.value)
            return list(zip(known_sets, others, strict=True))

        answers = (
            {
                **({"row": row.place} if reading.skip_bad else {}),
                "known": known_set,
                "prediction": others,
            }
            for row, (known_set, others) in answer_rows(
                rows, complete_batch, skip_bad=reading.skip_bad
            )
        )
        write_answers(answers, rows, out, output)
