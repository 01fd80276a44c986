"""What a fitted selector answers: predict, rank, complete, trace."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from setlearn.candidate_lists import CandidateLists, read_candidate_lists
from setlearn.errors import UnknownLabelWarning, warn_user
from setlearn.estimators.argument_checks import (
    check_both,
    check_same_length,
    check_top,
    check_unknown,
)
from setlearn.estimators.base import InputLayout, Ranking, Task, Unknown
from setlearn.estimators.chosen_sets import (
    RuleSamples,
    chosen_points,
    chosen_rows,
    chosen_sets,
    drawn_samples,
)
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes
from setlearn.rules import Rule
from setlearn.rules.steps import LabelTrace, short_name
from setlearn.scorers.selection import (
    CompletionScorer,
    SelectionScorer,
    random_parts,
    selection_nodes,
)
from setlearn.set_reading import read_set

__all__ = ["SelectionPredictor"]

BLOCK = 200_000
"""Candidates that are scored together."""


class SelectionPredictor(RuleHolder):
    """The verbs of `SetSelector` once it is fitted: scorers of candidates, and their rules."""

    rule_samples_: RuleSamples
    scorer_: SelectionScorer
    completion_: CompletionScorer | None
    rule_of_rest_: Rule
    reads_matrices_: bool

    @property
    def task(self) -> Task:
        return "candidates"

    @property
    def elements_(self) -> None:
        """None: candidates come with the inputs."""
        self._check_fitted()

    def predict(self, X: Any) -> list[frozenset[Any]]:
        return self.predict_sets(X)

    def predict_sets(self, X: Any) -> list[frozenset[Any]]:
        lists = self._read(X)
        _, kept = self._decided(lists, np.zeros(lists.n_rows, dtype=bool))
        return lists.sets(kept)

    def predict_ranked(self, X: Any, *, top: int | None = None) -> list[Ranking]:
        check_top(top)
        lists = self._read(X)
        return self._ranked(lists, np.zeros(lists.n_rows, dtype=bool), top)

    def complete(self, X: Any, known: Any, *, unknown: Unknown = "error") -> list[frozenset[Any]]:
        lists, given = self._given(X, known, unknown)
        _, kept = self._decided(lists, given)
        return lists.sets(kept)

    def complete_ranked(
        self, X: Any, known: Any, *, top: int | None = None, unknown: Unknown = "error"
    ) -> list[Ranking]:
        check_top(top)
        return self._ranked(*self._given(X, known, unknown), top)

    def trace(self, x: Any, known: Any = (), *, unknown: Unknown = "error") -> LabelTrace:
        memory = read_set(known, "known")
        lists, given = self._given([x], [memory], unknown)
        scores, kept = self._decided(lists, given)
        candidates, rule = lists.of(0), self.rule_of_rest_ if given.any() else self.rule_
        steps = rule.steps(selection_nodes(lists, scores, given), [*map(short_name, candidates)])
        steps = steps.after(np.flatnonzero(given).tolist())
        [others] = lists.sets(kept)
        [in_memory] = lists.sets(given)
        return LabelTrace.of(candidates, steps, others | in_memory, in_memory, "candidate")

    def with_rule(self, rule: Rule, X: Any = None, y: Any = None) -> Self:
        other = super().with_rule(rule, X, y)
        is_new = other.rule_ is not self.rule_ and X is not None
        samples = self._samples(X, y) if is_new else getattr(self, "rule_samples_", None)
        other.rule_of_rest_ = other.rule_ if samples is None else samples.rule_of_rest(other.rule_)
        return other

    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        self._check_fitted()
        if X is None and y is None:
            kept: RuleSamples = self._kept_samples()
            return kept.whole
        return self._samples(X, y).whole

    def facts(self) -> dict[str, Any]:
        self._check_fitted()
        return {
            "estimator": type(self).__name__,
            "rule": repr(self.rule_),
            "task": "sets of candidates",
            "learner": type(self.scorer_.estimator).__name__,
            **self._rule_facts(),
        }

    def choice_names(self) -> list[str]:
        """None, because every sample has candidates of its own."""
        self._check_fitted()
        return []

    def as_elements(self, sets: Any) -> list[frozenset[Hashable]]:
        self._check_fitted()
        return chosen_sets(sets, "sets")

    def input_layout(self) -> InputLayout:
        self._check_fitted()
        width = self.scorer_.features.width if self.reads_matrices_ else None
        return InputLayout(width, tokens=self.scorer_.features.reads_tokens, candidates=True)

    def _read(self, X: Any) -> CandidateLists:
        self._check_fitted()
        return read_candidate_lists(X, as_matrices=self.reads_matrices_)

    def _given(self, X: Any, known: Any, unknown: Unknown) -> tuple[CandidateLists, BoolArray]:
        """The inputs, and which candidates are known to be in the sets, (n_rows,)."""
        self._check_fitted()
        check_unknown(unknown)
        lists = self._read(X)
        sets = chosen_sets(known, "known")
        check_same_length(len(lists), len(sets), "known")
        given, others = lists.mask(sets, "known", ignore_others=unknown == "ignore")
        if others:
            warn_user(
                UnknownLabelWarning(
                    f"{len(others)} known element(s) such as {others[0]!r:.60} are not among the "
                    "candidates; they were ignored"
                )
            )
        return lists, given

    def _decided(self, lists: CandidateLists, known: BoolArray) -> tuple[FloatArray, BoolArray]:
        """The scores of all candidates, and which the rule keeps; never known ones, (n_rows,)."""
        scores, kept = np.zeros(lists.n_rows), np.zeros(lists.n_rows, dtype=bool)
        read = self.scorer_.features.read(lists)
        for samples in lists.blocks(BLOCK):
            block = read[samples]
            part = slice(lists.first[samples.start], lists.first[samples.stop])
            given = known[part]
            found = self.scorer_.scores(block)
            is_informed = np.bincount(block.lists.sample, given, len(block.lists)) > 0
            if is_informed.any() and self.completion_ is not None:
                informed = self.completion_.scores(self.scorer_.features, block, found, given)
                found = np.where(is_informed[block.lists.sample], informed, found)
            nodes = selection_nodes(block.lists, found, given)
            accepted = np.zeros(nodes.probabilities.shape, dtype=bool)
            for rule, chosen in ((self.rule_, ~is_informed), (self.rule_of_rest_, is_informed)):
                if chosen.any():
                    accepted[chosen] = rule.accepted(nodes[chosen])
            scores[part] = found
            kept[part] = accepted[block.lists.sample, block.lists.place]
        return scores, kept

    def _ranked(self, lists: CandidateLists, known: BoolArray, top: int | None) -> list[Ranking]:
        """The kept or the best candidates that are not known, best first."""
        scores, kept = self._decided(lists, known)
        listed = kept if top is None else ~known
        rankings = []
        for sample in range(len(lists)):
            start, stop = lists.first[sample], lists.first[sample + 1]
            rows = start + np.flatnonzero(listed[start:stop])
            rows = rows[np.argsort(-scores[rows], kind="stable")][:top]
            elements = [lists.candidates[k] for k in lists.which[rows]]
            rankings.append(Ranking(zip(elements, scores[rows].tolist(), strict=True)))
        return rankings

    def _samples(self, X: Any, y: Any) -> RuleSamples:
        """Choice points of new samples, and those with a random part of each set known."""
        check_both(X, y)
        lists, rng = self._read(X), np.random.RandomState(0)
        right, drawn = chosen_rows(lists, y), drawn_samples(lists, rng)
        right, lists = right[np.isin(lists.sample, drawn)], lists[drawn]
        read = self.scorer_.features.read(lists)
        scores = self.scorer_.scores(read)
        whole = chosen_points(lists, scores, right)
        if self.completion_ is None or not right.any():
            return RuleSamples(whole, None)
        known = random_parts(lists, right, np.random.RandomState(self.completion_.random_state))
        of_rest = self.completion_.scores(self.scorer_.features, read, scores, known)
        return RuleSamples(whole, chosen_points(lists, of_rest, right, known))
