"""Metrics of sets as scorers for scikit-learn's cross-validation and searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setlearn.metrics.sequences import matched_edit_distance, mean_edit_distance
from setlearn.metrics.sets import hamming_distance, mean_f1

__all__ = ["set_scorer"]

DISTANCES = (hamming_distance, matched_edit_distance, mean_edit_distance)


def set_scorer(
    metric: Callable[..., float] = mean_f1,
    *,
    greater_is_better: bool | None = None,
    **options: Any,
) -> Any:
    """Make a scorer of a metric, to pass as ``scoring`` to scikit-learn.

    scikit-learn's own names, such as "f1_samples", work for indicator matrices alone.

    Parameters
    ----------
    metric : callable, default=mean_f1
        A metric of true and predicted sets.
    greater_is_better : bool, optional
        By default False for the distances of `setlearn.metrics`, and True for everything else.
        If it is False, scores have the opposite sign, so that the best one is the highest.
    **options : dict
        Further arguments of the metric.

    Returns
    -------
    callable
        Called with an estimator, inputs and true sets.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from setlearn import SetClassifier
    >>> from setlearn.metrics import exact_match, set_scorer
    >>> from setlearn.rules import Threshold
    >>> X = [[k % 2, k // 2 % 2] for k in range(24)]
    >>> Y = [{name for name, value in zip("ab", x) if value} for x in X]
    >>> model = SetClassifier(LogisticRegression(), Threshold(0.5))
    >>> cross_val_score(model, X, Y, scoring=set_scorer(exact_match), cv=3).tolist()
    [1.0, 1.0, 1.0]
    """
    from sklearn.metrics import make_scorer  # slow to import

    if greater_is_better is None:
        greater_is_better = metric not in DISTANCES
    return make_scorer(metric, greater_is_better=greater_is_better, **options)
