"""Learners of scikit-learn that work well without settings, by the names of the functions."""

from __future__ import annotations

from typing import Any

__all__ = ["forest", "logistic", "neighbours"]


def forest() -> Any:
    """A random forest of 200 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200)


def logistic() -> Any:
    """Logistic regression on scaled features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    # This scaler leaves zeros unchanged, so sparse texts stay sparse.
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))


def neighbours() -> Any:
    """The ten nearest neighbours."""
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(10)
