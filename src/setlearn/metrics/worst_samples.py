"""The samples whose predicted sets are furthest from the true ones."""

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from setlearn.errors import ParameterError
from setlearn.metrics._named_labels import NamedPair, json_ready, read_named_pair
from setlearn.metrics.sets import Overlaps
from setlearn.set_reading import Samples

__all__ = ["WorstSample", "worst_samples"]


@dataclass(frozen=True, slots=True)
class WorstSample:
    """A sample that was not answered perfectly.

    Attributes
    ----------
    index : int
        Which sample it is, counted from 0.
    f1 : float
        The F1 of its true and its predicted set.
    missed : frozenset
        What is true but was not predicted.
    wrong : frozenset
        What was predicted but is not true.

    Examples
    --------
    >>> worst = worst_samples([{"sea", "sun"}, {"city"}], [{"sea"}, {"city"}])
    >>> worst[0].index, worst[0].missed
    (0, frozenset({'sun'}))
    """

    index: int
    f1: float
    missed: frozenset[Hashable]
    wrong: frozenset[Hashable]

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, the sets as sorted lists, ready for JSON."""
        return {
            "index": self.index,
            "f1": self.f1,
            "missed": json_ready(self.missed),
            "wrong": json_ready(self.wrong),
        }


def worst_samples(Y_true: Samples, Y_pred: Samples, n: int = 10) -> list[WorstSample]:
    """Find the samples with the lowest F1.

    Among equals, the one with the most missed and wrong elements comes first, then the one
    with the lower index. Perfect answers are never listed.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        What `mean_f1` takes. Columns of a DataFrame in ``Y_true`` give the labels their names.
    n : int
        How many samples to list; fewer come if the rest is perfect.

    Returns
    -------
    list of WorstSample
        The worst sample first.

    Examples
    --------
    >>> for sample in worst_samples([{1}, {1, 2}, {3}], [{1}, {2}, {4}]):
    ...     print(sample)
    WorstSample(index=2, f1=0.0, missed=frozenset({3}), wrong=frozenset({4}))
    WorstSample(index=1, f1=0.6666666666666666, missed=frozenset({1}), wrong=frozenset())
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ParameterError(
            f"n must be a whole number of 1 or more, got {n!r}; give how many samples to list"
        )
    pair = read_named_pair(Y_true, Y_pred)
    overlaps = Overlaps.of(pair.true, pair.predicted)
    n_errors = overlaps.true + overlaps.predicted - 2 * overlaps.shared
    faulty = np.flatnonzero(n_errors)
    ranked = faulty[np.lexsort((faulty, -n_errors[faulty], overlaps.f1[faulty]))]
    return [_describe(pair, int(i), float(overlaps.f1[i])) for i in ranked[:n]]


def _describe(pair: NamedPair, index: int, f1: float) -> WorstSample:
    true, predicted = (_row(side, index, pair.labels) for side in (pair.true, pair.predicted))
    return WorstSample(index, f1, missed=true - predicted, wrong=predicted - true)


def _row(matrix: sparse.csr_array, row: int, labels: list[Hashable]) -> frozenset[Hashable]:
    columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return frozenset(labels[k] for k in columns.tolist())
