"""The whole job: choose tables, run the missing cells while showing progress, write the report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from setlearn.errors import ParameterError, SetlearnError
from setlearn.experiments.cell import ExperimentCell
from setlearn.experiments.report import write_report
from setlearn.experiments.runner import Outcome, RunMissing, run_cells
from setlearn.experiments.store import CellStore
from setlearn.experiments.summary import summarise
from setlearn.experiments.table import Table
from setlearn.experiments.tables import TABLES

__all__ = [
    "ProgressDisplay",
    "Reproduction",
    "planned_cells",
    "reproduce",
    "seconds_left",
    "tables_named",
]

CURVE_SHARES = (1 / 8, 1 / 4, 1 / 2)
"""Shares of the training samples in the curves, besides all of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Reproduction:
    """The results, the files of the report, and how many cells failed."""

    results: dict[str, Any]
    files: list[Path]
    n_failed: int


def tables_named(names: Sequence[str], systems: Sequence[str] = ()) -> list[Table]:
    """The tables of these names, in the order of the paper.

    Parameters
    ----------
    names : sequence of str
        Empty for all tables.
    systems : sequence of str, default=()
        Keep only these systems, and the tables that have them. Empty for all systems.

    Returns
    -------
    list of Table

    Raises
    ------
    ParameterError
        If there is no table or no system of that name.
    """
    for name in names:
        if name not in TABLES:
            raise ParameterError(f"there is no table {name!r}; choose among {', '.join(TABLES)}")
    tables = [table for name, table in TABLES.items() if name in names or not names]
    if not systems:
        return tables
    known = dict.fromkeys(system.name for table in tables for system in table.systems)
    for name in systems:
        if name not in known:
            raise ParameterError(
                f"there is no system {name!r}; choose among {', '.join(map(repr, known))}"
            )
    having = [t for t in tables if any(system.name in systems for system in t.systems)]
    return [table.only(systems) for table in having]


def planned_cells(tables: Sequence[Table], n_splits: int) -> list[ExperimentCell]:
    """Every table on every split, split by split, and then the curves.

    Parameters
    ----------
    tables : sequence of Table
    n_splits : int

    Returns
    -------
    list of ExperimentCell
    """
    all_data = [
        ExperimentCell(table, split)
        for split in range(n_splits)
        for table in tables
        if table.most_splits is None or split < table.most_splits
    ]
    # The longest first, so that the last cells to end are short ones.
    curves = [
        ExperimentCell(table, 0, share)
        for share in reversed(CURVE_SHARES)
        for table in tables
        if table.has_curve
    ]
    return all_data + curves


def reproduce(
    tables: Sequence[Table],
    *,
    n_splits: int,
    jobs: int,
    out: Path,
    cells: Path,
    run_missing: RunMissing | None = None,
) -> Reproduction:
    """Run the missing cells of these tables, and write the report.

    Parameters
    ----------
    tables : sequence of Table
    n_splits : int
    jobs : int
        How many processes run at the same time.
    out : Path
        The folder of the report.
    cells : Path
        The folder of finished cells.
    run_missing : callable, optional
        As for `run_cells`.

    Returns
    -------
    Reproduction

    Raises
    ------
    SetlearnError
        If a folder cannot be written to.
    """
    for folder in (out, cells):
        _check_writable(folder)
    display = ProgressDisplay(jobs)
    try:
        planned = planned_cells(tables, n_splits)
        outcomes = run_cells(
            planned, CellStore(cells), jobs=jobs, display=display, run_missing=run_missing
        )
    finally:
        display.close()
    results = summarise(tables, outcomes)
    n_failed = sum(bool(outcome.failure) for outcome in outcomes)
    return Reproduction(results, write_report(results, out), n_failed)


def _check_writable(folder: Path) -> None:
    """Raise now rather than after an hour of work."""
    probe = folder / ".setlearn-probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SetlearnError(
            f"the folder {folder} cannot be written to ({error.strerror}); choose another one"
        ) from error


