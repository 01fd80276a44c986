"""Worker processes: started, asked, and replaced when they die or take too long."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from setlearn.errors import ModelError, SetlearnError
from setlearn.server.served_model import Ask
from setlearn.server.settings import Settings
from setlearn.server.worker import work

__all__ = ["Worker", "WorkerDied", "started_workers"]


class WorkerDied(Exception):  # noqa: N818  # what has happened, not a kind of mistake
    """The process was killed, or fell over a request."""


class Worker:
    """One process with all models. Its methods block; only `kill` may be called meanwhile."""

    def __init__(self, models: Mapping[str, Path], trusted: Sequence[str]) -> None:
        self.models = models
        self.trusted = trusted
        self._process: Any = None
        self._connection: Connection | None = None

    def launch(self) -> None:
        """Start the process, anew if there was one."""
        self.stop()
        context = multiprocessing.get_context("spawn")  # the server has threads, so no fork
        self._connection, theirs = context.Pipe()
        process = context.Process(
            target=work, args=(theirs, self.models, self.trusted), daemon=True
        )
        with _deaf_to_ctrl_c():
            process.start()
        self._process = process
        theirs.close()  # or its end would not be noticed

    def descriptions(self) -> dict[str, dict[str, Any]]:
        """What a launched worker first says, when it is ready: what its models are."""
        told: dict[str, dict[str, Any]] | SetlearnError = self._receive()
        if isinstance(told, SetlearnError):
            raise told
        return told

    def restart(self) -> None:
        """Launch the process anew, and wait until it is ready."""
        self.launch()
        self.descriptions()

    def ask(self, model: str, asks: Sequence[Ask]) -> list[Any]:
        """The answers to some requests; after an exception the worker must be started again."""
        assert self._connection is not None
        try:
            self._connection.send((model, list(asks)))
        except OSError as error:
            raise WorkerDied from error
        answers: list[Any] = self._receive()
        return answers

    def kill(self) -> None:
        """End the process, whatever it is doing, and with it any call that waits for it."""
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End the process and clear away what is left of it."""
        self.kill()
        if self._process is not None:
            self._process.join()
            self._process.close()
            self._process = None
        if self._connection is not None:
            with suppress(OSError):
                self._connection.close()
            self._connection = None

    def _receive(self) -> Any:
        assert self._connection is not None
        try:
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied from error


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Let processes that are started here not hear of Ctrl-C.

    It reaches all processes of a terminal, but the server decides when its workers go.
    """
    resource_tracker.ensure_running()  # which would undo the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def started_workers(settings: Settings) -> tuple[list[Worker], dict[str, dict[str, Any]]]:
    """All workers, ready to answer, and what their models are.

    If one cannot load the models, none is left running.
    """
    workers = [Worker(settings.models, settings.trusted) for _ in range(settings.workers)]
    try:
        for worker in workers:
            worker.launch()
        told = [worker.descriptions() for worker in workers]
    except WorkerDied as error:
        _stop_all(workers)
        raise ModelError(
            f"a process that was to load the models ended by itself, one of {len(workers)}; if "
            "there is too little memory for that many, start fewer --workers"
        ) from error
    except BaseException:
        _stop_all(workers)
        raise
    return workers, told[0]


def _stop_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.stop()
