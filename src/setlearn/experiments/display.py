"""Says on stderr which cells run and how long is left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from setlearn.experiments.cell import Cell

if TYPE_CHECKING:
    from setlearn.experiments.runner import Outcome

__all__ = ["Display", "ProgressDisplay", "seconds_left"]


class Display(Protocol):
    """Somebody who wants to know how the run goes."""

    def begin(self, missing: Sequence[Cell], known: Sequence[Outcome]) -> None:
        """These cells are to be run; of these the outcome is known already."""
        ...

    def started(self, cell: Cell) -> None:
        """A cell has begun."""
        ...

    def finished(self, outcome: Outcome) -> None:
        """A cell has ended, well or not."""
        ...

    def note(self, text: str) -> None:
        """Something a reader should know."""
        ...


class ProgressDisplay:
    """Lines for what has happened and, on a terminal, one that is kept up to date below them."""

    def __init__(self, jobs: int, console: Console | None = None) -> None:
        self.jobs = jobs
        self.console = Console(stderr=True) if console is None else console
        self.waiting: list[Cell] = []
        self.running: dict[Cell, float] = {}  # when each began
        self.seconds: dict[Cell, float] = {}  # what finished ones took
        self.live = Live(get_renderable=self._line, console=self.console, transient=True)

    def begin(self, missing: Sequence[Cell], known: Sequence[Outcome]) -> None:
        """Say how much there is to do, and start the line."""
        self.waiting = list(missing)
        reused = [outcome for outcome in known if outcome.found is not None]
        self.seconds = {o.cell: o.found["seconds"] for o in reused if o.found is not None}
        for outcome in known:
            if outcome.failure and outcome.cell.split == 0 and outcome.cell.share == 1:
                self.note(f"{outcome.cell.table.title} is left out: {outcome.failure}")
        self.note(f"{len(missing)} cells to run, {len(reused)} kept from before")
        if missing and self.console.is_terminal:
            self.live.start()

    def started(self, cell: Cell) -> None:
        """Move the cell to the running ones."""
        self.waiting.remove(cell)
        self.running[cell] = time.monotonic()

    def finished(self, outcome: Outcome) -> None:
        """Say how long it took or why it failed."""
        cell = outcome.cell
        seconds = time.monotonic() - self.running.pop(cell)
        self.seconds[cell] = seconds
        if outcome.failure:
            self.note(f"{cell.name} failed after {seconds:.0f} s: {outcome.failure}")
        else:
            left = "" if self._is_over() else f", {self._left()}"
            self.note(f"{cell.name} took {seconds:.0f} s{left}")
        if self._is_over():
            self.close()

    def note(self, text: str) -> None:
        """Print a line above the live one."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the live line away."""
        if self.live.is_started:
            self.live.stop()

    def _is_over(self) -> bool:
        return not self.waiting and not self.running

    def _line(self) -> Text:
        names = " | ".join(cell.name for cell in self.running) or "nothing"
        return Text(f"running {names}; {len(self.waiting)} waiting, {self._left()}")

    def _left(self) -> str:
        now = time.monotonic()
        running = {cell: now - began for cell, began in self.running.items()}
        left = seconds_left(self.seconds, running, self.waiting, self.jobs)
        return "time left unknown" if left is None else f"about {_spoken(left)} left"


def seconds_left(
    finished: dict[Cell, float],
    running: dict[Cell, float],
    waiting: Sequence[Cell],
    jobs: int,
) -> float | None:
    """Guess from what finished cells took; None before there are any.

    A cell is expected to take what others of its table took, scaled by its share of samples.
    """
    if not finished:
        return None
    rates: dict[str, list[float]] = {}
    for cell, seconds in finished.items():
        rates.setdefault(cell.table.name, []).append(seconds / cell.share)
    overall = [rate for rates_of_table in rates.values() for rate in rates_of_table]

    def expected(cell: Cell) -> float:
        known = rates.get(cell.table.name, overall)
        return cell.share * sum(known) / len(known)

    rest = [max(0.0, expected(cell) - spent) for cell, spent in running.items()]
    total = sum(rest) + sum(expected(cell) for cell in waiting)
    return max([total / jobs, *rest])


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
