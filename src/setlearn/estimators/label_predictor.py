"""What a fitted classifier of label sets answers: predict, rank, complete, trace, score."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from setlearn.estimators.argument_checks import (
    check_both,
    check_same_length,
    check_top,
    check_unknown,
)
from setlearn.estimators.base import Ranking, Task, Unknown
from setlearn.estimators.completion import Completion
from setlearn.estimators.hierarchy import Hierarchy, given_parents
from setlearn.estimators.label_inputs import check_inputs, check_numbers, one_sample
from setlearn.estimators.label_space import LabelSpace
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.features import TableFeatures
from setlearn.metrics import mean_f1
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes
from setlearn.rules import TopK
from setlearn.rules.steps import LabelTrace
from setlearn.scorers import LabelScorer
from setlearn.set_reading import read_set

__all__ = ["LabelPredictor"]


class LabelPredictor(ClassifierMixin, RuleHolder):  # type: ignore[misc]  # sklearn has no types
    """The verbs of `SetClassifier` once it is fitted: a scorer, a rule, and the labels' names."""

    fixed_after_fit: ClassVar[Mapping[str, str]] = {
        **RuleHolder.fixed_after_fit,
        "hierarchy": "call fit again",
    }

    hierarchy: Any
    space_: LabelSpace
    classes_: NDArray[Any]
    scorer_: LabelScorer
    completion_: Completion | None
    features_: TableFeatures | None
    hierarchy_: Hierarchy | None
    n_unknown_: int

    @property
    def task(self) -> Task:
        return "labels"

    @property
    def elements_(self) -> list[Hashable]:
        """The labels, in the order of ``classes_``."""
        self._check_fitted()
        labels: list[Hashable] = self.classes_.tolist()
        return labels

    @property
    def history_(self) -> list[dict[str, Any]]:
        """How the training of the learner went, if it keeps a history."""
        learner = getattr(self.scorer_, "model_", None)
        return list(getattr(learner, "history_", []))

    def predict(self, X: Any) -> Any:
        """Predict the set of each sample, in the kind of container that ``fit`` was given."""
        nodes = self._score(X)
        is_table = nodes.choices is None
        if is_table and self.space_.is_dense and self.hierarchy_ is None:  # as what the rule keeps
            return self._labels_only(self.rule_.accepted(nodes)).astype(self.space_.dtype)
        return self.space_.answer(self._kept(nodes))

    def predict_sets(self, X: Any) -> list[frozenset[Hashable]]:
        nodes = self._score(X)
        return self.space_.answer_sets(self._kept(nodes))

    def predict_proba(self, X: Any) -> FloatArray | sparse.csr_array:
        """The score of each label, (n_samples, n_labels).

        That is P(label | x), or with ``scores="softmax"`` P(next element | x). With a learner for
        very many labels, such as `ManyLabels`, it is a sparse array: labels without an entry are
        improbable.
        """
        nodes = self._score(X)
        if nodes.choices is not None:
            return nodes.as_matrix(len(self.classes_))
        return self._labels_only(nodes.probabilities)

    def predict_ranked(self, X: Any, *, top: int | None = None) -> list[Ranking]:
        check_top(top)
        nodes = self._score(X)
        labels = self._label_nodes(nodes)
        return self._ranked(labels, self._kept(nodes) if top is None else self._best(labels, top))

    def complete(self, X: Any, known: Any, *, unknown: Unknown = "error") -> Any:
        given = self._given(X, known, unknown)
        others = self._others(self._score(X, self._implied(given)), given)
        # One class per sample is no set, but there may be any number of other classes.
        answer = self.space_.answer_sets if self.space_.one_per_sample else self.space_.answer
        return answer(others)

    def complete_ranked(
        self, X: Any, known: Any, *, top: int | None = None, unknown: Unknown = "error"
    ) -> list[Ranking]:
        """List what else may be in each set, with scores, best first.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : iterable of sets, or an indicator
            The known labels, one set per input. They are never listed.
        top : int, optional
            List that many of the best other labels, whether the rule keeps them or not. By
            default those that ``complete`` answers.
        unknown : {"error", "ignore"}, default="error"
            What to do with known labels never seen in training.

        Returns
        -------
        list of Ranking
            One list of ``(label, score)`` per input. With ``conditional=True`` the scores depend
            on what is known. A label that follows from a known one in the hierarchy has score 1.
        """
        check_top(top)
        given = self._given(X, known, unknown)
        implied = self._implied(given)
        nodes = self._score(X, implied)
        scores = self._scores_of_others(nodes)
        if nodes.known is not None:
            scores = np.where(nodes.known, 1.0, scores)
        labels = self._label_nodes(replace(nodes, probabilities=scores))
        if top is None:
            return self._ranked(labels, self._others(nodes, given))
        labels = replace(labels, known=labels.mask_of(given))
        return self._ranked(labels, sparse.csr_array(self._best(labels, top) > given))

    def trace(self, x: Any, known: Any = (), *, unknown: Unknown = "error") -> LabelTrace:
        self._check_fitted()
        check_unknown(unknown)
        memory = read_set(known, "known")
        given = self._implied(self.space_.encode([memory], unknown))
        nodes = self._score(one_sample(x), given if memory else None)
        rule, node = self.rule_, nodes
        if self.completion_ is not None and nodes.known is not None and nodes.known.any():
            rule, node = self.completion_.rule, self.completion_.scores.left(nodes)
        choices = self.classes_.tolist() + (["(nothing)"] if self.scorer_.empty_choice else [])
        if nodes.choices is not None:
            choices = [choices[k] if k >= 0 else "(no label is listed)" for k in nodes.choices[0]]
        steps = rule.steps(node, [str(choice) for choice in choices])
        if node is not nodes:  # known labels were taken out
            steps = steps.after(np.flatnonzero(given.toarray()[0]).tolist())
        [result] = self.space_.answer_sets(self._kept(nodes) + given)
        return LabelTrace.of(choices, steps, result, memory & frozenset(self.classes_.tolist()))

    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        self._check_fitted()
        if X is None and y is None:
            kept: tuple[Nodes, Mask] = self._kept_samples()
            return kept
        check_both(X, y)
        nodes = self._score(X, with_examples=True)
        targets = self.space_.targets(y)
        check_same_length(len(nodes), len(targets))
        nodes, targets = targets.known_choices(nodes)
        return self.scorer_.with_right(nodes, targets.right)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean F1 of the predicted sets; accuracy for a plain 1-d y.

        Parameters
        ----------
        X : inputs, as in ``predict``
        y : true sets, an indicator, or classes
            A label that was never seen in training counts as missed.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
            From 0 to 1.
        """
        self._check_fitted()
        if self.space_.one_per_sample:
            return float(ClassifierMixin.score(self, X, y, sample_weight=sample_weight))
        y = self.space_.in_own_kind(y)
        if self.hierarchy_ is not None:
            y = self._closed(y)
        return mean_f1(y, self.predict(X), sample_weight=sample_weight)

    def facts(self) -> dict[str, Any]:
        self._check_fitted()
        return {
            "estimator": type(self).__name__,
            "rule": repr(self.rule_),
            "task": "sets of labels",
            "learner": type(self.scorer_.estimator).__name__,
            "labels": len(self.classes_),
            **({"unknown entries": self.n_unknown_} if self.n_unknown_ else {}),
            **self._rule_facts(),
        }

    def choice_names(self) -> list[str]:
        self._check_fitted()
        return [str(label) for label in self.elements_]

    def as_elements(self, sets: Any) -> list[frozenset[Hashable]]:
        self._check_fitted()
        return self.space_.by_spelling(sets)

    def _closed(self, y: Any) -> Any:
        """True sets or an indicator with the ancestors of all labels; unknown entries are NaN."""
        assert self.hierarchy_ is not None
        if not self.space_.has_columns:
            return self.as_true_sets(y)
        targets = self.hierarchy_.closed_targets(self.space_.targets(y))
        if targets.unknown is None:
            return targets.right
        closed = targets.right.toarray().astype(float)
        if targets.unknown is not None:
            closed[targets.unknown.toarray()] = np.nan
        return closed

    def as_true_sets(self, sets: Any) -> list[frozenset[Hashable]]:
        """As `as_elements`, with the ancestors of all labels if there is a hierarchy."""
        elements = self.as_elements(sets)
        if self.hierarchy_ is None:
            return elements
        labels = set(self.classes_.tolist())
        seen = self.space_.encode([labels & each for each in elements], "error")
        closed = self.space_.answer_sets(self._implied(seen))
        return [each | more for each, more in zip(elements, closed, strict=True)]

    def _label_nodes(self, nodes: Nodes) -> Nodes:
        """The roots with labels as choices alone, and nothing known."""
        if not self.scorer_.empty_choice:
            return replace(nodes, known=None)
        return Nodes.roots(self._labels_only(nodes.probabilities))

    def _best(self, nodes: Nodes, top: int) -> sparse.csr_array:
        """The best labels of each sample and those that are known, (n, labels)."""
        return nodes.marked(TopK(top).accept(nodes), len(self.classes_))

    def _ranked(self, nodes: Nodes, kept: sparse.csr_array) -> list[Ranking]:
        """The kept labels (n, labels) of each sample, best first."""
        labels = self.classes_.tolist()
        kept.sort_indices()
        scores = nodes.scores_of(kept)
        rankings = []
        for first, last in pairwise(kept.indptr.tolist()):
            order = first + np.argsort(-scores[first:last], kind="stable")
            rankings.append(Ranking((labels[kept.indices[k]], float(scores[k])) for k in order))
        return rankings

    def _given(self, X: Any, known: Any, unknown: Unknown) -> sparse.csr_array:
        """The known labels of each input, (n, labels)."""
        self._check_fitted()
        check_unknown(unknown)
        given = self.space_.encode(known, unknown)
        check_same_length(_num_samples(X), given.shape[0], "known")
        return given

    def _others(self, nodes: Nodes, given: sparse.csr_array) -> sparse.csr_array:
        """The rest of each set, (n, labels), with what the given labels imply."""
        return sparse.csr_array((self._kept(nodes) + self._implied(given)) > given)

    def _scores_of_others(self, nodes: Nodes) -> FloatArray:
        """The scores, given the known labels if there is a completion, (n, V)."""
        scores = nodes.probabilities
        if self.completion_ is None or nodes.known is None:
            return scores
        informed: BoolArray = np.asarray(nodes.known.any(axis=1))
        if informed.any():
            scores = scores.copy()
            scores[informed] = self.completion_.scores.left(nodes[informed]).probabilities
        return scores

    def _kept(self, nodes: Nodes) -> sparse.csr_array:
        """The kept labels, (n, labels); may include known labels; computed in dense chunks."""
        chunks = []
        for rows in nodes.row_chunks():
            part = nodes[rows]
            chunks.append(part.marked(self._labels_only(self._accepted(part)), len(self.classes_)))
        kept = sparse.csr_array(sparse.vstack(chunks)) if len(chunks) > 1 else chunks[0]
        return self._implied(kept)

    def _implied(self, sets: sparse.csr_array) -> sparse.csr_array:
        """Sets (n, labels) with all labels that they imply in a hierarchy."""
        return sets if self.hierarchy_ is None else self.hierarchy_.closed(sets)

    def _accepted(self, nodes: Nodes) -> BoolArray:
        """What the rule keeps; where labels are known, what the completion adds to them."""
        kept = self.rule_.accepted(nodes)
        if self.completion_ is not None and nodes.known is not None:
            informed: BoolArray = np.asarray(nodes.known.any(axis=1))
            if informed.any():
                kept[informed] = self.completion_.kept(nodes[informed])
        return kept

    def _labels_only(self, choices: NDArray[Any]) -> NDArray[Any]:
        return choices[:, :-1] if self.scorer_.empty_choice else choices

    def _fixed_settings(self) -> dict[str, Any]:
        hierarchy = {} if self.hierarchy is None else given_parents(self.hierarchy)
        return {**super()._fixed_settings(), "hierarchy": hierarchy}

    def _score(
        self, X: Any, known: sparse.csr_array | None = None, *, with_examples: bool | None = None
    ) -> Nodes:
        """The scored roots of all samples, with examples where the rule uses them."""
        self._check_fitted()
        if with_examples is None:
            with_examples = self.rule_.uses_examples
        nodes = self.scorer_.start(self._inputs(X), known, with_examples=with_examples).nodes
        return nodes if self.hierarchy_ is None else self.hierarchy_.consistent(nodes)

    def _inputs(self, X: Any) -> Any:
        """X as the learner takes it."""
        learner = self.scorer_.estimator
        if self.features_ is not None:
            inputs = self.features_.reader_.read(self.features_.rows(X))
        else:
            allow_nan = get_tags(learner).input_tags.allow_nan
            inputs = check_inputs(self, X, reset=False, allow_nan=allow_nan)
        check_numbers(learner, inputs, self.features_)
        return inputs
