"""Steps of a pipeline that are fitted once for all labels, because they do not look at them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

__all__ = ["share_steps"]

PACKAGES = ("sklearn", "setlearn")
"""Transformers of others may use targets where they get some, and do without where they do not."""


def share_steps(estimator: BaseEstimator, X: Any) -> tuple[Pipeline | None, BaseEstimator, Any]:
    """Fit the steps of a pipeline before its last one, if they need no targets.

    Parameters
    ----------
    estimator : BaseEstimator
    X : inputs

    Returns
    -------
    steps : Pipeline or None
        The fitted steps. None if the estimator is no pipeline, or if they need targets.
    last : BaseEstimator
        The last step, not fitted; the estimator itself if there are no steps to share.
    X : inputs of the last step

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["red dog", "blue cat", "red cat"]
    >>> pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    >>> steps, last, features = share_steps(pipeline, texts)
    >>> last, features.shape
    (LogisticRegression(), (3, 4))
    >>> steps, last, features = share_steps(make_pipeline(SelectKBest(), pipeline), texts)
    >>> steps is None, features is texts
    (True, True)
    """
    if not isinstance(estimator, Pipeline) or len(estimator.steps) < 2:
        return None, estimator, X
    steps = clone(estimator[:-1])
    if not all(map(_is_known, steps.get_params(deep=True).values())):
        return None, estimator, X
    try:
        return steps, estimator[-1], steps.fit_transform(X)
    except Exception:  # a step needs targets, or whatever is wrong comes up again with them
        return None, estimator, X


def _is_known(part: Any) -> bool:
    return not hasattr(part, "fit") or type(part).__module__.split(".")[0] in PACKAGES
