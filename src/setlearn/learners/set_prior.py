"""How often each whole set was seen in training: what probabilities of single labels leave out."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import logit

from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["SetPrior"]

MOST_EXAMPLES = 64
"""The number of sets that are examples for a row."""

SHARE = 0.75
"""How much of what the frequencies of labels say about a set is divided out of its own: chosen on
training parts of texts, bibtex and corel5k."""

CHUNK_ENTRIES = 4_000_000


@savable()
class SetPrior:
    """The distinct training sets, weighted by how often they occurred.

    They are examples for any row. A rule multiplies their weights by the odds of their labels,
    which are higher for frequent labels, and sets of frequent labels are more frequent too. So
    that this does not count twice, a part of it is divided out here.
    """

    def fit(self, Y: BoolArray, weight: FloatArray, frequencies: FloatArray) -> Self:
        """Count the sets of rows without unknown entries.

        Parameters
        ----------
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.
        frequencies : array of shape (labels,)
            Those of the labels, strictly between 0 and 1.

        Returns
        -------
        self
        """
        self._fit(Y, weight, frequencies)
        return self

    def fit_held_out(
        self,
        Y: BoolArray,
        weight: FloatArray,
        frequencies: FloatArray,
        rows: IntArray,
        probabilities: FloatArray,
    ) -> Examples:
        """Fit, and answer for training rows as if each of them had been left out.

        Parameters
        ----------
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.
        frequencies : array of shape (labels,)
            Those of the labels, strictly between 0 and 1.
        rows : array of int
            The training rows to answer for.
        probabilities : array of shape (rows, labels)
            Of single labels in these rows.

        Returns
        -------
        weighted : Examples
        """
        own = self._fit(Y, weight, frequencies)[rows]
        return self._examples(probabilities, own, weight[rows].max(axis=1))

    def _fit(self, Y: BoolArray, weight: FloatArray, frequencies: FloatArray) -> IntArray:
        """Fit; the number of the set of each row, -1 for rows with unknown entries."""
        whole = weight.all(axis=1)
        sets, numbers = np.unique(Y[whole], axis=0, return_inverse=True)
        self.sets_ = sparse.csr_array(sets)  # (m, labels)
        counts = np.zeros(len(sets))
        np.add.at(counts, numbers.ravel(), weight[whole].max(axis=1))
        self.counts_ = counts
        self.log_odds_ = np.asarray(self.sets_ @ logit(frequencies))
        set_number = np.full(len(Y), -1)
        set_number[whole] = numbers.ravel()
        return set_number

    def examples(self, probabilities: FloatArray) -> Examples:
        """The sets that are most probable for each row, weighted.

        Parameters
        ----------
        probabilities : array of shape (n, labels)
            Of single labels in these rows.

        Returns
        -------
        weighted : Examples
        """
        return self._examples(probabilities, np.full(len(probabilities), -1), np.zeros(1))

    def _examples(self, probabilities: FloatArray, own: IntArray, weight: FloatArray) -> Examples:
        n, m = len(probabilities), len(self.counts_)
        if not m:
            return Examples(self.sets_, sparse.csr_array((n, 0)))
        size = max(1, CHUNK_ENTRIES // m)
        weight = np.broadcast_to(weight, n)
        chunks = [slice(start, start + size) for start in range(0, n, size)]
        parts = [self._largest(probabilities[rows], own[rows], weight[rows]) for rows in chunks]
        return Examples(self.sets_, sparse.csr_array(sparse.vstack(parts)))

    def _largest(
        self, probabilities: FloatArray, own: IntArray, weight: FloatArray
    ) -> sparse.csr_array:
        """The weights of the most probable sets of each row, (n, m)."""
        counts = np.tile(self.counts_, (len(own), 1))
        trained = np.flatnonzero(own >= 0)
        counts[trained, own[trained]] -= weight[trained]
        with np.errstate(divide="ignore"):  # a set that no other row has is not possible
            log_weights = np.log(np.maximum(counts, 0)) - SHARE * self.log_odds_
        score = log_weights + (self.sets_ @ logit(probabilities).T).T
        n_kept = min(MOST_EXAMPLES, score.shape[1])
        kept = np.argpartition(-score, n_kept - 1, axis=1)[:, :n_kept]
        kept.sort(axis=1)
        of_kept = np.take_along_axis(log_weights, kept, axis=1)
        top = np.maximum(of_kept.max(axis=1, keepdims=True), -600)  # a factor changes nothing
        indptr = np.arange(len(own) + 1) * n_kept
        values = np.exp(np.maximum(of_kept - top, -600)) * (of_kept > -np.inf)
        return sparse.csr_array((values.ravel(), kept.ravel(), indptr), shape=score.shape)
