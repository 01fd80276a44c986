"""Which of very many labels a row may have, and what speaks for each of them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from setlearn.learners.label_tree import LabelTree, order_in_rows
from setlearn.learners.near_rows import NearRows
from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["Evidence", "LabelEvidence"]

LEAST_ROWS = 2
"""A label of fewer rows is not in the tree: no model of it would know more than these rows."""
LEAST_SCORE = 1e-6
TOGETHER, LARGEST_SET = 2, 200
"""How often labels must occur together to speak for each other, in sets that are not larger."""


class Evidence(NamedTuple):
    """Pairs of a row and a label, row by row with labels ascending."""

    row: IntArray  # (m,)
    label: IntArray
    features: FloatArray  # (m, features), NaN where a source has not listed the label
    likely: FloatArray  # what the surer source says, from 0 to 1; no probability


@savable(parts={"tree_": (LabelTree, None), "near_": (NearRows,)})
class LabelEvidence:
    """Lists probable labels by a `LabelTree` and `NearRows`, and describes each by a few numbers.

    The numbers are what each source says, how that compares with what it says of the other labels
    of the row, how frequent the label is, and how often it occurs with the other labels that are
    probable. They mean the same for all labels, so one model can be trained on all pairs.
    """

    tree_: LabelTree | None

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array, weight: FloatArray, seed: int) -> Self:
        """Learn from rows of length 1 and an indicator.

        Parameters
        ----------
        X : csr_array of shape (n, features)
        Y : csr_array of shape (n, labels)
        weight : array of shape (n,)
            How much each row counts, above 0.
        seed : int

        Returns
        -------
        self
        """
        counts = np.asarray(Y.sum(axis=0)).ravel()
        self.share_ = (Y.T @ weight) / weight.sum()
        labels = np.flatnonzero(counts >= LEAST_ROWS)
        if len(labels) == 0:
            labels = np.flatnonzero(counts)
        self.tree_ = LabelTree().fit(X, Y, weight, labels, seed) if len(labels) else None
        self.near_ = NearRows().fit(X, Y)
        self.together_ = _occurring_together(Y, counts)
        return self

    def collect(self, X: sparse.csr_array, most: int) -> Evidence:
        """List labels for each row, with what speaks for them.

        Parameters
        ----------
        X : csr_array of shape (n, features)
            Rows of length 1.
        most : int
            The number of labels per row and source.

        Returns
        -------
        Evidence
        """
        n, n_labels = X.shape[0], len(self.share_)
        votes = self.near_.votes(X, most)
        of_tree = sparse.coo_array((n, n_labels))
        if self.tree_ is not None:
            of_tree = self.tree_.scores(X, most).tocoo()
        near_key = votes.row * n_labels + votes.label
        tree_key = of_tree.row.astype(np.int64) * n_labels + of_tree.col
        key = np.union1d(near_key, tree_key)
        row, label = key // n_labels, key % n_labels
        decision, total, nearest = np.full((3, len(key)), np.nan)
        place = np.searchsorted(key, near_key)
        decision[place], total[place], nearest[place] = votes[2:]
        score = np.full(len(key), np.nan)
        score[np.searchsorted(key, tree_key)] = of_tree.data
        logarithm = np.log(np.maximum(score, LEAST_SCORE))
        likely = np.fmax(np.clip(np.nan_to_num(decision), 0, 1), np.nan_to_num(score))
        features = np.column_stack(
            [
                decision,
                total,
                nearest,
                *_compared(row, decision),
                logarithm,
                *_compared(row, logarithm),
                np.log(self.share_[label]),
                self._support(row, label, likely, n),
            ]
        )
        return Evidence(row, label, features.astype(np.float32), likely)

    def _support(self, row: IntArray, label: IntArray, likely: FloatArray, n: int) -> FloatArray:
        """How probable each label makes what else is likely: the expected number of partners."""
        support = np.zeros(len(row))
        bounds = np.searchsorted(row, np.arange(n + 1))
        place = np.full(len(self.share_), -1)  # of each label in the list of the row
        for first, last in pairwise(bounds.tolist()):
            labels = label[first:last]
            place[labels] = np.arange(len(labels))
            partners = self.together_[labels]
            column = place[partners.indices]
            weight = np.repeat(likely[first:last], np.diff(partners.indptr)) * partners.data
            is_listed = column >= 0
            support[first:last] = np.bincount(
                column[is_listed], weight[is_listed], minlength=len(labels)
            )
            place[labels] = -1
        return support


def _compared(row: IntArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rank of each value in its row, from 0, and how far the best one is above it."""
    lowest = np.where(np.isnan(values), -np.inf, values)
    order, in_order = order_in_rows(row, lowest)
    rank, best = np.empty(len(row)), np.empty(len(row))
    rank[order] = in_order
    best[order] = lowest[order][np.arange(len(order)) - in_order]
    with np.errstate(invalid="ignore"):
        return rank, best - values


def _occurring_together(Y: sparse.csr_array, counts: IntArray) -> sparse.csr_array:
    """P(second label | first label), (labels, labels), of pairs that are no accident."""
    # The pairs of a large set are many, and say little.
    indicator = sparse.csr_array(Y[np.diff(Y.indptr) <= LARGEST_SET].astype(np.float32))
    pairs = sparse.csr_array(indicator.T @ indicator).tocoo()
    kept = (pairs.data >= TOGETHER) & (pairs.row != pairs.col)
    row, column = pairs.row[kept], pairs.col[kept]
    share = (pairs.data[kept] / (counts[row] + 1)).astype(np.float32)
    return sparse.csr_array((share, (row, column)), shape=pairs.shape)
