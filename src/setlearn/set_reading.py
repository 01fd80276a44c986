"""Reads sets as users write them: sets of labels, indicator matrices, and sets of sequences."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import KindError
from setlearn.indicators import (
    are_indicator_rows,
    read_indicator,
    read_partly_known_indicator,
)
from setlearn.missing_values import is_missing

__all__ = [
    "SEPARATORS",
    "LabelSets",
    "Samples",
    "check_one_kind",
    "frozen",
    "only_column",
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
        return read_indicator(Y, name)
    Y = only_column(Y)
    if hasattr(Y, "__array__"):  # also a DataFrame, a Series or a tensor
        array = np.asarray(Y)
        if array.ndim != 1:
            return read_indicator(array, name)
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
        return read_partly_known_indicator(Y, name)
    Y = only_column(Y)
    if isinstance(Y, np.ma.MaskedArray) and Y.ndim == 2:
        return read_partly_known_indicator(Y, name)
    if not hasattr(Y, "__array__") or (array := np.asarray(Y)).ndim != 2:
        return read_label_sets(Y, name), None
    return read_partly_known_indicator(array, name)


def only_column(Y: Any) -> Any:
    """The column of a table that has one alone, if it holds lists or sets; else Y.

    Parameters
    ----------
    Y : anything

    Returns
    -------
    list, or Y
    """
    if not hasattr(Y, "columns") or len(Y.columns) != 1:
        return Y
    column = list(Y[next(iter(Y.columns))])
    return column if any(isinstance(v, Set | list | tuple) or np.ndim(v) for v in column) else Y


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


def _describe(value: object) -> str:
    return f"the {type(value).__name__} {value!r}"
