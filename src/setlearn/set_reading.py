"""Reads sets as users write them: sets of labels, indicator matrices, and sets of sequences."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from numbers import Number
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import DataError, KindError
from setlearn.missing_values import is_missing, missing_entries
from setlearn.nodes import BoolArray

__all__ = [
    "SEPARATORS",
    "LabelSets",
    "Samples",
    "are_indicator_rows",
    "check_one_kind",
    "frozen",
    "indicator_of_rows",
    "indicator_of_sets",
    "read_label_sets",
    "read_partly_known",
    "read_samples",
    "read_set",
    "read_sets_of_sequences",
    "sample_name",
    "splitting",
]

SEPARATORS = (";", "|", ",")
"""What people put between the labels of a sample."""

Samples: TypeAlias = Iterable[Collection[Any]] | NDArray[Any] | sparse.sparray | sparse.spmatrix
"""One set of labels per sample, or an indicator matrix (samples, labels)."""

LabelSets: TypeAlias = list[frozenset[Hashable]]


def read_label_sets(Y: Samples, name: str) -> LabelSets | sparse.csr_array:
    """Read sets as frozensets, and indicators as canonical boolean matrices.

    Parameters
    ----------
    Y : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        The samples.
    name : str
        The name of the argument in error messages.

    Returns
    -------
    list of frozenset, or csr_array of bool
        Sets remain sets; indicators become sparse.

    Raises
    ------
    DataError
        If a matrix does not have two dimensions, or holds values other than 0 and 1.
    KindError
        If ``Y`` is neither sets nor a matrix, or could be either.
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
            f"{name} consists of lists of 0 and 1, which may be sets or rows of an indicator; "
            f"turn rows into a matrix with np.array, and write sets as sets"
        )
    samples = read_samples(Y, name)
    return [frozen(sample, sample_name(i, name)) for i, sample in enumerate(samples)]


def read_partly_known(
    Y: Samples, name: str
) -> tuple[LabelSets | sparse.csr_array, sparse.csr_array | None]:
    """Read sets or an indicator whose entries may be missing, which means that they are unknown.

    Parameters
    ----------
    Y : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        An entry of an indicator is unknown if it is NaN, None or blank.
    name : str
        The name of the argument in error messages.

    Returns
    -------
    sets : list of frozenset, or csr_array of bool
        As `read_label_sets` returns them, with False where an entry is unknown.
    unknown : csr_array of bool, or None
        The unknown entries; None if all are known.

    Raises
    ------
    DataError, KindError
        As `read_label_sets`.

    Examples
    --------
    >>> right, unknown = read_partly_known(np.array([[1.0, np.nan], [0.0, 1.0]]), "y")
    >>> right.toarray()
    array([[ True, False],
           [False,  True]])
    >>> unknown.toarray()
    array([[False,  True],
           [False, False]])
    """
    if sparse.issparse(Y):
        return _read_partly_known_sparse(Y, name)
    if not hasattr(Y, "__array__") or (array := np.asarray(Y)).ndim != 2:
        return read_label_sets(Y, name), None
    missing = missing_entries(array)
    if not missing.any():
        return _read_dense(array, name), None
    return _read_dense(np.where(missing, 0, array), name), sparse.csr_array(missing)


def read_sets_of_sequences(Y: Samples, name: str) -> LabelSets:
    """Read sets of strings, of tuples (or lists), or of frozensets of tokens.

    Parameters
    ----------
    Y : iterable of sets of sequences
        The samples.
    name : str
        The name of the argument in error messages.

    Returns
    -------
    list of frozenset
        One set per sample. Lists become tuples, and inner sets become frozensets.

    Raises
    ------
    KindError
        If ``Y`` is a matrix, a sample is not a set, or an element is not a sequence.
    """
    if sparse.issparse(Y) or getattr(Y, "ndim", 1) != 1:
        raise KindError(
            f"{name} is a matrix, which holds no sequences; pass a list of sets of sequences"
        )
    sets = []
    for index, sample in enumerate(read_samples(Y, name)):
        where = sample_name(index, name)
        sets.append(frozen([_as_sequence(element, where) for element in sample], where))
    return sets


