"""Scores of samples that the learner had not seen, for rules to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import FloatArray, IntArray, Nodes
from setlearn.progress import progress
from setlearn.scorers import LabelScorer
from setlearn.scorers.learners import params_of_rows

__all__ = ["fit_out_of_fold"]


def fit_out_of_fold(
    scorer: LabelScorer,
    X: Any,
    Y: sparse.csr_array,
    params: Mapping[str, Any],
    *,
    cv: Any,
    rng: np.random.RandomState,
    n_jobs: int | None,
    verbose: bool,
) -> tuple[LabelScorer, Nodes]:
    """Fit on all samples, and score each held-out part by a copy fitted on the rest.

    The nodes' ``sample`` says which row of X each score belongs to; with a splitter that tests
    a sample twice, or never, it is there twice or not at all. ``cv=None`` holds nothing out.
    """
    n_samples = Y.shape[0]
    splits = [] if cv is None else _splits(cv, n_samples, rng)
    everything, nothing = np.arange(n_samples), np.arange(0)
    tasks = [(everything, nothing), *splits]
    jobs = (
        delayed(_fit_and_score)(copy(scorer), X, Y, params, train, test) for train, test in tasks
    )
    with progress("fitting", len(tasks), verbose=verbose) as finished:
        results = []
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            results.append(result)
            finished("")
    held_out = np.concatenate([nothing, *(test for _, test in splits)])
    scores = np.concatenate([scores for _, scores in results])
    return results[0][0], Nodes(held_out, np.zeros_like(held_out), scores)


def _fit_and_score(
    scorer: LabelScorer,
    X: Any,
    Y: sparse.csr_array,
    params: Mapping[str, Any],
    train: IntArray,
    test: IntArray,
) -> tuple[LabelScorer, FloatArray]:
    """Fit on ``train`` and score ``test``."""
    n_samples = Y.shape[0]
    if len(train) < n_samples:
        params = params_of_rows(params, train, n_samples)
        X_train, Y_train = _safe_indexing(X, train), Y[train]
    else:
        X_train, Y_train = X, Y
    scorer.fit(X_train, Y_train, params)
    n_choices = scorer.n_labels + scorer.empty_choice
    if len(test) == 0:
        return scorer, np.empty((0, n_choices))
    return scorer, scorer.label_scores(_safe_indexing(X, test))


def _splits(cv: Any, n_samples: int, rng: np.random.RandomState) -> list[tuple[IntArray, IntArray]]:
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ParameterError(f'cv must be at least 2 folds, a splitter or "prefit", got {cv!r}')
        if n_samples < 2:
            raise DataError(
                f"n_samples={n_samples} cannot be split into folds; give at least two samples, "
                'or a fitted estimator with cv="prefit"'
            )
        # Shuffled, because data often come sorted by label.
        cv = KFold(min(int(cv), n_samples), shuffle=True, random_state=rng.randint(2**31 - 1))
    try:
        splits = list(check_cv(cv).split(np.zeros(n_samples)))
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"cv={cv!r} cannot split {n_samples} samples: {error}; give a number of folds, a "
            "splitter that needs neither classes nor groups, or the splits themselves"
        ) from error
    return [(_as_indices(train), _as_indices(test)) for train, test in splits]


def _as_indices(part: Any) -> IntArray:
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool else part
