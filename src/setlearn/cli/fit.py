"""``setlearn fit``: from a file of examples to a model."""

from __future__ import annotations

from setlearn.cli.fit_options import PlanningOptions, SavingOptions
from setlearn.cli.model_options import (
    CandidateOptions,
    LabelOptions,
    LearningOptions,
    SequenceOptions,
    options_for,
)
from setlearn.cli.options import Data, OutputOptions, ReadingOptions

__all__ = ["fit"]


def fit(
    data: Data,
    *,
    planning: PlanningOptions,
    learning: LearningOptions,
    labels: LabelOptions,
    sequences: SequenceOptions,
    saving: SavingOptions,
    reading: ReadingOptions,
    output: OutputOptions,
) -> None:
    """Fit a model on a file of examples, and save it.

    What is not given is guessed from the data, and printed.
    """
    from setlearn.cli.console import print_bad_rows, print_notes, print_result
    from setlearn.cli.continuing import check_continued, model_to_continue
    from setlearn.cli.fitting import fit_and_save, rows_with_inputs, rows_with_sets

    if learning.warm_start is not None:
        check_continued(planning, labels, sequences)
    with reading.open(data) as rows:
        records = list(rows)
    target = planning.target or ([rows.target] if rows.target else None)
    print_notes(rows.notes, quiet=output.quiet)
    if reading.skip_bad:
        records = rows_with_sets(rows, records, target)
    verbose = 0 if output.quiet else 2  # also without a terminal
    if learning.warm_start is None:
        plan = planning.plan(records, target, rows.categories)
        task_options = options_for(plan.task, (labels, sequences, CandidateOptions()))
        guesses = [*plan.notes, *task_options.default_notes()]
        model = task_options.model(plan, learning, verbose=verbose)
    else:
        plan, model = model_to_continue(
            learning.warm_start, records, learning, sequences, verbose=verbose
        )
        guesses = [*plan.notes]
    if reading.skip_bad:
        records = rows_with_inputs(rows, records, plan)
    print_bad_rows(rows)
    print_notes(guesses, quiet=output.quiet)
    fitted = fit_and_save(
        plan,
        records,
        model,
        saving,
        data=data,
        notes=[*rows.notes, *guesses],
        seed=learning.seed,
        quiet=output.quiet,
    )
    print_result(fitted, {**fitted.to_dict(), "left_out": rows.n_bad, "bad_rows": rows.bad}, output)
