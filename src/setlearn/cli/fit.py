"""``setlearn fit``: from a file of examples to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from setlearn.cli.console import say, say_bad_rows, show
from setlearn.cli.fit_options import Keeping, Learning, Planning
from setlearn.cli.options import Data, Reading, Talking

if TYPE_CHECKING:
    from setlearn.files import Row

__all__ = ["fit"]


def fit(
    data: Data,
    *,
    planning: Planning,
    learning: Learning,
    keeping: Keeping,
    reading: Reading,
    talking: Talking,
) -> None:
    """Learn from a file of examples, and write a model.

    What is not given is guessed from the data, and said.
    """
    from setlearn.cli.fitting import Job, fit_and_save
    from setlearn.cli.named_parts import default_notes, model_for
    from setlearn.cli.usable_rows import rows_that_fit, rows_with_sets

    with reading.open(data) as rows:
        records: Sequence[Row] = list(rows)
    target = planning.target or ([rows.target] if rows.target else None)
    say(rows.notes, quiet=talking.quiet)
    if reading.skip_bad:
        records = rows_with_sets(rows, records, target)
    plan = planning.plan(records, target, rows.categories)
    if reading.skip_bad:
        records = rows_that_fit(rows, records, plan)
    say_bad_rows(rows)
    guesses = [*plan.notes, *default_notes(plan, learning)]
    say(guesses, quiet=talking.quiet)
    model = model_for(plan, learning, verbose=not talking.quiet)
    job = Job(plan, records, model, keeping, seed=learning.seed, quiet=talking.quiet)
    told = fit_and_save(job, data, [*rows.notes, *guesses])
    show(told, {**told.to_dict(), "left_out": rows.n_bad, "bad_rows": rows.bad}, talking)
