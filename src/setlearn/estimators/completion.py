"""Given these labels, what else? Scores and a rule of its own for what is left of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setlearn.errors import DataError
from setlearn.nodes import BoolArray, Nodes
from setlearn.rules import Rule
from setlearn.scorers.conditional import ConditionalScores, random_parts

__all__ = ["Completion"]


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """P(label | x, Z), and the rule that decides on what is left once Z is known."""

    scores: ConditionalScores
    rule: Rule

    @classmethod
    def fit(
        cls, nodes: Nodes, right: sparse.csr_array, rule: Rule, rng: np.random.RandomState
    ) -> Self:
        """Learn from out-of-fold scores and the true sets (n, labels), with random parts known."""
        named = np.flatnonzero(np.diff(right.indptr))  # of an empty set nothing can be known
        if len(named) == 0:
            raise DataError(
                "no held-out sample has a label, so that there is nothing to complete from; give "
                "a cv that holds some with labels out, or leave conditional=True away"
            )
        nodes, truth = nodes[named], right[named].toarray()
        seed = int(rng.randint(2**31 - 1))
        scores = ConditionalScores(seed).fit(nodes, truth)
        rule = clone(rule)
        if rule.needs_fit:
            left, others = _left_out_of_fold(nodes, truth, seed)
            rule.fit(left, others)
        return cls(scores, rule.chosen)

    def kept(self, nodes: Nodes) -> BoolArray:
        """What else there is, (n, labels), at choice points with something known."""
        return self.rule.accept(self.scores.left(nodes))


def _left_out_of_fold(nodes: Nodes, truth: BoolArray, seed: int) -> tuple[Nodes, BoolArray]:
    """Choice points with random parts known, scored by a model that had not seen them."""
    rng = np.random.RandomState(seed)
    known = random_parts(truth, rng)
    asked = Nodes(nodes.sample, nodes.depth, nodes.probabilities, known)
    scores = np.empty(truth.shape)
    for learn, held_out in nodes.folds(rng):
        model = ConditionalScores(seed).fit(asked[learn], truth[learn])
        scores[held_out] = model.left(asked[held_out]).probabilities
    return Nodes(nodes.sample, nodes.depth, scores), truth & ~known
