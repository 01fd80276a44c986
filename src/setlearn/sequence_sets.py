"""Reads the ways in which users write sets of sequences."""

from __future__ import annotations

from collections.abc import Hashable, Set

from scipy import sparse

from setlearn.errors import KindError
from setlearn.label_sets import LabelSets, Samples, frozen, read_samples, sample_name

__all__ = ["check_one_kind", "read_sets_of_sequences"]


def read_sets_of_sequences(Y: Samples, name: str) -> LabelSets:
    """Read sets of strings, of tuples (lists count as such), or of frozensets of tokens."""
    if sparse.issparse(Y) or getattr(Y, "ndim", 1) != 1:
        raise KindError(
            f"{name} is a matrix, which holds no sequences; give a list of sets of sequences"
        )
    sets = []
    for index, sample in enumerate(read_samples(Y, name)):
        where = sample_name(index, name)
        sets.append(frozen([_as_sequence(element, where) for element in sample], where))
    return sets


def check_one_kind(sets: LabelSets, name: str) -> type | None:
    """The kind of all sequences: str, tuple or frozenset; None if there is no sequence at all."""
    kind: type | None = None
    for index, elements in enumerate(sets):
        for element in elements:
            if kind is not None and type(element) is not kind:
                raise KindError(
                    f"sequences must be of one kind throughout {name}, but after "
                    f"{kind.__name__}s sample {index} holds the {type(element).__name__} "
                    f"{element!r}; turn them all into tuples, say"
                )
            kind = type(element)
    return kind


def _as_sequence(element: object, where: str) -> Hashable:
    if isinstance(element, str):
        return str(element)
    if isinstance(element, list | tuple):
        return tuple(element)
    if isinstance(element, Set):
        return frozenset(element)
    raise KindError(
        f"{where} holds the {type(element).__name__} {element!r}, which is no sequence; "
        f"give strings, tuples of tokens, or frozensets of tokens"
    )
