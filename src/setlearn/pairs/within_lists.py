"""Where each candidate stands among those of its own list."""

from __future__ import annotations

import numpy as np

from setlearn.candidate_lists import CandidateLists
from setlearn.nodes import FloatArray

__all__ = ["with_standings"]


def with_standings(lists: CandidateLists, features: FloatArray) -> FloatArray:
    """Add to each feature its difference to the mean of the list, and its rank there.

    What counts is often not how similar a candidate is to the query, but whether it is more similar
    than the others. The length of the list is one more feature.

    Parameters
    ----------
    lists : CandidateLists
    features : array of shape (n_rows, features)
        Missing values (NaN) are left out of means, and stay missing.

    Returns
    -------
    array of shape (n_rows, 3 · features + 1), float32
    """
    sizes = np.maximum(lists.sizes, 1)[lists.sample]
    columns = [np.log(sizes)]
    for values in features.T:
        columns += [values, values - _means(lists, values), _ranks(lists, values) / sizes]
    return np.column_stack(columns).astype(np.float32)


def _means(lists: CandidateLists, values: FloatArray) -> FloatArray:
    """The mean of the list that each row belongs to, (n_rows,)."""
    known, sample = ~np.isnan(values), lists.sample
    counts = np.bincount(sample[known], minlength=len(lists))
    sums = np.bincount(sample[known], values[known], minlength=len(lists))
    means: FloatArray = (sums / np.maximum(counts, 1))[sample]
    return means


def _ranks(lists: CandidateLists, values: FloatArray) -> FloatArray:
    """The rank of each row in its list, (n_rows,); equal values share the middle of their ranks.

    >>> lists = CandidateLists(np.array([0, 4]), [*"abcd"], np.arange(4))
    >>> _ranks(lists, np.array([0.5, 0.1, 0.5, 0.9]))
    array([2. , 0.5, 2. , 3.5])
    """
    sample = lists.sample
    order = np.lexsort((values, sample))
    ordered = values[order]
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = (sample[order][1:] != sample[order][:-1]) | (ordered[1:] != ordered[:-1])
    start = np.flatnonzero(is_new)
    group = np.cumsum(is_new) - 1
    middle = (start + np.append(start[1:], len(values)))[group] / 2
    ranks = np.empty(len(values))
    ranks[order] = middle - lists.first[sample[order]]
    return np.where(np.isnan(values), np.nan, ranks)
