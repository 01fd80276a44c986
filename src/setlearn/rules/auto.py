"""The rule that does best on these data, found by trying several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes, dense_mask
from setlearn.rules.base import Rule, check_positive
from setlearn.rules.expected_f import ExpectedF
from setlearn.rules.folds import sample_folds
from setlearn.rules.lambda_set import LambdaSet
from setlearn.rules.margin import Margin
from setlearn.rules.steps import Steps
from setlearn.rules.threshold import Threshold

__all__ = ["Auto", "MeanF1"]

ENOUGH_FOR_A_NETWORK = 300
"""Choice points below which a λ-network is not tried: it would win by luck alone."""


class MeanF1(NamedTuple):
    """A candidate's mean F1 on choice points that it had not seen, and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"


class Auto(Rule):
    """Try several rules, and take the one with the best mean F1.

    Each candidate is learned on two thirds of the samples and judged on the last third, in turn.
    The winner is then learned on all of them. Of equals the earlier candidate wins, so list the
    simpler ones first.

    Parameters
    ----------
    candidates : sequence of rules, optional
        By default ``Margin()``, ``Threshold("tuned", min_size=None)``, ``ExpectedF()``,
        ``ExpectedF(joint=True)`` where the scorer gives examples, and ``LambdaSet(cut="tuned")``,
        shortly trained, where there are at least 300 samples.
    random_state : int, RandomState or None
        Draws the thirds, and seeds the candidates.

    Attributes
    ----------
    rule_ : the winner, fitted
    scores_ : dict
        The mean F1 of each candidate by its name, with the standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import Threshold, TopK
    >>> scores = np.random.default_rng(0).uniform(size=(90, 4))
    >>> rule = Auto([TopK(1), Threshold("tuned")], random_state=0)
    >>> rule.fit(Nodes.roots(scores), scores > 0.3).rule_
    Threshold(cut='tuned')
    >>> for name, score in rule.scores_.items():
    ...     print(name, score)
    TopK() 0.527 ± 0.013
    Threshold(cut='tuned') 1.000 ± 0.000
    """

    def __init__(
        self,
        candidates: Sequence[Rule] | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.candidates = candidates
        self.random_state = random_state

    @property
    def uses_examples(self) -> bool:
        """Whether some candidate does."""
        return self.candidates is None or any(rule.uses_examples for rule in self.candidates)

    @property
    def requires_examples(self) -> bool:
        """Candidates that need examples are left out where there are none."""
        return False

    @property
    def chosen(self) -> Rule:
        """The winner."""
        self._check_fitted("rule_")
        return self.rule_

    @property
    def candidate_scores(self) -> dict[str, MeanF1]:
        """The mean F1 of each candidate."""
        self._check_fitted("scores_")
        return self.scores_

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless all candidates are rules with parameters in range."""
        if n_positions > 1:
            raise ParameterError(
                f"Auto judges sets of labels, got sequences of {n_positions} positions; "
                "pass one rule, such as Margin()"
            )
        if self.candidates is None:
            return
        candidates = list(self.candidates)
        if not candidates or not all(isinstance(rule, Rule) for rule in candidates):
            raise ParameterError(
                f"candidates must be rules such as [Margin(), ExpectedF()], got {candidates!r}"
            )
        for rule in candidates:
            rule.check_parameters(n_positions)

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Judge every candidate, and learn the best one on everything."""
        self.check_parameters()
        check_positive(nodes, positive)
        rng = check_random_state(self.random_state)
        candidates = self._candidates(nodes)
        seeded = [_seeded(rule, rng) for rule in candidates]
        parts = sample_folds(nodes.sample, rng)
        judged = [_judged(rule, nodes, positive, parts) for rule in seeded]
        self.scores_ = dict(zip(map(repr, candidates), judged, strict=True))
        best = int(np.argmax([score.mean for score in judged]))  # the first of equals
        self.rule_: Rule = seeded[best].fit(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what the winner keeps."""
        self._check_fitted("rule_")
        return self.rule_.accept(nodes)

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """Tell the winner's story."""
        self._check_fitted("rule_")
        return self.rule_.steps(node, names)

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say why the winner did not keep it."""
        return self.rule_.reason_against(node, choice, name)

    def _candidates(self, nodes: Nodes) -> list[Rule]:
        """Those that these choice points allow."""
        if self.candidates is not None:
            candidates = list(self.candidates)
        else:
            candidates = [
                Margin(),
                Threshold("tuned", min_size=None),
                ExpectedF(),
                ExpectedF(joint=True),
            ]
            if len(nodes) >= ENOUGH_FOR_A_NETWORK:
                candidates.append(LambdaSet(cut="tuned", max_steps=500))
        possible = [
            rule for rule in candidates if nodes.examples is not None or not rule.uses_examples
        ]
        if not possible:
            raise DataError(
                f"all candidates need training sets with weights: {candidates!r}, and the scorer "
                "gave marginals alone; add one that does not, such as ExpectedF()"
            )
        return possible


def _seeded(rule: Rule, rng: np.random.RandomState) -> Rule:
    """A clone that draws its random numbers from ``rng``, unless it has a seed of its own."""
    seeded: Rule = clone(rule)
    if seeded.get_params().get("random_state", 0) is None:
        seeded.set_params(random_state=int(rng.randint(2**31 - 1)))
    return seeded


def _judged(
    rule: Rule, nodes: Nodes, positive: Mask, parts: list[tuple[IntArray, IntArray]]
) -> MeanF1:
    f1 = []
    for learn, judge in parts:
        learned = clone(rule).fit(nodes[learn], positive[learn])
        f1.append(_f1(learned, nodes[judge], positive[judge]))
    scores = np.concatenate(f1)
    return MeanF1(float(scores.mean()), float(scores.std() / np.sqrt(len(scores))))


def _f1(rule: Rule, nodes: Nodes, positive: Mask) -> FloatArray:
    """The F1 of each choice point; 1 where nothing is kept and nothing is right."""
    f1 = np.empty(len(nodes))
    for rows in nodes.row_chunks():
        kept, right = rule.accept(nodes[rows]), dense_mask(positive, rows)
        sizes = kept.sum(axis=1) + right.sum(axis=1)
        f1[rows] = np.where(sizes > 0, 2 * (kept & right).sum(axis=1) / np.maximum(sizes, 1), 1.0)
    return f1
