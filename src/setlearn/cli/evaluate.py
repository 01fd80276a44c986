"""``setlearn evaluate``: how good predictions are for a file whose sets are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import (
    Data,
    Model,
    ModelOptions,
    OtherRule,
    OutputOptions,
    ReadingOptions,
)

if TYPE_CHECKING:
    from setlearn.files import Row

__all__ = ["evaluate"]


def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the true sets. Repeated, or as a pattern such as 'tag_*': one "
            "column per label. [as in training]",
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What separates the elements in a cell; '' for one element per cell. "
            "[as in training]",
        ),
    ] = None,
    rule: OtherRule = None,
    worst: Annotated[
        int,
        typer.Option(min=0, metavar="NUMBER", help="How many of the worst predictions to show."),
    ] = 10,
    *,
    reading: ReadingOptions,
    loading: ModelOptions,
    output: OutputOptions,
) -> None:
    """Compare predicted sets with the true ones.

    Shows figures for the sets and for each label, a table of set sizes, and the worst predictions.
    """
    from setlearn.cli.console import print_bad_rows, print_notes, print_result
    from setlearn.cli.model_loading import saved_model_for_rows
    from setlearn.cli.reports import evaluate_sets, short_input
    from setlearn.cli.training_data import rows_trained_on, too_good_figures
    from setlearn.records.answers import answer_rows

    with reading.open(data) as rows:
        saved = saved_model_for_rows(model, loading, rows, output, rule=rule)
        loaded = saved.model
        if target or separator is not None:
            loaded = loaded.reading_targets(rows.first(), target, separator)

        def compare(batch: Sequence[Row]) -> list[Any]:
            return list(zip(loaded.true_sets(batch), loaded.predict(batch), strict=True))

        places, true, predicted = [], [], []
        for row, (true_set, answer) in answer_rows(rows, compare, skip_bad=reading.skip_bad):
            places.append((row.place, short_input(loaded, row)))
            true.append(true_set)
            predicted.append(answer)
        evaluation = evaluate_sets(loaded, places, true, predicted, worst)
        n_trained = rows_trained_on(saved.about, data)
        document = {
            **evaluation.to_dict(),
            "rows_trained_on": n_trained,
            "left_out": rows.n_bad,
            "bad_rows": rows.bad,
        }
        print_result(evaluation, document, output)
        print_bad_rows(rows)
        if n_trained:
            warning = too_good_figures(n_trained, len(true), rows.name)
            print_notes([f"setlearn: warning: {warning}"])
