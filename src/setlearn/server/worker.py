"""The process that holds the models. It can be killed at any time; another one takes its place."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from setlearn.errors import SetlearnError

__all__ = ["work"]


def work(connection: Connection, models: Mapping[str, Path], trusted: Sequence[str]) -> None:
    """Load the models, say what they are, and answer batches until the server is gone.

    Each message is the name of a model and its requests; each answer a list, one for each.
    """
    # Ctrl-C reaches all processes of a terminal; the server decides when workers go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from setlearn.server.served_model import ServedModel

    _one_thread()
    try:
        served = {name: ServedModel.load(path, trusted) for name, path in models.items()}
    except SetlearnError as error:
        connection.send(error)
        return
    connection.send({name: model.describe() for name, model in served.items()})
    while True:
        try:
            name, asks = connection.recv()
        except EOFError:  # the server has ended, or has died
            return
        connection.send(served[name].answer(asks))


def _one_thread() -> None:
    """Keep each worker to one core: there are several of them."""
    import sys

    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
