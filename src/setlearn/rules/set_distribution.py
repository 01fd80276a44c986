"""What to believe about true sets: the one thing that a rule of expected F asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["SetDistribution", "first_of"]


class SetDistribution(Protocol):
    """How probable each possible true set is, for a block of n choice points."""

    n_known: IntArray  # (n,)
    empty: FloatArray  # (n,) the probability that the true set is
    overlap: FloatArray  # (n, V) the expected number of right choices among the best 1, 2, ...
    beta: float

    def values(self) -> Iterator[FloatArray]:
        """The expected F (n,) of the best sets of size 1, 2, ..."""
        ...

    def best_of_size(self, size: IntArray) -> BoolArray:
        """The best sets of the given sizes (n,), as a mask (n, V)."""
        ...

    def expected(self, kept: BoolArray) -> FloatArray:
        """The expected F (n,) of any sets, given as a mask (n, V) with as many in each row."""
        ...


def first_of(order: IntArray, size: IntArray) -> BoolArray:
    """The first ``size`` of each row's order, as a mask (n, V)."""
    first = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(first, order, np.arange(order.shape[1]) < size[:, None], axis=1)
    return first
