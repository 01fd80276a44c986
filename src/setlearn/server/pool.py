"""Worker processes: started, asked, and replaced when they die or take too long."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from setlearn.errors import SetlearnError
from setlearn.server.served_model import Ask
from setlearn.server.settings import Settings
from setlearn.server.worker import work

__all__ = ["Worker", "WorkerDied", "WorkerTooSlow", "started_workers"]

LONGEST_START = 300.0
"""Seconds until the models must be loaded."""


class WorkerDied(Exception):  # noqa: N818  # what has happened, not a kind of mistake
    """The process was killed, or fell over a request."""


class WorkerTooSlow(Exception):  # noqa: N818  # what has happened, not a kind of mistake
    """The process had no answer in time, and was ended."""


class Worker:
    """One process with all models. Its methods block; call them from a thread."""

    def __init__(self, models: Mapping[str, Path], trusted: Sequence[str]) -> None:
        self.models = models
        self.trusted = trusted
        self.descriptions: dict[str, dict[str, Any]] = {}
        self._process: Any = None
        self._connection: Connection | None = None

    def start(self) -> None:
        """Start the process, anew if there was one, and wait until its models are loaded."""
        self.stop()
        context = multiprocessing.get_context("spawn")  # the server has threads, so no fork
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, self.models, self.trusted), daemon=True
        )
        self._process.start()
        theirs.close()  # or its end would not be noticed
        told = self._receive(LONGEST_START)
        if isinstance(told, SetlearnError):
            raise told
        self.descriptions = told

    def ask(self, model: str, asks: Sequence[Ask], seconds: float) -> list[Any]:
        """The answers to some requests; after an exception the worker must be started again."""
        assert self._connection is not None
        try:
            self._connection.send((model, list(asks)))
        except OSError as error:
            raise WorkerDied from error
        answers: list[Any] = self._receive(seconds)
        return answers

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if self._connection is not None:
            with suppress(OSError):
                self._connection.close()
            self._connection = None

    def _receive(self, seconds: float) -> Any:
        assert self._connection is not None
        try:
            if not self._connection.poll(seconds):
                raise WorkerTooSlow
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied from error


def started_workers(settings: Settings) -> list[Worker]:
    """All workers, ready to answer; if one cannot load the models, none is left running."""
    workers = [Worker(settings.models, settings.trusted) for _ in range(settings.workers)]
    try:
        with ThreadPoolExecutor(len(workers)) as threads:
            list(threads.map(Worker.start, workers))
    except BaseException:
        for worker in workers:
            worker.stop()
        raise
    return workers
