"""Where the answers of ``predict`` and ``complete`` go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from setlearn.cli.console import say_bad_rows
from setlearn.cli.options import Talking

if TYPE_CHECKING:
    from setlearn.files import Rows

__all__ = ["write_answers"]


def write_answers(
    answers: Iterator[dict[str, Any]], rows: Rows, out: str, talking: Talking
) -> None:
    """Write answers as they come, or for ``--json`` as one document; then tell of bad rows.

    With ``--json`` and a file to write to, the document tells how many answers the file has.
    """
    from setlearn.files import write_rows
    from setlearn.files.formats import STANDARD_STREAM
    from setlearn.files.plain_values import plain

    document: dict[str, Any] = {"out": out, "n_answers": 0}

    def counted() -> Iterator[dict[str, Any]]:
        for answer in answers:
            document["n_answers"] += 1
            yield answer

    if talking.as_json and out == STANDARD_STREAM:
        document["answers"] = [plain(answer) for answer in counted()]
    else:
        write_rows(out, counted(), format=_format(out))
    if talking.as_json:
        typer.echo(json.dumps({**document, "left_out": rows.n_bad, "bad_rows": rows.bad}))
    say_bad_rows(rows)


def _format(out: str) -> str:
    """What the name tells; JSON lines where it tells nothing, as those of devices and pipes."""
    from setlearn.errors import ParameterError
    from setlearn.files.formats import format_of_name

    try:
        return format_of_name(Path(out)).name
    except ParameterError:
        return "jsonl"
