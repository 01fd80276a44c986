"""Reads the arguments of metrics: true and predicted sets, which must match, and weights."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from setlearn.errors import DataError, KindError
from setlearn.indicators import indicator_of_rows, indicator_of_sets
from setlearn.nodes import FloatArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.set_reading import LabelSets, Samples, read_label_sets, read_partly_known

__all__ = [
    "NamedPair",
    "check_lengths",
    "json_ready",
    "read_indicator",
    "read_indicator_pair",
    "read_named_pair",
    "sample_mean",
]


def read_indicator_pair(
    Y_true: Samples, Y_pred: Samples
) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array | None]:
    """Read true and predicted sets as boolean indicators over the same columns.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        Both sets, or both indicators. Unknown entries (NaN) of ``Y_true`` are left out of both.

    Returns
    -------
    true, predicted : csr_array of bool
        The true and the predicted indicator, in canonical form.
    unknown : csr_array of bool, or None
        The unknown entries of ``Y_true``.

    Raises
    ------
    DataError
        If the shapes differ, or there are no samples.
    KindError
        If one side has sets and the other is an indicator.
    """
    true, unknown = read_partly_known(Y_true, "Y_true")
    predicted = read_label_sets(Y_pred, "Y_pred")
    if isinstance(true, list) and isinstance(predicted, list):
        check_lengths(len(true), len(predicted))
        of_true, of_predicted = _indicators_of_sets(true, predicted)
        return of_true, of_predicted, None
    if isinstance(true, list) or isinstance(predicted, list):
        sets, matrix = ("Y_true", "Y_pred") if isinstance(true, list) else ("Y_pred", "Y_true")
        raise KindError(
            f"{sets} holds sets but {matrix} is an indicator matrix; pass both as sets or both "
            f"as indicators (wrap rows of 0 and 1 in np.array)"
        )
    check_lengths(true.shape[0], predicted.shape[0])
    if true.shape[1] != predicted.shape[1]:
        raise DataError(
            f"Y_true has {true.shape[1]} columns but Y_pred has {predicted.shape[1]}; "
            f"use one column per label, in the same order, on both sides"
        )
    if unknown is not None:  # where the truth is not known, no answer is right or wrong
        if unknown.nnz == unknown.shape[0] * unknown.shape[1]:
            raise DataError(
                "every entry of Y_true is unknown (NaN), so there is nothing to compare with; pass "
                "samples of which some labels are known"
            )
        predicted = sparse.csr_array(predicted > unknown)
    return true, predicted, unknown


def read_indicator(Y: Samples) -> sparse.csr_array:
    """Read sets as a boolean indicator in canonical form."""
    samples = read_label_sets(Y, "Y")
    indicator = _indicators_of_sets(samples)[0] if isinstance(samples, list) else samples
    _check_not_empty(indicator.shape[0])
    return indicator


@dataclass(frozen=True, slots=True, eq=False)
class NamedPair:
    """True and predicted sets as indicators over the labels of either side, and these labels."""

    true: sparse.csr_array
    predicted: sparse.csr_array
    labels: list[Hashable]


def read_named_pair(Y_true: Samples, Y_pred: Samples) -> NamedPair:
    """Read true and predicted sets, and keep the names of the labels.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`. The columns of a DataFrame in ``Y_true`` are the names of the labels;
        columns of other indicators are named by their numbers.

    Returns
    -------
    NamedPair
        Both sides, and the labels.

    Raises
    ------
    DataError
        If the shapes differ, or there are no samples.
    KindError
        If one side has sets and the other is an indicator.
    """
    true, predicted = read_partly_known(Y_true, "Y_true")[0], read_label_sets(Y_pred, "Y_pred")
    if isinstance(true, list) and isinstance(predicted, list):
        check_lengths(len(true), len(predicted))
        return _pair_of_sets(true, predicted)
    true, predicted, _ = read_indicator_pair(Y_true, Y_pred)
    return _pair_of_indicators(true, predicted, getattr(Y_true, "columns", range(true.shape[1])))


def json_ready(label: Hashable) -> Any:
    """Convert a label for JSON: sequences and sets to lists, other types to text."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, tuple):
        return [json_ready(part) for part in plain]
    if isinstance(plain, frozenset):
        return [json_ready(part) for part in sorted(plain, key=canonical_rank)]
    return plain if plain is None or isinstance(plain, str | int | float) else str(plain)


def check_lengths(n_true: int, n_predicted: int) -> None:
    """Check that there is one predicted set per true set, and at least one.

    Parameters
    ----------
    n_true, n_predicted : int
        The numbers of sets.

    Raises
    ------
    DataError
        If the numbers differ, or are 0.
    """
    if n_true != n_predicted:
        raise DataError(
            f"Y_true has {n_true} samples but Y_pred has {n_predicted}; "
            f"pass one predicted set per true set"
        )
    _check_not_empty(n_true)


def sample_mean(values: FloatArray, sample_weight: ArrayLike | None = None) -> float:
    """Compute the weighted mean over samples.

    Parameters
    ----------
    values : array of float, shape (n_samples,)
        One value per sample; samples with nan are left out.
    sample_weight : array-like of shape (n_samples,), optional
        The weights; equal by default.

    Returns
    -------
    float
        The mean; nan if no sample is left.

    Raises
    ------
    DataError
        If the weights have another shape, or are negative, not finite or all zero.
    """
    weights = _read_weights(sample_weight, len(values))
    counted = ~np.isnan(values)
    total = weights[counted].sum()
    return float(weights[counted] @ values[counted] / total) if total > 0 else float("nan")


def _read_weights(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n_samples)
    try:
        weights = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must be numbers ({error}); pass one per sample") from None
    if weights.shape != (n_samples,):
        raise DataError(
            f"sample_weight has shape {weights.shape} but there are {n_samples} samples; "
            f"pass one weight per sample"
        )
    if not np.isfinite(weights).all() or weights.min() < 0 or weights.max() == 0:
        raise DataError(
            f"sample_weight must be finite, not negative and not all zero, got values from "
            f"{weights.min()} to {weights.max()}; correct or drop those samples"
        )
    return weights


def _indicators_of_sets(*sides: LabelSets) -> list[sparse.csr_array]:
    columns: dict[Hashable, int] = {}
    rows = [
        [[columns.setdefault(label, len(columns)) for label in labels] for labels in samples]
        for samples in sides
    ]
    return [indicator_of_rows(side, len(columns)) for side in rows]


def _pair_of_sets(true: LabelSets, predicted: LabelSets) -> NamedPair:
    labels = list(frozenset[Hashable]().union(*true, *predicted))
    return NamedPair(indicator_of_sets(true, labels), indicator_of_sets(predicted, labels), labels)


def _pair_of_indicators(
    true: sparse.csr_array, predicted: sparse.csr_array, names: Sequence[Hashable]
) -> NamedPair:
    # Renumbered by hand, because selecting columns in SciPy allocates an array of the full width.
    used, column = np.unique(np.concatenate([true.indices, predicted.indices]), return_inverse=True)
    return NamedPair(
        _with_columns(true, column[: true.nnz], len(used)),
        _with_columns(predicted, column[true.nnz :], len(used)),
        [names[k] for k in used.tolist()],
    )


def _with_columns(matrix: sparse.csr_array, column: IntArray, n_columns: int) -> sparse.csr_array:
    shape = (matrix.shape[0], n_columns)
    return sparse.csr_array((matrix.data, column, matrix.indptr), shape=shape)


def _check_not_empty(n_samples: int) -> None:
    if not n_samples:
        raise DataError("got 0 samples, which have no mean; pass at least one")
