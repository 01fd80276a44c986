"""Any classifier in, a set of labels of the right size out."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _num_samples

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import InputLayout
from setlearn.estimators.completion import Completion
from setlearn.estimators.default_learner import (
    are_many_labels,
    default_learner,
    with_dense_features,
)
from setlearn.estimators.hierarchy import Hierarchy, parents_of
from setlearn.estimators.label_inputs import (
    check_inputs,
    check_numbers,
    refuse_candidates,
    set_columns,
)
from setlearn.estimators.label_predictor import LabelPredictor
from setlearn.estimators.label_problem import (
    LabelProblem,
    check_combination,
    check_examples,
    check_takes_unknown,
    params_for_learner,
    read_targets,
    refuse_fit_params,
)
from setlearn.estimators.label_space import LabelSpace
from setlearn.estimators.leaked_targets import warn_of_leaked_targets
from setlearn.features import FeatureReader, TableFeatures, is_table
from setlearn.learners import ManyLabels
from setlearn.nodes import Mask, Nodes, dense_mask
from setlearn.progress import progress, say_before_progress
from setlearn.rules import Auto, Rule, TopK
from setlearn.savable import savable
from setlearn.scorers import LabelScorer, fit_out_of_fold
from setlearn.scorers.classifiers import check_learner, with_seeds
from setlearn.scorers.label_targets import LabelTargets

__all__ = ["SetClassifier"]

MOST_KEPT_SCORES = 20_000_000
"""Held-out scores that are kept for `with_rule`: 160 MB. More are dropped after fit."""


@savable(
    is_model=True,
    skipped=("dense_features_", "fitted_settings_", "rule_samples_"),
    parts={
        "completion_": (Completion, None),
        "features_": (TableFeatures, None),
        "hierarchy_": (Hierarchy, None),
        "rule_": (Rule,),
        "scorer_": (LabelScorer,),
        "space_": (LabelSpace,),
    },
)
class SetClassifier(LabelPredictor, BaseEstimator):  # type: ignore[misc]  # no types
    """Predict a set of labels for each sample, of the size that fits the sample.

    A learner scores every label, and a rule decides how many to keep. The rule is fitted on
    scores of samples that the learner has not seen.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        The learner. By default a mixture of four models, weighted by held-out rows
        (`SetMixture`), or for very many labels a learner that scores the probable ones alone
        (`ManyLabels`); with "softmax" scores, logistic regression on scaled inputs. The default
        learner also reads texts and tables, through `setlearn.features.TableFeatures`; before a
        learner of your own, put that into a pipeline. A learner without ``predict_proba`` is
        calibrated.
    rule : Rule or "auto", optional
        Which labels to keep. "auto", the default, tries several rules and uses the one with the
        best mean F1 on held-out samples: see `setlearn.rules.Auto`. ``Auto(metric="exact")`` uses
        the one with the most sets that are exactly right. ``Margin()`` is the paper's.
    scores : {"marginal", "softmax"}, default="marginal"
        "marginal" asks for each label's own probability: natively where the learner takes
        indicator targets, else with one model per label. "softmax" is the paper's way: one row
        per element and a multi-class learner.
    cv : int, splitter, iterable of splits or "prefit", default=5
        How to get the scores that the rule is fitted on: out of fold, or with "prefit" from a
        fitted learner and the data as they are. None means 5, as in scikit-learn. The default
        learner is fitted once and needs no folds: it can say what it would answer for a training
        sample that is left out. With a splitter or splits, folds are used for it too.
    conditional : bool, default=False
        With True, known labels also change the scores of the others in ``complete``.
    hierarchy : mapping or pandas Series, optional
        From each label to its parent, or to a list of parents. Whoever has a label has its
        ancestors too: training sets are completed in this way, scores made consistent with it,
        and predicted sets hold the ancestors of all their labels. Needs sets or an indicator,
        and marginal scores.
    n_jobs : int, optional
        How many folds are fitted at once, where there are folds. The result does not depend on it.
    random_state : int or RandomState, optional
        Seeds the folds, and every ``random_state`` that the learner and the rule leave open.
    verbose : bool or int, default=True
        Whether ``fit`` shows on stderr how far it is: with True in a terminal only, with 2 also
        elsewhere, as plain lines if it takes more than 10 seconds.

    Attributes
    ----------
    classes_ : array of the labels
    elements_ : list of the labels
    rule_ : the fitted rule; with "auto" the winner
    rule_scores_ : dict or None
        With "auto", a `CandidateScore` for each rule that was tried: the mean F1 (or what
        ``Auto(metric=...)`` asks for), its standard error, and how much the numbers that the rule
        has learned, such as a cut, vary from fold to fold.
    rule_samples_ : tuple (Nodes, mask) or None
        The held-out scores and right choices that the rule was fitted on, for `with_rule`. None if
        the rule needed none or they are too large to keep. They are not saved.
    hierarchy_ : Hierarchy or None
        Which labels imply which others.
    n_unknown_ : int
        The number of unknown entries of y.
    completion_ : Completion or None
        With ``conditional=True``, the scores and the rule for the rest of a set.
    features_ : TableFeatures or None
        What turns texts or a table into numbers, if the default learner was given such inputs.
    scorer_ : the fitted learner, behind the interface that rules see
    history_ : list of dict
        How the training of the learner went, if it is a network; else empty.
    n_features_in_, feature_names_in_ : as in scikit-learn, where X has features

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> X = [[1.0], [5.0], [9.5], [2.0], [7.0], [8.0], [3.0], [6.0]]
    >>> Y = [{y for y in range(1, 11) if y > x} for [x] in X]
    >>> classifier = SetClassifier(cv=2, random_state=0).fit(X, Y)
    >>> sorted(classifier.predict([[8.7]])[0])
    [9, 10]
    """

    dense_features_: list[int] | None = None
    """Which features are no words, if a reader of records has said so."""

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        rule: Rule | Literal["auto"] | None = None,
        *,
        scores: Literal["marginal", "softmax"] = "marginal",
        cv: Any = 5,
        conditional: bool = False,
        hierarchy: Mapping[Any, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = True,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.scores = scores
        self.cv = cv
        self.conditional = conditional
        self.hierarchy = hierarchy
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the learner, then the rule on scores of samples that the learner has not seen.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, list of texts, or whatever the learner takes
        y : iterable of sets of hashable labels, or an indicator matrix, dense or sparse
            Called ``y`` as everywhere in scikit-learn. An entry of an indicator that is NaN is
            unknown: neither the learner nor the rule learns from it. A plain 1-d y makes this an
            ordinary classifier.
        sample_weight : array of shape (n_samples,), optional
            Passed to the learner, as are further ``fit_params`` (by scikit-learn's metadata
            routing where that is enabled).
        **fit_params : dict

        Returns
        -------
        self
        """
        problem = self._read_problem(X, y)
        problem = replace(problem, rule=self._seeded(problem.rule))
        rng = check_random_state(self.random_state)
        if self.cv == "prefit":
            refuse_fit_params(sample_weight, fit_params)
            problem, scorer = problem.with_fitted_learner()
            nodes = scorer.start(problem.X, with_examples=problem.rule.uses_examples).nodes
        else:
            params = params_for_learner(self, problem.learner, problem.X, sample_weight, fit_params)
            scorer, nodes = self._fit_learner(problem, params, rng)
        check_examples(problem.rule, scorer, problem.X)
        nodes, right = problem.choice_points(nodes)
        nodes, positive = scorer.with_right(nodes, right)
        completion = None
        with progress(
            "fitting the rule", 1 + bool(self.conditional), verbose=self.verbose
        ) as advance:
            if self.conditional:
                completion = Completion.fit(nodes, right, problem.rule, rng)
                advance()
            if problem.rule.needs_fit:
                problem.rule.fit(nodes, positive)
        # All at once, so that a fit that fails leaves the model of the one before whole.
        self.space_, self.classes_ = problem.space, problem.space.classes
        self.hierarchy_, self.n_unknown_ = problem.hierarchy, problem.targets.n_unknown
        self.features_ = problem.features
        self.scorer_, self.completion_ = scorer, completion
        self.rule_samples_ = _kept_for_rules(nodes, positive)
        self._set_rule(problem.rule)
        return self

    def _read_problem(self, X: Any, y: Any) -> LabelProblem:
        """Check parameters, inputs, targets and how they go together, before anything costly."""
        self._check_parameters()
        refuse_candidates(X, y)
        features, learner = self._features_and_learner(X)
        table = X
        if features is not None:
            features.fit(X)
            learner = with_dense_features(learner, features.reader_.dense_features)
            set_columns(self, features.column_names)
            X = features.transform(X)
        else:
            learner = with_dense_features(learner, self.dense_features_)
            allow_nan = get_tags(learner).input_tags.allow_nan
            X = check_inputs(self, X, reset=True, allow_nan=allow_nan)
        check_numbers(learner, X, features)
        space, targets = read_targets(y, _num_samples(X))
        if self._needs_lists(X, space, targets):
            learner = ManyLabels()
            say_before_progress(
                f"{targets.n_labels:,} labels for {len(targets):,} samples: using the learner for "
                "many labels, ManyLabels()",
                verbose=self.verbose,
            )
        if not isinstance(learner, Pipeline):  # its steps may select the columns to read
            warn_of_leaked_targets(table, space, targets)
        hierarchy = None
        if self.hierarchy is not None:
            self._check_takes_hierarchy(space)
            hierarchy, space, targets = Hierarchy.read(self.hierarchy, space, targets)
        # With one class per sample there is nothing to decide: the best one is kept.
        rule = TopK(1) if space.one_per_sample else clone(self._rule(self.rule))
        shares_of_one = self.scores == "softmax" or space.one_per_sample
        check_combination(
            rule,
            learner,
            of_classes=space.one_per_sample,
            shares_of_one=shares_of_one,
            conditional=self.conditional,
            partly_known=targets.unknown is not None,
        )
        rule.check_samples(len(targets))  # all of them are held out at most
        return LabelProblem(X, features, space, targets, learner, rule, shares_of_one, hierarchy)

    def _needs_lists(self, X: Any, space: LabelSpace, targets: LabelTargets) -> bool:
        """Whether the default learner is to be the one for many labels."""
        may_switch = self.estimator is None and self.scores == "marginal" and not self.conditional
        if not may_switch or space.one_per_sample:
            return False
        return are_many_labels(X, targets, self._rule(self.rule))

    def _features_and_learner(self, X: Any) -> tuple[TableFeatures | None, BaseEstimator]:
        """What reads a table, if X is one: the default's, or the first step of a pipeline."""
        learner = self._learner()
        if not is_table(X):
            return None, learner
        if self.estimator is None:
            return TableFeatures(), learner
        leads = isinstance(learner, Pipeline) and isinstance(learner[0], TableFeatures)
        if not leads or len(learner) < 2 or self.cv == "prefit":
            return None, learner
        return clone(learner[0]), learner[1:] if len(learner) > 2 else learner[1]

    def _fit_learner(
        self, problem: LabelProblem, params: Mapping[str, Any], rng: np.random.RandomState
    ) -> tuple[LabelScorer, Nodes]:
        """Fit the learner on all samples, and score held-out samples if they are needed."""
        learner = problem.learner if self.random_state is None else with_seeds(problem.learner, rng)
        holds_out = problem.rule.needs_fit or self.conditional
        folds = 5 if self.cv is None else self.cv
        try:
            return fit_out_of_fold(
                problem.new_scorer(learner),
                problem.X,
                problem.targets,
                params,
                cv=folds if holds_out else None,
                with_examples=problem.rule.uses_examples,
                rng=rng,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        except (TypeError, ValueError) as error:
            if isinstance(error, DataError) or not is_table(problem.X):
                raise
            raise DataError(
                f"{type(learner).__name__} could not be fitted on texts or a table ({error}); put "
                "setlearn.features.TableFeatures() before it in a pipeline, or leave estimator out"
            ) from error

    def with_rule(self, rule: Rule, X: Any = None, y: Any = None) -> Self:
        """A copy of this fitted classifier with the same scores under another rule.

        Parameters
        ----------
        rule : Rule or "auto"
            A rule that is fitted, or needs no fit, is taken as it is.
        X, y : inputs and sets, optional
            The samples to fit the rule on; they should be new to the learner. By default the
            out-of-fold scores that ``fit`` has kept are used. A loaded model has none.

        Returns
        -------
        SetClassifier

        Raises
        ------
        ParameterError
            If the rule needs a fit and there are no samples for it.

        Examples
        --------
        >>> from setlearn import SetClassifier
        >>> from setlearn.rules import Margin, Threshold
        >>> X = [[1.0], [5.0], [9.5], [2.0], [7.0], [8.0], [3.0], [6.0]]
        >>> Y = [{y for y in range(1, 11) if y > x} for [x] in X]
        >>> classifier = SetClassifier(rule=Margin(), cv=2, random_state=0).fit(X, Y)
        >>> classifier.with_rule(Threshold("tuned")).rule_
        Threshold(cut='tuned')
        """
        other = super().with_rule(rule, X, y)
        if X is not None and other.rule_.requires_examples:  # else there is nothing to try
            check_examples(other.rule_, self.scorer_, self._inputs(X))
        # Unless the rule was fitted for it just now, completion takes it as it is.
        if other.completion_ is not None and other.completion_ is self.completion_:
            other.completion_ = replace(other.completion_, rule=other.rule_)
        return other

    def _fit_rule(self, rule: Rule, nodes: Nodes, positive: Mask) -> None:
        if nodes.available is not None:
            check_takes_unknown(rule)
        if self.completion_ is not None:
            right = dense_mask(positive, slice(None))
            self.completion_ = self.completion_.with_rule(rule, nodes, right)
        super()._fit_rule(rule, nodes, positive)

    def input_layout(self) -> InputLayout:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return InputLayout(
            getattr(self, "n_features_in_", None),
            names=None if names is None else names.tolist(),
        )

    def reading(self, reader: FeatureReader) -> Self:
        informed: Self = clone(self)
        informed.dense_features_ = reader.dense_features
        return informed

    def without_reader(self) -> tuple[FeatureReader | None, Self]:
        self._check_fitted()
        if self.features_ is None or not self.features_.has_columns_:
            return None, self
        inner = copy(self)
        inner.features_ = None
        set_columns(inner, None)
        return self.features_.reader_, inner

    def get_metadata_routing(self) -> MetadataRouter:
        """Say that fit parameters go on to the learner's ``fit``."""
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self._learner(),
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        learner = get_tags(self._learner())
        tags.input_tags.sparse = learner.input_tags.sparse
        tags.input_tags.allow_nan = learner.input_tags.allow_nan
        tags.input_tags.positive_only = learner.input_tags.positive_only
        if learner.classifier_tags is not None:
            tags.classifier_tags.poor_score = learner.classifier_tags.poor_score
        return tags

    def _learner(self) -> BaseEstimator:
        return default_learner(self.scores) if self.estimator is None else self.estimator

    def _rule(self, rule: Any) -> Rule:
        if rule is None or (isinstance(rule, str) and rule == "auto"):
            return Auto()
        if not isinstance(rule, Rule):
            raise ParameterError(
                f'rule must be "auto" or one of setlearn.rules such as Margin(), got {rule!r}'
            )
        return rule

    def _new_rule(self, rule: Any) -> Rule:
        if self.space_.one_per_sample:
            raise ParameterError(
                f"y had one class per sample, so that the best class is predicted; {rule!r} would "
                "need sets: fit the classifier on sets first"
            )
        new_rule: Rule = clone(self._rule(rule))
        new_rule.check_parameters()
        check_combination(
            new_rule,
            getattr(self.scorer_, "model_", self.scorer_.estimator),
            of_classes=False,
            shares_of_one=self.scorer_.shares_of_one,
            conditional=self.completion_ is not None,
        )
        return new_rule

    def _check_takes_hierarchy(self, space: LabelSpace) -> None:
        if self.scores == "softmax" or space.one_per_sample:
            what = "a plain 1-d y" if space.one_per_sample else 'scores="softmax"'
            raise ParameterError(
                f"a hierarchy needs each label's own probability, got {what}; leave the hierarchy "
                'out, or pass sets and scores="marginal"'
            )

    def _check_parameters(self) -> None:
        check_learner(self._learner())
        if self.scores not in ("marginal", "softmax"):
            raise ParameterError(f'scores must be "marginal" or "softmax", got {self.scores!r}')
        if self.hierarchy is not None:
            parents_of(self.hierarchy)
        self._rule(self.rule).check_parameters()


def _kept_for_rules(nodes: Nodes, positive: Mask) -> tuple[Nodes, Mask] | None:
    if not 0 < nodes.probabilities.size <= MOST_KEPT_SCORES:
        return None
    return nodes, positive
