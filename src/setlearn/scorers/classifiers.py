"""What setlearn needs of a scikit-learn classifier: probabilities, in one shape."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from setlearn.errors import KindError
from setlearn.nodes import FloatArray, IntArray

__all__ = [
    "answers_indicators",
    "check_learner",
    "class_probabilities",
    "fit_learner",
    "label_probabilities",
    "params_of_rows",
    "with_seeds",
]

CALIBRATION_FOLDS = 3


def check_learner(estimator: Any) -> None:
    """Raise unless the estimator is a classifier that can give probabilities in some way."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise KindError(
            f"estimator must be a scikit-learn classifier, got {estimator!r}; "
            "pass an instance such as LogisticRegression()"
        )
    if hasattr(estimator, "accept"):
        raise KindError(f"{estimator!r} is a rule, not a learner; pass rule={estimator!r}")
    # Some classifiers that are made of others show their methods only when they are fitted.
    if not (
        _gives_scores(estimator) or (is_classifier(estimator) and _gives_scores(type(estimator)))
    ):
        raise KindError(
            f"{type(estimator).__name__} gives no probabilities: it has neither predict_proba nor "
            "decision_function; use a classifier such as LogisticRegression()"
        )


def _gives_scores(estimator: object) -> bool:
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def answers_indicators(estimator: BaseEstimator) -> bool:
    """Whether the classifier takes an indicator matrix as its target natively."""
    tags = get_tags(estimator)
    multi_label = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    takes = multi_label or tags.target_tags.multi_output
    return bool(takes and hasattr(estimator, "predict_proba"))


def with_seeds(estimator: BaseEstimator, rng: np.random.RandomState) -> BaseEstimator:
    """Clone an estimator, and draw every ``random_state`` that is None from ``rng``.

    Parameters
    ----------
    estimator : BaseEstimator
    rng : RandomState

    Returns
    -------
    BaseEstimator
    """
    seeded = clone(estimator)
    # Sorted, because every clone must draw in the same order.
    for name, value in sorted(seeded.get_params(deep=True).items()):
        if name.split("__")[-1] == "random_state" and value is None:
            seeded.set_params(**{name: int(rng.randint(np.iinfo(np.int32).max))})
    return seeded


def params_of_rows(params: Mapping[str, Any], rows: IntArray, n_samples: int) -> dict[str, Any]:
    """Fit parameters with one value per sample, such as weights, cut to the given rows.

    Parameters
    ----------
    params : mapping
    rows : array of int
    n_samples : int
        Values of this length are taken for one value per sample.

    Returns
    -------
    dict
    """

    def cut(value: Any) -> Any:
        per_sample = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict)
        if per_sample and _num_samples(value) == n_samples:
            return _safe_indexing(value, rows)
        return value

    return {name: cut(value) for name, value in params.items()}


def fit_learner(
    estimator: BaseEstimator, X: Any, y: IntArray, params: Mapping[str, Any]
) -> BaseEstimator:
    """Fit a clone on classes; a learner without ``predict_proba`` is calibrated.

    Parameters
    ----------
    estimator : scikit-learn classifier
    X : inputs
    y : array of int
    params : mapping
        Passed to ``fit``.

    Returns
    -------
    fitted classifier
    """
    model = clone(estimator)
    rarest = int(np.unique(y, return_counts=True)[1].min())
    only_margins = hasattr(model, "decision_function") and not hasattr(model, "predict_proba")
    # A class seen once cannot be held out; its margin is then squashed uncalibrated.
    if not only_margins or rarest < 2:
        return model.fit(X, y, **params)
    return _fit_calibrated(model, X, y, params, folds=min(CALIBRATION_FOLDS, rarest))


def _fit_calibrated(
    model: BaseEstimator, X: Any, y: IntArray, params: Mapping[str, Any], *, folds: int
) -> BaseEstimator:
    calibrated = CalibratedClassifierCV(model, cv=folds, ensemble=False)
    weights = [value for name, value in params.items() if name.split("__")[-1] == "sample_weight"]
    if not weights:
        return calibrated.fit(X, y, **params)
    with warnings.catch_warnings():
        # In a pipeline, the name of the weights begins with the step that takes them. The
        # calibration needs them too, and warns that the pipeline itself does not accept them.
        warnings.filterwarnings("ignore", ".*does not appear to accept sample_weight")
        return calibrated.fit(X, y, **{**params, "sample_weight": weights[0]})


def class_probabilities(model: BaseEstimator, X: Any) -> FloatArray:
    """P(class | x) of a multi-class learner.

    Parameters
    ----------
    model : fitted classifier
    X : inputs

    Returns
    -------
    array of shape (n, classes)
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    margin = np.asarray(model.decision_function(X))
    if margin.ndim == 1:
        right = expit(margin)
        return np.column_stack([1 - right, right])
    return np.asarray(softmax(margin, axis=1))


def label_probabilities(model: BaseEstimator, X: Any) -> FloatArray:
    """P(label | x) of a learner that was fitted on an indicator matrix.

    Some learners return a matrix, others (forests, neighbours) a list of (n, 2) arrays, or (n, 1)
    for a label that was always or never present.

    Parameters
    ----------
    model : fitted classifier
    X : inputs

    Returns
    -------
    array of shape (n, labels)
    """
    answer = model.predict_proba(X)
    if not isinstance(answer, list):
        return np.asarray(answer)
    columns = [
        probability[:, list(classes).index(1)] if 1 in classes else np.zeros(len(probability))
        for probability, classes in zip(answer, model.classes_, strict=True)
    ]
    return np.column_stack(columns)
