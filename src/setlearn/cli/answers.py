"""Answers for rows of a file, a batch at a time: memory stays flat however many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from setlearn.errors import DataError, KindError

if TYPE_CHECKING:
    from setlearn.files import Row, Rows

__all__ = ["answer_rows", "batches"]

BATCH = 1024


def batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """The rows in lists of the same length, but for the last.

    Rows before one that cannot be read are given before its error is raised.
    """
    unreadable: DataError | None = None
    batch: list[Row] = []
    while unreadable is None:
        batch = []
        try:
            batch.extend(islice(rows, BATCH))
        except DataError as error:
            unreadable = error
        if batch:
            yield batch
        elif unreadable is None:
            return
    raise unreadable


def answer_rows(
    rows: Rows, answer: Callable[[Sequence[Row]], list[Any]], *, skip_bad: bool
) -> Iterator[tuple[Row, Any]]:
    """Each row with its answer, in order; rows that cannot be answered are errors, or left out."""
    for batch in batches(rows):
        try:
            answers = answer(batch)
        except (DataError, KindError):
            yield from _one_by_one(rows, batch, answer, skip_bad=skip_bad)
        else:
            yield from zip(batch, answers, strict=True)


def _one_by_one(
    rows: Rows,
    batch: Sequence[Row],
    answer: Callable[[Sequence[Row]], list[Any]],
    *,
    skip_bad: bool,
) -> Iterator[tuple[Row, Any]]:
    """The same for a batch in which something is wrong, to find out in which rows."""
    for row in batch:
        try:
            [found] = answer([row])
        except (DataError, KindError) as error:
            told = str(error) if str(error).startswith(row.place) else f"{row.place}: {error}"
            if not skip_bad:
                raise DataError(f"{told} (--skip-bad leaves such rows out)") from error
            rows.leave_out(told)
        else:
            yield row, found
