"""How many threads BLAS may use: for small problems they cost more than they give."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

__all__ = ["few_threads"]

SMALL = 3000
"""With fewer rows, a single thread computes the many small products."""


def few_threads(n_rows: int) -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread if there are few rows.

    Threads that wait for the next small product keep the cores busy. On a machine that does other
    work too, small fits took up to twenty times as much CPU time.

    Parameters
    ----------
    n_rows : int

    Returns
    -------
    context manager
    """
    if n_rows >= SMALL:
        return nullcontext()
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@cache
def _controller() -> Any:
    """Knows the libraries that are loaded; finding them takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
