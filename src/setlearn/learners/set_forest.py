"""Extra trees whose leaves keep whole sets: they know which labels occur together."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import ExtraTreesRegressor

from setlearn.nodes import BoolArray, Examples, FloatArray
from setlearn.savable import savable

__all__ = ["SetForest"]

MOST_LEAVES = 5000
"""The approximate largest number of leaves per tree; with more rows, leaves hold several."""
MOST_TARGETS = 32
"""With more labels than this, trees are grown on this many random mixtures of them."""
MOST_EXAMPLES = 200
"""The largest number of different sets among a row's examples; those of most weight stay."""
CHUNK_ROWS = 4096


@savable()
class SetForest:
    """Extremely randomised trees for all labels together.

    A row falls into one leaf per tree. Each leaf knows the share of each *distinct set* among its
    training rows. The mean of these shares over all trees is the probability of each set, from
    which follow the probability of each label and which labels occur together.

    Parameters
    ----------
    n_trees : int
    random_state : int, RandomState or None
    min_leaf : int, default=1
        The smallest number of training rows in a leaf.
    max_features : float or "sqrt", default="sqrt"
        As in scikit-learn's ExtraTreesRegressor.
    """

    def __init__(
        self,
        n_trees: int,
        random_state: Any,
        *,
        min_leaf: int = 1,
        max_features: float | Literal["sqrt"] = "sqrt",
    ) -> None:
        self.n_trees = n_trees
        self.random_state = random_state
        self.min_leaf = min_leaf
        self.max_features = max_features

    def fit(self, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        """Grow the trees and count the sets in their leaves.

        Parameters
        ----------
        X : array of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n,)

        Returns
        -------
        self
        """
        n = len(Y)
        self.trees_ = ExtraTreesRegressor(
            self.n_trees,
            max_features=self.max_features,
            min_samples_leaf=max(self.min_leaf, -(-n // MOST_LEAVES)),
            random_state=self.random_state,
        )
        self.trees_.fit(X, _few_targets(Y), sample_weight=weight)
        sets, set_number = np.unique(Y, axis=0, return_inverse=True)
        self.sets_ = sparse.csr_array(sets)  # (m, labels)
        self.frequency_: FloatArray = np.average(Y, weights=weight, axis=0)
        self.first_leaf_ = np.cumsum([0, *(t.tree_.node_count for t in self.trees_.estimators_)])
        leaves = self._leaves(X)  # (n, all leaves)
        of_set = sparse.csr_array(
            (weight, (np.arange(n), set_number.ravel())), shape=(n, len(sets))
        )
        counts = sparse.csr_array(leaves.T @ of_set)
        total = np.maximum(counts.sum(axis=1), np.finfo(float).tiny)
        self.shares_ = sparse.csr_array(sparse.diags_array(1 / total) @ counts)  # (leaves, m)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels), strictly between 0 and 1."""
        parts = [self._marginals(self._weights(X[rows])) for rows in _chunks(X.shape[0])]
        return np.concatenate(parts)

    def examples(self, X: Any) -> Examples:
        """The distinct training sets, weighted by what they add to the labels' probabilities.

        A rule multiplies the weights by the labels' odds. So the odds of the forest's own
        marginals are divided out here, or they would count twice.
        """
        parts = [self._beyond_marginals(self._weights(X[rows])) for rows in _chunks(X.shape[0])]
        return Examples(self.sets_, sparse.csr_array(sparse.vstack(parts)))

    def _weights(self, X: Any) -> sparse.csr_array:
        """The probability of each distinct set, (n, m)."""
        return sparse.csr_array(self._leaves(X) @ self.shares_) * (1 / self.n_trees)

    def _leaves(self, X: Any) -> sparse.csr_array:
        """The leaves that each row falls into, one per tree, (n, all leaves)."""
        # Tree by tree: the forest's own method takes ten times as long for a single row.
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(X, dtype=np.float32)
        if np.isinf(rows).any():  # as scikit-learn's own method says
            raise ValueError("Input X contains infinity or a value too large for dtype('float32').")
        trees = (tree.tree_ for tree in self.trees_.estimators_)
        leaf = np.column_stack([tree.apply(rows) for tree in trees]) + self.first_leaf_[:-1]
        n = len(leaf)
        indptr = np.arange(0, n * self.n_trees + 1, self.n_trees)
        ones = np.ones(n * self.n_trees)
        return sparse.csr_array((ones, leaf.ravel(), indptr), shape=(n, self.first_leaf_[-1]))

    def _marginals(self, weights: sparse.csr_array) -> FloatArray:
        # As if there were one more tree that returns the frequencies: no probability is 0 or 1.
        mean = (weights @ self.sets_.astype(float)).toarray()
        marginals: FloatArray = (self.n_trees * mean + self.frequency_) / (self.n_trees + 1)
        return np.clip(marginals, 1e-6, 1 - 1e-6)

    def _beyond_marginals(self, weights: sparse.csr_array) -> sparse.csr_array:
        log_odds = logit(self._marginals(weights))
        weights = _largest(weights, MOST_EXAMPLES)
        row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        members = self.sets_[weights.indices]
        owner = np.repeat(np.arange(len(row)), np.diff(members.indptr))
        set_log_odds = np.bincount(owner, log_odds[row[owner], members.indices], minlength=len(row))
        # A factor per row changes nothing; this one keeps the numbers in range.
        least = np.full(weights.shape[0], np.inf)
        np.minimum.at(least, row, set_log_odds)
        weights.data = weights.data * np.exp(np.maximum(least[row] - set_log_odds, -600))
        return weights


def _few_targets(Y: BoolArray) -> FloatArray:
    """What trees are grown on: the labels or, if there are many, random mixtures of them."""
    n_labels = Y.shape[1]
    if n_labels == 1:
        return Y[:, 0].astype(float)
    if n_labels <= MOST_TARGETS:
        return Y.astype(float)
    mixtures = np.random.RandomState(0).standard_normal((n_labels, MOST_TARGETS))
    mixed: FloatArray = Y @ mixtures
    return mixed


def _largest(weights: sparse.csr_array, most: int) -> sparse.csr_array:
    """The largest entries of each row, at most that many; ties go to the earlier column."""
    weights.sort_indices()
    row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    order = np.lexsort((weights.indices, -weights.data, row))
    rank = np.arange(len(row)) - weights.indptr[row]
    kept = order[rank < most]
    return sparse.csr_array(
        (weights.data[kept], (row[kept], weights.indices[kept])), shape=weights.shape
    )


def _chunks(n_rows: int) -> list[slice]:
    return [slice(i, min(i + CHUNK_ROWS, n_rows)) for i in range(0, n_rows, CHUNK_ROWS)]
