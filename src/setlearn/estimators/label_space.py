"""The labels of a data set, and the kind of container that their sets come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from setlearn.errors import DataError, KindError, UnknownLabelWarning, warn_user
from setlearn.estimators.base import Unknown
from setlearn.estimators.doubtful_labels import check_labels_of_sets, refuse_joined_classes
from setlearn.features.columns import join_names
from setlearn.indicators import are_indicator_rows, indicator_of_rows, indicator_of_sets
from setlearn.missing_values import is_missing
from setlearn.ordering import canonical_rank
from setlearn.savable import savable
from setlearn.scorers.label_targets import LabelTargets
from setlearn.set_reading import only_column, read_label_sets, read_partly_known

__all__ = ["Kind", "LabelSpace"]

Kind: TypeAlias = Literal["classes", "sets", "indicator", "sparse"]


@savable(names=("classes",))
@dataclass(frozen=True, slots=True, eq=False)
class LabelSpace:
    """The labels of a training set, and the kind of container that its sets come in.

    ``kind`` is "sets" (iterables of hashable labels), "indicator", "sparse", or "classes" for a
    plain 1-d y with one class per sample.
    """

    kind: Kind
    classes: NDArray[Any]
    dtype: np.dtype[Any]
    container: type

    @classmethod
    def read(cls, Y: Any) -> tuple[LabelSpace, LabelTargets]:
        """Learn the labels from Y, and return Y as indicators over them."""
        if isinstance(Y, Iterator):
            Y = list(Y)  # what follows looks at it more than once
        Y = only_column(Y)
        if _is_plain(Y):
            return _read_classes(Y)
        if are_indicator_rows(Y):
            Y = np.asarray(Y)
        read, unknown = read_partly_known(Y, "Y")
        if isinstance(read, list):
            return _read_sets(read)
        names = getattr(Y, "columns", np.arange(read.shape[1]))  # of a DataFrame
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise DataError(f"y has several columns called {twice[0]!r}; rename all but one")
        kind: Kind = "sparse" if sparse.issparse(Y) else "indicator"
        dtype = Y.dtype if hasattr(Y, "dtype") else np.asarray(Y).dtype
        if dtype.kind == "O":  # a table whose columns differ in kind
            dtype = np.dtype(np.int64)
        space = cls(kind, as_label_array(list(names)), dtype, type(Y))
        return space, LabelTargets(read, unknown)

    @property
    def one_per_sample(self) -> bool:
        """Whether each sample has one class, which is no set."""
        return self.kind == "classes"

    @property
    def is_dense(self) -> bool:
        """Whether answers are dense matrices."""
        return self.kind == "indicator"

    @property
    def has_columns(self) -> bool:
        """Whether the labels are the columns of a matrix, dense or sparse."""
        return self.kind in ("indicator", "sparse")

    def encode(self, sets: Any, unknown: Unknown, *, name: str = "known") -> sparse.csr_array:
        """Sets of labels as an indicator.

        Parameters
        ----------
        sets : iterable of sets, or an indicator
        unknown : {"error", "ignore"}
            What to do with labels that were never seen in training.
        name : str, default="known"
            The argument that the sets come from, for messages.

        Returns
        -------
        csr_array of bool, shape (n, labels)

        Raises
        ------
        DataError
            If an indicator has another number of columns, or there are unseen labels and
            ``unknown`` is "error".
        """
        read = read_label_sets(self.in_own_kind(sets), name)
        if not isinstance(read, list):
            if read.shape[1] != len(self.classes):
                raise DataError(
                    f"{name} has {read.shape[1]} columns but there are {len(self.classes)} labels; "
                    "pass one column per label, in the order of classes_"
                )
            return read
        column = {label: k for k, label in enumerate(self.classes.tolist())}
        unseen = Counter(label for labels in read for label in labels if label not in column)
        if unseen:
            _report_unseen(unseen, unknown, name)
        rows = [[column[label] for label in labels if label in column] for labels in read]
        return indicator_of_rows(rows, len(self.classes))

    def targets(self, y: Any) -> LabelTargets:
        """True sets over these labels; entries of an indicator may be unknown (NaN).

        Parameters
        ----------
        y : iterable of sets, or an indicator

        Returns
        -------
        LabelTargets

        Raises
        ------
        DataError
            As `encode` does for labels that were never seen in training.
        """
        read, unknown = read_partly_known(self.in_own_kind(y), "y")
        return LabelTargets(self.encode(read, "error", name="y"), unknown)

    def in_own_kind(self, Y: Any) -> Any:
        """Y, but lists of 0 and 1 as what ``fit`` was given: rows of a matrix, or sets.

        The columns of a table are put in the order of the labels, if these are names.
        """
        if hasattr(Y, "columns") and self.has_columns:
            return self._aligned(Y)
        if not are_indicator_rows(Y):
            return Y
        if self.has_columns and len(Y[0]) == len(self.classes):
            return np.asarray(Y)
        return [frozenset(labels) for labels in Y]

    def _aligned(self, table: Any) -> Any:
        """A table whose columns are labels, with the columns in the order of ``classes``."""
        names, labels = list(table.columns), self.classes.tolist()
        if names == labels or labels == list(range(len(labels))):  # fitted without names
            return table
        if set(names) != set(labels) or len(names) != len(labels):
            raise DataError(
                f"the columns of a table of labels must be those of fit, {join_names(labels)}, got "
                f"{join_names(names)}; pass the same columns, in any order"
            )
        return table[labels]

    def answer(self, kept: sparse.csr_array) -> Any:
        """Kept labels (n, labels) in the kind of container that ``fit`` was given."""
        if self.one_per_sample:
            return self.classes[kept.indices]  # one per row
        if self.kind == "sparse":
            return self.container(kept.astype(self.dtype))
        if self.is_dense:
            return kept.toarray().astype(self.dtype)
        return self.answer_sets(kept)

    def by_spelling(self, sets: Any) -> list[frozenset[Hashable]]:
        """The labels that elements stand for: by their spelling, where they are no labels.

        An indicator of the labels is taken as the sets it stands for.

        Examples
        --------
        >>> space, _ = LabelSpace.read([{3, 5}, {5}])
        >>> sorted(space.by_spelling([["3", 5]])[0])
        [3, 5]
        """
        if getattr(sets, "ndim", 1) == 2:
            return self.answer_sets(sparse.csr_array(sets != 0))
        labels = self.classes.tolist()
        known, spelled = set(labels), {str(label): label for label in labels}
        return [
            frozenset(e if e in known else spelled.get(str(e), e) for e in elements)
            for elements in sets
        ]

    def answer_sets(self, kept: sparse.csr_array) -> list[frozenset[Hashable]]:
        """Kept labels as frozensets, whatever kind ``fit`` was given."""
        chosen = self.classes.astype(object)[kept.indices].tolist()
        return [frozenset(chosen[a:b]) for a, b in pairwise(kept.indptr.tolist())]


def as_label_array(labels: list[Hashable]) -> NDArray[Any]:
    """A 1-d array that gives the labels back unchanged, tuples and mixed kinds too."""
    labels = [_python_value(label) for label in labels]
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        array = np.array(labels)
        if array.tolist() == labels:  # an integer past 64 bits would come back as a float
            return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _python_value(label: Hashable) -> Hashable:
    """A NumPy scalar as the Python value that equals it, if there is one."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if hash(plain) == hash(label) else label


