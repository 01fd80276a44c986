"""Decision trees as a few arrays: all that is needed to find the leaf of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["PackedTrees", "ScikitTrees", "Trees"]

CHUNK_LANES = 300_000
"""Pairs of a row and a tree that are followed together."""


class Trees(Protocol):
    """Several trees whose nodes are numbered from 0 on, tree after tree."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        ...

    def leaves(self, rows: FloatArray) -> IntArray:
        """The leaf of each row in each tree, (n, trees), for float32 rows (n, features)."""
        ...


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class PackedTrees:
    """Fitted trees of scikit-learn without their values, which take most of their memory.

    A row goes to the left child, the next node, if its feature is at most the threshold, and else
    to the right one. A leaf has itself as its right child.
    """

    first: IntArray  # (trees + 1,) the root of each tree, and the number of all nodes
    right: IntArray  # (nodes,)
    feature: IntArray  # (nodes,), 0 in leaves
    threshold: FloatArray  # (nodes,) float32
    gaps_go_left: BoolArray  # (nodes,) where a missing value goes

    @classmethod
    def of(cls, tree: Any) -> Self:
        """Pack one tree: scikit-learn's `Tree`, the attribute ``tree_`` of its decision trees."""
        node = np.arange(tree.node_count, dtype=np.int32)
        is_leaf = tree.children_left < 0
        # Trees that are grown depth first have the left child next to its parent.
        assert (tree.children_left[~is_leaf] == node[~is_leaf] + 1).all()
        return cls(
            np.array([0, tree.node_count]),
            np.where(is_leaf, node, tree.children_right).astype(np.int32),
            np.where(is_leaf, 0, tree.feature).astype(np.int32),
            np.where(is_leaf, np.float32(0), _at_most(tree.threshold)),
            tree.missing_go_to_left.astype(bool),
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All trees of several objects, in their order."""
        n_before = np.cumsum([0, *(part.n_nodes for part in parts)]).tolist()
        shifted = list(zip(parts, n_before, strict=False))
        return cls(
            np.concatenate([*(part.first[:-1] + n for part, n in shifted), n_before[-1:]]),
            np.concatenate([(part.right + n).astype(np.int32) for part, n in shifted]),
            np.concatenate([part.feature for part in parts]),
            np.concatenate([part.threshold for part in parts]),
            np.concatenate([part.gaps_go_left for part in parts]),
        )

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        return len(self.right)

    def leaves(self, rows: FloatArray) -> IntArray:
        """The leaf of each row in each tree, (n, trees), for float32 rows (n, features)."""
        n_trees = len(self.first) - 1
        size = max(1, CHUNK_LANES // max(1, n_trees))
        leaves = np.empty((len(rows), n_trees), dtype=np.int32)
        for start in range(0, len(rows), size):
            leaves[start : start + size] = self._leaves(rows[start : start + size])
        return leaves

    def _leaves(self, rows: FloatArray) -> IntArray:
        n, n_trees = len(rows), len(self.first) - 1
        leaves = np.tile(self.first[:-1].astype(np.int32), n)
        lane, node = np.arange(n * n_trees), leaves.copy()
        has_gaps = bool(np.isnan(rows).any())
        deepest = int(np.diff(self.first).max(initial=0))
        for _ in range(deepest):  # a damaged file might have a cycle
            right = self.right[node]
            inner = right != node
            if not inner.all():
                leaves[lane[~inner]] = node[~inner]
                lane, node, right = lane[inner], node[inner], right[inner]
            if len(lane) == 0:
                break
            value = rows[lane // n_trees, self.feature[node]]
            goes_left = value <= self.threshold[node]
            if has_gaps:
                goes_left |= np.isnan(value) & self.gaps_go_left[node]
            node = np.where(goes_left, node + 1, right)
        return leaves.reshape(n, n_trees)


@savable(extra=("forest", "first"))
@dataclass(frozen=True, slots=True, eq=False)
class ScikitTrees:
    """The trees of a forest of scikit-learn, as models of older versions have them."""

    forest: ExtraTreesRegressor
    first: IntArray  # (trees + 1,)

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        return int(self.first[-1])

    def leaves(self, rows: FloatArray) -> IntArray:
        """The leaf of each row in each tree, (n, trees), for float32 rows (n, features)."""
        trees = (tree.tree_ for tree in self.forest.estimators_)
        leaves: IntArray = np.column_stack([tree.apply(rows) for tree in trees]) + self.first[:-1]
        return leaves


def _at_most(threshold: FloatArray) -> FloatArray:
    """The largest float32 that is not above each threshold: float32 rows compare alike."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
