"""What a verb says beside its answer: notes and warnings, on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import typer

if TYPE_CHECKING:
    from setlearn.datasets.files import Rows

__all__ = ["say", "say_bad_rows", "told_warnings"]


def say(lines: Iterable[str], *, quiet: bool = False) -> None:
    """One line each on stderr."""
    if not quiet:
        for line in lines:
            typer.echo(line, err=True)


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
