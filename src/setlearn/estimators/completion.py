"""Given these labels, what else? Conditional scores, and a rule for the rest of a set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from setlearn.errors import DataError
from setlearn.learners.set_forest import SetForest
from setlearn.nodes import BoolArray, FloatArray, Nodes
from setlearn.rules import Rule
from setlearn.savable import savable

__all__ = ["Completion", "ConditionalScores"]

TREES = 100
MOST_DRAWS = 4
ROWS_IN_ALL = 40_000
"""Fewer parts of each set are drawn where there are many samples."""
IMPOSSIBLE = 1e-9


@savable()
class ConditionalScores:
    """P(label | x, Z): changes the scores of a choice point by the labels that are known.

    A forest is trained on scores of samples that the learner has not seen, each with random parts
    Z of its true set: which labels are right, given all scores and Z. It does not see the inputs
    themselves, so it works with any learner and any kind of X, and takes little time.
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, nodes: Nodes, right: BoolArray) -> Self:
        """Train the forest.

        Parameters
        ----------
        nodes : Nodes
        right : array of bool, shape (n, labels)
            The true sets.

        Returns
        -------
        self
        """
        rng = np.random.RandomState(self.random_state)
        draws = int(np.clip(ROWS_IN_ALL // len(nodes), 1, MOST_DRAWS))
        rows = np.tile(np.flatnonzero(right.any(axis=1)), draws)
        known = random_parts(right[rows], rng)
        forest = SetForest(TREES, rng, min_leaf=5, max_features=0.3)
        self.forest_ = forest.fit(
            _features(nodes.probabilities[rows], known), right[rows], np.ones(len(rows))
        )
        return self

    def left(self, nodes: Nodes) -> Nodes:
        """The same choice points with conditional scores, and known labels taken out.

        Known labels become impossible choices, so that a rule never returns them. It may return
        the empty set.
        """
        assert nodes.known is not None
        scores = self.forest_.predict_proba(_features(nodes.probabilities, nodes.known))
        scores = np.where(nodes.known, IMPOSSIBLE, scores)
        return replace(nodes, probabilities=scores, known=None, examples=None)


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
            Scored by a model that had not seen the samples.
        right : array of bool, shape (n, labels)
            The true sets.

        Returns
        -------
        Completion
        """
        rule = clone(rule)
        if rule.needs_fit:
            named = np.flatnonzero(right.any(axis=1))
            rule.fit(*_left_out_of_fold(nodes[named], right[named], self.scores.random_state))
        return replace(self, rule=rule.chosen)

    def kept(self, nodes: Nodes) -> BoolArray:
        """The other labels of each set, (n, labels), at choice points with known labels."""
        return self.rule.accepted(self.scores.left(nodes))


def _left_out_of_fold(nodes: Nodes, right: BoolArray, seed: int) -> tuple[Nodes, BoolArray]:
    """Choice points with random parts known, scored by a model that has not seen them."""
    rng = np.random.RandomState(seed)
    known = random_parts(right, rng)
    partly_known = Nodes(nodes.sample, nodes.depth, nodes.probabilities, known)
    scores = np.empty(right.shape)
    for learn, held_out in nodes.folds(rng):
        model = ConditionalScores(seed).fit(partly_known[learn], right[learn])
        scores[held_out] = model.left(partly_known[held_out]).probabilities
    return Nodes(nodes.sample, nodes.depth, scores), right & ~known
