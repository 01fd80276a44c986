"""What `SetClassifier.fit` is given: read, and checked for working together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.estimators.label_space import LabelSpace, as_label_array
from setlearn.nodes import IntArray
from setlearn.rules import Rule
from setlearn.scorers import LabelScorer, MarginalScorer, SoftmaxScorer

__all__ = [
    "LabelProblem",
    "check_combination",
    "check_examples",
    "params_for_learner",
    "read_targets",
    "refuse_fit_params",
]


@dataclass(frozen=True, slots=True, eq=False)
class LabelProblem:
    """Inputs and label sets with the learner and the rule to fit on them.

    ``shares_of_one`` says that the learner is to answer with one distribution over all labels,
    as with softmax scores or a plain 1-d y.
    """

    X: Any
    space: LabelSpace
    right: sparse.csr_array  # (n, labels)
    learner: BaseEstimator
    rule: Rule
    shares_of_one: bool

    def new_scorer(self, learner: BaseEstimator) -> LabelScorer:
        """A scorer, not fitted, for this learner."""
        n_labels = self.right.shape[1]
        if not self.shares_of_one:
            return MarginalScorer(learner, n_labels=n_labels)
        some_empty = bool((np.diff(self.right.indptr) == 0).any())
        return SoftmaxScorer(learner, n_labels=n_labels, empty_choice=some_empty)

    def with_fitted_learner(self) -> tuple[LabelProblem, LabelScorer]:
        """The problem in the order of a fitted learner's classes, and the learner as a scorer."""
        _check_prefit(self.learner)
        if not self.shares_of_one:
            return self, MarginalScorer(self.learner, n_labels=self.right.shape[1]).prefit()
        space, right, choices = _in_order_of_learner(self.learner, self.space, self.right)
        scorer = SoftmaxScorer(self.learner, n_labels=right.shape[1]).prefit(choices)
        return replace(self, space=space, right=right), scorer


def read_targets(Y: Any, n_samples: int) -> tuple[LabelSpace, sparse.csr_array]:
    """The labels and the indicator (n, labels), if there is something to learn from them."""
    if Y is None:
        raise DataError("requires y to be passed, but the target y is None; pass label sets")
    space, right = LabelSpace.read(Y)
    if right.shape[0] != n_samples:
        raise DataError(
            f"X has {n_samples} samples but Y has {right.shape[0]} sets; "
            "give one set a sample, an empty one where there is no label"
        )
    if right.nnz == 0:
        raise DataError("every set in Y is empty, so there is no label to learn; check the targets")
    if right.shape[1] == 1 and right.sum() == right.shape[0]:
        raise DataError(
            f"Y holds one class only ({space.classes.tolist()[0]!r} in every sample), so there "
            "is nothing to learn; give samples with different sets"
        )
    return space, right


def check_combination(
    rule: Rule,
    learner: BaseEstimator,
    *,
    of_classes: bool,
    shares_of_one: bool,
    conditional: bool,
) -> None:
    """Raise where the parts cannot work together, before anything costly is done."""
    if rule.requires_examples and (
        shares_of_one or conditional or not hasattr(learner, "examples")
    ):
        raise ParameterError(
            f"{rule!r} needs whole training sets beside the scores. The default learner gives "
            'them, with "marginal" scores and conditional=False; '
            f"{type(learner).__name__} here does not; use ExpectedF() without joint"
        )
    if rule.needs_marginals and shares_of_one and not of_classes:
        raise ParameterError(
            f"{rule!r} needs a probability of each label by itself, and with "
            'scores="softmax" they are shares of 1; use scores="marginal", or another rule '
            "such as Margin()"
        )
    if conditional and shares_of_one:
        what = "a plain 1-d y" if of_classes else 'scores="softmax"'
        raise ParameterError(
            f"conditional=True needs a probability of each label by itself, got {what}; "
            'leave it out, or give sets and scores="marginal"'
        )