def _is_plain(Y: Any) -> bool:
    """Whether Y is an ordinary 1-d y (or one column): one class per sample, not a set."""
    if sparse.issparse(Y) or isinstance(Y, str | bytes | set | frozenset | dict):
        return False
    if hasattr(Y, "__array__"):
        is_table = hasattr(Y, "columns")
        Y = np.asarray(Y)
        if Y.ndim == 2 and Y.shape[1] == 1:
            return not (is_table and all(v in (0, 1) or is_missing(v) for v in Y.flat))
        if Y.ndim != 1 or len(Y) == 0:
            return False
        return Y.dtype.kind != "O" or not any(map(_is_collection, Y))
    return isinstance(Y, list | tuple) and len(Y) > 0 and not any(map(_is_collection, Y))


def _is_collection(value: Any) -> bool:
    return isinstance(value, Set | list | tuple | dict) or np.ndim(value) > 0


def _read_classes(Y: Any) -> tuple[LabelSpace, LabelTargets]:
    y = column_or_1d(np.asarray(Y), warn=True)
    _check_one_kind(Y)
    if y.dtype.kind == "O" and not all(isinstance(v, str) for v in y):
        y = np.asarray(y.tolist())
    try:
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity; leave those samples out")
        check_classification_targets(y)
    except ValueError as error:
        raise DataError(str(error)) from error
    classes, ids = np.unique(y, return_inverse=True)
    refuse_joined_classes(classes.tolist())
    if len(classes) < 2:
        raise DataError(
            f"y holds one class only ({classes.tolist()[0]!r}), so there is nothing to tell apart; "
            "pass samples of at least two classes"
        )
    right = indicator_of_rows([[int(k)] for k in ids], len(classes))
    return LabelSpace("classes", classes, classes.dtype, np.ndarray), LabelTargets(right)


def _check_one_kind(Y: Any) -> None:
    """Raise where NumPy would turn numbers among strings into strings without a word."""
    values = Y if isinstance(Y, list | tuple) else np.asarray(Y).ravel().tolist()
    kinds = {isinstance(value, str) for value in values}
    missing = [k for k, v in enumerate(values) if not isinstance(v, str) and is_missing(v)]
    if len(kinds) > 1 and missing:
        raise KindError(
            f"y mixes strings with missing values, such as {values[missing[0]]!r} in sample "
            f"{missing[0]}; pass sets such as {{'a'}}, and write set() for no labels"
        )
    if len(kinds) > 1:
        raise KindError(
            f"y mixes strings with other values, such as {values[0]!r} and "
            f"{next(v for v in values if isinstance(v, str) != isinstance(values[0], str))!r}; "
            "pass classes of one kind, or sets such as {1} and {'a'}, which may hold both"
        )


def _read_sets(sets: list[frozenset[Hashable]]) -> tuple[LabelSpace, LabelTargets]:
    labels = sorted(map(_python_value, set().union(*sets)), key=canonical_rank)
    check_labels_of_sets(labels, sets)
    right = indicator_of_sets(sets, labels)
    space = LabelSpace("sets", as_label_array(labels), np.dtype(object), list)
    return space, LabelTargets(right)


def _report_unseen(unseen: Counter[Hashable], unknown: Unknown, name: str) -> None:
    shown = ", ".join(repr(label) for label, _ in unseen.most_common(5))
    more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
    problem = f"{unseen.total()} element(s) of {name} were never seen in training: {shown}{more}"
    if unknown == "error":
        if name != "known":
            raise DataError(f"{problem}; leave them out")
        raise DataError(
            f'{problem}; leave them out, or set unknown="ignore"', advice={"unknown": "ignore"}
        )
    warn_user(UnknownLabelWarning(f"{problem}; they were ignored"))
