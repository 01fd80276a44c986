"""Sets in other columns than those of training: how they are read there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records.column_names import listed_names, resolve_names
from setlearn.records.targets import TargetReader, as_flag

__all__ = ["other_targets", "spelled_as_labels"]


def spelled_as_labels(
    sets: Iterable[Iterable[Hashable]], labels: Sequence[Hashable]
) -> list[frozenset[Hashable]]:
    """The labels that elements stand for: by their spelling, where they are no labels themselves.

    Examples
    --------
    >>> sorted(spelled_as_labels([["3", 5]], [3, 5])[0])
    [3, 5]
    """
    known = set(labels)
    by_spelling = {str(label): label for label in labels}
    return [
        frozenset(e if e in known else by_spelling.get(str(e), e) for e in elements)
        for elements in sets
    ]


def other_targets(
    usual: TargetReader,
    labels: Sequence[Hashable],
    row: Row,
    names: Sequence[str] | None,
    separator: str | None,
) -> TargetReader:
    """How to read the sets of rows like this one.

    Parameters
    ----------
    usual : TargetReader
        How they were read in training, which holds where nothing else is said.
    labels : the labels of the model, in their order; none if elements are sequences
    row : Row
    names : names or patterns, or None for the columns of training
        Several columns are one a label.
    separator : what stands between the elements of a text; "" keeps texts whole

    Examples
    --------
    >>> usual = TargetReader(("tags",), ";", "labels")
    >>> row = Row("", {"is_a": 1, "is_b": 0})
    >>> other_targets(usual, [0, 1], row, ["is_*"], None).read(row)
    frozenset({0})
    """
    columns = tuple(resolve_names(names, row.record)) if names else usual.columns
    if names:
        reads_flags = len(columns) > 1 or _is_flag(row, columns[0], names, labels)
    else:
        reads_flags = usual.reads_flags
    if not reads_flags:
        between = usual.separator if separator is None else separator or None
        return TargetReader(columns, between, usual.task)
    if separator is not None:
        raise ParameterError(
            f"a separator is for a column that holds sets, but {listed_names(columns)} are one a "
            f"label, got {separator!r}; leave it out"
        )
    if usual.task == "sequences":
        raise ParameterError(
            f"one column a label cannot hold sequences, got {listed_names(columns)}; "
            "name the column that holds the sets"
        )
    return replace(usual, columns=columns, labels=_labels_of(columns, labels)) if names else usual


def _is_flag(row: Row, name: str, names: Sequence[str], labels: Sequence[Hashable]) -> bool:
    """Whether the only column is one label's: it says yes or no, and is called so or matched."""
    is_meant = name not in names or name in map(str, labels)
    return bool(labels) and is_meant and as_flag(row.record[name]) is not None


def _labels_of(columns: Sequence[str], labels: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """The label of each column, by its name or, if labels are numbers from 0 on, by its place."""
    by_name = {str(label): label for label in labels}
    lacking = [name for name in by_name if name not in columns]
    if not lacking:
        return tuple(by_name.get(name, name) for name in columns)
    if len(lacking) == len(columns) and list(labels) == list(range(len(columns))):
        return tuple(labels)
    raise DataError(
        f"with one column a label, each label of the model needs a column, but there is none for "
        f"{listed_names(lacking)} among {listed_names(columns)}; name them all, or the column "
        "that holds the sets"
    )
