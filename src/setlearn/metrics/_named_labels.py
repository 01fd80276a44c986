"""Reads both sides of a comparison without losing what the labels are called."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setlearn.metrics._reading import check_lengths, read_indicator_pair
from setlearn.nodes import IntArray
from setlearn.ordering import canonical_rank
from setlearn.set_reading import LabelSets, Samples, indicator_of_sets, read_label_sets

__all__ = ["NamedPair", "json_ready", "read_named_pair"]


@dataclass(frozen=True, slots=True, eq=False)
class NamedPair:
    """Both sides as indicators over the labels that are met on either, and these labels."""

    true: sparse.csr_array
    predicted: sparse.csr_array
    labels: list[Hashable]


def read_named_pair(Y_true: Samples, Y_pred: Samples) -> NamedPair:
    """Read what `mean_f1` takes.

    The columns of a DataFrame in ``Y_true`` name the labels; those of other indicators are
    called by their numbers.
    """
    true, predicted = read_label_sets(Y_true, "Y_true"), read_label_sets(Y_pred, "Y_pred")
    if isinstance(true, list) and isinstance(predicted, list):
        check_lengths(len(true), len(predicted))
        return _pair_of_sets(true, predicted)
    true, predicted = read_indicator_pair(true, predicted)
    return _pair_of_indicators(true, predicted, getattr(Y_true, "columns", range(true.shape[1])))


def json_ready(label: Hashable) -> Any:
    """The label as JSON can hold it: sequences and sets as lists, strange kinds as text."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, tuple):
        return [json_ready(part) for part in plain]
    if isinstance(plain, frozenset):
        return [json_ready(part) for part in sorted(plain, key=canonical_rank)]
    return plain if plain is None or isinstance(plain, str | int | float) else str(plain)


def _pair_of_sets(true: LabelSets, predicted: LabelSets) -> NamedPair:
    labels = list(frozenset[Hashable]().union(*true, *predicted))
    right, answered = (indicator_of_sets(sets, labels) for sets in (true, predicted))
    return NamedPair(right, answered, labels)


def _pair_of_indicators(
    true: sparse.csr_array, predicted: sparse.csr_array, names: Sequence[Hashable]
) -> NamedPair:
    # Renumbered by hand: to choose columns of a matrix, SciPy sets up an array of its full width.
    met, column = np.unique(np.concatenate([true.indices, predicted.indices]), return_inverse=True)
    return NamedPair(
        _with_columns(true, column[: true.nnz], len(met)),
        _with_columns(predicted, column[true.nnz :], len(met)),
        [names[k] for k in met.tolist()],
    )


def _with_columns(matrix: sparse.csr_array, column: IntArray, n_columns: int) -> sparse.csr_array:
    shape = (matrix.shape[0], n_columns)
    return sparse.csr_array((matrix.data, column, matrix.indptr), shape=shape)
