"""Scores of the candidates that come with the inputs, and of the rest once some are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed

from setlearn.candidate_lists import CandidateLists
from setlearn.learners.pair_boosting import PairBoosting
from setlearn.learners.platt import Platt
from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes, log_odds
from setlearn.pairs import PairFeatures, ReadPairs
from setlearn.pairs.within_lists import with_standings
from setlearn.progress import progress
from setlearn.savable import savable
from setlearn.scorers.classifiers import class_probabilities, fit_learner

__all__ = ["CompletionScorer", "SelectionScorer", "padded", "random_parts", "selection_nodes"]

LEAST_PROBABILITY = 1e-6
"""No candidate is more certain than this, or 1 less this."""

COMPLETION_TREES = 200
PARTS_OF_A_SET = 2
"""How many parts of each set are drawn to learn what else is in it."""


@savable(parts={"features": (PairFeatures,), "calibration_": (Platt,)})
class SelectionScorer:
    """P(candidate is in the set | query, list), by a classifier of pairs.

    Parameters
    ----------
    features : PairFeatures
    estimator : scikit-learn classifier
        With a method ``fit_held_out(X, y, fold)`` it answers for held-out rows itself, as
        `setlearn.learners.pair_boosting.PairBoosting` does.
    """

    def __init__(self, features: PairFeatures, estimator: BaseEstimator) -> None:
        self.features = features
        self.estimator = estimator

    def fit_held_out(
        self,
        lists: CandidateLists,
        right: BoolArray,
        fold: IntArray,
        drawn: IntArray,
        n_jobs: int | None = None,
    ) -> tuple[ReadPairs, FloatArray]:
        """Fit, and score samples by learners that have not seen their sets.

        Parameters
        ----------
        lists : CandidateLists
        right : array of bool of shape (n_rows,)
        fold : array of int of shape (n_samples,)
            From 0 up: the fold that holds each sample out.
        drawn : array of int
            The samples that the learner is fitted on. Counts come from all samples.
        n_jobs : int, optional

        Returns
        -------
        read : ReadPairs
            The drawn samples.
        held_out : array of shape (n_rows of the drawn samples,)
        """
        read = self.features.fit(lists, right, fold)[drawn]
        chosen = np.zeros(len(lists), dtype=bool)
        chosen[drawn] = True
        right, of_row = right[chosen[lists.sample]], fold[drawn][read.lists.sample]
        features = self.features.features(read)
        self.model_, scores = _fitted(self.estimator, features, right, of_row, n_jobs)
        weight = np.ones((len(scores), 1))
        self.calibration_ = Platt.fit(log_odds(scores)[:, None], right[:, None], weight)
        return read, self._calibrated(scores)

    def scores(self, read: ReadPairs) -> FloatArray:
        """The probability of each candidate, (n_rows,)."""
        if not read.lists.n_rows:
            return np.zeros(0)
        return self._calibrated(_right(self.model_, self.features.features(read)))

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        return _within_bounds(self.calibration_(log_odds(scores)[:, None])[:, 0])


@savable(parts={"model_": (PairBoosting,)})
class CompletionScorer:
    """P(candidate is in the set | query, list, what is known to be in the set).

    It sees the scores of a `SelectionScorer`, and how similar each candidate is to the known ones.
    It is trained on random parts of the training sets.

    Parameters
    ----------
    random_state : int
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit_held_out(
        self,
        features: PairFeatures,
        read: ReadPairs,
        scores: FloatArray,
        right: BoolArray,
        fold: IntArray,
    ) -> tuple[BoolArray, FloatArray]:
        """Fit on parts of the sets, and score the rest by models that have not seen the sample.

        Parameters
        ----------
        features : PairFeatures
        read : ReadPairs
        scores : array of shape (n_rows,)
            From learners that have not seen the sample either.
        right : array of bool of shape (n_rows,)
        fold : array of int of shape (n_samples,)

        Returns
        -------
        known : array of bool of shape (n_rows,)
            A part of each set.
        held_out : array of shape (n_rows,)
            Scores of the other candidates, if that part is known.
        """
        rng = np.random.RandomState(self.random_state)
        sample = read.lists.sample
        rows, inputs, parts = [], [], []
        for _ in range(PARTS_OF_A_SET):
            known = random_parts(read.lists, right, rng)
            is_any = np.bincount(sample, known, minlength=len(read.lists)) > 0
            used = np.flatnonzero(is_any[sample] & ~known)
            rows.append(used)
            parts.append(known)
            inputs.append(_known_features(features, read, scores, known)[used])
        self.model_ = PairBoosting(COMPLETION_TREES, random_state=self.random_state)
        every = np.concatenate(rows)
        answers = self.model_.fit_held_out(
            np.concatenate(inputs), right[every], fold[sample[every]]
        )
        held_out = scores.copy()
        held_out[rows[0]] = _within_bounds(answers[: len(rows[0])])
        return parts[0], held_out

    def scores(
        self, features: PairFeatures, read: ReadPairs, scores: FloatArray, known: BoolArray
    ) -> FloatArray:
        """The probabilities of candidates, (n_rows,), where some others are known.

        Parameters
        ----------
        features : PairFeatures
        read : ReadPairs
        scores : array of shape (n_rows,)
            Those of the `SelectionScorer`.
        known : array of bool of shape (n_rows,)

        Returns
        -------
        array of shape (n_rows,)
        """
        return _within_bounds(_right(self.model_, _known_features(features, read, scores, known)))


