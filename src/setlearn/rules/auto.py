"""The rule that does best on the given data, selected among several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes, check_positive, dense_mask
from setlearn.progress import progress
from setlearn.rules.base import Rule
from setlearn.rules.expected_f import ExpectedF
from setlearn.rules.margin import Margin
from setlearn.rules.steps import Steps
from setlearn.rules.threshold import Threshold
from setlearn.savable import savable

__all__ = ["Auto", "MeanF1", "cross_validated_f1"]


@savable()
class MeanF1(NamedTuple):
    """A candidate's mean F1 on choice points that it was not fitted on, and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, f1: FloatArray) -> MeanF1:
        """Average the F1 of choice points."""
        return cls(float(f1.mean()), float(f1.std() / np.sqrt(len(f1))))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"


@savable()
class Auto(Rule):
    """Try several rules, and use the one with the best mean F1.

    Each candidate is fitted on two thirds of the samples and scored on the last third, three
    times. The winner is then fitted on all samples. If several are equally good the earliest
    candidate wins, so list the simpler ones first.

    Parameters
    ----------
    candidates : sequence of rules, optional
        By default ``Margin()``, a tuned ``Threshold``, one for each label, and ``ExpectedF`` with
        and without ``calibrate=True`` and, if the scorer gives examples, with ``joint=True``.
        All of them learn how small sets can be.
    random_state : int, RandomState or None
        Draws the thirds and seeds the candidates.

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
        """Whether all candidates do."""
        return self.candidates is not None and all(r.requires_examples for r in self.candidates)

    @property
    def chooses_sequences(self) -> bool:
        """Whether all candidates do; those that are tried by default are for labels."""
        return self.candidates is not None and all(r.chooses_sequences for r in self.candidates)

    @property
    def takes_padding(self) -> bool:
        """Whether all candidates do."""
        return self.candidates is None or all(rule.takes_padding for rule in self.candidates)

    @property
    def needs_marginals(self) -> bool:
        """Whether some candidate does."""
        return self.candidates is not None and any(r.needs_marginals for r in self.candidates)

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless all candidates are rules with parameters in range."""
        if self.candidates is not None:
            candidates = list(self.candidates)
            if not candidates or not all(isinstance(rule, Rule) for rule in candidates):
                raise ParameterError(
                    f"candidates must be rules such as [Margin(), ExpectedF()], got {candidates!r}"
                )
            for rule in candidates:
                rule.check_parameters(n_positions)
        if n_positions > 1 and not self.chooses_sequences:
            raise ParameterError(
                "Auto compares rules on whole sequences, but not all its candidates choose among "
                f"them: {self.candidates!r}; pass for instance [OnSequences(Margin()), ExpectedF()]"
            )

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Score every candidate, and fit the best one on all choice points.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)
            The right choices.

        Returns
        -------
        self
        """
        self.check_parameters()
        check_positive(nodes, positive)
        rng = check_random_state(self.random_state)
        candidates = self._candidates(nodes)
        seeded = [_seeded(rule, rng) for rule in candidates]
        folds = nodes.folds(rng)
        scores = []
        with progress("comparing rules", len(seeded)) as advance:
            for rule in seeded:
                scores.append(MeanF1.of(cross_validated_f1(rule, nodes, positive, folds)))
                advance()
        self.scores_ = dict(zip(map(repr, candidates), scores, strict=True))
        best = int(np.argmax([score.mean for score in scores]))  # the first of equals
        self.rule_: Rule = seeded[best].fit(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what the winner keeps."""
        self._check_fitted("rule_")
        return self.rule_.accept(nodes)

    @property
    def is_monotone(self) -> bool:
        """Whether the winner is; False before ``fit``."""
        return bool(hasattr(self, "rule_") and self.rule_.is_monotone)

    @property
    def chosen(self) -> Rule:
        """The winner, fitted."""
        self._check_fitted("rule_")
        return self.rule_.chosen

    @property
    def candidate_scores(self) -> Mapping[str, tuple[float, float]] | None:
        """The mean F1 and its standard error of each candidate; None before ``fit``."""
        return getattr(self, "scores_", None)

    def adjusted(self, **parameters: Any) -> Self:
        """Copy the rule with other parameters of the winner, without a new fit."""
        self._check_fitted("rule_")
        rule = copy(self)
        rule.rule_ = self.rule_.adjusted(**parameters)
        return rule

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """Show the steps of the winner."""
        return self.chosen.steps(node, names)

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The numbers that the winner compares."""
        return self.chosen.figures(node, choice, memory)

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say why the winner did not keep a choice."""
        return self.chosen.reason_against(node, choice, name)

    def _candidates(self, nodes: Nodes) -> list[Rule]:
        """The candidates that can be fitted on these choice points."""
        if self.candidates is not None:
            candidates = list(self.candidates)
        else:
            candidates = [
                Margin(),
                Threshold("tuned", min_size=None),
                *([] if nodes.has_padding else [Threshold("per label", min_size=None)]),
                ExpectedF(min_size=None),
                ExpectedF(calibrate=True, min_size=None),
                ExpectedF(joint=True, min_size=None),
            ]
        possible = [
            rule for rule in candidates if nodes.examples is not None or not rule.requires_examples
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


def cross_validated_f1(
    rule: Rule, nodes: Nodes, positive: Mask, folds: list[tuple[IntArray, IntArray]]
) -> FloatArray:
    """The F1 of a rule on choice points that it is not fitted on.

    Parameters
    ----------
    rule : Rule
    nodes : Nodes
    positive : mask of shape (n, V)
    folds : list of pairs of int arrays
        The rows to fit on, and those to test on.

    Returns
    -------
    array
        One value per choice point, in the order in which the folds test them.
    """
    f1 = []
    for train, test in folds:
        fitted = clone(rule).fit(nodes[train], positive[train])
        f1.append(_f1(fitted, nodes[test], positive[test]))
    return np.concatenate(f1)


def _f1(rule: Rule, nodes: Nodes, positive: Mask) -> FloatArray:
    """The F1 of each choice point; 1 where nothing is kept and nothing is right."""
    f1 = np.empty(len(nodes))
    for rows in nodes.row_chunks():
        kept, right = rule.accept(nodes[rows]), dense_mask(positive, rows)
        sizes = kept.sum(axis=1) + right.sum(axis=1)
        f1[rows] = np.where(sizes > 0, 2 * (kept & right).sum(axis=1) / np.maximum(sizes, 1), 1.0)
    return f1
