"""Gradient boosting for all labels at once: small trees that correct each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from setlearn.learners.held_out import held_out_parts, judged_rows
from setlearn.learners.log_loss import log_loss
from setlearn.learners.packed_trees import PackedTrees
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.progress import progress
from setlearn.savable import savable

__all__ = ["BoostedLabels"]

FOLDS = 3
BLOCK, MOST_BLOCKS, LEAST_GAIN = 50, 16, 0.005
"""Trees are added a block at a time, as long as the loss of held-out rows falls by this share."""
NEAR = 1.2
"""How many times the loss of another model is near it."""
MOST_VALUES = 5_000_000
"""With very many labels there are fewer trees: what they say takes 20 MB at most."""
LEARNING_RATE = 0.15
DEPTH, DEEPER, LEAST_IN_LEAF = 4, 6, 5
DEEPER_GAIN = 0.1
"""Deeper trees are used if their loss after the first block is lower by this share. A smaller lead
is often lost with more trees."""
ROW_SHARE, MOST_ROWS, SHARE_OF_MANY = 0.75, 1000, 1 / 16
"""Each tree is grown on a part of the rows: not more than 1000 or, if that is more, a sixteenth of
them. All rows count for what its leaves say."""
FEATURE_SHARE, MOST_FEATURES = 0.6, 30
"""How many features each split chooses from."""
LABELS_PER_TREE = 8
"""With more labels, each tree is grown for some of them, and its leaves still answer for all."""
STIFFNESS = 1.0
"""Added to the curvature of the loss in a leaf: little evidence makes a small step."""
LARGEST_STEP = 4.0


@savable(parts={"trees_": (PackedTrees,)})
class BoostedLabels:
    """P(label | x) by boosted trees, each of which serves all labels.

    A tree is grown on the errors of those before it. What its leaves say about each label is a step
    of Newton's method on the log loss. The depth and the number of trees are chosen on held-out
    rows: deeper trees know how three and more features act together.

    Parameters
    ----------
    random_state : int
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit_held_out(
        self, X: Any, Y: BoolArray, weight: FloatArray, rows: IntArray, rival: float = np.inf
    ) -> FloatArray:
        """Fit, and answer for training rows by trees that have not seen them.

        Parameters
        ----------
        X : array of shape (n, features)
            It may have gaps (NaN).
        Y : array of bool of shape (n, labels)
        weight : array of shape (n, 1) or (n, labels)
            0 for entries that are unknown.
        rows : array of int
            The training rows to answer for.
        rival : float, optional
            The loss of another model. Trees that will not come near it are not worth their time.

        Returns
        -------
        array of shape (rows, labels)
        """
        X = np.ascontiguousarray(X, dtype=np.float32)
        weight = np.broadcast_to(weight, Y.shape)
        judged = judged_rows(len(Y), rows)
        held_first, *held_later = held_out_parts(len(Y), rows, FOLDS)
        first = self._begun(X, Y, weight, held_first)
        later = [self._boosting(X, Y, weight, ~held, first.depth) for held in held_later]
        parts = list(zip([held_first, *held_later], [first, *later], strict=True))
        logits, lowest = np.empty(Y.shape), np.inf
        for held, boosting in parts:
            logits[held] = boosting.start
        most_blocks = _most_blocks(first.depth, Y.shape[1])
        with progress("boosting", most_blocks + 1) as advance:
            for n_blocks in range(1, most_blocks + 1):
                for held, boosting in parts:
                    if len(boosting.trees) < n_blocks * BLOCK:
                        boosting.add_trees(BLOCK)
                    logits[held] += _sums(*boosting.latest(BLOCK), X[held])
                probabilities = expit(logits)
                loss = log_loss(probabilities[judged], Y[judged], weight[judged])
                if loss >= (1 - LEAST_GAIN) * lowest:
                    break
                gain, lowest = lowest - loss, loss
                n_trees, held_out = n_blocks * BLOCK, probabilities
                advance()
                if lowest - gain * (most_blocks - n_blocks) > NEAR * rival:
                    break
            whole = self._boosting(X, Y, weight, np.ones(len(Y), dtype=bool), first.depth)
            whole.add_trees(n_trees)
        self.start_ = whole.start
        self.trees_, self.values_ = whole.latest(n_trees)
        return held_out[rows]

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels)."""
        rows = np.ascontiguousarray(X, dtype=np.float32)
        probabilities: FloatArray = expit(_sums(self.trees_, self.values_, rows) + self.start_)
        return probabilities

    def _begun(self, X: FloatArray, Y: BoolArray, weight: FloatArray, held: BoolArray) -> Boosting:
        """The first block of trees, of the depth that does better on held-out rows."""
        begun = [self._boosting(X, Y, weight, ~held, depth) for depth in (DEPTH, DEEPER)]
        losses = []
        for boosting in begun:
            boosting.add_trees(BLOCK)
            probabilities = expit(_sums(*boosting.latest(BLOCK), X[held]) + boosting.start)
            losses.append(log_loss(probabilities, Y[held], weight[held]))
        flat, deep = begun
        return deep if losses[1] < (1 - DEEPER_GAIN) * losses[0] else flat

    def _boosting(
        self, X: FloatArray, Y: BoolArray, weight: FloatArray, used: BoolArray, depth: int
    ) -> Boosting:
        if not used.any():  # of one row, a fold is the whole
            used = ~used
        rng = np.random.RandomState(self.random_state)
        return Boosting(X[used], Y[used], weight[used], depth, rng)


class Boosting:
    """Trees that are being added, and the log-odds (n, labels) of the rows that they learn from."""

    def __init__(
        self,
        X: FloatArray,
        Y: BoolArray,
        weight: FloatArray,
        depth: int,
        rng: np.random.RandomState,
    ) -> None:
        self.X, self.Y, self.weight = X, Y, weight.astype(np.float32)
        self.depth, self.rng = depth, rng
        self.has_gaps = bool(np.isnan(X).any())
        share = ((weight * Y).sum(axis=0) + 0.5) / (weight.sum(axis=0) + 1)
        self.start: FloatArray = logit(share)
        # Single precision is enough for steps of this size, and faster.
        self.logits = np.tile(self.start.astype(np.float32), (len(Y), 1))
        self.trees: list[PackedTrees] = []
        self.steps: list[FloatArray] = []  # (nodes of the tree, labels)

    def add_trees(self, n_trees: int) -> None:
        """Add trees, each grown on the errors that are left."""
        for _ in range(n_trees):
            probabilities = expit(self.logits)
            errors = self.weight * (self.Y - probabilities)
            curvature = self.weight * probabilities * (1 - probabilities)
            tree = self._grown(errors)
            leaf = tree.apply(self.X)
            members = sparse.csc_array(  # (nodes, n)
                (np.ones(len(leaf), dtype=np.float32), leaf, np.arange(len(leaf) + 1)),
                shape=(tree.node_count, len(leaf)),
            )
            steps = (members @ errors) / (members @ curvature + STIFFNESS)
            steps = LEARNING_RATE * np.clip(steps, -LARGEST_STEP, LARGEST_STEP)
            self.logits += steps[leaf]
            self.trees.append(PackedTrees.of(tree))
            self.steps.append(steps)

    def _grown(self, errors: FloatArray) -> Any:
        """A tree of scikit-learn that tells large errors from small ones."""
        (n, n_labels), n_features = errors.shape, self.X.shape[1]
        most = max(MOST_ROWS, int(SHARE_OF_MANY * n))
        rows = self.rng.permutation(n)[: max(1, min(most, round(ROW_SHARE * n)))]
        labels = self.rng.permutation(n_labels)[:LABELS_PER_TREE]
        tree = DecisionTreeRegressor(
            max_depth=self.depth,
            min_samples_leaf=LEAST_IN_LEAF,
            max_features=max(1, min(MOST_FEATURES, round(FEATURE_SHARE * n_features))),
            random_state=self.rng,
        )
        # Checking the rows of a small tree takes longer than growing it.
        with config_context(skip_parameter_validation=True):
            tree.fit(self.X[rows], errors[np.ix_(rows, labels)], check_input=self.has_gaps)
        return tree.tree_

    def latest(self, n_trees: int) -> tuple[PackedTrees, FloatArray]:
        """The trees that were added last, and what their nodes add to the log-odds."""
        return PackedTrees.join(self.trees[-n_trees:]), np.concatenate(self.steps[-n_trees:])


def _most_blocks(depth: int, n_labels: int) -> int:
    nodes_in_block = BLOCK * 2 ** (depth + 1)
    return int(np.clip(MOST_VALUES // (nodes_in_block * n_labels), 1, MOST_BLOCKS))


def _sums(trees: PackedTrees, values: FloatArray, rows: FloatArray) -> FloatArray:
    """The sum of the values (nodes, labels) of the leaves that each row falls into."""
    leaves = trees.leaves(rows)  # (n, trees)
    n, n_trees = leaves.shape
    at = sparse.csr_array(
        (np.ones(leaves.size), leaves.ravel(), np.arange(n + 1) * n_trees),
        shape=(n, trees.n_nodes),
    )
    sums: FloatArray = at @ values
    return sums
