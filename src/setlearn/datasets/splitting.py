"""Splits rows into a training part and a held-out part, at random or by label."""

from collections.abc import Hashable
from itertools import islice
from math import ceil
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from setlearn.datasets._random_generator import RandomState, random_generator
from setlearn.errors import DataError, ParameterError
from setlearn.indicators import indicator_of_sets
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.set_reading import Samples, read_label_sets

__all__ = ["random_split", "stratified_split"]

MOST_ROWS = 200_000
"""The most rows to stratify. The package loops over them, which takes 3 seconds for so many."""

MOST_WORK = 1_000_000_000
"""The most rows times labels squared. The package scans the matrix once per label: 2 seconds."""


def random_split(
    n_samples: int, share: float, *, random_state: RandomState
) -> tuple[IntArray, IntArray]:
    """Hold out a random share of the rows.

    This is the split for sets of sequences. For sets of labels, use `stratified_split`.

    Parameters
    ----------
    n_samples : int
        The number of rows, at least two.
    share : float
        The share to hold out, between 0 and 1. It is rounded to whole rows, with at least one
        row on either side.
    random_state : int, RandomState or None
        The seed, or the random generator. With None, each call gives another split.

    Returns
    -------
    train_rows, held_out_rows : arrays of int
        Both sorted; together they are all rows.

    Raises
    ------
    DataError
        If there are fewer than two samples.
    ParameterError
        If ``share`` is not between 0 and 1, or ``random_state`` cannot be used.

    Examples
    --------
    >>> random_split(5, 0.4, random_state=0)
    (array([1, 3, 4]), array([0, 2]))
    """
    n_held_out = _held_out_size(n_samples, share)
    return _sides(_random_mask(n_samples, n_held_out, random_generator(random_state)))


def stratified_split(
    Y: Samples, share: float, *, random_state: RandomState
) -> tuple[IntArray, IntArray]:
    """Hold out a share of the rows in which each label is about as frequent as in the rest.

    This is iterative stratification (Sechidis, Tsoumakas and Vlahavas, 2011) by the labels that
    occur at least twice, and by having none of them. A repair step then ensures that each of these
    labels occurs in training, and that the share is exact. Fewer rows are held out only if
    training needs more rows to contain every label.

    With many labels, only the most frequent ones are stratified: as many as a few seconds allow.
    With more than 200,000 rows, or if no label occurs twice, rows are drawn at random. The repair
    step is used in all cases.

    Parameters
    ----------
    Y : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        The label sets, one per row, at least two. An indicator may be dense or sparse.
    share : float
        The share to hold out, between 0 and 1. It is rounded to whole rows, with at least one
        row on either side.
    random_state : int, RandomState or None
        The seed, or the random generator. With None, each call gives another split.

    Returns
    -------
    train_rows, held_out_rows : arrays of int
        Both sorted; together they are all rows.

    Raises
    ------
    DataError
        If there are fewer than two samples.
    ParameterError
        If ``share`` is not between 0 and 1, or ``random_state`` cannot be used.

    Examples
    --------
    >>> Y = [{"sea"}, {"sea"}, {"sea"}, {"sea"}, {"city"}, {"city"}]
    >>> train_rows, held_out_rows = stratified_split(Y, 0.5, random_state=0)
    >>> [sorted(Y[row]) for row in held_out_rows]
    [['sea'], ['sea'], ['city']]
    """
    indicator = _read_indicator(Y)
    n_held_out = _held_out_size(indicator.shape[0], share)
    rng = random_generator(random_state)
    labels = _seen_twice(indicator)
    held_out = _stratified_mask(labels, n_held_out, rng)
    return _sides(_repaired(held_out, _seen_twice(_with_rest(labels)), n_held_out, rng))


def _stratified_mask(
    labels: sparse.csr_array, n_held_out: int, rng: np.random.RandomState
) -> BoolArray:
    n_samples, n_labels = labels.shape
    if n_samples > MOST_ROWS or not n_labels:
        return _random_mask(n_samples, n_held_out, rng)
    # Imported here because it is slow to import, and many splits are random.
    from iterstrat.ml_stratifiers import MultilabelStratifiedShuffleSplit

    strata = _with_rest(_most_frequent(labels, int((MOST_WORK / n_samples) ** 0.5)))
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=n_held_out, random_state=rng)
    _, held_out_rows = next(splitter.split(np.empty(n_samples), strata.toarray()))
    return _mask(n_samples, held_out_rows)


def _random_mask(n_samples: int, n_held_out: int, rng: np.random.RandomState) -> BoolArray:
    return _mask(n_samples, rng.permutation(n_samples)[:n_held_out])


