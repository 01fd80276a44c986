"""Writes the answers for the rows of a file, and reports rows that have none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from setlearn.cli.console import print_bad_rows
from setlearn.cli.options import OutputOptions
from setlearn.errors import DataError

if TYPE_CHECKING:
    from setlearn.files import Rows
    from setlearn.scale.prediction import PredictedFiles

__all__ = ["report_answers", "write_answers"]

OTHER_FORMATS = (".xlsx", ".xls", ".ods", ".feather", ".h5", ".hdf5", ".pkl", ".pickle")
"""Suffixes of formats that are not written; other programs would not open such a file."""


def write_answers(
    answers: Iterator[dict[str, Any]],
    rows: Rows | PredictedFiles,
    out: str,
    output: OutputOptions,
) -> None:
    """Write answers as they are computed, then report bad rows.

    Parameters
    ----------
    answers : iterator of dict
    rows : Rows or PredictedFiles
        What the answers are for.
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
    report_answers(document, rows, output)


def report_answers(
    document: dict[str, Any], rows: Rows | PredictedFiles, output: OutputOptions
) -> None:
    """Report answers that are written: which rows have none, and with ``--json`` how many have.

    Parameters
    ----------
    document : dict
        What to print with ``--json``, besides the bad rows.
    rows : Rows or PredictedFiles
        What the answers are for.
    output : OutputOptions

    Raises
    ------
    DataError
        If there are bad rows and not one answer.
    """
    print_bad_rows(rows)
    if rows.n_bad and not document["n_answers"]:
        raise DataError(
            "no row could be answered, for the reasons given above; check that the file has the "
            "columns that the model reads (setlearn inspect MODEL)"
        )
    if output.as_json:
        typer.echo(json.dumps({**document, "left_out": rows.n_bad, "bad_rows": rows.bad}))


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
