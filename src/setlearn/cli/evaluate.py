"""``setlearn evaluate``: how good the answers for a file are, whose sets are known."""

from __future__ import annotations

from typing import Annotated

import typer

from setlearn.cli.console import say_bad_rows, show
from setlearn.cli.options import Data, Model, Opening, Reading, Talking

__all__ = ["evaluate"]


def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the true sets; given again or as a pattern such as 'tag_*': one "
            "column a label. [as in training]",
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Between the elements in a cell; '' for one element a cell. [as in training]",
        ),
    ] = None,
    worst: Annotated[
        int,
        typer.Option(min=0, metavar="NUMBER", help="How many of the worst answers to show."),
    ] = 10,
    *,
    reading: Reading,
    opening: Opening,
    talking: Talking,
) -> None:
    """Compare predicted sets with the true ones.

    Shown are figures of the sets and of each label, a table of their sizes, and the worst answers.
    """
    from setlearn.cli.answers import answer_rows
    from setlearn.cli.model_loading import opened_model
    from setlearn.cli.reports import evaluate_sets, shown_input

    with reading.open(data) as rows:
        found = opened_model(model, opening, rows, talking)
        if target or separator is not None:
            found = found.reading_targets(rows.first(), target, separator)
        places, true, predicted = [], [], []
        for row, (right, answer) in answer_rows(
            rows,
            lambda batch: list(zip(found.true_sets(batch), found.predict(batch), strict=True)),
            skip_bad=reading.skip_bad,
        ):
            places.append((row.place, shown_input(found, row)))
            true.append(right)
            predicted.append(answer)
        told = evaluate_sets(found, places, true, predicted, worst)
        show(told, {**told.to_dict(), "left_out": rows.n_bad, "bad_rows": rows.bad}, talking)
        say_bad_rows(rows)