def check_examples(rule: Rule, scorer: LabelScorer, X: Any) -> None:
    """Raise if a rule asks for training sets that the fitted learner does not give after all."""
    if not rule.requires_examples:
        return
    if scorer.examples(_safe_indexing(X, np.arange(1))) is None:
        raise ParameterError(
            f"{rule!r} needs whole training sets beside the scores, which the default learner "
            "gives for dense X and two labels or more that vary; use ExpectedF() without joint"
        )


def _check_prefit(learner: BaseEstimator) -> None:
    """Raise unless the learner is fitted and gives probabilities as it is."""
    try:
        check_is_fitted(learner)
    except SklearnNotFittedError as error:
        raise NotFittedError(
            f'cv="prefit" needs a fitted estimator, but this {type(learner).__name__} is not; '
            "fit it first, or leave cv at its default"
        ) from error
    if not hasattr(learner, "predict_proba"):
        raise DataError(
            f'cv="prefit" takes the estimator as it is, and {type(learner).__name__} has no '
            "predict_proba; calibrate it first (sklearn.calibration.CalibratedClassifierCV)"
        )


def refuse_fit_params(sample_weight: Any, fit_params: Mapping[str, Any]) -> None:
    """Raise where something is meant for the fit of a learner that is fitted already."""
    given = [*(["sample_weight"] if sample_weight is not None else []), *fit_params]
    if given:
        raise ParameterError(
            f'{", ".join(given)} was given, but with cv="prefit" no learner is fitted that could '
            "use it; leave it out, or leave cv at its default"
        )


def _in_order_of_learner(
    learner: BaseEstimator, space: LabelSpace, right: sparse.csr_array
) -> tuple[LabelSpace, sparse.csr_array, IntArray]:
    """For a multi-class learner: the labels that it knows, and the column of each of its classes.

    Its classes may include labels that Y never shows; an indicator's columns stay as they are.
    """
    theirs = np.asarray(learner.classes_).tolist()
    ours = space.classes.tolist()
    missing = [label for label in ours if label not in theirs]
    if space.kind in ("indicator", "sparse"):
        strange = [label for label in theirs if label not in ours]
        if strange:
            raise DataError(
                f"the fitted estimator knows the class {strange[0]!r}, which is no column of Y; "
                "fit it on column numbers, or give Y as sets of its classes"
            )
        return space, right, np.array([ours.index(label) for label in theirs])
    if missing:
        raise DataError(
            f"Y holds {len(missing)} label(s) that the fitted estimator does not know, such as "
            f"{missing[0]!r}; fit it on all labels first"
        )
    column = np.array([theirs.index(label) for label in ours])
    moved = sparse.csr_array(
        (right.data, column[right.indices], right.indptr), shape=(right.shape[0], len(theirs))
    )
    moved.sort_indices()
    return replace(space, classes=as_label_array(theirs)), moved, np.arange(len(theirs))


def params_for_learner(
    owner: BaseEstimator,
    learner: BaseEstimator,
    X: Any,
    sample_weight: Any,
    fit_params: dict[str, Any],
) -> dict[str, Any]:
    """What the learner's ``fit`` is to get: routed by scikit-learn, or passed on as it is."""
    params = dict(fit_params)
    if sample_weight is not None:
        try:
            params["sample_weight"] = _check_sample_weight(sample_weight, X)
        except ValueError as error:
            raise DataError(str(error)) from error
    if not params:
        return {}
    if _routing_is_enabled():
        return dict(process_routing(owner, "fit", **params).estimator.fit)
    if "sample_weight" in params:
        _address_weights(learner, params)
    return params


def _routing_is_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config()["enable_metadata_routing"])


def _address_weights(learner: BaseEstimator, params: dict[str, Any]) -> None:
    """Name the step of a pipeline that the weights are for; refuse them where none takes them."""
    prefix, final = "", learner
    while isinstance(final, Pipeline):
        name, final = final.steps[-1]
        prefix += f"{name}__"
    if not has_fit_parameter(final, "sample_weight"):
        raise ParameterError(
            f"sample_weight was given but {type(final).__name__} takes none; "
            "leave it out or use a learner that does, such as LogisticRegression()"
        )
    params[f"{prefix}sample_weight"] = params.pop("sample_weight")
