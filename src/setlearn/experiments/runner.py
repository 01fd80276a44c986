"""Runs the missing cells, each in a process of its own, and keeps what they find."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from setlearn.errors import DataError
from setlearn.experiments.cell import Cell, run_cell
from setlearn.experiments.display import Display
from setlearn.experiments.store import CellStore, CorruptCellError
from setlearn.experiments.table import Table

__all__ = ["Outcome", "run_cells"]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a cell: what it found, or why it found nothing."""

    cell: Cell
    found: dict[str, Any] | None
    failure: str = ""
    reused: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    cell: Cell
    key: str
    process: BaseProcess
    answer: Connection


def run_cells(
    cells: Sequence[Cell], store: CellStore, *, jobs: int, display: Display
) -> list[Outcome]:
    """Finish all cells: from the store where they are there, else in ``jobs`` processes.

    A cell that fails leaves its reason and the others go on. On Ctrl-C the running cells are
    lost, and nothing else.
    """
    outcomes, missing = _planned(cells, store, display)
    display.begin([cell for cell, _ in missing], list(outcomes.values()))
    running: list[_Running] = []
    try:
        while missing or running:
            while missing and len(running) < jobs:
                running.append(_start(*missing.popleft(), store))
                display.started(running[-1].cell)
            for done in _next_done(running):
                running.remove(done)
                outcomes[done.cell] = _outcome(done, store)
                display.finished(outcomes[done.cell])
    finally:
        for left in running:
            left.process.terminate()
            left.process.join()
    return [outcomes[cell] for cell in cells]


def _planned(
    cells: Sequence[Cell], store: CellStore, display: Display
) -> tuple[dict[Cell, Outcome], deque[tuple[Cell, str]]]:
    """Part the cells: those whose outcome is known now, and those to run, with their keys."""
    outcomes: dict[Cell, Outcome] = {}
    missing: deque[tuple[Cell, str]] = deque()
    not_to_be_had: dict[Table, str] = {}
    for cell in cells:
        if cell.table in not_to_be_had:  # asked once, for the net may be slow to say no
            outcomes[cell] = Outcome(cell, None, not_to_be_had[cell.table])
            continue
        try:
            key = cell.key(cell.table.source.load(cell.split))
        except DataError as error:
            not_to_be_had[cell.table] = str(error)
            outcomes[cell] = Outcome(cell, None, str(error))
            continue
        found = _kept(cell, key, store, display)
        if found is None:
            missing.append((cell, key))
        else:
            outcomes[cell] = Outcome(cell, found, reused=True)
    return outcomes, missing


def _kept(cell: Cell, key: str, store: CellStore, display: Display) -> dict[str, Any] | None:
    """What an earlier run found, unless its file is corrupt."""
    try:
        return store.read(cell, key)
    except CorruptCellError as error:
        display.note(f"{cell.name} is done again: {error}")
        return None


def _start(cell: Cell, key: str, store: CellStore) -> _Running:
    # Spawned, because a forked child shares the locks of threads that it does not have.
    context = multiprocessing.get_context("spawn")
    answer, end = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(cell, key, store, end), daemon=True)
    with _one_thread_for_children():
        process.start()
    end.close()
    return _Running(cell, key, process, answer)


def _work(cell: Cell, key: str, store: CellStore, answer: Connection) -> None:
    """What a child does: run, keep, and tell what went wrong if something did."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends us
    import torch

    torch.set_num_threads(1)
    try:
        store.write(cell, key, run_cell(cell))
    except Exception as error:
        answer.send(f"{type(error).__name__}: {error}")
    else:
        answer.send("")


def _next_done(running: list[_Running]) -> list[_Running]:
    """Wait until at least one process has ended."""
    ready = wait([run.process.sentinel for run in running])
    return [run for run in running if run.process.sentinel in ready]


def _outcome(done: _Running, store: CellStore) -> Outcome:
    done.process.join()
    try:
        failure = done.answer.recv() if done.answer.poll() else None
    except EOFError:
        failure = None
    finally:
        done.answer.close()
    if failure is None:
        failure = f"its process died with exit code {done.process.exitcode}"
    if failure:
        return Outcome(done.cell, None, failure)
    return Outcome(done.cell, store.read(done.cell, done.key))


@contextmanager
def _one_thread_for_children() -> Iterator[None]:
    """Children start with one thread each: their libraries read this when they are loaded."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
