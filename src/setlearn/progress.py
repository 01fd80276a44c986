"""How far long work is, on stderr: a bar in a terminal, plain lines in a log.

Work consists of steps. The code that runs them opens `progress`, and calls ``advance`` after each::

    with progress("fitting", len(folds), verbose=True) as advance:
        for fold in folds:
            fit(fold)
            advance()

What runs inside a step may take long itself. It opens `progress` in the same way, and needs neither
a callback nor ``verbose``: its steps are parts of the step around it. So the bar also moves inside
of one long fit, if the learner does this::

    with progress("fitting labels", n_labels) as advance:
        for chunk in chunks:
            fit(chunk)
            advance(len(chunk))

If nothing is shown, that costs a microsecond. Work in other processes or threads is not seen; there
a step is done when its result arrives.
"""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import accumulate
from threading import Event, Thread
from typing import Protocol

__all__ = ["Advance", "progress", "say_before_progress", "time_left"]

FIRST_LINE = 10.0
"""Seconds before the first plain line; shorter work prints none."""

NEXT_LINE, LATER_LINES = 30.0, 0.1
"""Seconds between plain lines, or a share of the time so far if that is longer."""

BAR_WIDTH = 40

ROUNDED_TO = ((5, 60), (10, 600), (60, 3600), (300, math.inf))
"""To how many seconds times are rounded, and up to how many seconds."""


class Advance(Protocol):
    """Called after each step, or after several at once.

    Parameters
    ----------
    n_steps : int, default=1
        How many more steps are done.
    remark : str, default=""
        A short text to show, such as the present loss.
    """

    def __call__(self, n_steps: int = 1, remark: str = "") -> None:
        """Count steps as done."""


@contextmanager
def progress(
    description: str,
    steps: int | Sequence[float],
    *,
    verbose: int | None = None,
    max_seconds: float = math.inf,
) -> Iterator[Advance]:
    """Show how far the work of a block is, or report it to the work around it.

    Parameters
    ----------
    description : str
        What is done; the text before the bar.
    steps : int or sequence of float
        The number of steps, or how long each takes compared with the others: ``[3, 1]`` if the
        first takes three quarters of the time. A step may be anything that can be counted, such as
        a row or a label.
    verbose : bool or int, optional
        True shows a bar in a terminal, and nothing elsewhere. 2 also prints plain lines where
        there is no terminal: the first after 10 seconds, then one every 30 seconds, and after
        five minutes one per tenth of the time so far. It does not matter inside of other work.
    max_seconds : float, optional
        The time after which the block ends at the latest, for the time left.

    Yields
    ------
    Advance
        Call it after each step.

    Examples
    --------
    >>> with progress("fitting", 2, verbose=2) as advance:
    ...     for fold in range(2):
    ...         with progress("fitting labels", 1000) as advance_labels:
    ...             advance_labels(300)
    ...             advance_labels(700)
    ...         advance(remark="loss 0.1")
    """
    around = _shown_here.get()
    if around is not None:
        part = _Part(steps, around)
        with _shown_in_block(part):
            yield part.advance
    elif _is_shown(verbose):
        work = _ShownWork(description, steps, max_seconds)
        show = _bar if _has_terminal() else _plain_lines
        with _shown_in_block(work), show(work):
            yield work.advance
    else:
        yield _ignore


def time_left(share: float, reached: float, now: float, max_seconds: float = math.inf) -> str:
    """Say how long it takes to the end, if the work goes on as before.

    Parameters
    ----------
    share : float
        How much is done, from 0 to 1.
    reached : float
        When so much was done, in seconds from the start.
    now : float
        The seconds so far.
    max_seconds : float, optional
        The seconds after which it ends at the latest, counted from the start.

    Returns
    -------
    str
        Empty if it is not known: nothing is done yet, or the work takes longer than expected.

    Examples
    --------
    >>> time_left(0.5, 70, 72), time_left(0.5, 70, 72, 100), time_left(0.0, 0, 8)
    ('about 1 min 10 s left', 'about 30 s left', '')
    """
    by_steps = reached / share if share > 0 else math.inf
    left = min(by_steps, max_seconds) - now
    return f"about {_duration(left)} left" if 0 < left < math.inf else ""


def say_before_progress(line: str, *, verbose: int | None) -> None:
    """Print a line on stderr, if progress would be shown.

    Parameters
    ----------
    line : str
    verbose : bool, int or None
        As in `progress`.
    """
    if _is_shown(verbose):
        sys.stderr.write(f"{line}\n")


