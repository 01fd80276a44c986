"""Forests of extremely randomised trees on binary features, in a few small arrays.

scikit-learn grows the trees. Its own trees keep the counts of all classes at every node, which
takes hundreds of megabytes where there are many trees and classes. Here only leaves have classes,
and a leaf with a single class takes no memory of its own.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.tree import ExtraTreeClassifier

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable
from setlearn.trie import concatenated_ranges

__all__ = ["BinaryForests", "ForestBuilder"]

LARGEST_SEED = 2**31 - 1

FEWEST_ROWS = 2
"""A feature that fewer rows have is not used."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class BinaryForests:
    """Several forests that read the same features, each with the same number of trees.

    The nodes of a tree are in depth-first order, so rows that lack the feature of a node go on to
    the next one.
    """

    root: IntArray  # (n_forests, n_trees)
    feature: IntArray  # (n_nodes,) that is tested, or -1 - k for a leaf with distribution k
    child: IntArray  # (n_nodes,) where rows go that have the feature
    first: IntArray  # (n_distributions + 1,) where each distribution begins
    label: IntArray  # the classes of all distributions
    share: FloatArray  # their probabilities

    def predict(
        self, forest: IntArray, rows: IntArray, column: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Average the distributions that the trees of a forest give to each row.

        Parameters
        ----------
        forest : array of int, shape (n,)
            The forest that each row is for.
        rows : array of int, shape (n, n_columns)
            The features of each row, one or none (-1) per column.
        column : array of int, shape (n_features,)
            The column of each feature.

        Returns
        -------
        row, label, probability : arrays of shape (m,)
            The classes of each row with a positive probability, by row and class.
        """
        n_trees = self.root.shape[1]
        node = self.root[forest].ravel()  # (n * n_trees,)
        row = np.repeat(np.arange(len(rows)), n_trees)
        inner = np.arange(len(node))
        while len(inner):
            feature = self.feature[node[inner]]
            inner = inner[feature >= 0]
            feature = feature[feature >= 0]
            at = node[inner]
            has = rows[row[inner], column[feature]] == feature
            node[inner] = np.where(has, self.child[at], at + 1)
        leaf = -1 - self.feature[node]
        entry, of_leaf = concatenated_ranges(self.first[leaf], self.first[leaf + 1])
        width = int(self.label.max(initial=0)) + 1
        key, place = np.unique(row[of_leaf] * width + self.label[entry], return_inverse=True)
        probability = np.bincount(place, self.share[entry], minlength=len(key)) / n_trees
        return key // width, key % width, probability


class ForestBuilder:
    """Grows forests one after the other, and keeps what `BinaryForests` needs of them.

    Parameters
    ----------
    n_trees : int
        Trees per forest.
    max_features : float
        The share of features that are tried at each node.
    """

    def __init__(self, n_trees: int, max_features: float) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.root: list[list[int]] = []
        self.parts: list[tuple[IntArray, IntArray]] = []
        self.n_nodes = 0
        self.numbers: dict[tuple[tuple[int, ...], tuple[float, ...]], int] = {}

    def add(self, rows: IntArray, labels: IntArray, rng: np.random.RandomState) -> None:
        """Grow a forest.

        Parameters
        ----------
        rows : array of int, shape (n, n_columns)
            The features of each row.
        labels : array of int, shape (n,)
            The class of each row.
        rng : RandomState
        """
        # Equal rows with equal labels are counted rather than repeated.
        both, count = np.unique(np.column_stack([labels, rows]), axis=0, return_counts=True)
        features, has = self._one_hot(both[:, 1:])
        classes, targets = np.unique(both[:, 0], return_inverse=True)
        weight = count.astype(np.float64)
        self.root.append([])
        with warnings.catch_warnings():
            # Most classes may be rare. scikit-learn wonders whether they are numbers.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            for seed in rng.randint(LARGEST_SEED, size=self.n_trees):
                tree = ExtraTreeClassifier(max_features=self.max_features, random_state=int(seed))
                tree.fit(has, targets, sample_weight=weight, check_input=False)
                self._append(tree.tree_, features, classes)

    def forests(self) -> BinaryForests:
        """All forests so far."""
        feature, child = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        sizes = [len(labels) for labels, _ in self.numbers]
        return BinaryForests(
            np.array(self.root, dtype=np.int32),
            feature,
            child,
            np.cumsum([0, *sizes], dtype=np.int32),
            np.array([c for labels, _ in self.numbers for c in labels], dtype=np.int32),
            np.array([p for _, shares in self.numbers for p in shares], dtype=np.float32),
        )

    def _one_hot(self, rows: IntArray) -> tuple[IntArray, sparse.csc_matrix]:
        """The features that some rows have and others lack, and which rows have them."""
        features, count = np.unique(rows[rows >= 0], return_counts=True)
        features = features[(count >= FEWEST_ROWS) & (count < len(rows))]
        if len(features) == 0:
            return np.array([-1]), sparse.csc_matrix((len(rows), 1), dtype=np.float32)
        place = np.searchsorted(features, rows).clip(max=len(features) - 1)
        row, column = np.nonzero(features[place] == rows)
        shape = (len(rows), len(features))
        ones = np.ones(len(row), dtype=np.float32)
        has = sparse.csc_matrix((ones, (row, place[row, column])), shape=shape)
        has.sort_indices()
        return features, has

    def _append(self, tree: Any, features: IntArray, classes: IntArray) -> None:
        """Add the nodes of a tree of scikit-learn behind those of the trees before."""
        is_leaf = tree.children_left < 0
        feature = features[np.where(is_leaf, 0, tree.feature)]
        child = np.where(is_leaf, 0, tree.children_right + self.n_nodes)
        counts = tree.value[is_leaf, 0]  # (n_leaves, n_classes)
        leaf, label = np.nonzero(counts)
        share = (counts / counts.sum(axis=1, keepdims=True))[leaf, label]
        begin = np.searchsorted(leaf, np.arange(len(counts) + 1)).tolist()
        labels, shares = classes[label].tolist(), share.tolist()
        numbers = [
            self.numbers.setdefault((tuple(labels[a:b]), tuple(shares[a:b])), len(self.numbers))
            for a, b in pairwise(begin)
        ]
        feature[is_leaf] = -1 - np.array(numbers)
        self.root[-1].append(self.n_nodes)
        self.parts.append((feature.astype(np.int32), child.astype(np.int32)))
        self.n_nodes += len(feature)
