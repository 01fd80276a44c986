"""Scores of training samples by learners that have not seen them, for rules to be fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import Examples, IntArray, Nodes, joined_nodes
from setlearn.progress import progress
from setlearn.scorers.classifiers import params_of_rows
from setlearn.scorers.interrupted_folds import until_interrupted
from setlearn.scorers.label_targets import LabelTargets
from setlearn.scorers.labels import LabelScorer

__all__ = ["fit_out_of_fold"]


def fit_out_of_fold(
    scorer: LabelScorer,
    X: Any,
    targets: LabelTargets,
    params: Mapping[str, Any],
    *,
    cv: Any,
    with_examples: bool,
    rng: np.random.RandomState,
    n_jobs: int | None,
    verbose: int,
) -> tuple[LabelScorer, Nodes]:
    """Fit on all samples, and score each held-out part by a copy fitted on the rest.

    With a number of folds, a learner that can score its training samples as if they had been left
    out does that instead: it is fitted once.

    Parameters
    ----------
    scorer : LabelScorer
        Not fitted; copies of it are.
    X : inputs
    targets : LabelTargets
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
    n_samples = len(targets)
    splits = [] if cv is None else _splits(cv, n_samples, rng)
    if isinstance(cv, int | np.integer):
        fitted = copy(scorer)
        with progress("fitting", 1, verbose=verbose):
            nodes = fitted.fit_held_out(X, targets, params, with_examples=with_examples)
        if nodes is not None:
            return fitted, nodes
    tasks = [(np.arange(n_samples), None), *splits]
    jobs = (
        delayed(_fit_and_score)(copy(scorer), X, targets, params, train, test, with_examples)
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
    targets: LabelTargets,
    params: Mapping[str, Any],
    train: IntArray,
    test: IntArray | None,
    with_examples: bool,
) -> Any:
    """Fit on ``train`` and score ``test``; without ``test`` return the scorer itself."""
    n_samples = len(targets)
    if len(train) < n_samples:
        params = params_of_rows(params, train, n_samples)
        scorer.fit(_safe_indexing(X, train), targets[train], params)
    else:
        scorer.fit(X, targets, params)
    if test is None:
        return scorer
    if len(test) == 0:  # some splitters hold nothing out at times, and learners refuse no rows
        return Nodes.roots(np.empty((0, scorer.n_choices)))
    return scorer.start(_safe_indexing(X, test), with_examples=with_examples).nodes


def _joined(parts: list[Nodes], sample: IntArray, n_choices: int) -> Nodes:
    """The scores of all folds as one batch."""
    parts = [part for part in parts if len(part)]
    joined = joined_nodes(parts or [Nodes.roots(np.empty((0, n_choices)))])
    return replace(joined, sample=sample, examples=_joined_examples(parts))


def _joined_examples(parts: list[Nodes]) -> Examples | None:
    """Each fold's examples are its own training sets: no row has weights on another fold's."""
    examples = [part.examples for part in parts if part.examples is not None]
    if not examples or len(examples) < len(parts):
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
