"""The process that holds the models. It can be killed at any time; another one takes its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from setlearn.errors import SetlearnError

__all__ = ["work"]


def work(connection: Connection, models: Mapping[str, Path], trusted: Sequence[str]) -> None:
    """Load the models, say what they are, and answer batches until the server is gone.

    Each message is the name of a model and its requests; each answer a list, one for each.
    """
    from setlearn.server.served_model import ServedModel

    told: dict[str, Any] | SetlearnError
    try:
        served = {name: ServedModel.load(path, trusted) for name, path in models.items()}
        told = {name: model.describe() for name, model in served.items()}
    except SetlearnError as error:
        told = error
    _one_thread()
    # The server may end or die at any time; then there is nobody left to answer.
    with suppress(EOFError, OSError):
        connection.send(told)
        while True:
            name, asks = connection.recv()
            connection.send(served[name].answer(asks))


def _one_thread() -> None:
    """Keep each worker to one core: there are several of them. Only works on what is imported."""
    import sys

    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
