"""Scorers for labels: any scikit-learn classifier, one choice point per sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, Mask, Nodes, Step
from setlearn.progress import progress
from setlearn.savable import savable
from setlearn.scorers.classifiers import (
    answers_indicators,
    class_probabilities,
    fit_learner,
    label_probabilities,
    params_of_rows,
)
from setlearn.scorers.interrupted_folds import until_interrupted

__all__ = ["LabelScorer", "MarginalScorer", "SoftmaxScorer", "fit_out_of_fold"]

BLOCK_ROWS = 8
"""Rows that BLAS and torch process at a time; with 4, some scores still differed."""

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
    def fit(self, X: Any, Y: sparse.csr_array, params: Mapping[str, Any]) -> Self:
        """Fit the learner.

        Parameters
        ----------
        X : inputs
        Y : csr_array of bool, shape (n, labels)
            The label sets.
        params : mapping
            Passed to the learner's ``fit``.

        Returns
        -------
        self
        """

    @abstractmethod
    def label_scores(self, X: Any) -> FloatArray:
        """The probabilities of all choices, (n, V)."""

    @property
    def n_choices(self) -> int:
        """The number of labels, and one more if "nothing" is a choice."""
        return self.n_labels + self.empty_choice

    @property
    def nothing(self) -> int | None:
        """The choice "nothing", if it is one."""
        return self.n_labels if self.empty_choice else None

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
            # A set with a known element is not empty.
            scores[known.any(axis=1), -1] = 0
            known = np.column_stack([known, np.zeros(len(known), bool)])
        nodes = replace(Nodes.roots(scores, known), nothing=self.nothing)
        return Step(replace(nodes, examples=self.examples(X)) if with_examples else nodes)

    def examples(self, X: Any) -> Examples | None:
        """Training sets similar to those of X, from learners that know them."""
        return None

    def _scores_in_full_blocks(self, X: Any) -> FloatArray:
        """Scores that do not depend, to the last bit, on which rows are scored together.

        Matrix products are computed a few rows at a time, and leftover rows are rounded
        differently. So none are left over: the last row is repeated until the block is full.
        """
        n_samples = _num_samples(X)
        n_over = n_samples % BLOCK_ROWS
        if not n_over:
            return self.label_scores(X)
        if n_samples > MOST_COPIED:  # only the rows that are left over are copied
            n_in_blocks = n_samples - n_over
            parts = (
                _safe_indexing(X, slice(0, n_in_blocks)),
                _safe_indexing(X, slice(n_in_blocks, None)),
            )
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

    Learners that take an indicator matrix natively get it; for all others there is one model per
    label.
    """

    shares_of_one: ClassVar[bool] = False

    def fit(self, X: Any, Y: sparse.csr_array, params: Mapping[str, Any]) -> Self:
        """Fit one learner on all labels that vary, or one on each."""
        n_samples, counts = Y.shape[0], Y.sum(axis=0)
        # A label that is always or never present gets its smoothed frequency. Not all learners
        # accept such a label, and a fold may well have one.
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
            of_varying, scores = scores, np.tile(self.frequencies_, (len(scores), 1))
            scores[:, self.varying_] = of_varying
        margin = np.finfo(scores.dtype).eps
        return np.clip(scores, margin, 1 - margin, out=scores if scores.flags.writeable else None)

    def examples(self, X: Any) -> Examples | None:
        """Training sets similar to those of X, if the learner has a method ``examples``."""
        model: Any = getattr(self, "model_", None)
        examples: Examples | None = model.examples(X) if hasattr(model, "examples") else None
        if examples is None or len(self.varying_) == self.n_labels:
            return examples
        return Examples(self._with_constant_labels(examples.sets), examples.weights)

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
    """The paper's way: one row per element, a multi-class learner, P(next element | x).

    With ``empty_choice`` a sample with an empty set also gives one row, of the class "nothing".
    """

    shares_of_one: ClassVar[bool] = True

    def fit(self, X: Any, Y: sparse.csr_array, params: Mapping[str, Any]) -> Self:
        """Fit the learner on one row per element."""
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
            probabilities = np.ones((_num_samples(X), 1))
        else:
            probabilities = class_probabilities(self.model_, X)
        if np.array_equal(self.choices_, np.arange(self.n_choices)):
            return probabilities
        scores = np.zeros((len(probabilities), self.n_choices), dtype=probabilities.dtype)
        scores[:, self.choices_] = probabilities
        return scores


