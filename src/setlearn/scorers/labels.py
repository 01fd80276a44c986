"""Scorers for labels: one choice point a sample, its scores from any scikit-learn classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from setlearn.errors import DataError
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, Mask, Nodes, Step
from setlearn.savable import savable
from setlearn.scorers.classifiers import (
    answers_indicators,
    class_probabilities,
    fit_learner,
    label_probabilities,
    params_of_rows,
)

__all__ = ["LabelScorer", "MarginalScorer", "SoftmaxScorer"]

BLOCK_ROWS = 8
"""Rows that BLAS and torch take at a time; measured: with 4 some answers still differed."""

MOST_COPIED = 4096


class LabelScorer(ABC):
    """Turns inputs into scored roots: ``start`` is all there is, for labels have no depth."""

    def __init__(self, estimator: BaseEstimator, *, n_labels: int, empty_choice: bool = False):
        self.estimator = estimator
        self.n_labels = n_labels
        # One more choice behind the labels, "nothing": the end symbol at the root.
        self.empty_choice = empty_choice

    @abstractmethod
    def fit(self, X: Any, Y: sparse.csr_array, params: Mapping[str, Any]) -> Self:
        """Fit the learner on label sets given as a sparse indicator (n, labels)."""

    @abstractmethod
    def label_scores(self, X: Any) -> FloatArray:
        """The probabilities of all choices, (n, V)."""

    @property
    def n_choices(self) -> int:
        """The number of labels, and one more if "nothing" is a choice."""
        return self.n_labels + self.empty_choice

    def start(self, X: Any, known: BoolArray | None = None, *, with_examples: bool = False) -> Step:
        """Score the root of every sample.

        Parameters
        ----------
        X : inputs
        known : array of bool, shape (n, labels), optional
            The labels that are in the memory from the start.
        with_examples : bool, default=False
            Whether to add training sets with weights, where the learner knows them. Only some
            rules use them, and finding them takes time.

        Returns
        -------
        Step
        """
        scores = self._scores_in_full_blocks(X)
        if known is not None and self.empty_choice:
            # Whoever knows an element knows that the set is not empty.
            scores[known.any(axis=1), -1] = 0
            known = np.column_stack([known, np.zeros(len(known), bool)])
        nodes = Nodes.roots(scores, known)
        return Step(replace(nodes, examples=self.examples(X)) if with_examples else nodes)

    def examples(self, X: Any) -> Examples | None:
        """Training sets that are like those of X, from learners that know them."""
        return None

    def _scores_in_full_blocks(self, X: Any) -> FloatArray:
        """Scores that do not depend on which rows are asked for together, to the last bit.

        Products of matrices are computed a few rows at a time, and rows that are left over go
        another way, which rounds differently. So there are none left over: the last row is
        repeated until the block is full.
        """
        n_samples = _num_samples(X)
        n_over = n_samples % BLOCK_ROWS
        if not n_over:
            return self.label_scores(X)
        if n_samples > MOST_COPIED:  # only the rows that are left over are copied
            whole = n_samples - n_over
            parts = (_safe_indexing(X, slice(0, whole)), _safe_indexing(X, slice(whole, None)))
            return np.concatenate([self._scores_in_full_blocks(part) for part in parts])
        rows = np.minimum(np.arange(n_samples + BLOCK_ROWS - n_over), n_samples - 1)
        return self.label_scores(_safe_indexing(X, rows))[:n_samples]

    def right_choices(self, Y: sparse.csr_array) -> Mask:
        """The mask (n, V) of right choices at the roots, for label sets (n, labels)."""
        if not self.empty_choice:
            return Y
        empty = np.asarray(Y.sum(axis=1)).ravel() == 0
        return sparse.csr_array(sparse.hstack([Y, sparse.csr_array(empty[:, None])]))


@savable()
class MarginalScorer(LabelScorer):
    """Each label's own probability.

    Learners that take an indicator matrix natively get it; for all others there is one model a
    label.
    """

    def fit(self, X: Any, Y: sparse.csr_array, params: Mapping[str, Any]) -> Self:
        """Fit one learner on all labels that vary, or one on each."""
        n_samples, counts = Y.shape[0], Y.sum(axis=0)
        # Always or never there: the smoothed frequency, whatever the input. Not all learners
        # take such a label, and a fold may well have one.
        self.frequencies_ = (counts + 0.5) / (n_samples + 1)  # (labels,)
        self.varying_ = np.flatnonzero((counts > 0) & (counts < n_samples))
        columns = Y.tocsc()[:, self.varying_]
        # One label is a plain binary problem: natively multi-label learners would drop a column.
        if len(self.varying_) > 1 and answers_indicators(self.estimator):
            # int64: narrower integers overflow in scikit-learn's label indices past 255 labels.
            self.model_ = clone(self.estimator).fit(X, columns.toarray().astype(np.int64), **params)
            return self
        self.models_ = [
            fit_learner(self.estimator, X, columns[:, [k]].toarray().ravel().astype(int), params)
            for k in range(len(self.varying_))
        ]
        return self

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
        if len(self.varying_) < self.n_labels:
            found, scores = scores, np.tile(self.frequencies_, (len(scores), 1))
            scores[:, self.varying_] = found
        margin = np.finfo(scores.dtype).eps
        return np.clip(scores, margin, 1 - margin, out=scores if scores.flags.writeable else None)

    def examples(self, X: Any) -> Examples | None:
        """Training sets that are like those of X, if the learner has a method ``examples``."""
        model: Any = getattr(self, "model_", None)
        found: Examples | None = model.examples(X) if hasattr(model, "examples") else None
        if found is None or len(self.varying_) == self.n_labels:
            return found
        return Examples(self._with_constant_labels(found.sets), found.weights)

    def _with_constant_labels(self, sets: sparse.csr_array) -> sparse.csr_array:
        """Sets of varying labels (m, varying) as sets of all of them (m, labels)."""
        always = self.frequencies_ > 0.5
        always[self.varying_] = False
        moved = sparse.csr_array(
            (sets.data, self.varying_[sets.indices], sets.indptr),
            shape=(sets.shape[0], self.n_labels),
        )
        constant = sparse.csr_array(np.tile(always, (sets.shape[0], 1)))
        return sparse.csr_array((moved + constant).astype(bool))

    def _varying_scores(self, X: Any) -> FloatArray:
        if hasattr(self, "model_"):
            return label_probabilities(self.model_, X)
        columns = [class_probabilities(model, X)[:, 1] for model in self.models_]
        return np.column_stack(columns) if columns else np.empty((_num_samples(X), 0))


@savable()
class SoftmaxScorer(LabelScorer):
    """The paper's way: one row an element, a multi-class learner, P(next element | x).

    With ``empty_choice`` a sample with an empty set gives one row too, of the class "nothing".
    """

    def fit(self, X: Any, Y: sparse.csr_array, params: Mapping[str, Any]) -> Self:
        """Fit the learner on one row an element."""
        n_samples = Y.shape[0]
        right = sparse.csr_array(self.right_choices(Y))
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
            found = np.ones((_num_samples(X), 1))
        else:
            found = class_probabilities(self.model_, X)
        if np.array_equal(self.choices_, np.arange(self.n_choices)):
            return found
        scores = np.zeros((len(found), self.n_choices), dtype=found.dtype)
        scores[:, self.choices_] = found
        return scores
