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
from setlearn.estimators.argument_checks import check_same_length
from setlearn.estimators.hierarchy import Hierarchy
from setlearn.estimators.label_space import LabelSpace, as_label_array
from setlearn.features import TableFeatures
from setlearn.nodes import IntArray, Nodes
from setlearn.rules import Rule
from setlearn.scorers import (
    LabelScorer,
    ListedScorer,
    MarginalScorer,
    SoftmaxScorer,
    lists_labels,
)
from setlearn.scorers.label_targets import LabelTargets

__all__ = [
    "LabelProblem",
    "check_combination",
    "check_examples",
    "check_takes_unknown",
    "params_for_learner",
    "read_targets",
    "refuse_fit_params",
]


@dataclass(frozen=True, slots=True, eq=False)
class LabelProblem:
    """Inputs and label sets with the learner and the rule to fit on them.

    ``features`` turned texts or a table into X; None if X is what the user passed.
    ``shares_of_one`` says that the learner is to answer with one distribution over all labels,
    as with softmax scores or a plain 1-d y. With a hierarchy, the targets are closed upwards.
    """

    X: Any
    features: TableFeatures | None
    space: LabelSpace
    targets: LabelTargets
    learner: BaseEstimator
    rule: Rule
    shares_of_one: bool
    hierarchy: Hierarchy | None = None

    def new_scorer(self, learner: BaseEstimator) -> LabelScorer:
        """A scorer, not fitted, for this learner."""
        n_labels = self.targets.n_labels
        if not self.shares_of_one:
            return self._new_marginal_scorer(learner)
        some_empty = bool((np.diff(self.targets.right.indptr) == 0).any())
        return SoftmaxScorer(learner, n_labels=n_labels, empty_choice=some_empty)

    def choice_points(self, nodes: Nodes) -> tuple[Nodes, sparse.csr_array]:
        """What a rule is fitted on: scores of samples, and their labels (n, labels).

        Parameters
        ----------
        nodes : Nodes
            Scored by a learner that has not seen the samples.

        Returns
        -------
        nodes : Nodes
            With scores that respect the hierarchy, and without labels that are unknown.
        right : csr_array of bool, shape (n, labels)
        """
        if self.hierarchy is not None:
            nodes = self.hierarchy.consistent(nodes)
        nodes, targets = self.targets.known_choices(nodes)
        return nodes, targets.right

    def with_fitted_learner(self) -> tuple[LabelProblem, LabelScorer]:
        """The problem in the order of a fitted learner's classes, and the learner as a scorer."""
        _check_prefit(self.learner)
        if not self.shares_of_one:
            return self, self._new_marginal_scorer(self.learner).prefit()
        space, right, choices = _in_order_of_learner(self.learner, self.space, self.targets.right)
        scorer = SoftmaxScorer(self.learner, n_labels=right.shape[1]).prefit(choices)
        return replace(self, space=space, targets=LabelTargets(right)), scorer

    def _new_marginal_scorer(self, learner: BaseEstimator) -> ListedScorer | MarginalScorer:
        kind = ListedScorer if lists_labels(learner) else MarginalScorer
        return kind(learner, n_labels=self.targets.n_labels)


