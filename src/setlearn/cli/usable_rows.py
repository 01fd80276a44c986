"""Rows to learn from: with ``--skip-bad``, those that cannot be read are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from setlearn.errors import DataError
from setlearn.records import RecordPlan, TargetReader, guess_targets

if TYPE_CHECKING:
    from setlearn.files import Row, Rows

__all__ = ["rows_that_fit", "rows_with_sets"]


def rows_with_sets(
    rows: Rows, records: Sequence[Row], target: str | Sequence[str] | None
) -> Sequence[Row]:
    """The records whose sets can be read, from which a plan can be made."""
    reader = _first_reader(records, target)
    if reader is None:
        return records  # the plan tells what is wrong with all of them

    def problem(row: Row) -> str | None:
        try:
            reader.read(row)
        except DataError as error:
            return str(error)
        return None

    return _without_problem(rows, records, problem)


def rows_that_fit(rows: Rows, records: Sequence[Row], plan: RecordPlan) -> Sequence[Row]:
    """The records of which also the inputs can be read, as planned."""
    return _without_problem(rows, records, plan.problem_with)


def _without_problem(
    rows: Rows, records: Sequence[Row], problem: Callable[[Row], str | None]
) -> Sequence[Row]:
    """The records without a problem; the others are counted among the bad rows."""
    usable = []
    for row in records:
        told = problem(row)
        if told is None:
            usable.append(row)
        else:
            rows.leave_out(told)
    if not usable:
        raise DataError(
            f"{rows.name} holds no rows that can be used: all {rows.n_bad} were left out, the "
            f"first as {rows.bad[0]}; correct them, or say how to read them"
        )
    return usable


def _first_reader(
    records: Sequence[Row], target: str | Sequence[str] | None
) -> TargetReader | None:
    for row in records:
        try:
            return guess_targets([row], target, task="labels")[0]
        except DataError:
            continue
    return None
