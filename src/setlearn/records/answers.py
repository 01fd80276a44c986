"""Answers for the rows of a file, computed in batches, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.files import Row, Rows
from setlearn.records.model import RecordModel

__all__ = ["PredictionForm", "answer_rows"]

BATCH = 1024


@dataclass(frozen=True, slots=True)
class PredictionForm:
    """What the prediction for a row consists of.

    Attributes
    ----------
    scores : bool
        Whether each element comes with its score, best first.
    top : int or None
        How many of the best elements to give, with scores, whether the rule keeps them or not.
    with_input : bool
        Whether the row is repeated before its answer.
    skip_bad : bool
        Whether rows that cannot be used are left out. Then each answer says which row it is for.
    """

    scores: bool = False
    top: int | None = None
    with_input: bool = False
    skip_bad: bool = False

    @property
    def with_scores(self) -> bool:
        """Whether elements come with scores."""
        return self.scores or self.top is not None

    def answers(self, model: RecordModel, rows: Sequence[Row]) -> Sequence[Any]:
        """Predict the sets of a batch of rows.

        Parameters
        ----------
        model : RecordModel
        rows : sequence of Row

        Returns
        -------
        sequence
            Frozensets, or lists of elements with scores.
        """
        if self.with_scores:
            return model.predict_ranked(rows, top=self.top)
        return model.predict(rows)

    def records(self, model: RecordModel, rows: Rows) -> Iterator[dict[str, Any]]:
        """Yield a record for each row of a file.

        Parameters
        ----------
        model : RecordModel
        rows : Rows

        Yields
        ------
        dict
            With the key "prediction", and before it what else was asked for.
        """
        own_columns = ("row", "prediction") if self.skip_bad else ("prediction",)

        def answer(batch: Sequence[Row]) -> Sequence[Any]:
            return self.answers(model, batch)

        for row, row_answer in answer_rows(rows, answer, skip_bad=self.skip_bad):
            yield {
                **(_repeated(row, own_columns) if self.with_input else {}),
                **({"row": row.place} if self.skip_bad else {}),
                "prediction": row_answer,
            }


def answer_rows(
    rows: Rows, answer: Callable[[Sequence[Row]], Sequence[Any]], *, skip_bad: bool
) -> Iterator[tuple[Row, Any]]:
    """Yield each row with its answer, in order.

    Parameters
    ----------
    rows : Rows
    answer : callable
        Takes a batch of rows and returns one answer per row.
    skip_bad : bool
        Leave out rows that have no answer, instead of raising an error.

    Yields
    ------
    row, answer

    Raises
    ------
    DataError
        If a row cannot be read or answered.
    """
    for batch in _batches(rows):
        try:
            answers = answer(batch)
        except (DataError, KindError):
            yield from _answer_one_by_one(rows, batch, answer, skip_bad=skip_bad)
        else:
            yield from zip(batch, answers, strict=True)


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield the rows in lists of equal length, except for the last.

    If a row cannot be read, the rows before it are yielded before the error is raised.
    """
    problem: DataError | None = None
    batch: list[Row] = []
    while problem is None:
        batch = []
        try:
            batch.extend(islice(rows, BATCH))
        except DataError as error:
            problem = error
        if batch:
            yield batch
        elif problem is None:
            return
    raise problem


def _answer_one_by_one(
    rows: Rows,
    batch: Sequence[Row],
    answer: Callable[[Sequence[Row]], Sequence[Any]],
    *,
    skip_bad: bool,
) -> Iterator[tuple[Row, Any]]:
    """Answer a batch that contains bad rows, to find out which they are."""
    for row in batch:
        try:
            [row_answer] = answer([row])
        except (DataError, KindError) as error:
            problem = str(error) if str(error).startswith(row.place) else f"{row.place}: {error}"
            if not skip_bad:
                remedy = "" if "skip_bad" in error.advice else "; or leave such rows out"
                raise DataError(
                    f"{problem}{remedy}",
                    advice={**error.advice, "skip_bad": True},
                ) from error
            rows.leave_out(problem)
        else:
            yield row, row_answer


def _repeated(row: Row, own_columns: Sequence[str]) -> dict[str, Any]:
    """Return the record, if it has none of the columns of the answer."""
    for name in own_columns:
        if name in row.record:
            raise ParameterError(
                f"{row.place}: there is a column {name!r}, but the answer needs that name; rename "
                "the column, or do not repeat the input",
                advice={"with_input": False},
            )
    return row.record
