"""Mends what iterative stratification does not promise: labels seen in training, exact sizes."""

from itertools import islice
from math import ceil

import numpy as np
from scipy import sparse

from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["repaired", "times_seen"]


def repaired(
    held_out: BoolArray, labels: sparse.csr_array, n_held_out: int, rng: np.random.RandomState
) -> BoolArray:
    """Move rows until each label occurs in training and ``n_held_out`` rows are held out.

    Each label must occur at least twice. Then any one row can be held out, so one always is;
    fewer than ``n_held_out`` are if training needs the others to have every label.
    """
    split = _Split(held_out.copy(), labels, n_held_out / len(held_out))
    _cover_labels(split, rng)
    _mend_size(split, n_held_out, rng)
    return split.held_out


def times_seen(labels: sparse.csr_array) -> IntArray:
    """In how many rows each label is."""
    return np.bincount(labels.indices, minlength=labels.shape[1])


class _Split:
    """Which rows are held out, and how often each label is left in training."""

    def __init__(self, held_out: BoolArray, labels: sparse.csr_array, share: float) -> None:
        self.held_out = held_out
        self.labels = labels
        self.times_seen = times_seen(labels)
        self.in_training = times_seen(labels[~held_out])
        self.share = share

    def move(self, row: int) -> None:
        """Take the row to the other side."""
        change = 1 if self.held_out[row] else -1
        self.in_training[self._labels_of(row)] += change
        self.held_out[row] = not self.held_out[row]

    def is_free(self, row: int) -> bool:
        """Whether training can spare the row, or does not have it."""
        return bool(self.held_out[row] or (self.in_training[self._labels_of(row)] > 1).all())

    def costs(self) -> FloatArray:
        """How much worse the labels' shares become by moving each row: squared errors, (n,)."""
        wanted = (1 - self.share) * self.times_seen
        surplus = self.in_training - wanted
        # One more of a label changes its squared error by 2 surplus + 1, one less by 1 - 2 surplus.
        return np.asarray(
            np.where(
                self.held_out, self.labels @ (2 * surplus + 1), self.labels @ (1 - 2 * surplus)
            )
        )

    def _labels_of(self, row: int) -> IntArray:
        return np.asarray(
            self.labels.indices[self.labels.indptr[row] : self.labels.indptr[row + 1]]
        )


def _cover_labels(split: _Split, rng: np.random.RandomState) -> None:
    rows_of = split.labels.tocsc()
    for label in np.flatnonzero(split.in_training == 0):
        if split.in_training[label] == 0:  # still: a row moved for another label may have it
            rows = rows_of.indices[rows_of.indptr[label] : rows_of.indptr[label + 1]]
            split.move(rng.choice(rows))


def _mend_size(split: _Split, n_held_out: int, rng: np.random.RandomState) -> None:
    while too_many := int(split.held_out.sum()) - n_held_out:
        candidates = rng.permutation(np.flatnonzero(split.held_out == (too_many > 0)))
        ranked = candidates[np.argsort(split.costs()[candidates], kind="stable")]
        # Asked row by row, as training may need a row once another has been moved.
        free = (row for row in ranked.tolist() if split.is_free(row))
        # Each move changes the costs, but to rank anew for each would take long if many are due.
        batch = islice(free, ceil(abs(too_many) / 4))
        n_moved = 0
        for n_moved, row in enumerate(batch, start=1):  # noqa: B007  # counted for what follows
            split.move(row)
        if not n_moved:
            return
