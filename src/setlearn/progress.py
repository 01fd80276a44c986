"""A progress bar on stderr, shown only in a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

__all__ = ["progress", "say_before_progress", "time_left"]


@contextmanager
def progress(
    description: str, total: int, *, verbose: bool, max_seconds: float = math.inf
) -> Iterator[Callable[[str], None]]:
    """Show a progress bar while the block runs.

    Parameters
    ----------
    description : str
        The text before the bar.
    total : int
        The number of steps.
    verbose : bool
        Whether to show the bar. Without a terminal it is never shown.
    max_seconds : float, optional
        The time after which the block ends at the latest, for the time left.

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
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            return Text(time_left(task.elapsed, task.time_remaining, max_seconds))

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} {task.fields[remark]}"),
        TimeLeft(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, remark="")
        yield lambda remark: bar.update(task, advance=1, remark=remark)


def time_left(elapsed: float | None, by_steps: float | None, max_seconds: float) -> str:
    """Say how long it takes to the end.

    Parameters
    ----------
    elapsed : float or None
        The seconds so far.
    by_steps : float or None
        The seconds that the steps left will take; None if that is not known yet.
    max_seconds : float
        The seconds after which it ends at the latest, counted from the start.

    Returns
    -------
    str

    Examples
    --------
    >>> time_left(10, 75.2, math.inf), time_left(10, 75.2, 60), time_left(1, None, math.inf)
    ('0:01:15 left', '0:00:50 left', '')
    """
    left = min(math.inf if by_steps is None else by_steps, max_seconds - (elapsed or 0))
    return f"{timedelta(seconds=max(int(left), 0))} left" if math.isfinite(left) else ""


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
