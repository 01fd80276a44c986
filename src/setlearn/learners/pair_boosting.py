"""Gradient boosting for pairs of a query and a candidate: held out by query."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from setlearn.learners.log_loss import log_loss
from setlearn.learners.row_draws import drawn_folds
from setlearn.nodes import FloatArray, IntArray
from setlearn.progress import progress
from setlearn.savable import savable

__all__ = ["PairBoosting"]

BLOCK, LEAST_GAIN = 50, 0.001
"""Trees are added a block at a time, as long as the loss of held-out rows falls by this share."""
FOLDS = 5
SHARE_OF_LEAF, ROWS_OF_LEAF = 0.02, (2, 20)
"""The fewest rows in a leaf, as a share of all and within bounds."""


@savable()
class PairBoosting(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Gradient boosting of which the number of trees is chosen on held-out groups of rows.

    The rows of one group belong to the same query. What is learned about one of them says something
    about the others, so whole groups are held out.

    Parameters
    ----------
    max_iter : int, default=500
        The largest number of trees.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array of the two classes
    model_ : HistGradientBoostingClassifier

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> model = PairBoosting(random_state=0).fit(X, X[:, 0] > X[:, 1])
    >>> model.predict([[0.9, 0.1], [0.1, 0.9]])
    array([ True, False])
    """

    def __init__(
        self, max_iter: int = 500, *, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on rows that are groups of their own.

        Parameters
        ----------
        X : array of shape (n, features)
        y : array of shape (n,)
            Of two classes.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=np.float32, ensure_all_finite="allow-nan")
        self.fit_held_out(X, y, drawn_folds(len(y), FOLDS))
        return self

    def fit_held_out(
        self, X: FloatArray, y: Any, fold: IntArray, weight: FloatArray | None = None
    ) -> FloatArray:
        """Fit, and answer for each row by a model that has not seen its fold.

        Parameters
        ----------
        X : array of shape (n, features)
        y : array of shape (n,)
        fold : array of int of shape (n,)
            From 0 up; the rows of a group are in the same one.
        weight : array of shape (n,), optional
            How much each row counts. Without it the fit is faster.

        Returns
        -------
        array of shape (n,)
            The probability of the second class.
        """
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = X.shape[1]
        is_right = codes == len(self.classes_) - 1
        counts = np.ones((len(y), 1)) if weight is None else weight[:, None]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        folds = [fold == k for k in range(fold.max() + 1)]
        parts = [(held, self._boosting(seed, int((~held).sum()))) for held in folds]
        lowest, held_out, n_trees = np.inf, np.full(len(y), is_right.mean()), 0
        with progress("boosting", self.max_iter // BLOCK + 1) as advance:
            for n in range(BLOCK, self.max_iter + 1, BLOCK):
                answers = np.empty(len(y))
                for held, model in parts:
                    model.set_params(max_iter=n)
                    of_others = None if weight is None else weight[~held]
                    model.fit(_without_constants(X[~held]), is_right[~held], of_others)
                    answers[held] = model.predict_proba(X[held])[:, -1]
                advance()
                loss = log_loss(answers[:, None], is_right[:, None], counts)
                if loss >= (1 - LEAST_GAIN) * lowest:
                    break
                lowest, held_out, n_trees = loss, answers, n
            self.model_ = self._boosting(seed, len(X))
            self.model_.set_params(max_iter=n_trees, warm_start=False)
            self.model_.fit(_without_constants(X), is_right, weight)
        return held_out

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, (n, 2)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan")
        probabilities: FloatArray = self.model_.predict_proba(X)
        return probabilities

    def predict(self, X: Any) -> Any:
        """The more probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags

    def _boosting(self, seed: int, n_rows: int) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            learning_rate=0.1,
            max_leaf_nodes=31,
            min_samples_leaf=int(np.clip(SHARE_OF_LEAF * n_rows, *ROWS_OF_LEAF)),
            l2_regularization=5.0,
            max_features=0.3,
            early_stopping=False,
            warm_start=True,
            random_state=seed,
        )


def _without_constants(X: FloatArray) -> FloatArray:
    """Features that do not vary, or are never known, as zeros: binning takes no others."""
    varies = np.fmin.reduce(X, axis=0) < np.fmax.reduce(X, axis=0)
    return X if varies.all() else np.where(varies, X, np.zeros(1, dtype=X.dtype))
