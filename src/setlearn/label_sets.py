"""Reads the ways in which users write sets: as sets, or as indicator matrices, dense or sparse."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from numbers import Number
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import DataError, KindError
from setlearn.nodes import BoolArray

__all__ = [
    "LabelSets",
    "Samples",
    "are_indicator_rows",
    "frozen",
    "indicator_of_rows",
    "indicator_of_sets",
    "read_label_sets",
    "read_samples",
    "read_set",
    "sample_name",
]

Samples: TypeAlias = Iterable[Collection[Any]] | NDArray[Any] | sparse.sparray | sparse.spmatrix
"""Sets of labels, one a sample, or an indicator matrix (samples, labels)."""

LabelSets: TypeAlias = list[frozenset[Hashable]]


def read_label_sets(Y: Samples, name: str) -> LabelSets | sparse.csr_array:
    """Read sets as frozensets, and indicators as canonical boolean matrices.

    ``name`` is what errors call the argument.
    """
    if sparse.issparse(Y):
        return _read_sparse(Y, name)
    if hasattr(Y, "__array__"):  # also a DataFrame, a Series or a tensor
        array = np.asarray(Y)
        if array.ndim != 1:
            return _read_dense(array, name)
        Y = list(array)
    if are_indicator_rows(Y):
        raise KindError(
            f"{name} is made of lists of 0 and 1, which may be sets or rows of an indicator; "
            f"make rows a matrix with np.array, and write sets as sets"
        )
    samples = read_samples(Y, name)
    return [frozen(sample, sample_name(i, name)) for i, sample in enumerate(samples)]


def read_samples(Y: Samples, name: str) -> list[Collection[Any]]:
    """List the samples in their order, each known to be a set, list or tuple."""
    if isinstance(Y, str | bytes) or not isinstance(Y, Iterable):
        raise KindError(f"{name} is {_describe(Y)}, not a list of sets; give one set a sample")
    if isinstance(Y, Set | Mapping):
        raise KindError(
            f"{name} is itself a {type(Y).__name__}, whose samples have no order to compare by; "
            f"give a list of sets"
        )
    samples = list(Y)
    for index, sample in enumerate(samples):
        _check_sample(sample, sample_name(index, name))
    return samples


def read_set(sample: Collection[Any], name: str) -> frozenset[Hashable]:
    """Read one set."""
    _check_sample(sample, name)
    return frozen(sample, name)


def are_indicator_rows(Y: object) -> bool:
    """Whether plain lists are rows of 0 and 1, which scikit-learn's users write as indicators.

    As sets they would all be {0}, {1} or {0, 1}; whoever means those can write them as sets.
    """
    if not isinstance(Y, list | tuple) or not Y:
        return False
    if not all(isinstance(row, list | tuple | np.ndarray) for row in Y):
        return False
    width = len(Y[0])
    return width > 1 and all(
        len(row) == width and all(isinstance(v, Number | np.bool_) and v in (0, 1) for v in row)
        for row in Y
    )


def frozen(elements: Iterable[Hashable], where: str) -> frozenset[Hashable]:
    """Make a frozenset, or raise an error that tells where the unhashable element is."""
    try:
        return frozenset(elements)
    except TypeError as error:
        raise KindError(
            f"{where} holds a value that cannot be hashed ({error}); "
            f"use tuples for lists and frozensets for sets"
        ) from None


def sample_name(index: int, name: str) -> str:
    """How errors speak of one sample."""
    return f"sample {index} of {name}"


def indicator_of_sets(sets: LabelSets, labels: Sequence[Hashable]) -> sparse.csr_array:
    """Put ones in the columns of each set's labels, which are in the order given."""
    column = {label: k for k, label in enumerate(labels)}
    return indicator_of_rows([[column[label] for label in one] for one in sets], len(column))


def indicator_of_rows(rows: list[list[int]], n_columns: int) -> sparse.csr_array:
    """Put ones in the given columns of each row."""
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter((column for row in rows for column in row), np.intp, int(indptr[-1]))
    present = np.ones(len(indices), dtype=bool)
    matrix = sparse.csr_array((present, indices, indptr), shape=(len(rows), n_columns))
    matrix.sort_indices()
    return matrix


def _read_sparse(Y: Any, name: str) -> sparse.csr_array:
    _check_matrix(Y, name)
    matrix = sparse.csr_array(Y, copy=True)  # what follows works in place, and Y is not ours
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    _check_indicator(matrix.data, name)
    return matrix.astype(bool)


def _read_dense(array: NDArray[Any], name: str) -> sparse.csr_array:
    _check_matrix(array, name)
    _check_indicator(array, name)
    return sparse.csr_array(array.astype(bool))


def _check_sample(sample: object, where: str) -> None:
    if isinstance(sample, str | bytes):
        raise KindError(f"{where} is {_describe(sample)}; write {{{sample!r}}} for a set of one")
    if not isinstance(sample, Set | list | tuple) and np.ndim(sample) != 1:  # type: ignore[arg-type]  # any object
        raise KindError(
            f"{where} is {_describe(sample)}, not a set; give a set, list or tuple a sample"
        )


def _check_matrix(Y: Any, name: str) -> None:
    if Y.ndim != 2:
        raise DataError(
            f"an indicator is a matrix (samples, labels), but {name} has {Y.ndim} dimension(s); "
            f"reshape a single sample with Y[None, :]"
        )


def _check_indicator(values: NDArray[Any], name: str) -> None:
    usable = _is_zero_or_one(values)
    if not usable.all():
        raise DataError(
            f"an indicator holds only 0 and 1, but {name} holds {values[~usable].tolist()[0]!r}; "
            f"threshold scores first, or give sets of labels"
        )


def _is_zero_or_one(values: NDArray[Any]) -> BoolArray:
    if values.dtype.kind in "biuf":
        return np.asarray((values == 0) | (values == 1))
    # Tables of mixed columns arrive as objects, among which pandas' NA refuses to be compared.
    usable = [isinstance(v, Number | np.bool_) and v in (0, 1) for v in values.flat]
    return np.array(usable, dtype=bool).reshape(values.shape)


def _describe(value: object) -> str:
    return f"the {type(value).__name__} {value!r}"
