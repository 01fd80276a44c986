"""The belief that the true set is one of those seen in training: a joint distribution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, Nodes
from setlearn.rules.log_odds import log_odds
from setlearn.rules.set_distribution import first_of

__all__ = ["WeightedSets", "posterior"]


class WeightedSets:
    """The true set is one of the training sets, each with a weight: any joint distribution.

    A choice in a set of size k adds ``Σ_Y w_Y [choice ∈ Y] (1 + β²) / (β²|Y| + k)`` to the
    expected F, whatever else is in it. So the best set of size k takes the k largest, and all
    that must be known of the training sets is how much weight those of each size give a choice.
    """

    def __init__(
        self, weights: sparse.csr_array, sets: sparse.csr_array, known: BoolArray, beta: float
    ) -> None:
        self.beta = beta
        self.known = known
        self.n_known: IntArray = known.sum(axis=1)
        size = np.diff(sets.indptr)
        self.empty: FloatArray = weights @ (size == 0).astype(np.float64)
        self.sizes: IntArray = np.unique(size[size > 0])
        # (n, V, S): the weight of the training sets of each size that hold each choice.
        self.by_size: FloatArray = np.zeros((*known.shape, len(self.sizes)))
        for s, each in enumerate(self.sizes):
            self.by_size[:, :, s] = (weights[:, size == each] @ sets[size == each]).toarray()
        descending = -np.sort(-self.by_size.sum(axis=2), axis=1)
        self.overlap: FloatArray = np.cumsum(descending, axis=1)

    def values(self) -> Iterator[FloatArray]:
        """The expected F of the best sets of size 1, 2, ..."""
        n, n_choices = self.known.shape
        for k in range(1, n_choices + 1):
            gains = self._gains(np.full(n, k))
            yield np.partition(gains, n_choices - k, axis=1)[:, n_choices - k :].sum(axis=1)

    def best_of_size(self, size: IntArray) -> BoolArray:
        """The best sets of the given sizes."""
        gains = np.where(self.known, np.inf, self._gains(size))
        return first_of(np.argsort(-gains, axis=1, kind="stable"), size)

    def expected(self, kept: BoolArray) -> FloatArray:
        """The expected F of any sets."""
        size = kept.sum(axis=1)
        value = np.where(kept, self._gains(size), 0).sum(axis=1)
        return np.where(size == 0, self.empty, value)

    def _gains(self, size: IntArray) -> FloatArray:
        """What each choice adds to the expected F of a set of the given size, (n, V)."""
        square = self.beta**2
        shares = (1 + square) / (square * self.sizes + size[:, None])  # (n, S)
        gains: FloatArray = np.einsum("nvs,ns->nv", self.by_size, shares)
        return gains


def posterior(nodes: Nodes, examples: Examples, known: BoolArray) -> sparse.csr_array:
    """The examples' weights times their likelihoods, adding up to 1 in each row with any.

    Examples that lack a known choice are impossible.
    """
    weights = examples.weights
    row = np.repeat(np.arange(len(nodes)), np.diff(weights.indptr))
    sets = examples.sets[weights.indices]  # one a weight
    owner = np.repeat(np.arange(len(row)), np.diff(sets.indptr))  # of each choice in them
    # The empty set's likelihood is a factor of all the others', and so of none.
    logits = log_odds(nodes.membership)[row[owner], sets.indices]
    score = np.bincount(owner, logits, minlength=len(row))
    n_known = np.bincount(owner, known[row[owner], sets.indices], minlength=len(row))
    possible = (n_known == known.sum(axis=1)[row]) & (weights.data > 0)
    score = np.where(possible, score, -np.inf)
    top = np.full(len(nodes), np.finfo(np.float64).min)  # finite: a row may have none possible
    np.maximum.at(top, row, score)
    product = weights.data.astype(np.float64) * np.exp(score - top[row])
    total = np.bincount(row, product, minlength=len(nodes))[row]
    share = np.divide(product, total, out=np.zeros(len(row)), where=total > 0)
    return sparse.csr_array((share, weights.indices, weights.indptr), shape=weights.shape)
