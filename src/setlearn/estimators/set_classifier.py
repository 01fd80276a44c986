"""Any classifier in, a set of labels of the right size out."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _num_samples, check_is_fitted

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.estimators.completion import Completion
from setlearn.estimators.fit_params import params_for_learner
from setlearn.estimators.inputs import check_inputs, one_sample
from setlearn.estimators.label_checks import check_combination, check_examples, read_targets
from setlearn.estimators.label_space import LabelSpace, UnknownLabels, sparse_mask
from setlearn.estimators.label_trace import LabelTrace
from setlearn.estimators.out_of_fold import fit_out_of_fold
from setlearn.estimators.prefit import check_prefit, in_order_of_learner, refuse_fit_params
from setlearn.label_sets import read_set
from setlearn.learners.set_mixture import SetMixture
from setlearn.metrics import mean_f1
from setlearn.nodes import BoolArray, FloatArray, Nodes
from setlearn.rules import Auto, Rule, TopK
from setlearn.scorers import LabelScorer, MarginalScorer, SoftmaxScorer
from setlearn.scorers.classifiers import check_learner, with_seeds

__all__ = ["SetClassifier"]


class SetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Predict a set of labels for each sample, of the size that fits the sample.

    A learner scores every label, and a rule decides how many to keep. The rule is learned on
    scores of samples that the learner had not seen.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        The learner, as it comes. By default a mixture of kernel ridge regression and extra trees
        (`SetMixture`), with "softmax" scores logistic regression on scaled inputs. One without
        ``predict_proba`` is calibrated on the way.
    rule : Rule or "auto", optional
        Which labels to keep. "auto", which is also the default, tries several and takes the one
        with the best mean F1 on samples held out: see `setlearn.rules.Auto`. ``Margin()`` is the
        paper's.
    scores : {"marginal", "softmax"}, default="marginal"
        "marginal" asks for each label's own probability: natively where the learner takes
        indicator targets, else with one model a label. "softmax" is the paper's way: one row an
        element and a multi-class learner.
    cv : int, splitter, iterable of splits or "prefit", default=5
        How to get the scores that the rule learns from: out of fold, or from a fitted learner
        and the data as they are. None is 5, as in scikit-learn.
    conditional : bool, default=False
        Learn also what known labels say about the others, for ``complete``. Nothing else changes.
    n_jobs : int, optional
        How many folds are fitted at once. The answer does not depend on it.
    unknown : {"error", "ignore"}, default="error"
        What to do with known labels in ``complete`` that were never seen in training; ignored
        ones are counted in a warning.
    random_state : int or RandomState, optional
        Seeds the folds, and every ``random_state`` that the learner and rule leave open.
    verbose : bool, default=True
        Show a progress bar on stderr while fitting; quiet without a terminal.

    Attributes
    ----------
    classes_ : array of the labels
    rule_ : the fitted rule; with "auto" the winner
    rule_scores_ : dict or None
        With "auto", the mean F1 of each rule that was tried, with its standard error.
    completion_ : Completion or None
        With ``conditional=True``, the scores and the rule for what is left.
    scorer_ : the fitted learner, behind the interface that rules see
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

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        rule: Rule | Literal["auto"] | None = None,
        *,
        scores: Literal["marginal", "softmax"] = "marginal",
        cv: Any = 5,
        conditional: bool = False,
        n_jobs: int | None = None,
        unknown: UnknownLabels = "error",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = True,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.scores = scores
        self.cv = cv
        self.conditional = conditional
        self.n_jobs = n_jobs
        self.unknown = unknown
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Learn from inputs and label sets.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, or whatever the learner takes, such as texts
        y : iterable of sets of hashable labels, or an indicator matrix, dense or sparse
            Called ``y`` as everywhere in scikit-learn. A plain 1-d y makes this an ordinary
            classifier.
        sample_weight : array of shape (n_samples,), optional
            Passed to the learner, as are further ``fit_params`` (by scikit-learn's metadata
            routing where that is enabled).
        """
        self._check_parameters()
        learner = self._learner()
        X = check_inputs(self, X, reset=True, allow_nan=get_tags(learner).input_tags.allow_nan)
        if self.estimator is None and isinstance(X, list | tuple) and isinstance(X[0], str):
            raise DataError(
                "X holds texts, which the default learner cannot read; pass one that can, such as "
                "make_pipeline(TfidfVectorizer(), LogisticRegression())"
            )
        space, right = read_targets(y, _num_samples(X))
        # With one class a sample there is nothing to decide: the best one it is.
        rule = TopK(1) if space.kind == "classes" else clone(self._rule())
        check_combination(
            rule,
            learner,
            of_classes=space.kind == "classes",
            shares_of_one=self._asks_for_one_element(space),
            conditional=self.conditional,
        )
        rng = check_random_state(self.random_state)
        if self.random_state is not None:
            rule = with_seeds(rule, rng)
        if self.cv == "prefit":
            refuse_fit_params(sample_weight, fit_params)
            scorer, space, right = self._take_fitted(learner, space, right)
            scorer.with_examples = rule.uses_examples
            nodes = scorer.start(X).nodes
        else:
            params = params_for_learner(self, learner, X, sample_weight, fit_params)
            if self.random_state is not None:
                learner = with_seeds(learner, rng)
            folds = 5 if self.cv is None else self.cv
            scorer = self._scorer(learner, space, right)
            scorer.with_examples = rule.uses_examples
            scorer, nodes = fit_out_of_fold(
                scorer,
                X,
                right,
                params,
                cv=folds if rule.needs_fit or self.conditional else None,
                rng=rng,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        check_examples(rule, scorer, X)
        truth = right[nodes.sample]
        completion = Completion.fit(nodes, truth, rule, rng) if self.conditional else None
        if rule.needs_fit:
            rule.fit(nodes, scorer.right_choices(truth))
        scores, rule = rule.candidate_scores, rule.chosen
        scorer.with_examples = rule.uses_examples
        # All at once, so that a fit that fails leaves the model of the one before whole.
        self.space_, self.classes_ = space, space.classes
        self.scorer_, self.rule_, self.rule_scores_ = scorer, rule, scores
        self.completion_ = completion
        return self

    def predict(self, X: Any) -> Any:
        """Predict the set of each sample, in the kind that ``fit`` was given."""
        nodes = self._score(X)
        if self.space_.kind == "indicator":  # which is dense anyway
            return self._labels_only(self.rule_.accept(nodes)).astype(self.space_.dtype)
        return self.space_.answer(self._kept(nodes))

    def predict_proba(self, X: Any) -> FloatArray:
        """Each label's score, (n_samples, n_labels).

        That is P(label | x), or with ``scores="softmax"`` P(next element | x).
        """
        return self._labels_only(self._score(X).probabilities)

    def predict_ranked(
        self, X: Any, *, top: int | None = None
    ) -> list[list[tuple[Hashable, float]]]:
        """List the elements of each predicted set with their scores, best first.

        With ``top``, list that many of the best labels instead, whether the rule keeps them or
        not.
        """
        if top is not None and (not isinstance(top, int | np.integer) or top < 1):
            raise ParameterError(f"top must be None or a whole number from 1 up, got {top!r}")
        nodes = self._score(X)
        scores = self._labels_only(nodes.probabilities)
        if top is None:
            kept = self._kept(nodes)
        else:
            kept = sparse.csr_array(TopK(top).accept(Nodes.roots(scores)))
        labels = self.classes_.tolist()
        ranked = []
        for row, score in enumerate(scores):
            chosen = kept.indices[kept.indptr[row] : kept.indptr[row + 1]]
            order = chosen[np.argsort(-score[chosen], kind="stable")]
            ranked.append([(labels[k], float(score[k])) for k in order])
        return ranked

    def complete(self, X: Any, known: Any) -> Any:
        """Given these labels, what else? Never repeats a known one.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : one set of labels a sample, or an indicator
        """
        self._check_fitted()
        given = self.space_.encode(known, self.unknown)
        if given.shape[0] != _num_samples(X):
            raise DataError(
                f"X has {_num_samples(X)} samples but known has {given.shape[0]} sets; "
                "give one set a sample, an empty one where nothing is known"
            )
        kept = self._kept(self._score(X, given.toarray()))
        others = sparse.csr_array(kept > given)
        # One class a sample is no set, but what else there is may be any number of them.
        plain = self.space_.kind == "classes"
        return self.space_.answer_sets(others) if plain else self.space_.answer(others)

    def trace(self, x: Any, known: Any = ()) -> LabelTrace:
        """Tell step by step how the set of one sample came about, and why it ended.

        Parameters
        ----------
        x : a single input, such as ``X[0]``
        known : labels that are in the memory from the start
        """
        self._check_fitted()
        memory = read_set(known, "known")
        given = self.space_.encode([memory], self.unknown)
        nodes = self._score(one_sample(x), given.toarray() if memory else None)
        labels = self.classes_.tolist()
        choices = labels + (["(nothing)"] if self.scorer_.empty_choice else [])
        rule, story = self.rule_, nodes
        if self.completion_ is not None and nodes.known is not None and nodes.known.any():
            rule, story = self.completion_.rule, self.completion_.scores.left(nodes)
        walk = rule.steps(story, [str(choice) for choice in choices])
        if story is not nodes:  # where what is known has been taken out
            walk = walk.after(np.flatnonzero(given.toarray()[0]).tolist())
        [result] = self.space_.answer_sets(self._kept(nodes) + given)
        return LabelTrace.of(choices, walk, result, memory & frozenset(labels))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean F1 of the predicted sets; accuracy for a plain 1-d y.

        A label of y that was never seen in training counts as missed.
        """
        self._check_fitted()
        if self.space_.kind == "classes":
            return float(super().score(X, y, sample_weight=sample_weight))
        y = self.space_.in_own_kind(y)
        return mean_f1(y, self.predict(X), sample_weight=sample_weight)

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
        if self.estimator is None:
            if self.scores == "marginal":
                return SetMixture()
            # There a sample has a row for each of its labels. Leaving out one of them, as the
            # mixture does to calibrate itself, would not leave out the sample.
            return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1000))
        return self.estimator

    def _rule(self) -> Rule:
        return Auto() if self.rule is None or isinstance(self.rule, str) else self.rule

    def _check_parameters(self) -> None:
        check_learner(self._learner())
        if self.scores not in ("marginal", "softmax"):
            raise ParameterError(f'scores must be "marginal" or "softmax", got {self.scores!r}')
        if self.unknown not in ("error", "ignore"):
            raise ParameterError(f'unknown must be "error" or "ignore", got {self.unknown!r}')
        named = self.rule is None or (isinstance(self.rule, str) and self.rule == "auto")
        if not (named or isinstance(self.rule, Rule)):
            raise ParameterError(
                f'rule must be "auto" or one of setlearn.rules such as Margin(), got {self.rule!r}'
            )
        self._rule().check_parameters()

    def _scorer(
        self, learner: BaseEstimator, space: LabelSpace, right: sparse.csr_array
    ) -> LabelScorer:
        n_labels = right.shape[1]
        if self._asks_for_one_element(space):
            some_empty = bool((np.diff(right.indptr) == 0).any())
            return SoftmaxScorer(learner, n_labels=n_labels, empty_choice=some_empty)
        return MarginalScorer(learner, n_labels=n_labels)

    def _asks_for_one_element(self, space: LabelSpace) -> bool:
        return self.scores == "softmax" or space.kind == "classes"

    def _take_fitted(
        self, learner: BaseEstimator, space: LabelSpace, right: sparse.csr_array
    ) -> tuple[LabelScorer, LabelSpace, sparse.csr_array]:
        check_prefit(learner)
        if not self._asks_for_one_element(space):
            return MarginalScorer(learner, n_labels=right.shape[1]).prefit(), space, right
        space, right, choices = in_order_of_learner(learner, space, right)
        return SoftmaxScorer(learner, n_labels=right.shape[1]).prefit(choices), space, right

    def _score(self, X: Any, known: BoolArray | None = None) -> Nodes:
        """The roots of all samples, scored."""
        self._check_fitted()
        allow_nan = get_tags(self._learner()).input_tags.allow_nan
        X = check_inputs(self, X, reset=False, allow_nan=allow_nan)
        return self.scorer_.start(X, known).nodes

    def _kept(self, nodes: Nodes) -> sparse.csr_array:
        """The labels that are kept, (n, labels), known ones perhaps; dense a chunk at a time."""
        chunks = [
            sparse_mask(self._labels_only(self._accepted(nodes[rows])))
            for rows in nodes.row_chunks()
        ]
        return sparse.csr_array(sparse.vstack(chunks)) if len(chunks) > 1 else chunks[0]

    def _accepted(self, nodes: Nodes) -> BoolArray:
        """What the rule keeps; where labels are known, what the completion adds to them."""
        kept = self.rule_.accept(nodes)
        if self.completion_ is not None and nodes.known is not None:
            informed: BoolArray = np.asarray(nodes.known.any(axis=1))
            if informed.any():
                kept[informed] = self.completion_.kept(nodes[informed])
        return kept

    def _labels_only(self, choices: NDArray[Any]) -> NDArray[Any]:
        return choices[:, :-1] if self.scorer_.empty_choice else choices

    def _check_fitted(self) -> None:
        try:
            check_is_fitted(self, "rule_")
        except SklearnNotFittedError as error:
            raise NotFittedError(str(error)) from error
