"""What a verb says to people: its answer on stdout, and notes and warnings on stderr.

Names in a model or a file may hold anything, also what commands a terminal. All that is shown goes
through `printable`.
"""

from __future__ import annotations

import json
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

from setlearn.cli.options import Talking

if TYPE_CHECKING:
    from setlearn.files import Rows

__all__ = ["printable", "say", "say_bad_rows", "show", "told_warnings"]

UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of characters that command terminals, turn the direction of text, or cannot be written."""

HARMLESS = "\n\u200c\u200d"
"""Characters of these kinds that texts need: the ends of lines, and joiners within words."""


def printable(text: str) -> str:
    r"""Text with all that could command a terminal written out.

    Examples
    --------
    >>> printable("a \x1b[31mred label")
    'a \\x1b[31mred label'
    """
    return "".join(
        character
        if character in HARMLESS or unicodedata.category(character) not in UNSAFE
        else character.encode("unicode_escape").decode()
        for character in text
    )


def show(answer: object, document: Mapping[str, Any], talking: Talking) -> None:
    """Answer on stdout: for people, or with ``--json`` as a document for programs."""
    typer.echo(json.dumps(document) if talking.as_json else printable(str(answer)))


def say(lines: Iterable[str], *, quiet: bool = False) -> None:
    """One line each on stderr."""
    if not quiet:
        for line in lines:
            typer.echo(printable(line), err=True)


def say_bad_rows(rows: Rows) -> None:
    """Tell how many rows were left out, and why the first ones were; never kept quiet."""
    if rows.n_bad:
        more = rows.n_bad - len(rows.bad)
        say([*rows.bad, *([f"… and {more} more"] if more else [])])
        say([f"left out: {rows.n_bad} bad row(s) of {rows.name}"])


@contextmanager
def told_warnings() -> Iterator[None]:
    """Say each different warning of the block once, as a line."""
    said: set[str] = set()

    def say_once(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        # Those of other packages are for programmers; people at a terminal cannot act on them.
        if category.__module__.startswith("setlearn") and str(message) not in said:
            said.add(str(message))
            say([f"setlearn: warning: {message}"])

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = say_once
        yield