def fit_out_of_fold(
    scorer: LabelScorer,
    X: Any,
    Y: sparse.csr_array,
    params: Mapping[str, Any],
    *,
    cv: Any,
    with_examples: bool,
    rng: np.random.RandomState,
    n_jobs: int | None,
    verbose: int,
) -> tuple[LabelScorer, Nodes]:
    """Fit on all samples, and score each held-out part by a copy fitted on the rest.

    Parameters
    ----------
    scorer : LabelScorer
        Not fitted; copies of it are.
    X, Y : inputs and indicator (n, labels)
    params : mapping
        Passed to the learner's ``fit``.
    cv : int, splitter, iterable of splits or None
        None holds nothing out.
    with_examples : bool
        Whether the held-out scores come with training sets.
    rng : RandomState
        Draws the folds.
    n_jobs : int or None
    verbose : bool or int
        As in `setlearn.progress.progress`.

    Returns
    -------
    scorer : LabelScorer
        Fitted on all samples.
    nodes : Nodes
        The held-out scores. ``sample`` is the row of X that each belongs to; with a splitter that
        tests a sample twice, or never, it is there twice or not at all.
    """
    n_samples = Y.shape[0]
    splits = [] if cv is None else _splits(cv, n_samples, rng)
    tasks = [(np.arange(n_samples), None), *splits]
    jobs = (
        delayed(_fit_and_score)(copy(scorer), X, Y, params, train, test, with_examples)
        for train, test in tasks
    )
    with progress("fitting", [len(train) for train, _ in tasks], verbose=verbose) as advance:
        results = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
        fitted, *parts = until_interrupted(results, len(splits), advance)
    held_out = np.concatenate([np.arange(0), *(test for _, test in splits[: len(parts)])])
    nodes = _joined(parts, held_out, n_choices=scorer.n_choices)
    return fitted, replace(nodes, nothing=scorer.nothing)


def _fit_and_score(
    scorer: LabelScorer,
    X: Any,
    Y: sparse.csr_array,
    params: Mapping[str, Any],
    train: IntArray,
    test: IntArray | None,
    with_examples: bool,
) -> Any:
    """Fit on ``train`` and score ``test``; without ``test`` return the scorer itself."""
    n_samples = Y.shape[0]
    if len(train) < n_samples:
        params = params_of_rows(params, train, n_samples)
        X_train, Y_train = _safe_indexing(X, train), Y[train]
    else:
        X_train, Y_train = X, Y
    scorer.fit(X_train, Y_train, params)
    if test is None:
        return scorer
    if len(test) == 0:  # some splitters hold nothing out at times, and learners refuse no rows
        return Nodes.roots(np.empty((0, scorer.n_choices)))
    return scorer.start(_safe_indexing(X, test), with_examples=with_examples).nodes


def _joined(parts: list[Nodes], sample: IntArray, n_choices: int) -> Nodes:
    """The scores of all folds as one batch."""
    scores = np.concatenate([np.empty((0, n_choices)), *(part.probabilities for part in parts)])
    return Nodes(sample, np.zeros_like(sample), scores, examples=_joined_examples(parts))


def _joined_examples(parts: list[Nodes]) -> Examples | None:
    """Each fold's examples are its own training sets: no row has weights on another fold's."""
    examples = [part.examples for part in parts if part.examples is not None]
    if not examples or len(examples) < sum(len(part) > 0 for part in parts):
        return None
    return Examples(
        sparse.csr_array(sparse.vstack([part.sets for part in examples])),
        sparse.csr_array(sparse.block_diag([part.weights for part in examples])),
    )


def _splits(cv: Any, n_samples: int, rng: np.random.RandomState) -> list[tuple[IntArray, IntArray]]:
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ParameterError(f'cv must be at least 2 folds, a splitter or "prefit", got {cv!r}')
        if n_samples < 2:
            raise DataError(
                f"n_samples={n_samples} cannot be split into folds; pass at least two samples, "
                'or a fitted estimator with cv="prefit"'
            )
        # Shuffled, because data often come sorted by label.
        cv = KFold(min(int(cv), n_samples), shuffle=True, random_state=rng.randint(2**31 - 1))
    try:
        splits = list(check_cv(cv).split(np.zeros(n_samples)))
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"cv={cv!r} cannot split {n_samples} samples: {error}; pass a number of folds, a "
            "splitter that needs neither classes nor groups, or the splits themselves"
        ) from error
    return [(_as_indices(train), _as_indices(test)) for train, test in splits]


def _as_indices(part: Any) -> IntArray:
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool else part
