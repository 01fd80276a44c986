"""What the training rows that are most like a row say about its labels."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["NearRows", "RowVotes"]

NEAREST = 64
RIDGE = 1.0
BLOCK_ENTRIES = 2_000_000
"""Similarities that are computed together."""


class RowVotes(NamedTuple):
    """Pairs of a row and a label, row by row with labels ascending, and what speaks for them."""

    row: IntArray  # (m,)
    label: IntArray
    decision: FloatArray  # of ridge regression on the similar rows
    total: FloatArray  # the similarities of all similar rows with the label, added up
    nearest: FloatArray  # the similarity of the nearest of them


@savable()
class NearRows:
    """The labels of the most similar training rows, weighted by ridge regression among them.

    For each row, the 64 training rows with the highest cosine are found, and kernel ridge
    regression is solved on these alone. One small system of equations serves all labels: its
    solution weights the training rows, and a label's decision value is the sum of the weights of
    those that have it. So nothing is fitted, any number of labels costs the same, and a label that
    one row has is found as well as any other.

    Attributes
    ----------
    rows_ : csr_array of shape (training rows, features)
    labels_ : csr_array of shape (training rows, labels)
    """

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> Self:
        """Keep the training rows.

        Parameters
        ----------
        X : csr_array of shape (n, features)
            Rows of length 1.
        Y : csr_array of shape (n, labels)

        Returns
        -------
        self
        """
        self.rows_, self.labels_ = X, Y
        return self

    def votes(self, X: sparse.csr_array, most: int) -> RowVotes:
        """What similar rows say, for the labels with the highest decision values.

        Parameters
        ----------
        X : csr_array of shape (n, features)
            Rows of length 1.
        most : int
            The number of labels per row.

        Returns
        -------
        RowVotes
        """
        n_kept = self.rows_.shape[0]
        size = max(1, BLOCK_ENTRIES // n_kept)
        columns = sparse.csr_array(self.rows_.T)
        votes = []
        for start in range(0, X.shape[0], size):
            similar = (X[start : start + size] @ columns).toarray()
            if n_kept > NEAREST:
                near = np.argpartition(-similar, NEAREST - 1, axis=1)[:, :NEAREST]
            else:
                near = np.broadcast_to(np.arange(n_kept), similar.shape)
            for row, (place, all_similar) in enumerate(zip(near, similar, strict=True), start):
                place = np.sort(place[all_similar[place] > 0])
                if len(place):
                    votes.append(self._votes_of_row(row, place, all_similar[place], most))
        empty = RowVotes(*np.zeros((2, 0), dtype=np.int64), *np.zeros((3, 0)))
        return RowVotes(*map(np.concatenate, zip(empty, *votes, strict=True)))

    def _votes_of_row(self, row: int, near: IntArray, similar: FloatArray, most: int) -> RowVotes:
        """The votes of some training rows, given how similar they are."""
        rows, labels = self.rows_[near], self.labels_[near]
        kernel = (rows @ rows.T).toarray().astype(np.float64)
        kernel[np.diag_indices_from(kernel)] += RIDGE
        weight = np.linalg.solve(kernel, similar.astype(np.float64))
        label, place = np.unique(labels.indices, return_inverse=True)
        owner = np.repeat(np.arange(len(near)), np.diff(labels.indptr))
        decision: FloatArray = np.bincount(place, weight[owner], len(label)).astype(np.float64)
        total: FloatArray = np.bincount(place, similar[owner], len(label)).astype(np.float64)
        nearest = np.zeros(len(label))
        np.maximum.at(nearest, place, similar[owner])
        best: IntArray = np.sort(np.argsort(-decision, kind="stable")[:most])
        return RowVotes(
            np.full(len(best), row), label[best], decision[best], total[best], nearest[best]
        )
