"""Choose a set from candidates that come with the input."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from setlearn.candidate_lists import CandidateLists, read_candidate_lists
from setlearn.errors import DataError, KindError, ParameterError, UnknownLabelWarning, warn_user
from setlearn.estimators.argument_checks import (
    check_both,
    check_same_length,
    check_top,
    check_unknown,
)
from setlearn.estimators.base import InputLayout, Ranking, Task, Unknown
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.learners.pair_boosting import PairBoosting
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes
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
from setlearn.rules.steps import LabelTrace, short_name
from setlearn.savable import savable
from setlearn.scorers.classifiers import check_learner, with_seeds
from setlearn.scorers.selection import (
    CompletionScorer,
    SelectionScorer,
    padded,
    random_parts,
    selection_nodes,
)
from setlearn.set_reading import read_samples, read_set

__all__ = ["Features", "SetSelector"]

MOST_ROWS, MOST_SCORES = 1_000_000, 20_000_000
"""The learner and the rule are fitted on samples with so many candidates at most, and so many
scores if all lists were as long as the longest. Where there are more samples, some are drawn."""

BLOCK = 200_000
"""Candidates that are scored together."""

Features: TypeAlias = PairFunction | str | Sequence[PairFunction | str] | None

Points: TypeAlias = tuple[Nodes, BoolArray]
"""Scored choice points, and the right choices at each."""


class RuleSamples(NamedTuple):
    """What rules are fitted on: whole sets and, if something can be known, what is left of them."""

    whole: Points
    rest: Points | None

    def rule_of_rest(self, rule: Rule) -> Rule:
        """A rule for the other candidates of sets that are partly known, like this fitted one."""
        if self.rest is None or not rule.needs_fit:
            return rule
        fitted: Rule = clone(rule).fit(*self.rest)
        return fitted


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
class SetSelector(RuleHolder, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
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

    rule_samples_: RuleSamples
    scorer_: SelectionScorer
    completion_: CompletionScorer | None
    rule_of_rest_: Rule
    reads_matrices_: bool

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

    @property
    def task(self) -> Task:
        return "candidates"

    @property
    def elements_(self) -> None:
        """None: candidates come with the inputs."""
        self._check_fitted()

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
        right = _mask(lists, y)
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
        fold, drawn = _folds(self.cv, len(lists), rng), _drawn(lists, rng)
        rule, seed = self._seeded(rule), int(rng.randint(2**31 - 1))
        scorer, completion = SelectionScorer(features, learner), None
        with progress("fitting", [6, 2, 1], verbose=self.verbose) as advance:
            read, scores = scorer.fit_held_out(lists, right, fold, drawn, self.n_jobs)
            right, fold = right[np.isin(lists.sample, drawn)], fold[drawn]
            held, lists = np.flatnonzero(fold >= 0), read.lists
            samples = RuleSamples(_points(lists, scores, right, held), None)
            advance()
            if np.bincount(lists.sample, right).max() > 1:
                completion = CompletionScorer(seed)
                known, of_rest = completion.fit_held_out(features, read, scores, right, fold)
                rest = _points(lists, of_rest, right, held, known)
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
        """A copy of this fitted selector with the same scores under another rule.

        Parameters
        ----------
        rule : Rule or "auto"
            A rule that is fitted, or needs no fit, is taken as it is.
        X, y : inputs and sets, optional
            The samples to fit the rule on; they should be new to the learner. By default the
            held-out scores that ``fit`` has kept are used. A loaded model has none.

        Returns
        -------
        SetSelector

        Raises
        ------
        ParameterError
            If the rule needs a fit and there are no samples for it.
        """
        other = super().with_rule(rule, X, y)
        is_new = other.rule_ is not self.rule_ and X is not None
        samples = self._samples(X, y) if is_new else getattr(self, "rule_samples_", None)
        other.rule_of_rest_ = other.rule_ if samples is None else samples.rule_of_rest(other.rule_)
        return other

    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        self._check_fitted()
        if X is None and y is None:
            if getattr(self, "rule_samples_", None) is None:
                raise ParameterError(
                    "this selector has kept no held-out scores to fit a rule on, because it was "
                    "loaded; pass X and y with samples that the learner has not seen"
                )
            return self.rule_samples_.whole
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
        return _sets(sets, "sets")

    def input_layout(self) -> InputLayout:
        self._check_fitted()
        width = self.scorer_.features.width if self.reads_matrices_ else None
        return InputLayout(width, tokens=self.scorer_.features.reads_tokens, candidates=True)

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

    def _read(self, X: Any) -> CandidateLists:
        self._check_fitted()
        return read_candidate_lists(X, as_matrices=self.reads_matrices_)

    def _given(self, X: Any, known: Any, unknown: Unknown) -> tuple[CandidateLists, BoolArray]:
        """The inputs, and which candidates are known to be in the sets, (n_rows,)."""
        self._check_fitted()
        check_unknown(unknown)
        lists = self._read(X)
        sets = _sets(known, "known")
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
        lists = self._read(X)
        right, every = _mask(lists, y), np.arange(len(lists))
        read = self.scorer_.features.read(lists)
        scores = self.scorer_.scores(read)
        whole = _points(lists, scores, right, every)
        if self.completion_ is None or not right.any():
            return RuleSamples(whole, None)
        known = random_parts(lists, right, np.random.RandomState(self.completion_.random_state))
        of_rest = self.completion_.scores(self.scorer_.features, read, scores, known)
        return RuleSamples(whole, _points(lists, of_rest, right, every, known))


def _sets(sets: Any, name: str) -> list[frozenset[Any]]:
    """Sets as users write them: lists of tokens become tuples, and NumPy's numbers plain ones."""
    return [
        read_set([_element(element) for element in sample], f"sample {number} of {name}")
        for number, sample in enumerate(read_samples(sets, name))
    ]


