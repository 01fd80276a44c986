"""The whole job: choose tables, run what is missing, write the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setlearn.errors import ParameterError, SetlearnError
from setlearn.experiments.cell import Cell
from setlearn.experiments.display import ProgressDisplay
from setlearn.experiments.report import write_report
from setlearn.experiments.runner import run_cells
from setlearn.experiments.store import CellStore
from setlearn.experiments.summary import summarise
from setlearn.experiments.table import Table
from setlearn.experiments.tables import TABLES

__all__ = ["Reproduction", "planned_cells", "reproduce", "tables_named"]

CURVE_SHARES = (1 / 8, 1 / 4, 1 / 2)
"""Of the training part, beside all of it, for quality against the number of samples."""


@dataclass(frozen=True, slots=True, eq=False)
class Reproduction:
    """What the job made."""

    results: dict[str, Any]
    files: list[Path]
    n_failed: int


def tables_named(names: Sequence[str], systems: Sequence[str] = ()) -> list[Table]:
    """The tables of these names, in the paper's order, with these systems; all for no name."""
    for name in names:
        if name not in TABLES:
            raise ParameterError(
                f"there is no experiment {name!r}; choose among {', '.join(TABLES)}"
            )
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


def planned_cells(tables: Sequence[Table], n_splits: int) -> list[Cell]:
    """Every table on every split, split by split, and then the curves."""
    whole = [
        Cell(table, split)
        for split in range(n_splits)
        for table in tables
        if table.most_splits is None or split < table.most_splits
    ]
    # The longest first, so that the last cells to end are short ones.
    curves = [
        Cell(table, 0, share)
        for share in reversed(CURVE_SHARES)
        for table in tables
        if table.has_curve
    ]
    return whole + curves


def reproduce(
    tables: Sequence[Table], *, n_splits: int, jobs: int, out: Path, cells: Path
) -> Reproduction:
    """Run the cells that are missing in the folder ``cells``, and write the report to ``out``."""
    for folder in (out, cells):
        _check_writable(folder)
    display = ProgressDisplay(jobs)
    try:
        planned = planned_cells(tables, n_splits)
        outcomes = run_cells(planned, CellStore(cells), jobs=jobs, display=display)
    finally:
        display.close()
    results = summarise(tables, outcomes)
    n_failed = sum(bool(outcome.failure) for outcome in outcomes)
    return Reproduction(results, write_report(results, out), n_failed)


def _check_writable(folder: Path) -> None:
    """Find out now, not after an hour of work."""
    probe = folder / ".setlearn-probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SetlearnError(
            f"the folder {folder} cannot be written to ({error.strerror}); choose another one"
        ) from error
