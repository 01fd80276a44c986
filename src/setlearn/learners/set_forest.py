"""Extra trees whose leaves keep whole sets: they know which labels occur together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils import check_random_state

from setlearn.learners.input_range import check_range
from setlearn.learners.packed_trees import PackedTrees, ScikitTrees, Trees
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, members
from setlearn.progress import progress
from setlearn.savable import savable

__all__ = ["SetForest", "tree_targets"]

SHARE = 0.75
"""The share of the training rows that each tree is grown on."""
ROWS_FOR_TREE = 16_000
"""Of more rows, each tree is grown on three quarters of so many, drawn anew for each tree."""
MOST_LEAVES = 5000
"""The approximate largest number of leaves per tree; with more rows, leaves hold several."""
MOST_TARGETS = 32
"""With more labels than this, trees are grown on this many random mixtures of them."""
MOST_EXAMPLES = 200
"""The largest number of different sets among a row's examples; those of most weight stay."""
CHUNK_ROWS = 1024


@savable(parts={"trees_": (PackedTrees, ScikitTrees, None)})
class SetForest:
    """Extremely randomised trees for all labels together.

    A row falls into one leaf per tree. Each leaf knows the share of each *distinct set* among its
    training rows. The mean of these shares over all trees is the probability of each set, from
    which follow the probability of each label and which labels occur together.

    Each tree is grown on three quarters of the rows, or of 16,000 rows if there are more. So every
    training row is new to a quarter of the trees or more, and these say what the forest answers for
    rows that it has not seen.

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
            Unknown entries hold a guess, for whole sets.
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown: they do not count for the label.

        Returns
        -------
        self
        """
        self._fit(X, Y, weight)
        return self

    def fit_held_out(
        self, X: Any, Y: BoolArray, weight: FloatArray, rows: IntArray
    ) -> tuple[FloatArray, sparse.csr_array]:
        """Fit, and answer for training rows by the trees that have not seen them.

        Parameters
        ----------
        X : array of shape (n, features)
        Y : array of bool of shape (n, labels)
            Unknown entries hold a guess, for whole sets.
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown: they do not count for the label.
        rows : array of int
            The training rows to answer for.

        Returns
        -------
        probabilities : array of shape (rows, labels)
        of_sets : sparse array of shape (rows, m)
            The probabilities of the distinct sets, of the 200 most probable ones in each row.
        """
        in_tree = self._fit(X, Y, weight)[rows]
        chunks = _chunks(len(rows))
        return self._marginals_and_sets(
            self._weights(X[rows[chunk]], ~in_tree[chunk]) for chunk in chunks
        )

    def _fit(self, X: Any, Y: BoolArray, weight: FloatArray) -> BoolArray:
        """Fit; whether each tree was grown on each row, (n, trees)."""
        n, n_most = len(Y), min(len(Y), ROWS_FOR_TREE)
        rng = check_random_state(self.random_state)
        # With two rows or more, some of them are new to each tree.
        n_used = int(np.clip(round(SHARE * n_most), 1, max(1, n_most - 1)))
        rows, targets, of_row = _as_float32(X), tree_targets(Y), weight.max(axis=1)
        in_tree = np.zeros((n, self.n_trees), dtype=bool)
        leaves = np.empty((self.n_trees, n_used), dtype=np.int32)
        trees = []
        with progress("growing trees", self.n_trees) as advance:
            for k in range(self.n_trees):
                used = np.sort(rng.permutation(n)[:n_used])
                tree = ExtraTreeRegressor(
                    max_features=self.max_features,
                    min_samples_leaf=max(self.min_leaf, -(-n_most // MOST_LEAVES)),
                    random_state=rng.randint(2**31 - 1),
                )
                tree.fit(rows[used], targets[used], sample_weight=of_row[used])
                trees.append(PackedTrees.of(tree.tree_))
                leaves[k], in_tree[used, k] = tree.apply(rows[used]), True
                advance()
        self.trees_: Trees = PackedTrees.join(trees)
        set_number = self._number_sets(Y, weight)
        weights = np.broadcast_to(weight, Y.shape)
        total = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        self.frequency_: FloatArray = (weights * Y).sum(axis=0) / total
        row = np.nonzero(in_tree.T)[1]  # tree after tree
        leaf = (leaves + self.trees_.first[:-1, None]).ravel()
        counts = sparse.csr_array(
            (of_row[row], (leaf, set_number[row])),
            shape=(self.trees_.n_nodes, self.sets_.shape[0]),
        )
        total = np.maximum(counts.sum(axis=1), np.finfo(float).tiny)
        shares = sparse.csr_array(sparse.diags_array(1 / total) @ counts)  # (nodes, m)
        self.shares_ = shares.astype(np.float32)
        return in_tree

    def _number_sets(self, Y: BoolArray, weight: FloatArray) -> IntArray:
        """Keep the distinct sets, and return the number of the set of each row."""
        n_labels = Y.shape[1]
        if weight.all():
            sets, set_number = np.unique(Y, axis=0, return_inverse=True)
            self.known_ = None
        else:
            # Sets are the same if also the same entries are known.
            both = np.hstack([Y, np.broadcast_to(weight > 0, Y.shape)])
            both, set_number = np.unique(both, axis=0, return_inverse=True)
            sets, known = both[:, :n_labels], both[:, n_labels:]
            self.known_ = sparse.csr_array(known)  # (m, labels)
        self.sets_ = sparse.csr_array(sets)  # (m, labels)
        return set_number.ravel()

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels), strictly between 0 and 1."""
        parts = [self._marginals(self._weights(X[rows])) for rows in _chunks(X.shape[0])]
        return np.concatenate(parts)

    def predict_sets(self, X: Any) -> tuple[FloatArray, sparse.csr_array]:
        """The probability of each label, and of each distinct set, as `fit_held_out` returns."""
        return self._marginals_and_sets(self._weights(X[rows]) for rows in _chunks(len(X)))

    def examples(self, of_sets: sparse.csr_array, marginals: FloatArray) -> Examples:
        """The distinct sets, weighted by what they add to the probabilities of labels.

        A rule multiplies the weights by the labels' odds. So what the weights already say about
        single labels is divided out here, or it would count twice.

        Parameters
        ----------
        of_sets : sparse array of shape (n, m)
            The probabilities of the sets.
        marginals : array of shape (n, labels)
            The probabilities of labels whose odds are divided out.

        Returns
        -------
        weighted : Examples
        """
        chunks = [self._beyond(of_sets[rows], marginals[rows]) for rows in _chunks(len(marginals))]
        return Examples(self.sets_, _joined(chunks))

    def _marginals_and_sets(
        self, parts: Iterable[sparse.csr_array]
    ) -> tuple[FloatArray, sparse.csr_array]:
        """Both from the probabilities of all sets, given in chunks of rows."""
        marginals, largest = [], []
        for weights in parts:
            marginals.append(self._marginals(weights))
            largest.append(_largest(weights, MOST_EXAMPLES))
        return np.concatenate(marginals), _joined(largest)

    def _weights(self, X: Any, used: BoolArray | None = None) -> sparse.csr_array:
        """The probability of each distinct set, (n, m): the mean of the shares in a row's leaves.

        With ``used`` (n, trees), the mean over these trees. A row that no tree is used for gets no
        weights at all.
        """
        leaves = self.trees_.leaves(_as_float32(X))
        if used is None:
            used = np.ones(leaves.shape, dtype=bool)
        n_used = used.sum(axis=1)
        indptr = np.concatenate([[0], np.cumsum(n_used)])
        each = np.repeat(1 / np.maximum(n_used, 1), n_used)
        at = sparse.csr_array(
            (each, leaves[used], indptr), shape=(len(leaves), self.trees_.n_nodes)
        )
        return sparse.csr_array(at @ self.shares_)

    def _marginals(self, weights: sparse.csr_array) -> FloatArray:
        right: sparse.csr_array = self.sets_
        share_known: FloatArray = np.ones(1)
        if self.known_ is not None:
            right = self.sets_ * self.known_
            share_known = (weights @ self.known_.astype(float)).toarray()
        # As if there were one more tree that returns the frequencies: no probability is 0 or 1.
        mean = (weights @ right.astype(float)).toarray()
        marginals: FloatArray = self.n_trees * mean + self.frequency_
        marginals /= self.n_trees * share_known + 1
        return np.clip(marginals, 1e-6, 1 - 1e-6)

    def _beyond(self, weights: sparse.csr_array, marginals: FloatArray) -> sparse.csr_array:
        log_odds = logit(marginals)
        row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        owner, label = members(self.sets_, weights.indices)
        set_log_odds = np.bincount(owner, log_odds[row[owner], label], minlength=len(row))
        # A factor per row changes nothing; this one keeps the numbers in range.
        least = np.full(weights.shape[0], np.inf)
        np.minimum.at(least, row, set_log_odds)
        weights.data = weights.data * np.exp(np.maximum(least[row] - set_log_odds, -600))
        return weights


def _as_float32(X: Any) -> FloatArray:
    check_range(X)
    return np.ascontiguousarray(X, dtype=np.float32)


def tree_targets(Y: BoolArray) -> FloatArray:
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
    if np.diff(weights.indptr).max(initial=0) <= most:
        return weights
    rows = zip(weights.indptr[:-1], weights.indptr[1:], strict=True)
    kept = [
        first + np.sort(np.argsort(-weights.data[first:end], kind="stable")[:most])
        for first, end in rows
    ]
    indptr = np.cumsum([0, *map(len, kept)])
    chosen = np.concatenate(kept)
    return sparse.csr_array(
        (weights.data[chosen], weights.indices[chosen], indptr), shape=weights.shape
    )


def _joined(chunks: list[sparse.csr_array]) -> sparse.csr_array:
    return chunks[0] if len(chunks) == 1 else sparse.csr_array(sparse.vstack(chunks))


def _chunks(n_rows: int) -> list[slice]:
    return [slice(i, min(i + CHUNK_ROWS, n_rows)) for i in range(0, n_rows, CHUNK_ROWS)]
