"""What a learner answers for training rows as if it had not seen them, and for which rows."""

from __future__ import annotations

from dataclasses import dataclass

from setlearn.learners.row_draws import drawn_rows
from setlearn.nodes import Examples, FloatArray, IntArray

__all__ = ["HeldOut", "held_out_rows"]

MOST_HELD_OUT = 10_000
"""The largest number of rows that held-out scores are computed for: rules need no more."""

MOST_HELD_OUT_SCORES = 5_000_000
LEAST_HELD_OUT = 1000
"""If there are many labels, fewer rows are held out, but so many at least."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What a learner answers for training rows as if it had not seen them."""

    rows: IntArray  # (m,) which training rows
    probabilities: FloatArray  # (m, labels)
    examples: Examples | None = None


def held_out_rows(shape: tuple[int, ...], largest_share: float = 1.0) -> IntArray:
    """Choose the rows to hold out.

    Parameters
    ----------
    shape : (rows, labels)
    largest_share : float, default=1.0
        The share of the rows that may be held out.

    Returns
    -------
    array of int, ascending
    """
    n, n_labels = shape
    most = min(MOST_HELD_OUT, max(LEAST_HELD_OUT, MOST_HELD_OUT_SCORES // n_labels))
    return drawn_rows(n, min(most, max(1, int(largest_share * n))))
