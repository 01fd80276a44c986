"""A learner of a user's own, which setlearn cannot know."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class OwnLearner(ClassifierMixin, BaseEstimator):
    """Answers with frequencies."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.share_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.share_, (len(X), 1))


def doubled(X):
    """A function of a user's own."""
    return 2 * np.asarray(X)
