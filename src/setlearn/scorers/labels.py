"""Scorers for labels: any scikit-learn classifier, one choice point per sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from setlearn.errors import DataError
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, Mask, Nodes, Step
from setlearn.progress import progress
from setlearn.row_blocks import BLOCK_ROWS, rows_of_full_blocks
from setlearn.savable import savable
from setlearn.scorers.classifiers import (
    answers_indicators,
    class_probabilities,
    fit_learner,
    label_probabilities,
    params_of_rows,
)
from setlearn.scorers.label_parts import LabelPart
from setlearn.scorers.label_targets import LabelTargets
from setlearn.scorers.shared_steps import share_steps

__all__ = ["LabelScorer", "MarginalScorer", "SoftmaxScorer"]

MOST_COPIED = 4096


class LabelScorer(ABC):
    """Turns inputs into scored roots. Labels have no depth, so ``start`` is the only step.

    Parameters
    ----------
    estimator : scikit-learn classifier
    n_labels : int
    empty_choice : bool, default=False
        Whether "nothing" is one more choice behind the labels.
    """

    shares_of_one: ClassVar[bool]
    """Whether the scores of all choices add up to 1, so that none is a label's own probability."""

    def __init__(self, estimator: BaseEstimator, *, n_labels: int, empty_choice: bool = False):
        self.estimator = estimator
        self.n_labels = n_labels
        self.empty_choice = empty_choice

    @abstractmethod
    def fit(self, X: Any, targets: LabelTargets, params: Mapping[str, Any]) -> Self:
        """Fit the learner.

        Parameters
        ----------
        X : inputs
        targets : LabelTargets
            The label sets.
        params : mapping
            Passed to the learner's ``fit``.

        Returns
        -------
        self
        """

    def fit_held_out(
        self, X: Any, targets: LabelTargets, params: Mapping[str, Any], *, with_examples: bool
    ) -> Nodes | None:
        """Fit the learner, and score training samples as if they had been left out.

        Parameters
        ----------
        X : inputs
        targets : LabelTargets
        params : mapping
            Passed to the learner's ``fit``.
        with_examples : bool
            Whether the scores come with training sets.

        Returns
        -------
        Nodes or None
            None, without a fit, if the learner cannot do this; then folds are needed.
        """
        return None

    @property
    def n_choices(self) -> int:
        """The number of labels, and one more if "nothing" is a choice."""
        return self.n_labels + self.empty_choice

    @property
    def nothing(self) -> int | None:
        """The choice "nothing", if it is one."""
        return self.n_labels if self.empty_choice else None

    @abstractmethod
    def start(
        self, X: Any, known: sparse.csr_array | None = None, *, with_examples: bool = False
    ) -> Step:
        """Score the root of every sample.

        Parameters
        ----------
        X : inputs
        known : csr_array of bool, shape (n, labels), optional
            The labels that are in the memory from the start.
        with_examples : bool, default=False
            Whether to add training sets with weights, where the learner knows them. Only some
            rules use them, and finding them takes time.

        Returns
        -------
        Step
        """

    @abstractmethod
    def with_right(self, nodes: Nodes, right: sparse.csr_array) -> tuple[Nodes, Mask]:
        """Choice points to fit a rule on, with the right choices.

        Parameters
        ----------
        nodes : Nodes
            From ``start`` or ``fit_held_out``.
        right : csr_array of bool, shape (n, labels)
            The labels of their samples.

        Returns
        -------
        nodes : Nodes
            In which each right label is a choice.
        mask : mask of shape (n, V)
        """

    def examples(self, X: Any) -> Examples | None:
        """Training sets similar to those of X, from learners that know them."""
        return None


