"""How often each whole set was seen in training: what probabilities of single labels leave out."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import logit

from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["SetPrior"]

MOST_EXAMPLES = 64
"""The number of sets that are examples for a row."""

MOST_SETS = 16_000
"""The largest number of distinct sets that are kept: those that occurred most often."""

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

    def fit_held_out(
        self,
        Y: BoolArray,
        weight: FloatArray,
        frequencies: FloatArray,
        rows: IntArray,
        probabilities: FloatArray,
    ) -> Examples:
        """Count the sets of rows without unknown entries, and answer for some of these rows.

        Each of them is answered for as if it had been left out.

        Parameters
        ----------
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown, and otherwise the same in all of a row.
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
        whole, of_row = np.flatnonzero(weight.all(axis=1)), weight.max(axis=1)
        sets, of_whole = np.unique(Y[whole], axis=0, return_inverse=True)
        of_whole = of_whole.ravel()
        counts = np.zeros(len(sets))
        np.add.at(counts, of_whole, of_row[whole])
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_SETS])
        self.sets_, counts = sparse.csr_array(sets[kept]), counts[kept]  # (m, labels), (m,)
        of_whole = np.where(np.isin(of_whole, kept), np.searchsorted(kept, of_whole), -1)
        whole, of_whole = whole[of_whole >= 0], of_whole[of_whole >= 0]
        explained = SHARE * np.asarray(self.sets_ @ logit(frequencies))
        self.log_weights_: FloatArray = np.log(counts) - explained
        own, without_own = np.full(len(Y), -1), np.zeros(len(Y))
        own[whole] = of_whole
        with np.errstate(divide="ignore"):  # a set that no other row has is not possible
            others = np.log(np.maximum(counts[of_whole] - of_row[whole], 0))
        without_own[whole] = others - explained[of_whole]
        return self._examples(probabilities, own=(own[rows], without_own[rows]))

    def examples(self, probabilities: FloatArray, known: BoolArray | None = None) -> Examples:
        """The sets that are most probable for each row, weighted.

        Parameters
        ----------
        probabilities : array of shape (n, labels)
            Of single labels in these rows.
        known : array of bool of shape (n, labels), optional
            Labels that the sets must have.

        Returns
        -------
        weighted : Examples
        """
        return self._examples(probabilities, known)

    def _examples(
        self,
        probabilities: FloatArray,
        known: BoolArray | None = None,
        own: tuple[IntArray, FloatArray] | None = None,
    ) -> Examples:
        """As `examples`; ``own`` is the number of each row's own set, or -1, and its log-weight."""
        n, m = len(probabilities), len(self.log_weights_)
        if not n or not m:
            return Examples(self.sets_, sparse.csr_array((n, m)))
        size = max(1, CHUNK_ENTRIES // m)
        parts = []
        for start in range(0, n, size):
            rows = slice(start, start + size)
            evidence = np.asarray(self.sets_ @ logit(probabilities[rows]).T).T  # (rows, m)
            score = evidence + self.log_weights_
            if own is not None:
                numbers, log_weights = (each[rows] for each in own)
                is_set = np.flatnonzero(numbers >= 0)
                at = is_set, numbers[is_set]
                score[at] = evidence[at] + log_weights[is_set]
            if known is not None:
                n_shared = np.asarray(self.sets_.astype(np.float32) @ known[rows].T).T
                score[n_shared < known[rows].sum(axis=1, keepdims=True)] = -np.inf
            parts.append(_best(score, evidence))
        return Examples(self.sets_, sparse.csr_array(sparse.vstack(parts)))


def _best(score: FloatArray, evidence: FloatArray) -> sparse.csr_array:
    """The best sets of each row, weighted by what the evidence leaves of their scores."""
    n, m = score.shape
    n_kept = min(MOST_EXAMPLES, m)
    kept = np.argpartition(-score, n_kept - 1, axis=1)[:, :n_kept]
    kept.sort(axis=1)
    log_weights = np.take_along_axis(score - evidence, kept, axis=1)
    top = np.maximum(log_weights.max(axis=1, keepdims=True), -600)  # a factor changes nothing
    weights = np.exp(np.maximum(log_weights - top, -600)) * (log_weights > -np.inf)
    return sparse.csr_array(
        (weights.ravel(), kept.ravel(), np.arange(n + 1) * n_kept), shape=(n, m)
    )
