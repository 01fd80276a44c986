"""Runs the missing cells, each in a process of its own, and keeps their results."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from setlearn.errors import DataError
from setlearn.experiments.cell import ExperimentCell, run_cell
from setlearn.experiments.store import CellStore, CorruptCellError
from setlearn.experiments.table import Table

__all__ = ["Display", "Outcome", "RunMissing", "run_as_ray_tasks", "run_cells"]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The results of a cell, or the reason why there are none."""

    cell: ExperimentCell
    results: dict[str, Any] | None
    failure: str = ""
    reused: bool = False


class Display(Protocol):
    """Shows how the run is going."""

    def begin(self, missing: Sequence[ExperimentCell], known: Sequence[Outcome]) -> None:
        """Called once.

        Parameters
        ----------
        missing : sequence of ExperimentCell
            The cells that will be run.
        known : sequence of Outcome
            The outcomes that are known already.
        """
        ...

    def started(self, cell: ExperimentCell) -> None:
        """A cell has been started."""
        ...

    def finished(self, outcome: Outcome) -> None:
        """A cell has finished or failed."""
        ...

    def note(self, text: str) -> None:
        """Show a message."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    cell: ExperimentCell
    key: str
    process: BaseProcess
    failure: Connection


Missing = Sequence[tuple[ExperimentCell, str]]
"""Cells that are not in the store, with their keys."""

Started = Callable[[ExperimentCell], None]
"""Is told of each cell that is started."""


RunMissing = Callable[[Missing, CellStore, int, Started], Generator[Outcome]]
"""Runs so many cells at the same time, and yields the outcome of each as soon as it is there."""


def run_cells(
    cells: Sequence[ExperimentCell],
    store: CellStore,
    *,
    jobs: int,
    display: Display,
    run_missing: RunMissing | None = None,
) -> list[Outcome]:
    """Run the cells that are not in the store, and read the others from it.

    If a cell fails, the others are still run. After Ctrl-C, or if this process is killed, only the
    cells that were running are lost, and their processes end.

    Parameters
    ----------
    cells : sequence of ExperimentCell
    store : CellStore
    jobs : int
        How many processes run at the same time.
    display : Display
    run_missing : callable, optional
        How to run cells: processes of this machine by default, or `run_as_ray_tasks`.

    Returns
    -------
    list of Outcome
        One per cell.
    """
    outcomes, missing = _planned(cells, store, display)
    display.begin([cell for cell, _ in missing], list(outcomes.values()))
    run = run_missing or _run_in_processes
    with closing(run(missing, store, jobs, display.started)) as finished:
        for outcome in finished:
            outcomes[outcome.cell] = outcome
            display.finished(outcome)
    return [outcomes[cell] for cell in cells]


def run_as_ray_tasks(
    missing: Missing,
    store: CellStore,
    jobs: int,
    started: Started,
    *,
    address: str | None = None,
) -> Generator[Outcome]:
    """Run cells as tasks of Ray; their results are kept by this process.

    Parameters
    ----------
    missing : sequence of ExperimentCell with their keys
    store : CellStore
    jobs : int
    started : callable
    address : str, optional
        That of a Ray cluster, whose machines have the data where this one has them. By default a
        local Ray is started.

    Yields
    ------
    Outcome
    """
    if not missing:
        return
    from setlearn.scale.tasks import finished_tasks

    keys = dict(missing)
    tasks = finished_tasks(run_cell, [*keys], address=address, workers=jobs, started=started)
    with closing(tasks):
        for cell, results, failure in tasks:
            if not failure:
                store.write(cell, keys[cell], results)
            yield Outcome(cell, results, failure)


def _run_in_processes(
    missing: Missing, store: CellStore, jobs: int, started: Started
) -> Generator[Outcome]:
    """Run each cell in a process of its own."""
    waiting, running = deque(missing), list[_Running]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_start(*waiting.popleft(), store))
                started(running[-1].cell)
            for done in _next_done(running):
                running.remove(done)
                yield _outcome(done, store)
    finally:
        for unfinished in running:
            unfinished.process.terminate()
            unfinished.process.join()


def _planned(
    cells: Sequence[ExperimentCell], store: CellStore, display: Display
) -> tuple[dict[ExperimentCell, Outcome], list[tuple[ExperimentCell, str]]]:
    """The outcomes that are known already, and the cells to run with their keys."""
    outcomes: dict[ExperimentCell, Outcome] = {}
    missing: list[tuple[ExperimentCell, str]] = []
    unavailable: dict[Table, str] = {}
    for cell in cells:
        if cell.table in unavailable:  # tried once, because a download may fail slowly
            outcomes[cell] = Outcome(cell, None, unavailable[cell.table])
            continue
        try:
            key = cell.key(cell.table.source.load(cell.split))
        except DataError as error:
            unavailable[cell.table] = str(error)
            outcomes[cell] = Outcome(cell, None, str(error))
            continue
        results = _kept(cell, key, store, display)
        if results is None:
            missing.append((cell, key))
        else:
            outcomes[cell] = Outcome(cell, results, reused=True)
    return outcomes, missing


def _kept(
    cell: ExperimentCell, key: str, store: CellStore, display: Display
) -> dict[str, Any] | None:
    """The results of an earlier run, unless their file is damaged."""
    try:
        return store.read(cell, key)
    except CorruptCellError as error:
        display.note(f"{cell.name} is run again: {error}")
        return None


def _start(cell: ExperimentCell, key: str, store: CellStore) -> _Running:
    # Spawned, because a forked child would inherit locks of threads that it does not have.
    context = multiprocessing.get_context("spawn")
    failure, end = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(cell, key, store, end), daemon=True)
    with _one_thread_for_children():
        process.start()
    end.close()
    return _Running(cell, key, process, failure)


def _work(cell: ExperimentCell, key: str, store: CellStore, failure: Connection) -> None:
    """Run a cell in this child process, keep its results, and send the reason of a failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch

    torch.set_num_threads(1)
    try:
        store.write(cell, key, run_cell(cell))
    except Exception as error:
        failure.send(f"{type(error).__name__}: {error}")
    else:
        failure.send("")


def _end_with_parent() -> None:
    """Wait for the end of the parent, and end this process: a killed parent cannot do it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _next_done(running: list[_Running]) -> list[_Running]:
    """Wait until at least one process has ended."""
    ready = wait([run.process.sentinel for run in running])
    return [run for run in running if run.process.sentinel in ready]


def _outcome(done: _Running, store: CellStore) -> Outcome:
    done.process.join()
    try:
        failure = done.failure.recv() if done.failure.poll() else None
    except EOFError:
        failure = None
    finally:
        done.failure.close()
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