class TableScorer(LabelScorer):
    """A scorer whose choice points have all labels as choices: a table of samples and labels."""

    @abstractmethod
    def label_scores(self, X: Any) -> FloatArray:
        """The probabilities of all choices, (n, V)."""

    def start(
        self, X: Any, known: sparse.csr_array | None = None, *, with_examples: bool = False
    ) -> Step:
        """Score every label of every sample."""
        mask = None if known is None else known.toarray()
        if with_examples:
            scores, examples = self._scores_and_examples(X, mask)
        else:
            scores, examples = self.scores(X), None
        if mask is not None and self.empty_choice:
            # A set with a known element is not empty.
            scores[mask.any(axis=1), -1] = 0
            mask = np.column_stack([mask, np.zeros(len(mask), bool)])
        return Step(replace(Nodes.roots(scores, mask), nothing=self.nothing, examples=examples))

    def _scores_and_examples(
        self, X: Any, known: BoolArray | None
    ) -> tuple[FloatArray, Examples | None]:
        """What `scores` and `examples` return; the sets may be those with the known labels."""
        return self.scores(X), self.examples(X)

    def scores(self, X: Any) -> FloatArray:
        """Scores that do not depend, to the last bit, on which rows are scored together.

        Unless the learner sees to that itself, rows are scored in full blocks.
        """
        n_samples = _num_samples(X)
        n_over = n_samples % BLOCK_ROWS
        if not n_over or getattr(self.estimator, "scores_rows_alone", False):
            return self.label_scores(X)
        if n_samples > MOST_COPIED:  # only the rows that are left over are copied
            n_in_blocks = n_samples - n_over
            parts = (
                _safe_indexing(X, slice(0, n_in_blocks)),
                _safe_indexing(X, slice(n_in_blocks, None)),
            )
            return np.concatenate([self.scores(part) for part in parts])
        return self.label_scores(_safe_indexing(X, rows_of_full_blocks(n_samples)))[:n_samples]

    def with_right(self, nodes: Nodes, right: sparse.csr_array) -> tuple[Nodes, Mask]:
        """The choice points as they are, and the right choices; "nothing" may be one of them."""
        return nodes, self._right_choices(right)

    def _right_choices(self, right: sparse.csr_array) -> sparse.csr_array:
        if not self.empty_choice:
            return right
        empty = np.asarray(right.sum(axis=1)).ravel() == 0
        return sparse.csr_array(sparse.hstack([right, sparse.csr_array(empty[:, None])]))


