"""Worker processes: they hold the models, and are replaced if they die or take too long."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from setlearn.errors import ModelError, SetlearnError
from setlearn.server.served_model import Answer, Ask, Refusal, ServedModel
from setlearn.server.settings import Settings

__all__ = ["Worker", "WorkerDied", "start_workers"]


class WorkerDied(Exception):  # noqa: N818  # an event, not a mistake
    """The process was killed, or crashed during a request."""


class Worker:
    """A process with all models. Its methods block; meanwhile only `kill` may be called.

    Parameters
    ----------
    models : mapping of str to Path
        The folder of each model, by name.
    trusted : sequence of str
        Types that the models may contain, as in `setlearn.load`.
    """

    def __init__(self, models: Mapping[str, Path], trusted: Sequence[str]) -> None:
        self.models = models
        self.trusted = trusted
        self._process: Any = None
        self._connection: Connection | None = None

    def launch(self) -> None:
        """Start the process, without waiting for its models; end the one before it, if any."""
        self.stop()
        context = multiprocessing.get_context("spawn")  # the server has threads, so no fork
        self._connection, connection_of_process = context.Pipe()
        process = context.Process(
            target=_work, args=(connection_of_process, self.models, self.trusted), daemon=True
        )
        with _ctrl_c_blocked():
            process.start()
        self._process = process
        connection_of_process.close()  # otherwise its end would go unnoticed

    def descriptions(self) -> dict[str, dict[str, Any]]:
        """Wait until a launched process has loaded its models; return what they are, by name."""
        first_message: dict[str, dict[str, Any]] | SetlearnError = self._receive()
        if isinstance(first_message, SetlearnError):
            raise first_message
        return first_message

    def restart(self) -> None:
        """Replace the process, and wait until the new one is ready."""
        self.launch()
        self.descriptions()

    def ask(self, model: str, asks: Sequence[Ask]) -> list[Answer | Refusal]:
        """Get the answers to some requests.

        Parameters
        ----------
        model : str
            The name of the model.
        asks : sequence of Ask
            Requests that can be answered in one call.

        Returns
        -------
        list
            One answer or `Refusal` per request.

        Raises
        ------
        WorkerDied
            The worker must then be restarted.
        """
        assert self._connection is not None
        try:
            self._connection.send((model, list(asks)))
        except OSError as error:
            raise WorkerDied from error
        answers: list[Answer | Refusal] = self._receive()
        return answers

    def kill(self) -> None:
        """End the process, whatever it is doing, and with it any call that waits for it."""
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End the process, and free what it used."""
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
def _ctrl_c_blocked() -> Iterator[None]:
    """Start processes that ignore Ctrl-C.

    A terminal sends it to all its processes, but the server decides when its workers end.
    """
    resource_tracker.ensure_running()  # starting it later would undo the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_workers(settings: Settings) -> tuple[list[Worker], dict[str, dict[str, Any]]]:
    """Start all workers, and wait until they are ready.

    If one of them cannot load the models, none is left running.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    workers : list of Worker
    descriptions : dict
        What the models are, by name.

    Raises
    ------
    ModelError
        If a model cannot be loaded.
    """
    workers = [Worker(settings.models, settings.trusted) for _ in range(settings.workers)]
    try:
        for worker in workers:
            worker.launch()
        descriptions = [worker.descriptions() for worker in workers]
    except WorkerDied as error:
        _stop_all(workers)
        raise ModelError(
            f"one of {len(workers)} worker processes ended while it loaded the models; if memory "
            "is short, start fewer workers"
        ) from error
    except BaseException:
        _stop_all(workers)
        raise
    return workers, descriptions[0]


def _stop_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.stop()


def _work(connection: Connection, models: Mapping[str, Path], trusted: Sequence[str]) -> None:
    """The program of a worker: load the models, describe them, and answer until the server ends.

    Each message to it is the name of a model and a list of requests; each answer is a list with
    one entry per request.
    """
    first_message: dict[str, Any] | SetlearnError
    try:
        served = {name: ServedModel.load(path, trusted) for name, path in models.items()}
        first_message = {name: model.describe() for name, model in served.items()}
    except SetlearnError as error:
        first_message = error
    _use_one_thread()
    # The server may end at any time; then there is nobody left to answer.
    with suppress(EOFError, OSError):
        connection.send(first_message)
        while True:
            name, asks = connection.recv()
            connection.send(served[name].answer(asks))


def _use_one_thread() -> None:
    """Keep a worker to one core, as there are several. Works only for what is imported already."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
