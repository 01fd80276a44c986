"""Choose a set from candidates that come with the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from setlearn.candidate_lists import CandidateLists, read_candidate_lists
from setlearn.errors import DataError, ParameterError
from setlearn.estimators.chosen_sets import (
    RuleSamples,
    chosen_points,
    chosen_rows,
    drawn_samples,
)
from setlearn.estimators.selection_predictor import SelectionPredictor
from setlearn.learners.pair_boosting import PairBoosting
from setlearn.nodes import IntArray
from setlearn.pairs import (
    FunctionSource,
    MatrixSource,
    PairFeatures,
    PairFunction,
    Source,
    TextSource,
)
from setlearn.progress import progress
from setlearn.rules import Auto, Rule
from setlearn.savable import savable
from setlearn.scorers.classifiers import check_learner, with_seeds
from setlearn.scorers.selection import CompletionScorer, SelectionScorer

__all__ = ["Features", "SetSelector"]

Features: TypeAlias = PairFunction | str | Sequence[PairFunction | str] | None


@savable(
    is_model=True,
    skipped=("fitted_settings_", "rule_samples_"),
    parts={
        "completion_": (CompletionScorer, None),
        "rule_": (Rule,),
        "rule_of_rest_": (Rule,),
        "scorer_": (SelectionScorer,),
    },
)
class SetSelector(SelectionPredictor, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Choose a set from candidates that come with each input: which of them, and how many.

    A classifier of pairs scores each candidate, and a rule decides how many to keep. The rule is
    fitted on scores of samples that the classifier has not seen.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        Says from the features of a pair whether the candidate is in the set. By default gradient
        boosting (`setlearn.learners.pair_boosting.PairBoosting`).
    rule : Rule or "auto", optional
        Which candidates to keep. "auto", the default, tries several rules and uses the one with
        the best mean F1 on held-out samples: see `setlearn.rules.Auto`.
    features : callable, "texts", or list of them, optional
        How pairs become numbers. "texts", the default for queries, compares the texts of query and
        candidate, and remembers for which queries each candidate was right. A callable takes a
        query and the list of its candidates, and returns a matrix with one row per candidate; it
        replaces "texts". A list puts several side by side. For each feature, its difference to the
        mean of the list and its rank in the list are added.
    cv : int, splitter or iterable of splits, default=5
        How samples are held out, to score them as if they were new.
    n_jobs : int, optional
        How many folds of an ``estimator`` of your own are fitted at once.
    random_state : int or RandomState, optional
        Seeds the folds, and every ``random_state`` that estimator and rule leave open.
    verbose : bool or int, default=True
        Whether ``fit`` shows on stderr how far it is: with True in a terminal only, with 2 also
        elsewhere, as plain lines if it takes more than 10 seconds.

    Attributes
    ----------
    rule_ : the fitted rule; with "auto" the winner
    rule_scores_ : dict or None
        With "auto", a `CandidateScore` for each rule that was tried.
    scorer_ : SelectionScorer
    completion_ : CompletionScorer or None
        Scores the other candidates if some are known; None if all training sets are empty or have
        one element.
    rule_of_rest_ : Rule
        The rule for the other candidates.
    reads_matrices_ : bool
        Whether samples are matrices, whose elements are the numbers of their rows.

    Examples
    --------
    >>> from setlearn import SetSelector
    >>> menu = ["fish", "meat", "rice", "soup"]
    >>> X = [(f"{a} with {b}", menu) for a in menu for b in menu] * 5
    >>> y = [{dish for dish in menu if dish in query} for query, menu in X]
    >>> selector = SetSelector(random_state=0).fit(X, y)
    >>> sorted(selector.predict([("some rice with meat", ["cake", "meat", "rice"])])[0])
    ['meat', 'rice']
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        rule: Rule | str | None = None,
        *,
        features: Features = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = True,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.features = features
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier of pairs, then the rule on scores of samples that it has not seen.

        Parameters
        ----------
        X : iterable
            Of pairs ``(query, candidates)``: texts, lists of tokens or, with ``features``, any
            objects. Or of matrices with one row of features per candidate. A DataFrame with a
            column of queries and a column of lists of candidates will do, too.
        y : iterable of sets
            The chosen candidates of each sample; for matrices, the numbers of their rows.

        Returns
        -------
        self

        Raises
        ------
        DataError, KindError
            If X or y cannot be read, a chosen element is no candidate, or there is nothing to
            learn.
        ParameterError
        """
        rule = self._new_rule(self.rule)
        learner = PairBoosting() if self.estimator is None else self.estimator
        check_learner(learner)
        lists = read_candidate_lists(X)
        features = PairFeatures(self._sources(lists))
        right = chosen_rows(lists, y)
        if not len(right):
            raise DataError(f"none of {len(lists)} samples has candidates; check the lists of X")
        if right.all() or not right.any():
            chosen = "all candidates are" if right.all() else "no candidate is"
            raise DataError(
                f"{chosen} in the sets of y, in every one of {len(lists)} samples, so there is "
                "nothing to learn; check that y holds the chosen candidates"
            )
        rule.check_samples(len(lists))
        rng = check_random_state(self.random_state)
        if self.random_state is not None:
            learner = with_seeds(learner, rng)
        fold, drawn = _folds(self.cv, len(lists), rng), drawn_samples(lists, rng)
        rule, seed = self._seeded(rule), int(rng.randint(2**31 - 1))
        scorer, completion = SelectionScorer(features, learner), None
        with progress("fitting", [6, 2, 1], verbose=self.verbose) as advance:
            read, scores = scorer.fit_held_out(lists, right, fold, drawn, self.n_jobs)
            right, fold, lists = right[np.isin(lists.sample, drawn)], fold[drawn], read.lists
            samples = RuleSamples(chosen_points(lists, scores, right), None)
            advance()
            if np.bincount(lists.sample, right).max() > 1:
                completion = CompletionScorer(seed)
                known, of_rest = completion.fit_held_out(features, read, scores, right, fold)
                rest = chosen_points(lists, of_rest, right, known)
                samples = samples._replace(rest=rest)
            advance()
            if rule.needs_fit:
                rule.fit(*samples.whole)
            rule_of_rest = samples.rule_of_rest(rule.chosen)
            advance()
        self.scorer_, self.completion_, self.rule_of_rest_ = scorer, completion, rule_of_rest
        self.reads_matrices_, self.rule_samples_ = lists.matrix is not None, samples
        self._set_rule(rule)
        return self

    def _new_rule(self, rule: Any) -> Rule:
        if rule is None or (isinstance(rule, str) and rule == "auto"):
            rule = Auto()
        if not isinstance(rule, Rule):
            raise ParameterError(
                f'rule must be "auto" or one of setlearn.rules such as Margin(), got {rule!r}'
            )
        if not rule.takes_padding:
            raise ParameterError(
                f"{rule!r} needs the same choices for every sample, but candidates differ from "
                "sample to sample; use another rule, such as LambdaSet() or ExpectedF()"
            )
        if rule.requires_examples:
            raise ParameterError(
                f"{rule!r} needs whole training sets, but candidates differ from sample to sample; "
                "leave joint out, or use another rule"
            )
        rule.check_parameters()
        new_rule: Rule = clone(rule)
        return new_rule

    def _sources(self, lists: CandidateLists) -> list[Source]:
        """What ``features`` asks for."""
        if lists.matrix is not None:
            if self.features is not None:
                raise ParameterError(
                    "features is for samples that are pairs, but these are matrices, which are "
                    f"features already; leave it out, got {self.features!r:.60}"
                )
            return [MatrixSource()]
        asked = self.features if isinstance(self.features, list | tuple) else [self.features]
        sources: list[Source] = []
        for each in asked:
            if callable(each):
                sources.append(FunctionSource(each))
            elif each in (None, "texts"):
                sources.append(TextSource())
            else:
                raise ParameterError(
                    'features must be "texts", a function of a query and its candidates, or a '
                    f"list of them, got {each!r:.60}"
                )
        if not sources:
            raise ParameterError('features is an empty list; leave it out for "texts"')
        return sources