@savable()
class MarginalScorer(TableScorer):
    """Each label's own probability.

    Learners that take an indicator matrix natively get it; for all others there is one model per
    label. In a pipeline these are models of its last step: the others are fitted once, if they do
    not use targets.
    """

    shares_of_one: ClassVar[bool] = False
    steps_: Pipeline | None = None

    def fit(self, X: Any, targets: LabelTargets, params: Mapping[str, Any]) -> Self:
        """Fit one learner on all labels that vary, or one on each."""
        parts, models = self._parts(targets), []
        learner, X = self._shared(X, params) if len(parts) > 1 else (self.estimator, X)
        with progress("fitting labels", [part.size for part in parts]) as advance:
            for part in parts:
                models.append((part, part.fitted(learner, X, params)))
                advance()
        self._keep_models(models)
        return self

    def fit_held_out(
        self, X: Any, targets: LabelTargets, params: Mapping[str, Any], *, with_examples: bool
    ) -> Nodes | None:
        """Fit a learner with a method ``fit_held_out``, such as `SetMixture`."""
        parts = self._parts(targets)
        last = self.estimator[-1] if isinstance(self.estimator, Pipeline) else self.estimator
        if not parts or not hasattr(last, "fit_held_out"):
            return None
        learner, X = self._shared(X, params)
        if not hasattr(learner, "fit_held_out"):  # the steps before it need targets
            return None
        models = [(part, clone(learner)) for part in parts]
        answers = []
        with progress("fitting labels", [part.size for part in parts]) as advance:
            for part, model in models:
                answers.append(model.fit_held_out(*part.problem(X), **part.params(params)))
                advance()
        self._keep_models(models)
        samples = np.unique(
            [part.samples[k] for part, a in zip(parts, answers, strict=True) for k in a.rows]
        ).astype(np.intp)
        shape = (len(samples), len(self.varying_))
        scores, scored = np.zeros(shape), np.zeros(shape, dtype=bool)
        for part, answer in zip(parts, answers, strict=True):
            rows = np.searchsorted(samples, part.samples[answer.rows])
            scores[np.ix_(rows, part.labels)] = part.own_scores(answer.probabilities)
            scored[np.ix_(rows, part.labels)] = True
        together = with_examples and hasattr(self, "model_")
        nodes = Nodes(
            samples,
            np.zeros_like(samples),
            self._with_constant_scores(scores),
            examples=self._with_constant_sets(answers[0].examples) if together else None,
        )
        return nodes if scored.all() else self._without(~scored, nodes)

    def _parts(self, targets: LabelTargets) -> list[LabelPart]:
        """What to fit a model on each: all labels together, if possible, or single ones.

        A label that is always or never present needs no model: it gets its smoothed frequency. Not
        all learners accept such a label, and a fold may well have one.
        """
        counts, n_known = targets.counts, targets.n_known
        self.frequencies_ = (counts + 0.5) / (n_known + 1)  # (labels,)
        self.varying_ = np.flatnonzero((counts > 0) & (counts < n_known))
        columns = targets.right.tocsc()[:, self.varying_]
        places = np.arange(len(self.varying_))
        together = answers_indicators(self.estimator)
        if together and len(places) > 1 and getattr(self.estimator, "takes_unknown", False):
            unknown = None if targets.unknown is None else targets.unknown[:, self.varying_]
            return [LabelPart(places, np.arange(len(targets)), columns, unknown)]
        parts = []
        for labels, samples in targets.groups(self.varying_):
            places = np.searchsorted(self.varying_, labels)
            # One label is a plain binary problem: some multi-label learners would drop a column.
            if len(labels) > 1 and together:
                parts.append(LabelPart(places, samples, columns))
            else:
                parts += [LabelPart(places[[k]], samples, columns) for k in range(len(places))]
        return parts

    def _shared(self, X: Any, params: Mapping[str, Any]) -> tuple[BaseEstimator, Any]:
        """The learner without the steps that all labels share, and its inputs."""
        if params:  # they may be for any step
            return self.estimator, X
        self.steps_, learner, X = share_steps(self.estimator, X)
        return learner, X

    def _keep_models(self, models: list[tuple[LabelPart, Any]]) -> None:
        if len(models) == 1 and len(models[0][0].labels) > 1:
            self.model_ = models[0][1]
            return
        self.models_ = [model for _, model in models]
        self.labels_ = [part.labels for part, _ in models]

    def _without(self, missing: BoolArray, nodes: Nodes) -> Nodes:
        """Make padding of varying labels (n, varying) that have no scores."""
        available = np.ones(nodes.probabilities.shape, dtype=bool)
        available[:, self.varying_] = ~missing
        scores = np.where(available, nodes.probabilities, 0.0)
        return replace(nodes, probabilities=scores, available=available)

    def prefit(self) -> Self:
        """Take a learner that was fitted on an indicator matrix with these columns."""
        self.model_ = self.estimator
        self.varying_ = np.arange(self.n_labels)
        return self

    def label_scores(self, X: Any) -> FloatArray:
        """Each label's own probability, strictly between 0 and 1."""
        scores = self._varying_scores(X)
        if scores.shape[1] != len(self.varying_):
            raise DataError(
                f"the estimator answers for {scores.shape[1]} labels but Y has {self.n_labels}; "
                'with cv="prefit" the labels must be those that it was fitted on'
            )
        return self._with_constant_scores(scores)

    def examples(self, X: Any) -> Examples | None:
        """Training sets similar to those of X, if the learner has a method ``examples``."""
        model: Any = getattr(self, "model_", None)
        if not hasattr(model, "examples"):
            return None
        return self._with_constant_sets(model.examples(self._after_steps(X)))

    def _scores_and_examples(
        self, X: Any, known: BoolArray | None
    ) -> tuple[FloatArray, Examples | None]:
        """What `scores` and `examples` return, in one pass if the learner has one."""
        model: Any = getattr(self, "model_", None)
        if not hasattr(model, "predict_with_examples"):
            return super()._scores_and_examples(X, known)
        wanted = None if known is None else known[:, self.varying_]
        scores, examples = model.predict_with_examples(self._after_steps(X), wanted)
        return self._with_constant_scores(scores), self._with_constant_sets(examples)

    def _with_constant_scores(self, scores: FloatArray) -> FloatArray:
        """Scores of varying labels (n, varying) as scores of all of them (n, labels)."""
        if len(self.varying_) < self.n_labels:
            of_varying, scores = scores, np.tile(self.frequencies_, (len(scores), 1))
            scores[:, self.varying_] = of_varying
        margin = np.finfo(scores.dtype).eps
        return np.clip(scores, margin, 1 - margin, out=scores if scores.flags.writeable else None)

    def _with_constant_sets(self, examples: Examples | None) -> Examples | None:
        """Sets of varying labels (m, varying) as sets of all of them (m, labels)."""
        if examples is None or len(self.varying_) == self.n_labels:
            return examples
        sets, always = examples.sets, self.frequencies_ > 0.5
        always[self.varying_] = False
        moved = sparse.csr_array(
            (sets.data, self.varying_[sets.indices], sets.indptr),
            shape=(sets.shape[0], self.n_labels),
        )
        constant = sparse.csr_array(np.tile(always, (sets.shape[0], 1)))
        return Examples(sparse.csr_array((moved + constant).astype(bool)), examples.weights)

    def _after_steps(self, X: Any) -> Any:
        return X if self.steps_ is None else self.steps_.transform(X)

    def _varying_scores(self, X: Any) -> FloatArray:
        X = self._after_steps(X)
        if hasattr(self, "model_"):
            return label_probabilities(self.model_, X)
        scores = np.empty((_num_samples(X), len(self.varying_)))
        # Models of older versions have one model per label, and do not say so.
        labels = getattr(self, "labels_", np.arange(len(self.models_))[:, None])
        for model, places in zip(self.models_, labels, strict=True):
            if len(places) == 1:
                scores[:, places] = class_probabilities(model, X)[:, 1:]
            else:
                scores[:, places] = label_probabilities(model, X)
        return scores


