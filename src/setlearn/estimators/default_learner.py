"""Which learner `SetClassifier` uses by default: by its scores, the inputs and the labels."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from setlearn.learners import SetMixture
from setlearn.rules import Rule
from setlearn.scorers.label_targets import LabelTargets

__all__ = ["are_many_labels", "default_learner", "with_dense_features"]

MANY_LABELS, MANY_ENTRIES = 200, 20_000_000
"""For more labels than this, and more samples times labels, the default is `ManyLabels`."""

ENTRIES_OF_WORDS, SAMPLES_PER_LABEL = 2_000_000, 100
"""For sparse inputs fewer samples times labels are enough, if labels have fewer samples than this
on average. Dense inputs and frequent labels suit the mixture better."""


def default_learner(scores: str) -> BaseEstimator:
    """The default learner for an ordinary number of labels.

    Parameters
    ----------
    scores : {"marginal", "softmax"}

    Returns
    -------
    BaseEstimator
    """
    if scores == "marginal":
        return SetMixture()
    # There a sample has a row for each of its labels. Leaving out one of them, as the mixture does
    # to calibrate itself, would not leave out the sample.
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1000))


def are_many_labels(X: Any, targets: LabelTargets, rule: Rule) -> bool:
    """Whether a learner that scores probable labels alone suits the data, and the rule takes it.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, features)
    targets : LabelTargets
    rule : Rule

    Returns
    -------
    bool
    """
    if targets.unknown is not None or not rule.takes_padding or rule.requires_examples:
        return False
    n_labels, n_entries = targets.n_labels, targets.n_labels * len(targets)
    are_rare = targets.right.nnz < SAMPLES_PER_LABEL * n_labels
    most = ENTRIES_OF_WORDS if sparse.issparse(X) and are_rare else MANY_ENTRIES
    return bool(n_labels > MANY_LABELS and n_entries > most)


def with_dense_features(learner: BaseEstimator, features: list[int] | None) -> BaseEstimator:
    """The learner with the features that are no words, if it asks for them.

    Parameters
    ----------
    learner : BaseEstimator
    features : list of int or None
        None if that is not known.

    Returns
    -------
    BaseEstimator
    """
    asks = learner.get_params(deep=False).get("dense_features", ()) is None
    if not asks or features is None:
        return learner
    return clone(learner).set_params(dense_features=features)
