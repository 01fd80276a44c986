"""Given these labels, what else? Conditional scores, and a rule for the rest of a set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle
from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from setlearn.errors import DataError
from setlearn.learners.log_odds_pool import LogOddsPool
from setlearn.learners.set_forest import SetForest
from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes
from setlearn.progress import progress
from setlearn.rules import Rule
from setlearn.savable import savable

__all__ = ["Completion", "ConditionalScores"]

TREES = 34
"""The number of trees in the forest of each fold."""
MOST_DRAWS = 4
ROWS_IN_ALL = 40_000
"""Fewer parts of each set are drawn where there are many samples."""
IMPOSSIBLE = 1e-9


@savable()
class ConditionalScores:
    """P(label | x, Z): changes the scores of a choice point by the labels that are known.

    Forests are trained on scores of samples that the learner has not seen, each with random parts
    Z of its true set: which labels are right, given all scores and Z. They do not see the inputs
    themselves, so they work with any learner and any kind of X, and take little time.

    Their log-odds are added to those of the learner with weights that are learned from samples that
    the forest has not seen. So nothing is lost where known labels say nothing about the others.

    There is one forest for each of three folds, trained on the other two. New samples get the mean
    of all forests. Those that the forests were trained on get the scores of the one forest that
    has not seen them, so a rule can be fitted on them without further training.
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, nodes: Nodes, right: BoolArray) -> Self:
        """Train the forests.

        Parameters
        ----------
        nodes : Nodes
        right : array of bool, shape (n, labels)
            The true sets, none of them empty.

        Returns
        -------
        self
        """
        rng = np.random.RandomState(self.random_state)
        draws = int(np.clip(ROWS_IN_ALL // len(nodes), 1, MOST_DRAWS))
        folds = self._folds(nodes)
        self.forests_ = []
        with progress("learning from known labels", len(folds)) as advance:
            for learn, _ in folds:
                rows, known, weight = _drawn_parts(right, np.tile(learn, draws), rng)
                forest = SetForest(TREES, rng, min_leaf=2, max_features=0.3)
                features = _features(nodes.probabilities[rows], known)
                self.forests_.append(forest.fit(features, right[rows], weight[:, None]))
                advance()
        known = random_parts(right, rng)
        of_forest = self._held_out_scores(nodes, known)
        is_open = ~known
        both = np.stack([nodes.probabilities[is_open], of_forest[is_open]])
        self.pool_: LogOddsPool | None = LogOddsPool(2).fit(both, right[is_open])
        return self

    def left(self, nodes: Nodes) -> Nodes:
        """The same choice points with conditional scores, and known labels taken out.

        Known labels become impossible choices, so that a rule never returns them. It may return
        the empty set.
        """
        assert nodes.known is not None
        features = _features(nodes.probabilities, nodes.known)
        scores = np.mean([forest.predict_proba(features) for forest in self.forests_], axis=0)
        return self._left(nodes, scores)

    def left_held_out(self, nodes: Nodes) -> Nodes:
        """As `left`, by forests that have not seen the samples.

        Parameters
        ----------
        nodes : Nodes
            Those of ``fit``, with known labels, or others that all forests have not seen.

        Returns
        -------
        Nodes
        """
        assert nodes.known is not None
        return self._left(nodes, self._held_out_scores(nodes, nodes.known))

    def _held_out_scores(self, nodes: Nodes, known: BoolArray) -> FloatArray:
        """Of each sample, the scores of the forest that has not seen it."""
        features = _features(nodes.probabilities, known)
        scores = np.empty(nodes.probabilities.shape)
        for (_, held_out), forest in zip(self._folds(nodes), cycle(self.forests_), strict=False):
            scores[held_out] = forest.predict_proba(features[held_out])
        return scores

    def _left(self, nodes: Nodes, of_forests: FloatArray) -> Nodes:
        """Choice points with the scores of learner and forests, without what is known."""
        assert nodes.known is not None
        scores = of_forests
        if self.pool_ is not None:  # it is None in models of older versions
            both = np.stack([nodes.probabilities.ravel(), of_forests.ravel()])
            scores = self.pool_.pooled(both).reshape(of_forests.shape)
        scores = np.where(nodes.known, IMPOSSIBLE, scores)
        return replace(nodes, probabilities=scores, known=None, examples=None)

    def _folds(self, nodes: Nodes) -> list[tuple[IntArray, IntArray]]:
        """The same folds for the same choice points."""
        return nodes.folds(np.random.RandomState(self.random_state))


def random_parts(right: BoolArray, rng: np.random.RandomState) -> BoolArray:
    """Draw a part of each set, all parts equally often except the empty one.

    The whole set is a part too; then there is nothing else to predict.

    Parameters
    ----------
    right : array of bool, shape (n, labels)
    rng : RandomState

    Returns
    -------
    array of bool, shape (n, labels)
    """
    part = right & (rng.random_sample(right.shape) < 0.5)
    while (again := right.any(axis=1) & ~part.any(axis=1)).any():
        part[again] = right[again] & (rng.random_sample((int(again.sum()), right.shape[1])) < 0.5)
    return part


def _drawn_parts(
    right: BoolArray, rows: IntArray, rng: np.random.RandomState
) -> tuple[IntArray, BoolArray, FloatArray]:
    """Draw a part for each row; equal ones of small sets are one, with a larger weight."""
    known = random_parts(right[rows], rng)
    drawn = np.column_stack([rows, np.packbits(known, axis=1)])
    _, first, counts = np.unique(drawn, axis=0, return_index=True, return_counts=True)
    return rows[first], known[first], counts.astype(np.float64)


def _features(scores: FloatArray, known: BoolArray) -> FloatArray:
    return np.hstack([logit(np.clip(scores, 1e-6, 1 - 1e-6)), known])


@savable(parts={"rule": (Rule,), "scores": (ConditionalScores,)})
@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """P(label | x, Z), and the rule that decides on the rest of a set once Z is known."""

    scores: ConditionalScores
    rule: Rule

    @classmethod
    def fit(
        cls, nodes: Nodes, right: sparse.csr_array, rule: Rule, rng: np.random.RandomState
    ) -> Self:
        """Train on out-of-fold scores, with random parts of the true sets known.

        Parameters
        ----------
        nodes : Nodes
        right : csr_array of bool, shape (n, labels)
        rule : Rule
        rng : RandomState

        Returns
        -------
        Completion

        Raises
        ------
        DataError
            If no held-out sample has a label.
        """
        named = np.flatnonzero(np.diff(right.indptr))  # an empty set has nothing to be known
        if len(named) == 0:
            raise DataError(
                "no held-out sample has a label, so there is nothing to learn completion from; use "
                "a cv whose test folds contain labels, or set conditional=False",
                advice={"conditional": False},
            )
        nodes, true_sets = nodes[named], right[named].toarray()
        seed = int(rng.randint(2**31 - 1))
        scores = ConditionalScores(seed).fit(nodes, true_sets)
        return cls(scores, rule).with_rule(rule, nodes, true_sets)

    def with_rule(self, rule: Rule, nodes: Nodes, right: BoolArray) -> Self:
        """The same conditional scores under another rule, which is fitted on such scores.

        Parameters
        ----------
        rule : Rule
            It is not changed.
        nodes : Nodes
            Those of ``fit``, or others; scored by a model that had not seen the samples.
        right : array of bool, shape (n, labels)
            The true sets.

        Returns
        -------
        Completion
        """
        rule = clone(rule)
        if rule.needs_fit:
            named = np.flatnonzero(right.any(axis=1))
            nodes, right = nodes[named], right[named]
            known = random_parts(right, np.random.RandomState(self.scores.random_state))
            partly_known = Nodes(nodes.sample, nodes.depth, nodes.probabilities, known)
            rule.fit(self.scores.left_held_out(partly_known), right & ~known)
        return replace(self, rule=rule.chosen)

    def kept(self, nodes: Nodes) -> BoolArray:
        """The other labels of each set, (n, labels), at choice points with known labels."""
        return self.rule.accepted(self.scores.left(nodes))