@savable()
class SoftmaxScorer(TableScorer):
    """The paper's way: one row per element, a multi-class learner, P(next element | x).

    With ``empty_choice`` a sample with an empty set also gives one row, of the class "nothing".
    """

    shares_of_one: ClassVar[bool] = True

    def fit(self, X: Any, targets: LabelTargets, params: Mapping[str, Any]) -> Self:
        """Fit the learner on one row per element."""
        n_samples = len(targets)
        right = sparse.csr_array(self._right_choices(targets.right))
        right.sort_indices()
        rows, choices = np.repeat(np.arange(n_samples), np.diff(right.indptr)), right.indices
        self.choices_: IntArray = np.unique(choices).astype(np.int64)
        if len(self.choices_) > 1:
            self.model_ = fit_learner(
                self.estimator,
                _safe_indexing(X, rows),
                choices.astype(np.int64),
                params_of_rows(params, rows, n_samples),
            )
        return self

    def prefit(self, choices: IntArray) -> Self:
        """Take a learner whose classes are these choices, in their order."""
        self.choices_ = choices
        self.model_ = self.estimator
        return self

    def label_scores(self, X: Any) -> FloatArray:
        """P(next element | x): each row sums to 1. An element unseen in training gets 0."""
        if len(self.choices_) == 1:
            probabilities = np.ones((_num_samples(X), 1))
        else:
            probabilities = class_probabilities(self.model_, X)
        if np.array_equal(self.choices_, np.arange(self.n_choices)):
            return probabilities
        scores = np.zeros((len(probabilities), self.n_choices), dtype=probabilities.dtype)
        scores[:, self.choices_] = probabilities
        return scores
