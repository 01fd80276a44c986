"""Reads what users hand to a metric: two sides of the same kind and length, and weights."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from setlearn.errors import DataError, KindError
from setlearn.nodes import FloatArray
from setlearn.set_reading import LabelSets, Samples, indicator_of_rows, read_label_sets


def read_indicator_pair(Y_true: Samples, Y_pred: Samples) -> list[sparse.csr_array]:
    """Read both sides as canonical boolean indicators over the same columns."""
    true, predicted = read_label_sets(Y_true, "Y_true"), read_label_sets(Y_pred, "Y_pred")
    if isinstance(true, list) and isinstance(predicted, list):
        check_lengths(len(true), len(predicted))
        return _indicators_of_sets(true, predicted)
    if isinstance(true, list) or isinstance(predicted, list):
        sets, matrix = ("Y_true", "Y_pred") if isinstance(true, list) else ("Y_pred", "Y_true")
        raise KindError(
            f"{sets} holds sets but {matrix} is an indicator matrix; give both as sets or both "
            f"as indicators (wrap rows of 0 and 1 in np.array)"
        )
    check_lengths(true.shape[0], predicted.shape[0])
    if true.shape[1] != predicted.shape[1]:
        raise DataError(
            f"Y_true has {true.shape[1]} columns but Y_pred has {predicted.shape[1]}; "
            f"give both one column a label, in the same order"
        )
    return [true, predicted]


def read_indicator(Y: Samples) -> sparse.csr_array:
    """Read one side alone as a canonical boolean indicator."""
    samples = read_label_sets(Y, "Y")
    indicator = _indicators_of_sets(samples)[0] if isinstance(samples, list) else samples
    _check_not_empty(indicator.shape[0])
    return indicator


def check_lengths(n_true: int, n_predicted: int) -> None:
    """Refuse sides of different lengths, and no samples at all."""
    if n_true != n_predicted:
        raise DataError(
            f"Y_true has {n_true} samples but Y_pred has {n_predicted}; "
            f"give one predicted set for each true one"
        )
    _check_not_empty(n_true)


def sample_mean(values: FloatArray, sample_weight: ArrayLike | None = None) -> float:
    """Take the weighted mean of one value a sample; nan stands for a sample to leave out."""
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
        raise DataError(f"sample_weight must be numbers ({error}); give one a sample") from None
    if weights.shape != (n_samples,):
        raise DataError(
            f"sample_weight has shape {weights.shape} but there are {n_samples} samples; "
            f"give one weight a sample"
        )
    if not np.isfinite(weights).all() or weights.min() < 0 or weights.max() == 0:
        raise DataError(
            f"sample_weight must be finite, not negative and not all zero, got values from "
            f"{weights.min()} to {weights.max()}; mend or leave out those samples"
        )
    return weights


def _indicators_of_sets(*sides: LabelSets) -> list[sparse.csr_array]:
    columns: dict[Hashable, int] = {}
    rows = [
        [[columns.setdefault(label, len(columns)) for label in labels] for labels in samples]
        for samples in sides
    ]
    return [indicator_of_rows(side, len(columns)) for side in rows]


def _check_not_empty(n_samples: int) -> None:
    if not n_samples:
        raise DataError("got 0 samples, which have no mean; give at least one")
