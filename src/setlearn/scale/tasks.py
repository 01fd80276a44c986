"""Calls a function for many values, each as a task of Ray."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from setlearn.parameter_checks import check_count
from setlearn.scale.runtime import ray_session

__all__ = ["finished_tasks"]

T = TypeVar("T")


def finished_tasks(
    work: Callable[[T], Any],
    values: Sequence[T],
    *,
    address: str | None = None,
    workers: int = 2,
    started: Callable[[T], None],
) -> Generator[tuple[T, Any, str]]:
    """Call a function for each value, and yield what comes out as soon as it is there.

    A task whose worker is lost is started again, up to three times. The session ends with the
    iterator.

    Parameters
    ----------
    work : callable
    values : sequence
    address : str, optional
        That of a Ray cluster; by default a local Ray is started.
    workers : int, default=2
        How many tasks run at the same time.
    started : callable
        Called with each value when its task is started.

    Yields
    ------
    value
        The value that the function was called for.
    result : object
        None if it has failed.
    failure : str
        Why it has failed; empty if it has not.
    """
    check_count("workers", workers)
    with ray_session(address, workers=workers) as ray:
        task = ray.remote(max_calls=1)(work)  # each in a process of its own
        waiting = list(reversed(values))
        running: dict[Any, T] = {}
        while waiting or running:
            while waiting and len(running) < workers:
                value = waiting.pop()
                running[task.remote(value)] = value
                started(value)
            done, _ = ray.wait(list(running))
            for reference in done:
                result, failure = None, ""
                try:
                    result = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    failure = f"{type(error.cause).__name__}: {error.cause}"
                except ray.exceptions.RayError as error:
                    failure = f"its worker was lost ({type(error).__name__})"
                yield running.pop(reference), result, failure
