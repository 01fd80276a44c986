"""The rule that does best on the given data, selected among several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes, check_positive, dense_mask
from setlearn.progress import progress
from setlearn.rules.agreement import Metric, agreement, check_metric
from setlearn.rules.base import Rule
from setlearn.rules.candidate_score import CandidateScore
from setlearn.rules.expected_f import ExpectedF
from setlearn.rules.margin import Margin
from setlearn.rules.most_probable import MostProbable
from setlearn.rules.steps import Steps
from setlearn.rules.threshold import Threshold
from setlearn.savable import savable

__all__ = ["Auto", "cross_validated"]

MOST_ROWS = 5_000
"""Choice points on which candidates are compared."""

MOST_SCORES = 5_000_000
"""Scores on which candidates are compared, unless there would be too few choice points."""

LEAST_ROWS = 200
"""Choice points that are enough to compare candidates, if each has very many choices."""


@savable()
class Auto(Rule):
    """Try several rules, and use the one with the best mean F1, or another metric.

    Each candidate is fitted on two thirds of the samples and scored on the last third, three
    times. The winner is then fitted on all samples. If several are equally good the earliest
    candidate wins, so list the simpler ones first.

    Of more than 5,000 samples, a random part is used to compare the candidates: 5,000 of them, or
    fewer if they would have more than 5 million scores.

    Parameters
    ----------
    candidates : sequence of rules, optional
        By default ``Margin()``, and ``Threshold`` with a tuned cut and with one for each label. For
        "f1" and "jaccard" also ``ExpectedF`` with and without ``calibrate=True`` and, if the scorer
        gives examples, with ``joint=True``. For "exact" and "hamming" instead ``Threshold(0.5)``
        and, if the scorer gives examples, ``MostProbable(joint=True)``. All of them learn how
        small sets can be, and cuts are tuned for the metric.
    metric : {"f1", "exact", "hamming", "jaccard"}, default="f1"
        What is best: the highest mean F1, the most sets that are exactly right, the least Hamming
        distance or the highest mean Jaccard index.
    random_state : int, RandomState or None
        Draws the thirds and seeds the candidates.

    Attributes
    ----------
    rule_ : the winner, fitted
    scores_ : dict
        For each candidate by its name, a `CandidateScore`: the mean of the metric on samples that
        it was not fitted on, its standard error, and how much the numbers that it learned vary.
        Higher is always better: for "hamming" it is 1 less the Hamming distance.

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
    Threshold(cut='tuned') 1.000 ± 0.000 (cut 0.3 ± 0.001)
    """

    def __init__(
        self,
        candidates: Sequence[Rule] | None = None,
        *,
        metric: Metric = "f1",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.candidates = candidates
        self.metric = metric
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
        """Raise unless all candidates are rules with parameters in range, and there is a metric."""
        check_metric(self.metric)
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
        compared, right = _sampled(nodes, positive, rng)
        folds = compared.folds(rng)
        scores = []
        with progress("comparing rules", len(seeded)) as advance:
            for rule in seeded:
                scores.append(self._score(rule, compared, right, folds))
                advance()
        self.scores_ = dict(zip(map(repr, candidates), scores, strict=True))
        best = int(np.argmax([score.mean for score in scores]))  # the first of equals
        self.rule_: Rule = seeded[best].fit(nodes, positive)
        return self

    def _score(
        self, rule: Rule, nodes: Nodes, positive: Mask, folds: list[tuple[IntArray, IntArray]]
    ) -> CandidateScore:
        parts = list(cross_validated(rule, nodes, positive, folds, self.metric))
        learned = [fitted.learned_numbers() for fitted, _ in parts]
        return CandidateScore.of(np.concatenate([values for _, values in parts]), learned)

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
    def candidate_scores(self) -> Mapping[str, CandidateScore] | None:
        """The cross-validated score of each candidate; None before ``fit``."""
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
            # Where some choices may be padding, columns are not the same choices in each row.
            same = nodes.available is None
            candidates = [rule for rule in self._tried() if same or rule.takes_padding]
        possible = [
            rule for rule in candidates if nodes.examples is not None or not rule.requires_examples
        ]
        if not possible:
            raise DataError(
                f"all candidates need training sets with weights: {candidates!r}, and the scorer "
                "gave marginals alone; add one that does not, such as ExpectedF()"
            )
        return possible

    def _tried(self) -> list[Rule]:
        """What is tried by default."""
        tuned = Threshold("tuned", min_size=None, metric=self.metric)
        per_label = Threshold("per label", min_size=None, metric=self.metric)
        if self.metric in ("exact", "hamming"):
            half = Threshold(0.5, min_size=None)
            return [Margin(), half, tuned, per_label, MostProbable(joint=True)]
        return [
            Margin(),
            tuned,
            per_label,
            ExpectedF(min_size=None),
            ExpectedF(calibrate=True, min_size=None),
            ExpectedF(joint=True, min_size=None),
        ]


def _seeded(rule: Rule, rng: np.random.RandomState) -> Rule:
    """A clone that draws its random numbers from ``rng``, unless it has a seed of its own."""
    seeded: Rule = clone(rule)
    if seeded.get_params().get("random_state", 0) is None:
        seeded.set_params(random_state=int(rng.randint(2**31 - 1)))
    return seeded


def _sampled(nodes: Nodes, positive: Mask, rng: np.random.RandomState) -> tuple[Nodes, Mask]:
    """A random part of the choice points, if there are too many to compare candidates on all."""
    most = max(LEAST_ROWS, min(MOST_ROWS, MOST_SCORES // max(1, nodes.n_choices)))
    if len(nodes) <= most:
        return nodes, positive
    rows = np.sort(rng.permutation(len(nodes))[:most])
    return nodes[rows], positive[rows]


def cross_validated(
    rule: Rule,
    nodes: Nodes,
    positive: Mask,
    folds: list[tuple[IntArray, IntArray]],
    metric: Metric = "f1",
) -> Iterator[tuple[Rule, FloatArray]]:
    """How well a rule does on choice points that it is not fitted on.

    Parameters
    ----------
    rule : Rule
    nodes : Nodes
    positive : mask of shape (n, V)
    folds : list of pairs of int arrays
        The rows to fit on, and those to test on.
    metric : {"f1", "exact", "hamming", "jaccard"}, default="f1"

    Yields
    ------
    fitted : Rule
        The rule, fitted on the rows of one fold.
    values : array
        The metric of each row that the fold tests.
    """
    for train, test in folds:
        fitted = clone(rule).fit(nodes[train], positive[train])
        yield fitted, _agreement(fitted, nodes[test], positive[test], metric)


def _agreement(rule: Rule, nodes: Nodes, positive: Mask, metric: Metric) -> FloatArray:
    """The metric of each choice point, (n,)."""
    values = np.empty(len(nodes))
    for rows in nodes.row_chunks():
        part, right = nodes[rows], dense_mask(positive, rows)
        kept = rule.accept(part)
        values[rows] = agreement(
            metric,
            shared=(kept & right).sum(axis=1),
            true=right.sum(axis=1),
            kept=kept.sum(axis=1),
            n_choices=part.n_available,
        )
    return values
