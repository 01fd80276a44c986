"""``setlearn fit``: from a file of examples to a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from setlearn.cli.fit_options import PlanningOptions, SavingOptions
from setlearn.cli.model_options import (
    CandidateOptions,
    LabelOptions,
    LearningOptions,
    SequenceOptions,
    options_for,
)
from setlearn.cli.options import Data, OutputOptions, RayOptions, ReadingOptions

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
    processes: RayOptions,
) -> None:
    """Fit a model on a file of examples, and save it.

    What is not given is guessed from the data, and printed. With --ray, several processes train
    the network of a model of sequences together, and fit the folds of other models.
    """
    from setlearn.cli.console import print_bad_rows, print_notes, print_result
    from setlearn.cli.continuing import check_continued, model_to_continue
    from setlearn.cli.fitting import fit_and_save, rows_with_inputs, rows_with_sets

    processes.check()
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
        fitted_by=_fitted_by(processes),
    )
    print_result(fitted, {**fitted.to_dict(), "left_out": rows.n_bad, "bad_rows": rows.bad}, output)


def _fitted_by(processes: RayOptions) -> Callable[[Any, Any, Any], Any] | None:
    """How a model is fitted by the processes of Ray; None for this process alone."""
    if processes.ray is None:
        return None
    from setlearn.scale import fit as fit_with_ray

    return partial(fit_with_ray, address=processes.address, workers=processes.n_workers)