def _folds(cv: Any, n_samples: int, rng: np.random.RandomState) -> IntArray:
    """The fold that holds each sample out, (n_samples,)."""
    if isinstance(cv, str):
        raise ParameterError(f"cv must be a number of folds, a splitter or splits, got {cv!r}")
    if n_samples < 2:
        raise DataError("X holds 1 sample, which cannot be held out; pass at least two")
    if cv is None or isinstance(cv, int | np.integer):
        n_folds = 5 if cv is None else int(cv)
        if n_folds < 2 or isinstance(cv, bool):
            raise ParameterError(f"cv must be at least 2 folds, a splitter or splits, got {cv!r}")
        cv = KFold(min(n_folds, n_samples), shuffle=True, random_state=rng.randint(2**31 - 1))
    fold, n_times = np.full(n_samples, -1), np.zeros(n_samples, dtype=int)
    try:
        for k, (_, test) in enumerate(check_cv(cv).split(np.zeros(n_samples))):
            fold[test] = k
            n_times[test] += 1
    except (TypeError, ValueError, IndexError) as error:
        raise ParameterError(
            f"cv={cv!r:.60} cannot split {n_samples} samples: {error}; pass a number of folds"
        ) from error
    if (n_times != 1).any():
        # What training says about a candidate must never come from its own sample.
        raise ParameterError(
            f"cv={cv!r:.60} holds {np.sum(n_times == 1)} of {n_samples} samples out exactly once; "
            "pass a number of folds, or a splitter that does so with all, such as GroupKFold"
        )
    return fold