class ProgressDisplay:
    """Prints on stderr which cells have finished and, on a terminal, which are running.

    Parameters
    ----------
    jobs : int
        How many processes run at the same time.
    console : rich.console.Console, optional
        By default stderr.
    """

    def __init__(self, jobs: int, console: Console | None = None) -> None:
        self.jobs = jobs
        self.console = Console(stderr=True) if console is None else console
        self.waiting: list[ExperimentCell] = []
        self.running: dict[ExperimentCell, float] = {}  # when each was started
        self.seconds: dict[ExperimentCell, float] = {}  # how long finished ones took
        self.live = Live(get_renderable=self._line, console=self.console, transient=True)

    def begin(self, missing: Sequence[ExperimentCell], known: Sequence[Outcome]) -> None:
        """Print how many cells there are, and start the live line.

        Parameters
        ----------
        missing : sequence of ExperimentCell
            The cells that will be run.
        known : sequence of Outcome
            The outcomes that are known already.
        """
        self.waiting = list(missing)
        self.seconds = {o.cell: o.results["seconds"] for o in known if o.results is not None}
        for outcome in known:
            if outcome.failure and outcome.cell.split == 0 and outcome.cell.share == 1:
                self.note(f"{outcome.cell.table.title} is left out: {outcome.failure}")
        self.note(f"{len(missing)} cells to run, {len(self.seconds)} finished earlier")
        if missing and self.console.is_terminal:
            self.live.start()

    def started(self, cell: ExperimentCell) -> None:
        """Show the cell as running."""
        self.waiting.remove(cell)
        self.running[cell] = time.monotonic()

    def finished(self, outcome: Outcome) -> None:
        """Print how long the cell took, or why it failed."""
        cell = outcome.cell
        seconds = time.monotonic() - self.running.pop(cell)
        self.seconds[cell] = seconds
        is_last = not self.waiting and not self.running
        if outcome.failure:
            self.note(f"{cell.name} failed after {seconds:.0f} s: {outcome.failure}")
        else:
            time_left = "" if is_last else f", {self._time_left()}"
            self.note(f"{cell.name} took {seconds:.0f} s{time_left}")
        if is_last:
            self.close()

    def note(self, text: str) -> None:
        """Print a line above the live line."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Remove the live line."""
        if self.live.is_started:
            self.live.stop()

    def _line(self) -> Text:
        names = " | ".join(cell.name for cell in self.running) or "nothing"
        return Text(f"running {names}; {len(self.waiting)} waiting, {self._time_left()}")

    def _time_left(self) -> str:
        now = time.monotonic()
        running = {cell: now - started for cell, started in self.running.items()}
        seconds = seconds_left(self.seconds, running, self.waiting, self.jobs)
        if seconds is None:
            return "time left unknown"
        amount = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
        return f"about {amount} left"


def seconds_left(
    finished: Mapping[ExperimentCell, float],
    running: Mapping[ExperimentCell, float],
    waiting: Sequence[ExperimentCell],
    jobs: int,
) -> float | None:
    """Estimate the time that is left.

    A cell is expected to take as long as others of its table, scaled by its share of samples.

    Parameters
    ----------
    finished : mapping of ExperimentCell to float
        How many seconds each took.
    running : mapping of ExperimentCell to float
        How many seconds each has been running.
    waiting : sequence of ExperimentCell
    jobs : int
        How many processes run at the same time.

    Returns
    -------
    float or None
        Seconds; None before any cell has finished.
    """
    if not finished:
        return None
    rates: dict[str, list[float]] = {}
    for cell, seconds in finished.items():
        rates.setdefault(cell.table.name, []).append(seconds / cell.share)
    all_rates = [rate for rates_of_table in rates.values() for rate in rates_of_table]

    def expected(cell: ExperimentCell) -> float:
        known = rates.get(cell.table.name, all_rates)
        return cell.share * sum(known) / len(known)

    rest = [max(0.0, expected(cell) - spent) for cell, spent in running.items()]
    total = sum(rest) + sum(expected(cell) for cell in waiting)
    return max([total / jobs, *rest])