def read_targets(Y: Any, n_samples: int) -> tuple[LabelSpace, LabelTargets]:
    """Read the targets, and check that there is something to learn from them.

    Parameters
    ----------
    Y : sets, an indicator, or classes
    n_samples : int
        How many inputs there are.

    Returns
    -------
    space : LabelSpace
    targets : LabelTargets

    Raises
    ------
    DataError
        If nothing can be learned from them.
    """
    if Y is None:
        raise DataError("requires y to be passed, but the target y is None; pass label sets")
    space, targets = LabelSpace.read(Y)
    check_same_length(n_samples, len(targets), "Y")
    if (targets.n_known == 0).any():
        label = space.classes.tolist()[int(np.argmin(targets.n_known))]
        raise DataError(
            f"the label {label!r} is unknown for every sample in Y, so nothing can be learned "
            "about it; leave out its column"
        )
    if targets.unknown is not None and (targets.counts == targets.n_known).all():
        raise DataError(
            "every known entry of Y is 1, so nothing says which samples do not have a label; "
            "write 0 where a label is known to be wrong, and NaN only where that is not known"
        )
    if targets.right.nnz == 0:
        raise DataError("every set in Y is empty, so there is no label to learn; check the targets")
    if targets.n_labels == 1 and targets.counts[0] == targets.n_known[0]:
        raise DataError(
            f"Y holds one class only ({space.classes.tolist()[0]!r} in every sample), so there "
            "is nothing to learn; pass samples with different sets"
        )
    return space, targets


def check_combination(
    rule: Rule,
    learner: BaseEstimator,
    *,
    of_classes: bool,
    shares_of_one: bool,
    conditional: bool,
    partly_known: bool = False,
) -> None:
    """Raise if the parts cannot work together, before anything costly is done.

    Parameters
    ----------
    rule : Rule
    learner : BaseEstimator
    of_classes : bool
        Whether y has one class per sample.
    shares_of_one : bool
        Whether the scores of all labels add up to 1.
    conditional : bool
    partly_known : bool, default=False
        Whether some entries of y are unknown.

    Raises
    ------
    ParameterError
    """
    if lists_labels(learner):
        _check_takes_lists(rule, learner, shares_of_one, conditional)
    if rule.requires_examples and (
        shares_of_one or conditional or not hasattr(learner, "examples")
    ):
        raise ParameterError(
            f"{rule!r} needs training sets with weights, which the default learner provides with "
            'scores="marginal" and conditional=False; use these, or the rule without joint'
        )
    if rule.needs_marginals and shares_of_one and not of_classes:
        raise ParameterError(
            f"{rule!r} needs each label's own probability, but with "
            'scores="softmax" the scores are shares of 1; use scores="marginal", or another rule '
            "such as Margin()"
        )
    if conditional and shares_of_one:
        what = "a plain 1-d y" if of_classes else 'scores="softmax"'
        raise ParameterError(
            f"conditional=True needs each label's own probability, got {what}; "
            'leave it out, or pass sets and scores="marginal"',
            advice={"conditional": False},
        )
    if partly_known:
        if shares_of_one or conditional or lists_labels(learner):
            cause = "conditional=True" if conditional else type(learner).__name__
            raise _needs_to_know('scores="softmax"' if shares_of_one else cause)
        check_takes_unknown(rule)


def _check_takes_lists(
    rule: Rule, learner: BaseEstimator, shares_of_one: bool, conditional: bool
) -> None:
    """Raise if something else needs a score of each label, where a learner lists only some."""
    problem = None
    if shares_of_one:
        problem = 'scores="softmax" and a plain 1-d y need'
    elif conditional:
        problem = "conditional=True needs"
    elif rule.requires_examples or not rule.takes_padding:
        problem = f"{rule!r} needs whole training sets or"
    if problem is not None:
        raise ParameterError(
            f"{problem} the scores of all labels, but {type(learner).__name__} lists only those "
            "that are probable; leave it out, or use another learner, such as SetMixture()"
        )


def check_takes_unknown(rule: Rule) -> None:
    """Raise if a rule cannot be fitted on targets of which some entries are unknown."""
    if not rule.takes_padding:
        raise _needs_to_know(repr(rule))


def _needs_to_know(what: str) -> ParameterError:
    return ParameterError(
        f"some entries of y are unknown (NaN), and {what} needs to know all of them; leave it "
        "out, or leave out samples with unknown entries"
    )