def _mask(n_samples: int, rows: IntArray) -> BoolArray:
    mask = np.zeros(n_samples, dtype=bool)
    mask[rows] = True
    return mask


def _sides(held_out: BoolArray) -> tuple[IntArray, IntArray]:
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _read_indicator(Y: Samples) -> sparse.csr_array:
    read = read_label_sets(Y, "Y")
    if not isinstance(read, list):
        return read
    # Sorted, because the order of columns breaks ties and that of a set depends on the hash seed.
    labels = sorted(frozenset[Hashable]().union(*read), key=canonical_rank)
    return indicator_of_sets(read, labels)


def _seen_twice(labels: sparse.csr_array) -> sparse.csr_array:
    return labels[:, np.flatnonzero(_times_seen(labels) >= 2)]


def _most_frequent(labels: sparse.csr_array, n: int) -> sparse.csr_array:
    return labels[:, np.argsort(-_times_seen(labels), kind="stable")[:n]]


def _with_rest(labels: sparse.csr_array) -> sparse.csr_array:
    """Add a column for the rows that have none of the labels."""
    has_none = np.diff(labels.indptr) == 0
    return sparse.csr_array(sparse.hstack([labels, sparse.csr_array(has_none[:, None])]))


def _held_out_size(n_samples: int, share: float) -> int:
    if not isinstance(n_samples, Integral) or n_samples < 2:
        raise DataError(
            f"a split needs at least two samples, one for either side, got {n_samples!r}; "
            f"pass more samples"
        )
    if not isinstance(share, Real) or not 0 < share < 1:
        raise ParameterError(
            f"share must be a number between 0 and 1, got {share!r}; pass the share of the "
            f"samples to hold out, such as 0.2"
        )
    return min(max(round(share * n_samples), 1), int(n_samples) - 1)


def _repaired(
    held_out: BoolArray, labels: sparse.csr_array, n_held_out: int, rng: np.random.RandomState
) -> BoolArray:
    """Move rows until each label occurs in training and ``n_held_out`` rows are held out.

    Iterative stratification ensures neither. Each label must occur at least twice, so that every
    single row can be held out. Fewer than ``n_held_out`` rows, but at least one, are held out if
    training needs the others to contain every label.
    """
    split = _Split(held_out.copy(), labels, n_held_out / len(held_out))
    _cover_labels(split, rng)
    _correct_size(split, n_held_out, rng)
    return split.held_out


def _times_seen(labels: sparse.csr_array) -> IntArray:
    """The number of rows that hold each label."""
    return np.bincount(labels.indices, minlength=labels.shape[1])


class _Split:
    """Which rows are held out, and how often each label occurs in training."""

    def __init__(self, held_out: BoolArray, labels: sparse.csr_array, share: float) -> None:
        self.held_out = held_out
        self.labels = labels
        self.times_seen = _times_seen(labels)
        self.in_training = _times_seen(labels[~held_out])
        self.share = share

    def move(self, row: int) -> None:
        """Move the row to the other side."""
        change = 1 if self.held_out[row] else -1
        self.in_training[self._labels_of(row)] += change
        self.held_out[row] = not self.held_out[row]

    def is_free(self, row: int) -> bool:
        """Whether the row can be moved: it is held out, or training does not need it."""
        return bool(self.held_out[row] or (self.in_training[self._labels_of(row)] > 1).all())

    def costs(self) -> FloatArray:
        """The increase in squared error of the labels' shares if a row is moved, (n_rows,)."""
        expected = (1 - self.share) * self.times_seen
        surplus = self.in_training - expected
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
        if split.in_training[label] == 0:  # a row moved for another label may hold it
            rows = rows_of.indices[rows_of.indptr[label] : rows_of.indptr[label + 1]]
            split.move(rng.choice(rows))


def _correct_size(split: _Split, n_held_out: int, rng: np.random.RandomState) -> None:
    while too_many := int(split.held_out.sum()) - n_held_out:
        candidates = rng.permutation(np.flatnonzero(split.held_out == (too_many > 0)))
        ranked = candidates[np.argsort(split.costs()[candidates], kind="stable")]
        # Lazily, because training may need a row after another one has been moved.
        free = (row for row in ranked.tolist() if split.is_free(row))
        # Each move changes the costs, but ranking again after each move would be slow.
        batch = islice(free, ceil(abs(too_many) / 4))
        n_moved = 0
        for n_moved, row in enumerate(batch, start=1):  # noqa: B007  # the count is used below
            split.move(row)
        if not n_moved:
            return
