"""Holds some of the rows out, so that every label is still met in training."""

from collections.abc import Hashable
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from setlearn.datasets._random_generator import RandomState, random_generator
from setlearn.datasets._split_repair import repaired, times_seen
from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.set_reading import Samples, indicator_of_sets, read_label_sets

__all__ = ["random_split", "stratified_split"]

MOST_ROWS = 200_000
"""Rows that can be stratified: the package looks at them one by one, which takes 3 seconds."""

MOST_WORK = 1_000_000_000
"""Rows times labels squared: for each label it looks at the whole matrix; 2 more seconds."""


def random_split(
    n_samples: int, share: float, *, random_state: RandomState
) -> tuple[IntArray, IntArray]:
    """Hold out a share of the rows, whatever is in them: the split for sets of sequences.

    Parameters
    ----------
    n_samples : int
        How many rows there are, at least two.
    share : float
        The share to hold out, between 0 and 1. It is rounded to whole rows, of which at least
        one is on either side.
    random_state : int, RandomState or None
        The seed, or the generator to draw from; with None each call draws anew.

    Returns
    -------
    train_rows, held_out_rows : arrays of int
        Both sorted; together they are all rows.

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

    This is iterative stratification (Sechidis, Tsoumakas and Vlahavas, 2011) on the labels that
    occur at least twice, and on having none of them. A repair then makes sure that each of these
    labels occurs in training, and that the share is exact. Only where training needs more rows
    to show every label is less held out.

    With many labels, only the most frequent ones are stratified: as many as take a few seconds.
    Beyond 200,000 rows, or if no label occurs twice, rows are drawn at random. What the repair
    ensures holds all the same.

    Parameters
    ----------
    Y : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        The label sets, one a row, at least two; an indicator may be dense or sparse.
    share : float
        The share to hold out, between 0 and 1. It is rounded to whole rows, of which at least
        one is on either side.
    random_state : int, RandomState or None
        The seed, or the generator to draw from; with None each call draws anew.

    Returns
    -------
    train_rows, held_out_rows : arrays of int
        Both sorted; together they are all rows.

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
    return _sides(repaired(held_out, _seen_twice(_with_rest(labels)), n_held_out, rng))


def _stratified_mask(
    labels: sparse.csr_array, n_held_out: int, rng: np.random.RandomState
) -> BoolArray:
    n_samples, n_labels = labels.shape
    if n_samples > MOST_ROWS or not n_labels:
        return _random_mask(n_samples, n_held_out, rng)
    # Slow to import, and many splits are random.
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
    # In one order, as the columns' order breaks ties and that of a set changes with the hash seed.
    labels = sorted(frozenset[Hashable]().union(*read), key=canonical_rank)
    return indicator_of_sets(read, labels)


def _seen_twice(labels: sparse.csr_array) -> sparse.csr_array:
    return labels[:, np.flatnonzero(times_seen(labels) >= 2)]


def _most_frequent(labels: sparse.csr_array, n: int) -> sparse.csr_array:
    return labels[:, np.argsort(-times_seen(labels), kind="stable")[:n]]


def _with_rest(labels: sparse.csr_array) -> sparse.csr_array:
    """Add a column for the rows that have none of the labels."""
    rest = np.diff(labels.indptr) == 0
    return sparse.csr_array(sparse.hstack([labels, sparse.csr_array(rest[:, None])]))


def _held_out_size(n_samples: int, share: float) -> int:
    if not isinstance(n_samples, Integral) or n_samples < 2:
        raise DataError(
            f"a split needs at least two samples, one for either side, got {n_samples!r}; "
            f"give more samples"
        )
    if not isinstance(share, Real) or not 0 < share < 1:
        raise ParameterError(
            f"share must be a number between 0 and 1, got {share!r}; give the share of the "
            f"samples to hold out, such as 0.2"
        )
    return min(max(round(share * n_samples), 1), int(n_samples) - 1)