def check_one_kind(sets: LabelSets, name: str) -> type | None:
    """Check that all sequences are of one kind: str, tuple or frozenset.

    Parameters
    ----------
    sets : list of frozenset
        Sets that `read_sets_of_sequences` has read.
    name : str
        The name of the argument in error messages.

    Returns
    -------
    type or None
        The kind; None if there is no sequence at all.

    Raises
    ------
    KindError
        If there are sequences of different kinds.
    """
    kind: type | None = None
    for index, elements in enumerate(sets):
        for element in elements:
            if kind is not None and type(element) is not kind:
                raise KindError(
                    f"all sequences in {name} must be of one kind, but after "
                    f"{kind.__name__}s sample {index} holds the {type(element).__name__} "
                    f"{element!r}; convert them all, for example to tuples"
                )
            kind = type(element)
    return kind


def read_samples(Y: Samples, name: str) -> list[Collection[Any]]:
    """List the samples in order, and check that each is a set, list or tuple.

    Parameters
    ----------
    Y : iterable of collections
        The samples.
    name : str
        The name of the argument in error messages.

    Returns
    -------
    list of collections
        The samples as they are.

    Raises
    ------
    KindError
        If ``Y`` has no order, or a sample is not a collection.
    """
    if isinstance(Y, str | bytes) or not isinstance(Y, Iterable):
        raise KindError(f"{name} is {_describe(Y)}, not a list of sets; pass one set per sample")
    if isinstance(Y, Set | Mapping):
        raise KindError(
            f"{name} is itself a {type(Y).__name__}, so its samples have no order; "
            f"pass a list of sets"
        )
    samples = list(Y)
    for index, sample in enumerate(samples):
        _check_sample(sample, sample_name(index, name))
    return samples


def read_set(sample: Collection[Any], name: str) -> frozenset[Hashable]:
    """Read one set.

    Parameters
    ----------
    sample : set, list or tuple
        The elements.
    name : str
        The name of the set in error messages.

    Returns
    -------
    frozenset
        The elements.

    Raises
    ------
    KindError
        If the sample is not a collection, or holds a value that cannot be hashed.
    """
    _check_sample(sample, name)
    return frozen(sample, name)


