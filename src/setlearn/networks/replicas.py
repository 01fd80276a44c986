"""Replicas: processes that train copies of one network on shares of the same batches.

Every process runs the same fit on the same data inside of `trained_together`. In each step it
takes its share of the batch, and the gradients of all shares are added up. So all copies stay
equal, and they are what one process would get with the whole batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from setlearn.errors import DataError, LostReplicaError, SetlearnError

__all__ = ["Replicas", "replicas_here", "trained_together"]

T = TypeVar("T")


class Replicas:
    """A process that trains by itself: its share is everything, and there is nobody to wait for."""

    is_first = True
    """Whether this process evaluates, keeps the time and writes checkpoints."""

    def begin(self, network: nn.Module, run: Mapping[str, Any]) -> None:
        """Make sure that all replicas do the same, from the same weights.

        Parameters
        ----------
        network : torch.nn.Module
            It gets the weights of the first replica.
        run : mapping
            What must be equal in all replicas.
        """

    def share(self, rows: Tensor) -> Tensor:
        """The rows that this replica computes; there may be none.

        Parameters
        ----------
        rows : Tensor of shape (n,)

        Returns
        -------
        Tensor
        """
        return rows

    def seed_step(self, seed: int, step: int) -> None:
        """Seed torch's generators, so that no two replicas drop out the same units.

        Parameters
        ----------
        seed, step : int
        """

    def add_up(self, parameters: Sequence[nn.Parameter], value: float) -> float:
        """Add up the gradients of all replicas, in place, and a value.

        Parameters
        ----------
        parameters : sequence of torch.nn.Parameter
        value : float

        Returns
        -------
        float
            The sum of the values.
        """
        return value

    def by_first(self, work: Callable[[], T]) -> T:
        """What the first replica gets by some work; the others wait for it.

        Parameters
        ----------
        work : callable

        Returns
        -------
        object
        """
        return work()

    def now(self) -> float:
        """A time in seconds that is the same in all replicas."""
        return time.perf_counter()


class _Group(Replicas):
    """The processes of torch's default process group."""

    def __init__(self) -> None:
        self.rank = distributed.get_rank()
        self.size = distributed.get_world_size()
        self.is_first = self.rank == 0
        self._now = 0.0  # of the first replica, at the last exchange

    def begin(self, network: nn.Module, run: Mapping[str, Any]) -> None:
        runs: list[Any] = [None] * self.size
        with _may_lose_replicas():
            distributed.all_gather_object(runs, dict(run))
        for rank, other in enumerate(runs):
            names = {**runs[0], **other}
            differing = [name for name in names if runs[0].get(name) != other.get(name)]
            if differing:
                raise DataError(
                    f"replica {rank} trains on other data or with other parameters than the first "
                    f"({', '.join(sorted(differing))}); pass the same data in the same order, and "
                    "the same random_state, to all of them"
                )
        with _may_lose_replicas():
            for weight in network.state_dict().values():
                distributed.broadcast(weight, src=0)
        self.by_first(lambda: None)  # for the time

    def share(self, rows: Tensor) -> Tensor:
        return rows[self.rank :: self.size]

    def seed_step(self, seed: int, step: int) -> None:
        torch.manual_seed((seed + step) * self.size + self.rank)

    def add_up(self, parameters: Sequence[nn.Parameter], value: float) -> float:
        # A share may be empty, and a parameter that no replica used must keep no gradient at all.
        used = [parameter.grad is not None for parameter in parameters]
        seconds = time.perf_counter() if self.is_first else 0.0
        sums = torch.tensor([value, seconds, *used], dtype=torch.float64)
        with _may_lose_replicas():
            distributed.all_reduce(sums)
            value, self._now, *n_users = sums.tolist()
            trained = [p for p, n in zip(parameters, n_users, strict=True) if n]
            gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in trained]
            flat = torch.cat([gradient.flatten() for gradient in gradients])
            distributed.all_reduce(flat)
        parts = torch.split(flat, [parameter.numel() for parameter in trained])
        for parameter, part in zip(trained, parts, strict=True):
            parameter.grad = part.view_as(parameter).to(parameter.dtype)
        return value

    def by_first(self, work: Callable[[], T]) -> T:
        message: list[Any] = [None]
        error: Exception | None = None
        if self.is_first:
            try:
                result, problem = work(), None
            except Exception as caught:  # whatever it is, the others must not wait any longer
                result, problem, error = None, f"{type(caught).__name__}: {caught}", caught
            message = [(result, problem, time.perf_counter())]
        with _may_lose_replicas():
            distributed.broadcast_object_list(message, src=0)
        result, problem, self._now = message[0]
        if error is not None:
            raise error
        if problem is not None:
            raise SetlearnError(f"the first replica of this training has failed: {problem}")
        return result  # type: ignore[no-any-return]  # what the first replica's work returned

    def now(self) -> float:
        return self._now


_here: ContextVar[Replicas | None] = ContextVar("replicas_here", default=None)


def replicas_here() -> Replicas:
    """The replicas that this process belongs to; outside of `trained_together` it is alone."""
    return _here.get() or Replicas()


@contextmanager
def trained_together() -> Iterator[None]:
    """Train the networks in a block together with the other processes of torch's process group.

    All of them run the same block, with the same data and the same ``random_state``; `torch.
    distributed.init_process_group` was called before. An error in the block leaves the group, so
    that the others do not wait for this process.

    Returns
    -------
    context manager

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from torch import distributed
    >>> from setlearn import SequenceSetGenerator
    >>> from setlearn.networks import LSTM, Training
    >>> model = SequenceSetGenerator(LSTM(8, 8, 8), training=Training(max_steps=2), random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     distributed.init_process_group(
    ...         "gloo", init_method=f"file://{folder}/meeting", rank=0, world_size=1
    ...     )
    ...     with trained_together():  # here a group of one
    ...         _ = model.fit(["ab", "cd"] * 5, [{"a"}, {"c"}] * 5)
    ...     distributed.destroy_process_group()
    >>> model.history_[-1]["step"]
    2
    """
    token = _here.set(_Group())
    try:
        yield
    except BaseException:
        distributed.destroy_process_group()
        raise
    finally:
        _here.reset(token)


@contextmanager
def _may_lose_replicas() -> Iterator[None]:
    """Turn what torch raises if another process has ended, or does not answer, into our error."""
    try:
        yield
    except RuntimeError as error:
        raise LostReplicaError(
            f"another process of this training has ended or does not answer ({error!s:.200}); "
            "start the training again: it goes on from its checkpoint, if it has one"
        ) from error