def check_examples(rule: Rule, scorer: LabelScorer, X: Any) -> None:
    """Raise if a rule requires training sets that the fitted learner does not provide.

    Parameters
    ----------
    rule : Rule
    scorer : LabelScorer
    X : inputs

    Raises
    ------
    ParameterError
    """
    if not rule.requires_examples:
        return
    if scorer.examples(_safe_indexing(X, np.arange(1))) is None:
        raise ParameterError(
            f"{rule!r} needs whole training sets beside the scores, which the default learner "
            "provides if two or more labels vary; use the rule without joint"
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
    """Raise if there are parameters for the fit of a learner that is fitted already.

    Parameters
    ----------
    sample_weight : array or None
    fit_params : mapping
        Further keyword arguments of ``fit``.

    Raises
    ------
    ParameterError
        If any of them is given.
    """
    given = [*(["sample_weight"] if sample_weight is not None else []), *fit_params]
    if given:
        raise ParameterError(
            f'{", ".join(given)} was passed, but with cv="prefit" no learner is fitted that could '
            "use it; leave it out, or leave cv at its default"
        )


def _in_order_of_learner(
    learner: BaseEstimator, space: LabelSpace, right: sparse.csr_array
) -> tuple[LabelSpace, sparse.csr_array, IntArray]:
    """For a multi-class learner: its labels, and the column of each of its classes.

    Its classes may include labels that never occur in Y; an indicator's columns stay as they are.
    """
    classes, labels = np.asarray(learner.classes_).tolist(), space.classes.tolist()
    if space.has_columns:
        not_in_y = [label for label in classes if label not in labels]
        if not_in_y:
            raise DataError(
                f"the fitted estimator knows the class {not_in_y[0]!r}, which is no column of Y; "
                "fit it on column numbers, or pass Y as sets of its classes"
            )
        return space, right, np.array([labels.index(label) for label in classes])
    unknown = [label for label in labels if label not in classes]
    if unknown:
        raise DataError(
            f"Y holds {len(unknown)} label(s) that the fitted estimator does not know, such as "
            f"{unknown[0]!r}; fit it on all labels first"
        )
    column = np.array([classes.index(label) for label in labels])
    moved = sparse.csr_array(
        (right.data, column[right.indices], right.indptr), shape=(right.shape[0], len(classes))
    )
    moved.sort_indices()
    return replace(space, classes=as_label_array(classes)), moved, np.arange(len(classes))


def params_for_learner(
    owner: BaseEstimator,
    learner: BaseEstimator,
    X: Any,
    sample_weight: Any,
    fit_params: dict[str, Any],
) -> dict[str, Any]:
    """The parameters for the learner's ``fit``: routed by scikit-learn, or passed on as they are.

    Parameters
    ----------
    owner : BaseEstimator
        The estimator whose metadata routing is used.
    learner : BaseEstimator
    X : inputs
    sample_weight : array or None
    fit_params : dict

    Returns
    -------
    dict

    Raises
    ------
    DataError, ParameterError
        If the weights cannot be used, or the learner takes none.
    """
    params = dict(fit_params)
    if sample_weight is not None:
        try:
            params["sample_weight"] = _check_sample_weight(sample_weight, X)
        except ValueError as error:
            raise DataError(str(error)) from error
        negative = np.flatnonzero(params["sample_weight"] < 0)
        if len(negative):
            raise DataError(
                f"sample_weight is {params['sample_weight'][negative[0]]:g} for sample "
                f"{negative[0]}; weights must not be negative"
            )
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
    """Name the step of a pipeline that takes the weights; refuse them if no step does."""
    prefix, final = "", learner
    while isinstance(final, Pipeline):
        name, final = final.steps[-1]
        prefix += f"{name}__"
    if not has_fit_parameter(final, "sample_weight"):
        raise ParameterError(
            f"sample_weight was passed but {type(final).__name__} takes none; "
            "leave it out or use a learner that does, such as LogisticRegression()"
        )
    params[f"{prefix}sample_weight"] = params.pop("sample_weight")