def are_indicator_rows(Y: object) -> bool:
    """Whether plain lists look like the rows of an indicator, as scikit-learn accepts them.

    As sets, such rows would all be {0}, {1} or {0, 1}. To mean these, write them as sets.
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
    """Make a frozenset, with an error message that says which set cannot be one.

    Parameters
    ----------
    elements : iterable of hashable
        The elements.
    where : str
        The name of the set in error messages.

    Returns
    -------
    frozenset
        The elements.

    Raises
    ------
    KindError
        If an element cannot be hashed.
    """
    try:
        return frozenset(elements)
    except TypeError as error:
        raise KindError(
            f"{where} holds a value that cannot be hashed ({error}); "
            f"use tuples instead of lists and frozensets instead of sets"
        ) from None


def sample_name(index: int, name: str) -> str:
    """Name one sample in error messages.

    Parameters
    ----------
    index : int
        Which sample, counted from 0.
    name : str
        The name of the argument.

    Returns
    -------
    str
        For example "sample 3 of Y".
    """
    return f"sample {index} of {name}"


def splitting(separator: str) -> str:
    """Python code for messages that makes a set of a text with several labels.

    Parameters
    ----------
    separator : str
        What stands between the labels.

    Returns
    -------
    str
        It strips blanks and drops empty labels.

    Examples
    --------
    >>> text = "eco, gift,"
    >>> sorted(eval(splitting(",")))
    ['eco', 'gift']
    """
    return f"{{part.strip() for part in text.split({separator!r}) if part.strip()}}"


def indicator_of_sets(sets: LabelSets, labels: Sequence[Hashable]) -> sparse.csr_array:
    """Turn sets of labels into an indicator matrix.

    Parameters
    ----------
    sets : list of frozenset
        The sets, one per row.
    labels : sequence of hashable
        The labels, one per column. They include all labels of the sets.

    Returns
    -------
    csr_array of bool, shape (n_sets, n_labels)
        True where the set of the row holds the label of the column.
    """
    column = {label: k for k, label in enumerate(labels)}
    return indicator_of_rows(
        [[column[label] for label in one_set] for one_set in sets], len(column)
    )


def indicator_of_rows(rows: list[list[int]], n_columns: int) -> sparse.csr_array:
    """Turn lists of column numbers into an indicator matrix.

    Parameters
    ----------
    rows : list of lists of int
        The columns that are True in each row.
    n_columns : int
        The number of columns.

    Returns
    -------
    csr_array of bool, shape (n_rows, n_columns)
        The matrix, with sorted indices.
    """
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter((column for row in rows for column in row), np.intp, int(indptr[-1]))
    present = np.ones(len(indices), dtype=bool)
    matrix = sparse.csr_array((present, indices, indptr), shape=(len(rows), n_columns))
    matrix.sort_indices()
    return matrix


def _as_sequence(element: object, where: str) -> Hashable:
    if isinstance(element, str):
        return str(element)
    if isinstance(element, list | tuple):
        return tuple(element)
    if isinstance(element, Set):
        return frozenset(element)
    raise KindError(
        f"{where} holds the {type(element).__name__} {element!r}, which is not a sequence; "
        f"use strings, tuples of tokens, or frozensets of tokens"
    )


def _read_sparse(Y: Any, name: str) -> sparse.csr_array:
    _check_matrix(Y, name)
    matrix = sparse.csr_array(Y, copy=True)  # the user's matrix must not be changed in place
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    _check_indicator(matrix.data, name)
    return matrix.astype(bool)


def _read_partly_known_sparse(
    Y: Any, name: str
) -> tuple[sparse.csr_array, sparse.csr_array | None]:
    matrix = sparse.csr_array(Y)
    missing = missing_entries(matrix.data)
    if not missing.any():
        return _read_sparse(Y, name), None
    data = np.where(missing, 0, matrix.data)
    known, unknown = (  # copies, because removing zeros changes the indices in place
        sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
        for values in (data, missing)
    )
    unknown.eliminate_zeros()
    return _read_sparse(known, name), unknown


def _read_dense(array: NDArray[Any], name: str) -> sparse.csr_array:
    _check_matrix(array, name)
    _check_indicator(array, name)
    return sparse.csr_array(array.astype(bool))


def _check_sample(sample: object, where: str) -> None:
    if isinstance(sample, str | bytes):
        problem = f"{where} is {_describe(sample)}; write {{{sample!r}}} for a set of one element"
        if isinstance(sample, str) and (found := [s for s in SEPARATORS if s in sample]):
            problem += f", or, if it is several labels, split each text: {splitting(found[0])}"
        raise KindError(problem)
    if is_missing(sample):
        raise KindError(
            f"{where} is {_describe(sample)}, not a set; write set() for no labels or sequences"
        )
    if not isinstance(sample, Set | list | tuple) and np.ndim(sample) != 1:  # type: ignore[arg-type]  # any object
        raise KindError(
            f"{where} is {_describe(sample)}, not a set; pass a set, list or tuple per sample"
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
            f"threshold scores first, or pass sets of labels"
        )


def _is_zero_or_one(values: NDArray[Any]) -> BoolArray:
    if values.dtype.kind in "biuf":
        return np.asarray((values == 0) | (values == 1))
    # Tables of mixed columns arrive as objects, and pandas' NA cannot be compared.
    usable = [isinstance(v, Number | np.bool_) and v in (0, 1) for v in values.flat]
    return np.array(usable, dtype=bool).reshape(values.shape)


def _describe(value: object) -> str:
    return f"the {type(value).__name__} {value!r}"
