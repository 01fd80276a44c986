"""Labels that imply others: a sample with a label has all its ancestors too."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from setlearn.errors import DataError, KindError
from setlearn.estimators.label_space import LabelSpace, as_label_array
from setlearn.missing_values import is_missing
from setlearn.nodes import IntArray, Nodes
from setlearn.ordering import canonical_rank
from setlearn.savable import savable
from setlearn.scorers.label_targets import LabelTargets
from setlearn.trie import concatenated_ranges

__all__ = ["Hierarchy", "given_parents", "parents_of"]

STEP = 1e-9
"""The share by which a label scores less than its parent at least, so that parents come first."""


def parents_of(hierarchy: Any) -> dict[Hashable, frozenset[Hashable]]:
    """Read a hierarchy as users write it.

    Parameters
    ----------
    hierarchy : mapping or pandas Series
        From each label to its parent or, as a set, list or tuple, to several parents. Missing
        values (None, NaN) stand for no parent. Among labels that are tuples, a tuple is one parent.

    Returns
    -------
    dict
        From each label that has parents to their set.

    Raises
    ------
    KindError
        If it is no mapping.
    DataError
        If a label is its own ancestor.

    Examples
    --------
    >>> parents_of({"poodle": "dog", "dog": ["pet", "mammal"]})["poodle"]
    frozenset({'dog'})
    """
    parents = given_parents(hierarchy)
    for label in parents:
        _ancestors(label, parents)  # to find cycles
    return parents


def given_parents(hierarchy: Any) -> dict[Hashable, frozenset[Hashable]]:
    """As `parents_of`, but without looking for cycles, which takes most of the time."""
    if hasattr(hierarchy, "to_dict"):
        hierarchy = hierarchy.to_dict()
    if not isinstance(hierarchy, Mapping):
        raise KindError(
            f"hierarchy must be a mapping from labels to their parents, got {hierarchy!r}; pass "
            'for instance {"poodle": "dog", "dog": "animal"}'
        )
    return {label: _parents(label, given) for label, given in hierarchy.items()}


def _parents(label: Hashable, given: Any) -> frozenset[Hashable]:
    """What a hierarchy gives as the parents of a label; None and NaN stand for no parent."""
    # Among labels that are tuples, a tuple is one of them.
    several = (set, frozenset, list) if isinstance(label, tuple) else (set, frozenset, list, tuple)
    return frozenset(
        parent
        for parent in (given if isinstance(given, several) else [given])
        if not is_missing(parent)
    )


def _ancestors(
    label: Hashable, parents: Mapping[Hashable, frozenset[Hashable]]
) -> frozenset[Hashable]:
    """All ancestors of a label; an error if it is one of them."""
    found: set[Hashable] = set()
    waiting = list(parents.get(label, ()))
    while waiting:
        ancestor = waiting.pop()
        if ancestor not in found:
            found.add(ancestor)
            waiting += parents.get(ancestor, ())
    if label in found:
        raise DataError(
            f"the hierarchy makes {label!r} an ancestor of itself; remove one of the steps from "
            "child to parent that lead back to it"
        )
    return frozenset(found)


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """Which labels imply which others."""

    implied: sparse.csr_array  # (labels, labels) bool: the ancestors of each label, and itself

    @classmethod
    def read(
        cls, hierarchy: Any, space: LabelSpace, targets: LabelTargets
    ) -> tuple[Self, LabelSpace, LabelTargets]:
        """Read a hierarchy over the labels of the targets, and close their sets upwards.

        Parameters
        ----------
        hierarchy : mapping
            As `parents_of` takes it.
        space : LabelSpace
        targets : LabelTargets

        Returns
        -------
        hierarchy : Hierarchy
        space : LabelSpace
            With the ancestors that no set named.
        targets : LabelTargets
            An entry that follows from others is known.

        Raises
        ------
        DataError
            If an ancestor is no column of an indicator, or no label of the targets has a parent.
        """
        parents = parents_of(hierarchy)
        _check_names(parents, space)
        space, targets = _with_ancestors(parents, space, targets)
        labels = space.classes.tolist()
        column = {label: k for k, label in enumerate(labels)}
        pairs = [
            (k, column[other])
            for k, label in enumerate(labels)
            for other in {label, *_ancestors(label, parents)}
        ]
        rows, columns = np.array(pairs).T
        shape = (len(labels), len(labels))
        read = cls(sparse.csr_array((np.ones(len(pairs), bool), (rows, columns)), shape=shape))
        return read, space, read.closed_targets(targets)

    def closed(self, kept: sparse.csr_array) -> sparse.csr_array:
        """Sets (n, labels) with the ancestors of all their labels."""
        return sparse.csr_array((kept.astype(np.int32) @ self.implied.astype(np.int32)) > 0)

    def consistent(self, nodes: Nodes) -> Nodes:
        """Scores that are never higher than those of an ancestor.

        They lie halfway between raising each label to its highest descendant and lowering it to
        its lowest ancestor.

        Parameters
        ----------
        nodes : Nodes

        Returns
        -------
        Nodes
            Where labels are listed, with the ancestors of all of them.
        """
        if nodes.choices is not None:
            return self._consistent_lists(nodes)
        scores = nodes.probabilities
        # What is not available says nothing about others.
        low, high = nodes.masked(scores, -np.inf), nodes.masked(scores, np.inf)
        raised, lowered = low.copy(), high.copy()
        indptr, indices = self.implied.indptr, self.implied.indices
        for label in range(len(indptr) - 1):
            for ancestor in indices[indptr[label] : indptr[label + 1]].tolist():
                np.maximum(raised[:, ancestor], low[:, label], out=raised[:, ancestor])
                np.minimum(lowered[:, label], high[:, ancestor], out=lowered[:, label])
        if nodes.available is not None:
            raised, lowered = (np.where(nodes.available, part, 0.0) for part in (raised, lowered))
        depth = np.diff(indptr) - 1
        middle = (raised + lowered) / 2 * (1 - STEP) ** depth
        return replace(nodes, probabilities=middle.astype(scores.dtype))

    def _consistent_lists(self, nodes: Nodes) -> Nodes:
        """As `consistent`, for choice points that list their labels.

        An ancestor that is not listed is as probable as its most probable descendant.
        """
        n_labels = self.implied.shape[0]
        listed = nodes.as_matrix(n_labels)
        row = np.repeat(np.arange(len(nodes)), np.diff(listed.indptr))
        label, ancestor = self._pairs(listed.indices)
        keys, place = np.unique(row[label] * n_labels + ancestor, return_inverse=True)
        own = np.zeros(len(keys))
        np.maximum.at(own, place, listed.data[label])
        own[np.searchsorted(keys, row * n_labels + listed.indices)] = listed.data
        row, labels = keys // n_labels, keys % n_labels
        label, ancestor = self._pairs(labels)
        place = np.searchsorted(keys, row[label] * n_labels + ancestor)
        raised, lowered = own.copy(), own.copy()
        np.maximum.at(raised, place, own[label])
        np.minimum.at(lowered, label, own[place])
        depth = np.diff(self.implied.indptr)[labels] - 1
        middle = (raised + lowered) / 2 * (1 - STEP) ** depth
        bounds = np.searchsorted(row, np.arange(len(nodes) + 1))
        scores = sparse.csr_array((middle, labels, bounds), shape=listed.shape)
        known = None if nodes.known is None else nodes.marked(nodes.known, n_labels)
        return replace(Nodes.listed(scores, known), sample=nodes.sample)

    def _pairs(self, labels: IntArray) -> tuple[IntArray, IntArray]:
        """Each of the labels with each of its ancestors, and with itself.

        Returns
        -------
        place : array of int
            The place of the label in ``labels``.
        ancestor : array of int
        """
        bounds = self.implied.indptr
        number, place = concatenated_ranges(bounds[labels], bounds[labels + 1])
        return place, self.implied.indices[number]

    def closed_targets(self, targets: LabelTargets) -> LabelTargets:
        """Targets with the ancestors of all labels; an entry that follows from others is known."""
        right = self.closed(targets.right)
        if targets.unknown is None:
            return replace(targets, right=right)
        # Who lacks a label lacks all that imply it.
        known_not = sparse.csr_array(np.logical_not((targets.right + targets.unknown).toarray()))
        excluded = (known_not.astype(np.int32) @ self.implied.T.astype(np.int32)) > 0
        unknown = sparse.csr_array(targets.unknown > (right + sparse.csr_array(excluded)))
        unknown.eliminate_zeros()
        return LabelTargets(right, unknown if unknown.nnz else None)


def _check_names(parents: Mapping[Hashable, frozenset[Hashable]], space: LabelSpace) -> None:
    labels = space.classes.tolist()
    if parents and not any(label in parents for label in labels):
        what = "columns" if space.has_columns else "labels"
        raise DataError(
            f"no label of y has a parent in the hierarchy: its keys are such as "
            f"{next(iter(parents))!r}, the {what} of y such as {labels[0]!r}; use the names of the "
            "labels as keys"
        )


def _with_ancestors(
    parents: Mapping[Hashable, frozenset[Hashable]], space: LabelSpace, targets: LabelTargets
) -> tuple[LabelSpace, LabelTargets]:
    """Add columns for ancestors that no set named."""
    labels = space.classes.tolist()
    known = set(labels)
    missing = {a for label in labels for a in _ancestors(label, parents)} - known
    if not missing:
        return space, targets
    if space.has_columns:
        example = next(iter(missing))
        raise DataError(
            f"the hierarchy names the ancestor {example!r}, which is no column of y; add a column "
            "for it, or pass sets of labels"
        )
    every = sorted([*labels, *missing], key=canonical_rank)
    place = {label: k for k, label in enumerate(every)}
    moved = np.array([place[label] for label in labels])
    right = targets.right
    shape = (right.shape[0], len(every))
    right = sparse.csr_array((right.data, moved[right.indices], right.indptr), shape=shape)
    right.sort_indices()
    return replace(space, classes=as_label_array(every)), replace(targets, right=right)
