"""A progress bar on stderr, for people only: quiet without a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(description: str, total: int, *, verbose: bool) -> Iterator[Callable[[str], None]]:
    """Show a bar while the block runs; call what it yields after each finished part.

    The argument of that call is a short remark shown beside the bar ("" for none).
    """
    if not (verbose and sys.stderr.isatty()):
        yield lambda remark: None
        return
    # Imported here because most fits are quiet, and rich is not small.
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
