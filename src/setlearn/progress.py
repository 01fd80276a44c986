"""A progress bar on stderr, shown only in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress", "say_before_progress"]


@contextmanager
def progress(description: str, total: int, *, verbose: bool) -> Iterator[Callable[[str], None]]:
    """Show a progress bar while the block runs.

    Parameters
    ----------
    description : str
        The text before the bar.
    total : int
        The number of steps.
    verbose : bool
        Whether to show the bar. Without a terminal it is never shown.

    Yields
    ------
    callable
        Call it after each step. Its argument is a short text beside the bar ("" for none).
    """
    if not _is_shown(verbose):
        yield lambda remark: None
        return
    # Imported here because most fits show no bar, and rich is slow to import.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} {task.fields[remark]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, remark="")
        yield lambda remark: bar.update(task, advance=1, remark=remark)


def say_before_progress(line: str, *, verbose: bool) -> None:
    """Print a line on stderr, if a progress bar would be shown.

    Parameters
    ----------
    line : str
    verbose : bool
        As in `progress`.
    """
    if _is_shown(verbose):
        sys.stderr.write(f"{line}\n")


def _is_shown(verbose: bool) -> bool:
    return verbose and sys.stderr.isatty()