def padded(lists: CandidateLists, values: Any) -> Any:
    """Put one value per candidate into a matrix, with zeros behind those of shorter lists.

    Parameters
    ----------
    lists : CandidateLists
    values : array of shape (n_rows,)

    Returns
    -------
    array of shape (n_samples, longest list)
    """
    values = np.asarray(values)
    matrix = np.zeros((len(lists), max(1, int(lists.sizes.max(initial=0)))), dtype=values.dtype)
    matrix[lists.sample, lists.place] = values
    return matrix


def selection_nodes(
    lists: CandidateLists, scores: FloatArray, known: BoolArray | None = None
) -> Nodes:
    """One choice point per sample, with its candidates as choices.

    Parameters
    ----------
    lists : CandidateLists
    scores : array of shape (n_rows,)
    known : array of bool of shape (n_rows,), optional
        Candidates that are no choices, because they are in the set already.

    Returns
    -------
    Nodes
    """
    is_open = np.ones(lists.n_rows, dtype=bool) if known is None else ~known
    available = padded(lists, is_open)
    return Nodes.roots(padded(lists, scores * is_open), available=available)


def _fitted(
    estimator: BaseEstimator, X: FloatArray, right: BoolArray, fold: IntArray, n_jobs: int | None
) -> tuple[Any, FloatArray]:
    """The learner fitted on all rows, and the answer for each by one that has not seen its fold."""
    if hasattr(estimator, "fit_held_out"):
        model = clone(estimator)
        return model, model.fit_held_out(X, right, fold)
    parts = [np.ones(len(X), dtype=bool), *(fold != k for k in range(fold.max() + 1))]
    jobs = (delayed(fit_learner)(estimator, X[part], right[part].astype(int), {}) for part in parts)
    with progress("fitting", len(parts)) as advance:
        models = []
        for model in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            models.append(model)
            advance()
    held_out = np.full(len(X), right.mean())
    for model, part in zip(models[1:], parts[1:], strict=True):
        held_out[~part] = _right(model, X[~part])
    return models[0], held_out


def _right(model: Any, X: FloatArray) -> FloatArray:
    """P(right) by a fitted learner, (n,)."""
    probabilities = class_probabilities(model, X)
    return probabilities[:, list(model.classes_).index(True)]


def _within_bounds(scores: FloatArray) -> FloatArray:
    return np.clip(scores, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)


def random_parts(lists: CandidateLists, right: BoolArray, rng: np.random.RandomState) -> BoolArray:
    """Draw a part of each set, all parts equally often except the empty one.

    Parameters
    ----------
    lists : CandidateLists
    right : array of bool of shape (n_rows,)
        The sets.
    rng : RandomState

    Returns
    -------
    array of bool of shape (n_rows,)
    """
    sample, n = lists.sample, len(lists)
    part = right & (rng.random_sample(len(right)) < 0.5)
    while True:
        lacks = (np.bincount(sample, right, n) > 0) & (np.bincount(sample, part, n) == 0)
        again = right & lacks[sample]
        if not again.any():
            return part
        part[again] = rng.random_sample(int(again.sum())) < 0.5


def _known_features(
    features: PairFeatures, read: ReadPairs, scores: FloatArray, known: BoolArray
) -> FloatArray:
    """What the scores, and the similarity to known candidates, say about each row."""
    lists, sample = read.lists, read.lists.sample
    n_known = np.bincount(sample, known, len(lists))
    logits = log_odds(scores)
    known_logit = np.bincount(sample, known * logits, len(lists)) / np.maximum(n_known, 1)
    rest = np.bincount(sample, ~known * scores, len(lists))
    of_rows = np.column_stack([logits, features.likeness(read, known)])
    of_lists = np.column_stack([n_known, known_logit, rest])[sample]
    return np.hstack([with_standings(lists, of_rows), of_lists.astype(np.float32)])
