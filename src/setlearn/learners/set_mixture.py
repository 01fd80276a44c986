"""The default learner of SetClassifier: a smooth model and a forest."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import Tags, assert_all_finite, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from setlearn.learners.kernel_ridge import KernelLabels
from setlearn.learners.set_forest import SetForest
from setlearn.nodes import BoolArray, Examples, FloatArray
from setlearn.savable import savable

__all__ = ["LinearLabels", "SetMixture"]

READING = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}
"""How inputs are read in ``fit`` and later."""

MOST_KERNEL_ROWS = 5000
"""With more rows than this, kernel ridge regression would take too long."""


def _may_give_examples(mixture: SetMixture) -> bool:
    """Whether there is a forest of several labels; True before ``fit``, when it is not known."""
    return not hasattr(mixture, "forest_") or (mixture.forest_ is not None and not mixture.plain_)


@savable()
class SetMixture(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """The average of a smooth model and a forest, on the scale of log-odds.

    The smooth model is kernel ridge regression: on city-block distances for dense inputs, on
    cosines for sparse ones. For more than 5000 rows, where a kernel would be too large, it is
    logistic regression. The forest consists of extra trees and is used for dense inputs only: on
    texts it is slow and does not help. Inputs need not be scaled. Dense inputs may have gaps (NaN):
    trees learn where they go, and the smooth model reads the median of the feature instead.

    Parameters
    ----------
    n_trees : int, default=200
        The number of trees in the forest.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array
        The classes or, for an indicator matrix, the numbers of its columns.
    smooth_ : KernelLabels or LinearLabels
    forest_ : SetForest or None
        None for sparse inputs.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> mixture = SetMixture(random_state=0).fit(X, X > 0.5)
    >>> mixture.predict_proba([[0.9, 0.1]]).round() + 0
    array([[1., 0.]])
    """

    short_name: ClassVar[str] = "mixture"

    def __init__(
        self,
        n_trees: int = 200,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit both models.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        y : array of shape (n, labels) or (n,)
            An indicator matrix, or one class per row.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, multi_output=True, **READING)
        _refuse_gaps_in_sparse(X)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        Y = self._read_targets(y)
        counted = weight > 0
        if not counted.all():
            X, Y, weight = X[counted], Y[counted], weight[counted]
        small = X.shape[0] <= MOST_KERNEL_ROWS
        self.medians_ = _medians(X)
        smooth: Any = KernelLabels() if small else LinearLabels()
        self.smooth_: Any = smooth.fit(self._without_gaps(X), Y, weight)
        rng = check_random_state(self.random_state)
        self.forest_ = (
            None if sparse.issparse(X) else SetForest(self.n_trees, rng).fit(X, Y, weight)
        )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label (n, labels), or of each class if y was 1-d."""
        X = self._checked(X)
        smooth = self.smooth_.predict_proba(self._without_gaps(X))
        probabilities: FloatArray = np.clip(smooth, 1e-6, 1 - 1e-6)
        if self.forest_ is not None:
            forest = self.forest_.predict_proba(X)
            probabilities = expit((logit(probabilities) + logit(forest)) / 2)
        if self.plain_:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: Any) -> Any:
        """The labels with a probability above 0.5, or the best class if y was 1-d."""
        probabilities = self.predict_proba(X)
        if self.plain_:
            return self.classes_[probabilities.argmax(axis=1)]
        return (probabilities > 0.5).astype(int)

    @available_if(_may_give_examples)  # type: ignore[untyped-decorator]
    def examples(self, X: Any) -> Examples:
        """Weighted training sets of similar rows; not available for sparse X or 1-d y."""
        assert self.forest_ is not None  # otherwise this method is not available
        return self.forest_.examples(self._checked(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _read_targets(self, y: Any) -> BoolArray:
        check_classification_targets(y)
        self.plain_ = y.ndim == 1 or y.shape[1] == 1
        if not self.plain_:
            self.classes_ = np.arange(y.shape[1])
            return np.asarray(y, dtype=bool)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        right: BoolArray = codes[:, None] == np.arange(len(self.classes_))
        return right

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "smooth_")
        X = validate_data(self, X, reset=False, **READING)
        _refuse_gaps_in_sparse(X)
        is_sparse = sparse.issparse(X)
        fitted_on_dense = self.forest_ is not None
        return X.toarray() if is_sparse and fitted_on_dense else X

    def _without_gaps(self, X: Any) -> Any:
        if self.medians_ is None or not np.isnan(X).any():
            return X
        return np.where(np.isnan(X), self.medians_, X)


def _medians(X: Any) -> FloatArray | None:
    """The median of each feature, 0 if it has no value; None for sparse X, which has no gaps."""
    if sparse.issparse(X):
        return None
    ordered = np.sort(X, axis=0)  # nan at the end
    count = (~np.isnan(ordered)).sum(axis=0)
    # The lower of the two middle values, because their mean may overflow.
    middle = ordered[np.maximum(count - 1, 0) // 2, np.arange(X.shape[1])]
    medians: FloatArray = np.nan_to_num(middle)
    return medians


def _refuse_gaps_in_sparse(X: Any) -> None:
    if sparse.issparse(X):
        assert_all_finite(X, input_name="X")


@savable()
class LinearLabels:
    """P(label | x) by one logistic regression per label: for more rows than a kernel can handle.

    Dense inputs are standardised, sparse rows scaled to unit length.
    """

    def fit(self, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        """Fit one model per label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        Y : array of bool of shape (n, labels)
        weight : array of shape (n,)

        Returns
        -------
        self
        """
        is_sparse = sparse.issparse(X)
        self.scaler_ = (Normalizer() if is_sparse else StandardScaler()).fit(X)
        # Rows of unit length have small entries, which need large coefficients.
        model = LogisticRegression(C=10.0 if is_sparse else 1.0, solver="liblinear")
        scaled = self.scaler_.transform(X)
        self.coefficients_ = np.zeros((X.shape[1] + 1, Y.shape[1]))
        for k, right in enumerate(Y.T):
            if right.all() or not right.any():
                self.coefficients_[-1, k] = 10.0 if right.all() else -10.0
                continue
            model.fit(scaled, right, sample_weight=weight / weight.mean())
            self.coefficients_[:-1, k] = model.coef_[0]
            self.coefficients_[-1, k] = model.intercept_[0]
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label, (n, labels)."""
        decisions = self.scaler_.transform(X) @ self.coefficients_[:-1] + self.coefficients_[-1]
        probabilities: FloatArray = 1 / (1 + np.exp(-np.clip(decisions, -50, 50)))
        return probabilities
