"""Finds columns of a table of inputs that hold the targets."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from setlearn.errors import SetlearnWarning, warn_user
from setlearn.estimators.label_space import LabelSpace
from setlearn.features.cells import as_number
from setlearn.features.columns import join_names
from setlearn.missing_values import is_missing
from setlearn.scorers.label_targets import LabelTargets
from setlearn.set_reading import SEPARATORS

__all__ = ["warn_of_leaked_columns", "warn_of_leaked_targets"]

AROUND_LABELS = " '\"[](){}"
"""What stands around labels in lists that were written as texts."""


def warn_of_leaked_targets(X: Any, space: LabelSpace, targets: LabelTargets) -> None:
    """Warn if a column of X equals the targets in every row.

    That is a column of lists or joined texts that hold the labels of each sample, or one that has
    the name of a label and says of each sample, by 1 or 0, whether it has this label.

    Parameters
    ----------
    X : inputs
        What is no DataFrame has no columns that could be dropped by their names.
    space : LabelSpace
    targets : LabelTargets
    """
    if hasattr(X, "columns"):
        names = dict.fromkeys(X.columns)
        # Several columns may have one name.
        columns = {name: X[name] for name in names if getattr(X[name], "ndim", 1) == 1}
        warn_of_leaked_columns(columns, space, targets)


def warn_of_leaked_columns(
    columns: Mapping[Any, Iterable[Any]], space: LabelSpace, targets: LabelTargets
) -> None:
    """Warn if one of these columns equals the targets in every row.

    Parameters
    ----------
    columns : mapping of names to values
    space : LabelSpace
    targets : LabelTargets
    """
    label_number = {label: k for k, label in enumerate(space.classes.tolist())}
    leaked = []
    for name, column in columns.items():
        # Numbers as names come from arrays without names, so that they mean nothing.
        label = label_number.get(name) if isinstance(name, str) else None
        if (label is not None and _is_indicator(column, label, targets)) or any(
            _holds_sets(column, space, targets, separator) for separator in (*SEPARATORS, " ")
        ):
            leaked.append(repr(name))
    if leaked:
        one = len(leaked) == 1
        what, it = ("a column", "it") if one else (f"{len(leaked)} columns", "them")
        warn_user(
            SetlearnWarning(
                f"the inputs have {what} with the targets themselves: {join_names(leaked)}; drop "
                f"{it}, or the model will only copy {it}, and all its scores will be too good",
                advice={"kinds": None},
            )
        )


def _is_indicator(column: Iterable[Any], label: int, targets: LabelTargets) -> bool:
    """Whether a column is 1 or True where samples have a label, else 0 or False."""
    has_label = targets.right[:, [label]].toarray().ravel()
    known = np.ones(len(has_label), dtype=bool)
    if targets.unknown is not None:
        known = ~targets.unknown[:, [label]].toarray().ravel()
    numbers = np.array([as_number(value) for value in column], dtype=object)
    return bool(np.all(numbers[known] == has_label[known]))


def _holds_sets(
    column: Iterable[Any], space: LabelSpace, targets: LabelTargets, separator: str
) -> bool:
    """Whether all cells hold the labels of their samples; most columns differ in the first row."""
    rows = zip(column, _label_texts(space, targets), strict=True)
    return all(_texts_in(cell, separator) == labels for cell, labels in rows)


def _label_texts(space: LabelSpace, targets: LabelTargets) -> Iterator[frozenset[str]]:
    texts = [_bare(label) for label in space.classes.tolist()]
    for start, end in pairwise(targets.right.indptr):
        yield frozenset(texts[k] for k in targets.right.indices[start:end])


def _texts_in(cell: Any, separator: str) -> frozenset[str] | None:
    """The labels in a cell as texts; None if it is neither a text nor a collection."""
    if is_missing(cell):
        return frozenset()
    if isinstance(cell, str):
        return frozenset(map(_bare, cell.split(separator))) - {""}
    return frozenset(map(_bare, cell)) if isinstance(cell, Collection) else None


def _bare(label: Hashable) -> str:
    return str(label).strip(AROUND_LABELS)