def _element(element: Any) -> Any:
    if isinstance(element, np.generic):
        return element.item()
    return tuple(element) if isinstance(element, list) else element


def _mask(lists: CandidateLists, y: Any) -> BoolArray:
    """Which candidates are in the sets of y, (n_rows,)."""
    sets = _sets(y, "y")
    check_same_length(len(lists), len(sets))
    if lists.matrix is not None:
        _refuse_relevances(y, lists)
    mask, _ = lists.mask(sets, "y")
    return mask


def _refuse_relevances(y: Any, lists: CandidateLists) -> None:
    """Raise for one 0 or 1 per row, which would be read as the numbers of two rows."""
    for sample, (values, size) in enumerate(zip(y, lists.sizes, strict=True)):
        is_set = isinstance(values, set | frozenset)
        if not is_set and len(values) == size > 2 and set(values) <= {0, 1}:
            raise KindError(
                f"sample {sample} of y holds {size} values that are 0 or 1, one per row; pass the "
                "set of chosen rows instead, such as set(np.flatnonzero(values))"
            )


def _points(
    lists: CandidateLists,
    scores: FloatArray,
    right: BoolArray,
    samples: IntArray,
    known: BoolArray | None = None,
) -> Points:
    """Some samples as choice points; with known candidates only those that have some."""
    nodes = selection_nodes(lists, scores, known)
    positive: BoolArray = padded(lists, right if known is None else right & ~known)
    if known is not None:
        samples = samples[np.bincount(lists.sample, known, len(lists))[samples] > 0]
    return nodes[samples], positive[samples]


def _folds(cv: Any, n_samples: int, rng: np.random.RandomState) -> IntArray:
    """The fold that holds each sample out, (n_samples,); -1 if none does."""
    if isinstance(cv, str):
        raise ParameterError(f"cv must be a number of folds, a splitter or splits, got {cv!r}")
    if n_samples < 2:
        raise DataError("X holds 1 sample, which cannot be held out; pass at least two")
    if cv is None or isinstance(cv, int | np.integer):
        n_folds = 5 if cv is None else int(cv)
        if n_folds < 2 or isinstance(cv, bool):
            raise ParameterError(f"cv must be at least 2 folds, a splitter or splits, got {cv!r}")
        cv = KFold(min(n_folds, n_samples), shuffle=True, random_state=rng.randint(2**31 - 1))
    fold = np.full(n_samples, -1)
    try:
        for k, (_, test) in enumerate(check_cv(cv).split(np.zeros(n_samples))):
            fold[test] = k
    except (TypeError, ValueError, IndexError) as error:
        raise ParameterError(
            f"cv={cv!r:.60} cannot split {n_samples} samples: {error}; pass a number of folds"
        ) from error
    if fold.max() < 0:
        raise ParameterError(f"cv={cv!r:.60} holds no sample out; pass a number of folds")
    return fold


def _drawn(lists: CandidateLists, rng: np.random.RandomState) -> IntArray:
    """The samples that the learner and the rule are fitted on, ascending."""
    order = rng.permutation(len(lists))
    sizes = lists.sizes[order]
    fits = np.cumsum(sizes) <= MOST_ROWS
    fits &= np.maximum.accumulate(sizes) * np.arange(1, len(order) + 1) <= MOST_SCORES
    return np.sort(order[: max(2, int(fits.sum()))])