class _Work(ABC):
    """Steps that are done one after the other. Shares are from 0 to 1."""

    def __init__(self, steps: int | Sequence[float]) -> None:
        self.n_steps = len(steps) if isinstance(steps, Sequence) else steps
        self.n_done = 0
        self.share = 0.0
        self.remark = ""
        self._ends = list(accumulate(steps, initial=0.0)) if isinstance(steps, Sequence) else None

    def advance(self, n_steps: int = 1, remark: str = "") -> None:
        self.n_done += n_steps
        self.remark = remark
        self._reach(self._share_after(self.n_done))

    def fill(self, share: float) -> None:
        """Say how much of the present step is done."""
        before, after = (self._share_after(self.n_done + n) for n in (0, 1))
        self._reach(before + share * (after - before))

    def _share_after(self, n_steps: int) -> float:
        if n_steps >= self.n_steps:
            return 1.0
        if self._ends is None:
            return n_steps / self.n_steps
        return self._ends[n_steps] / self._ends[-1]

    def _reach(self, share: float) -> None:
        # It never falls, also if a step has several parts that do not know of each other.
        if share > self.share:
            self.share = share
            self._moved()

    @abstractmethod
    def _moved(self) -> None:
        """Pass on that more is done."""


class _Part(_Work):
    """Work inside a step of other work."""

    def __init__(self, steps: int | Sequence[float], around: _Work) -> None:
        super().__init__(steps)
        self._around = around

    def _moved(self) -> None:
        self._around.fill(self.share)


class _ShownWork(_Work):
    """Work that people see, with the time that it takes."""

    def __init__(self, description: str, steps: int | Sequence[float], max_seconds: float) -> None:
        super().__init__(steps)
        self.description = description
        self._max_seconds = max_seconds
        self._started = time.monotonic()
        self._reached = 0.0

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def _moved(self) -> None:
        self._reached = self.seconds()

    def time_left(self) -> str:
        return time_left(self.share, self._reached, self.seconds(), self._max_seconds)

    def line(self) -> str:
        share = f"{math.floor(100 * self.share)}% done"
        if self.n_steps > 1:
            share += f" ({self.n_done}/{self.n_steps})"
        parts = [share, self.remark, self.time_left()]
        return f"{self.description}: {', '.join(part for part in parts if part)}"


_shown_here: ContextVar[_Work | None] = ContextVar("shown_here", default=None)


@contextmanager
def _shown_in_block(work: _Work) -> Iterator[None]:
    token = _shown_here.set(work)
    try:
        yield
    finally:
        _shown_here.reset(token)


@contextmanager
def _bar(work: _ShownWork) -> Iterator[None]:
    # Imported here because most fits show no bar, and rich is slow to import.
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task, TextColumn
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    class Bar(ProgressColumn):
        def render(self, task: Task) -> ProgressBar:
            return ProgressBar(1.0, work.share, BAR_WIDTH)

    class Figures(ProgressColumn):
        def render(self, task: Task) -> Text:
            counted = f"{work.n_done}/{work.n_steps} " if work.n_steps > 1 else ""
            return Text(f"{counted}{work.remark}")

    class TimeLeft(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(work.time_left())

    columns = (TextColumn("{task.description}", markup=False), Bar(), Figures(), TimeLeft())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(work.description)
        yield


@contextmanager
def _plain_lines(work: _ShownWork) -> Iterator[None]:
    # A thread, because a step that reports nothing may be what takes long.
    ended = Event()

    def print_lines() -> None:
        wait = FIRST_LINE
        while not ended.wait(wait):
            with suppress(OSError, ValueError):  # nobody reads stderr any more
                sys.stderr.write(f"{work.line()}\n")
                sys.stderr.flush()
            wait = max(NEXT_LINE, LATER_LINES * work.seconds())

    thread = Thread(target=print_lines, name="setlearn progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _ignore(n_steps: int = 1, remark: str = "") -> None:
    """Advance work that nobody sees."""


def _duration(seconds: float) -> str:
    """Write a time for people, rounded up.

    >>> [_duration(seconds) for seconds in (0.2, 58, 72, 655, 7300)]
    ['5 s', '1 min', '1 min 20 s', '11 min', '2 h 5 min']
    """
    unit = next(unit for unit, below in ROUNDED_TO if seconds <= below)
    hours, rest = divmod(unit * math.ceil(seconds / unit), 3600)
    minutes, rest = divmod(rest, 60)
    amounts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{amount} {name}" for amount, name in amounts if amount)


def _is_shown(verbose: int | None) -> bool:
    level = verbose or 0
    return level >= 2 or (level >= 1 and _has_terminal())


def _has_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
