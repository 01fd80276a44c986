"""A tree of labels: linear models find the probable ones of very many, branch by branch."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from setlearn.errors import ModelError
from setlearn.nodes import FloatArray, IntArray
from setlearn.progress import progress
from setlearn.savable import savable

__all__ = ["LabelTree", "best_of_rows", "order_in_rows"]

BRANCHES = 16
MOST_LEAVES = 100
"""So many labels, or fewer, are not divided further: each is a leaf."""
ROUNDS = 8
"""Of k-means."""
BEAM = 10
"""Branches per row that are followed at each level."""
SMALLEST_COEFFICIENT = 0.1
"""Smaller coefficients count as 0, as most are. That changes answers little and trees much."""
BLOCK_ROWS = 1000


@savable()
class LabelTree:
    """Scores of the most probable labels, by a tree whose branches are linear models.

    Labels whose rows are alike stand together: each node divides its labels by k-means on the mean
    rows of the labels. Each branch has a support vector machine that is trained on the rows that
    have a label of its node, and says which of them have a label of the branch. The score of a
    label is the product over its branches of exp(-h²), where h is the hinge loss of "yes".

    A row is compared with few branches: at each level the best ten are followed. So time grows with
    the logarithm of the number of labels.

    Attributes
    ----------
    first_child_ : array of int of shape (nodes + 1,)
        Nodes are numbered level by level from the root, 0. The children of a node are those from
        its own entry to the next one.
    label_ : array of int of shape (nodes,)
        The label of a leaf, and -1 for other nodes.
    intercept_ : array of shape (nodes,)
        Of the model of the branch that leads to the node.
    first_row_ : array of int of shape (nodes + 1,)
        Where the coefficients of a node's branches begin.
    feature_ : array of int
        The feature of each row of coefficients. The last row of each node is for all features
        that it does not have, and holds zeros.
    coefficients_ : csr_array of shape (rows, branches)
    """

    def fit(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        weight: FloatArray,
        labels: IntArray,
        seed: int,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : csr_array of shape (n, features)
            Rows of length 1.
        Y : csr_array of shape (n, all labels)
        weight : array of shape (n,)
            How much each row counts, above 0.
        labels : array of int
            The labels to put into the tree, each of which some row has.
        seed : int

        Returns
        -------
        self
        """
        self.n_labels_, self.n_features_ = Y.shape[1], X.shape[1]
        rng = np.random.RandomState(seed)
        targets = sparse.csc_array(Y)
        centres = sparse.csr_array(sparse.csr_array(targets.T)[labels] @ X)
        centres = sparse.csr_array(sparse.diags_array(1 / _lengths(centres)) @ centres)
        place = np.zeros(self.n_labels_, dtype=np.int64)
        place[labels] = np.arange(len(labels))
        groups: list[IntArray] = [np.sort(labels)]
        label, intercept, first_child, first_row = [-1], [0.0], [1], [0]
        features, blocks = [], []
        with progress("growing the tree of labels", len(labels)) as advance:
            for node, group in enumerate(groups):  # grows while it is read
                if label[node] >= 0:
                    children = []
                elif len(group) <= MOST_LEAVES:
                    children = list(group[:, None])
                    advance(len(group))
                else:
                    parts = _clusters(centres[place[group]], BRANCHES, rng)
                    children = [group[parts == k] for k in np.unique(parts)]
                if children:
                    feature, coefficients, constants = _branches(X, targets, weight, children, seed)
                    features.append(feature)
                    blocks.append(coefficients)
                    intercept += constants.tolist()
                    is_leaf = len(group) <= MOST_LEAVES
                    label += [int(child[0]) if is_leaf else -1 for child in children]
                    groups += children
                first_child.append(len(groups))
                first_row.append(first_row[-1] + (len(features[-1]) if children else 0))
        self.label_ = np.array(label)
        self.first_child_, self.first_row_ = np.array(first_child), np.array(first_row)
        self.intercept_ = np.array(intercept, dtype=np.float32)
        self.feature_ = np.concatenate(features)
        width = max(block.shape[1] for block in blocks)
        widened = [
            sparse.csr_array(
                (block.data, block.indices, block.indptr), shape=(block.shape[0], width)
            )
            for block in blocks
        ]
        self.coefficients_ = sparse.csr_array(sparse.vstack(widened))
        return self

    def scores(self, X: sparse.csr_array, most: int) -> sparse.csr_array:
        """The scores of the best labels of each row.

        Parameters
        ----------
        X : csr_array of shape (n, features)
        most : int
            The number of labels per row.

        Returns
        -------
        csr_array of shape (n, all labels)
            From 0 to 1; labels that are not listed have no entry.
        """
        starts = range(0, X.shape[0], BLOCK_ROWS)
        blocks = [self._block_scores(X[start : start + BLOCK_ROWS], most) for start in starts]
        shape = (0, self.n_labels_)
        return sparse.csr_array(sparse.vstack([sparse.csr_array(shape), *blocks]))

    def _block_scores(self, X: sparse.csr_array, most: int) -> sparse.csr_array:
        if (self.first_child_[:-1] <= np.arange(len(self.label_))).any():
            raise ModelError("a branch of the tree of labels leads back; save the model again")
        row: IntArray = np.arange(X.shape[0])
        node: IntArray = np.zeros(X.shape[0], dtype=np.int64)
        logarithm: FloatArray = np.zeros(X.shape[0])
        place = np.full(self.n_features_, -1)
        reached = []
        while len(row):
            row, node, logarithm = self._children(X, row, node, logarithm, place)
            is_leaf = self.label_[node] >= 0
            reached.append((row[is_leaf], self.label_[node[is_leaf]], logarithm[is_leaf]))
            row, node, logarithm = row[~is_leaf], node[~is_leaf], logarithm[~is_leaf]
            best = best_of_rows(row, logarithm, BEAM)
            row, node, logarithm = row[best], node[best], logarithm[best]
        row, label, logarithm = (np.concatenate(parts) for parts in zip(*reached, strict=True))
        best = best_of_rows(row, logarithm, most)
        entries = (np.exp(logarithm[best]), (row[best], label[best]))
        return sparse.csr_array(entries, shape=(X.shape[0], self.n_labels_))

    def _children(
        self, X: sparse.csr_array, row: IntArray, node: IntArray, logarithm: FloatArray, place: Any
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """The logarithms of the scores of all children of some nodes, each for one row.

        ``place`` is scratch memory, one number per feature; all are -1 before and after.
        """
        order = np.argsort(node, kind="stable")
        row, node, logarithm = row[order], node[order], logarithm[order]
        starts = np.flatnonzero(np.diff(node, prepend=-1))
        rows, children, scores = [], [], []
        for start, stop in zip(starts, [*starts[1:], len(node)], strict=True):
            parent, own = node[start], row[start:stop]
            block = slice(self.first_row_[parent], self.first_row_[parent + 1])
            first, last = self.first_child_[parent], self.first_child_[parent + 1]
            feature = self.feature_[block]
            place[feature[:-1]] = np.arange(len(feature) - 1)
            part = X[own]
            local = place[part.indices]
            local[local < 0] = len(feature) - 1
            place[feature[:-1]] = -1
            part = sparse.csr_array((part.data, local, part.indptr), shape=(len(own), len(feature)))
            margins = (part @ self.coefficients_[block]).toarray()[:, : last - first]
            losses = np.maximum(0, 1 - margins - self.intercept_[first:last]) ** 2
            rows.append(np.repeat(own, last - first))
            children.append(np.tile(np.arange(first, last), len(own)))
            scores.append((logarithm[start:stop, None] - losses).ravel())
        return np.concatenate(rows), np.concatenate(children), np.concatenate(scores)


def best_of_rows(row: IntArray, score: FloatArray, most: int) -> IntArray:
    """Where the highest scores of each row are: row by row, best first.

    Parameters
    ----------
    row : array of int of shape (m,)
    score : array of shape (m,)
    most : int
        The number per row.

    Returns
    -------
    array of int

    Examples
    --------
    >>> best_of_rows(np.array([0, 1, 0, 0]), np.array([0.2, 0.9, 0.4, 0.1]), 2)
    array([2, 0, 1])
    """
    order, rank = order_in_rows(row, score)
    best: IntArray = order[rank < most]
    return best


def order_in_rows(row: IntArray, score: FloatArray) -> tuple[IntArray, IntArray]:
    """Order scores row by row, best first, and give the rank of each in its row.

    Parameters
    ----------
    row : array of int of shape (m,)
    score : array of shape (m,)

    Returns
    -------
    order : array of int of shape (m,)
    rank : array of int of shape (m,)
        From 0, in that order.
    """
    order = np.lexsort((-score, row))
    first = np.flatnonzero(np.diff(row[order], prepend=-1))
    rank: IntArray = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
    return order, rank


def _branches(
    X: sparse.csr_array,
    targets: sparse.csc_array,
    weight: FloatArray,
    children: list[IntArray],
    seed: int,
) -> tuple[IntArray, sparse.csr_array, FloatArray]:
    """Fit the model of each branch: its features, coefficients (features, branches), intercepts."""
    members = [np.unique(_rows_with(targets, labels)) for labels in children]
    rows = np.unique(np.concatenate(members))
    own = X[rows]
    feature, local = np.unique(own.indices, return_inverse=True)
    # One more feature, which all of these rows lack.
    shape = (len(rows), len(feature) + 1)
    bounds = own.indptr.astype(np.int32)  # LinearSVC takes no others
    part = sparse.csr_array((own.data, local.astype(np.int32), bounds), shape=shape)
    columns, intercepts = [], np.ones(len(children))  # 1: a branch of all rows loses nothing
    model = LinearSVC(C=1.0, dual=True, tol=0.1, random_state=seed)
    for k, member in enumerate(members):
        column = np.zeros(shape[1])
        if len(member) < len(rows):
            is_member = np.zeros(len(rows), dtype=bool)
            is_member[np.searchsorted(rows, member)] = True
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(part, is_member, sample_weight=weight[rows])
            column = np.where(np.abs(model.coef_[0]) < SMALLEST_COEFFICIENT, 0.0, model.coef_[0])
            intercepts[k] = model.intercept_[0]
        columns.append(sparse.csc_array(column[:, None].astype(np.float32)))
    return np.append(feature, -1), sparse.csr_array(sparse.hstack(columns)), intercepts


def _rows_with(targets: sparse.csc_array, labels: IntArray) -> IntArray:
    """The rows that have some of the labels; some of them several times."""
    rows: IntArray = targets[:, labels].indices
    return rows


def _clusters(points: sparse.csr_array, n_clusters: int, rng: np.random.RandomState) -> IntArray:
    """Divide points of length 1 by k-means, with cosines as similarities, (n,)."""
    n = points.shape[0]
    centres = points[np.sort(rng.permutation(n)[:n_clusters])].toarray()
    cluster = np.full(n, -1)
    for _ in range(ROUNDS):
        previous, cluster = cluster, np.argmax(points @ centres.T, axis=1)
        if np.array_equal(previous, cluster):
            break
        one_hot = sparse.csr_array(
            (np.ones(n, points.dtype), (cluster, np.arange(n))), shape=(len(centres), n)
        )
        centres = (one_hot @ points).toarray()
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    if len(np.unique(cluster)) == 1:  # nothing tells them apart
        cluster = np.arange(n) * n_clusters // n
    return cluster


def _lengths(rows: sparse.csr_array) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return np.where(lengths > 0, lengths, 1.0)
