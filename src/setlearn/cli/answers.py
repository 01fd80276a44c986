"""Answers for the rows of a file: computed in batches, so that memory stays flat, and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from setlearn.cli.console import print_bad_rows
from setlearn.cli.options import OutputOptions
from setlearn.errors import DataError, KindError

if TYPE_CHECKING:
    from setlearn.files import Row, Rows

__all__ = ["answer_rows", "write_answers"]

BATCH = 1024

OTHER_FORMATS = (".xlsx", ".xls", ".ods", ".feather", ".h5", ".hdf5", ".pkl", ".pickle")
"""Suffixes of formats that are not written; other programs would not open such a file."""


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


def write_answers(
    answers: Iterator[dict[str, Any]], rows: Rows, out: str, output: OutputOptions
) -> None:
    """Write answers as they are computed, then report bad rows.

    Parameters
    ----------
    answers : iterator of dict
    rows : Rows
        The rows that the answers are for.
    out : str
        The path of the file, or "-" for stdout.
    output : OutputOptions
        With ``--json``, all answers on stdout are one document; for a file, the document only
        says how many there are.

    Raises
    ------
    DataError
        If there are bad rows and not one answer.
    """
    from setlearn.files import write_rows
    from setlearn.files.formats import STANDARD_STREAM
    from setlearn.files.plain_values import plain

    document: dict[str, Any] = {"out": out, "n_answers": 0}

    def counted() -> Iterator[dict[str, Any]]:
        for answer in answers:
            document["n_answers"] += 1
            yield answer

    if output.as_json and out == STANDARD_STREAM:
        document["answers"] = [plain(answer) for answer in counted()]
    else:
        write_rows(out, counted(), format=_format(out))
    print_bad_rows(rows)
    if rows.n_bad and not document["n_answers"]:
        raise DataError(
            "no row could be answered, for the reasons given above; check that the file has the "
            "columns that the model reads (setlearn inspect MODEL)"
        )
    if output.as_json:
        typer.echo(json.dumps({**document, "left_out": rows.n_bad, "bad_rows": rows.bad}))


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


def _format(out: str) -> str:
    """Return the format by the name of the file; JSONL if it says nothing, as for devices."""
    from setlearn.errors import ParameterError
    from setlearn.files.formats import format_of_name, suffix_of, writable_formats

    suffix = suffix_of(Path(out))
    if suffix in OTHER_FORMATS:
        raise ParameterError(
            f"{out} cannot be written, because {suffix} is another format; write one of "
            f"{writable_formats()}, by the name of the file"
        )
    try:
        return format_of_name(Path(out)).name
    except ParameterError:
        return "jsonl"
