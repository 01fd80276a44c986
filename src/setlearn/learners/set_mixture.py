"""The learner that SetClassifier takes where it is given none."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from setlearn.learners.kernel_ridge import KernelLabels
from setlearn.learners.linear_labels import LinearLabels
from setlearn.learners.set_forest import SetForest
from setlearn.nodes import BoolArray, Examples, FloatArray

__all__ = ["SetMixture"]

MOST_KERNEL_ROWS = 5000


class SetMixture(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A smooth model and a forest, mixed half and half on the scale of log-odds.

    The smooth part is kernel ridge regression: on city-block distances for dense inputs, on
    cosines for sparse ones. Beyond 5000 rows, where a kernel would be too large, it is logistic
    regression. The other part are extra trees, for dense inputs only: on texts they are slow and
    add nothing. Inputs are scaled on the way.

    Parameters
    ----------
    n_trees : int, default=200
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array of the classes, or the column numbers of an indicator
    smooth_ : KernelLabels or LinearLabels
    forest_ : SetForest, or None for sparse inputs

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> mixture = SetMixture(random_state=0).fit(X, X > 0.5)
    >>> mixture.predict_proba([[0.9, 0.1]]).round() + 0
    array([[1., 0.]])
    """

    def __init__(
        self,
        n_trees: int = 200,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from an indicator matrix (n, labels), or from one class a row."""
        X, y = validate_data(self, X, y, accept_sparse="csr", multi_output=True, dtype=np.float64)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        Y = self._read_targets(y)
        counted = weight > 0
        if not counted.all():
            X, Y, weight = X[counted], Y[counted], weight[counted]
        small = X.shape[0] <= MOST_KERNEL_ROWS
        self.smooth_: Any = (KernelLabels() if small else LinearLabels()).fit(X, Y, weight)
        rng = check_random_state(self.random_state)
        self.forest_ = (
            None if sparse.issparse(X) else SetForest(self.n_trees, rng).fit(X, Y, weight)
        )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Each label's probability (n, labels); each class's, adding up to 1, for plain y."""
        X = self._checked(X)
        probabilities: FloatArray = np.clip(self.smooth_.predict_proba(X), 1e-6, 1 - 1e-6)
        if self.forest_ is not None:
            forest = self.forest_.predict_proba(X)
            probabilities = expit((logit(probabilities) + logit(forest)) / 2)
        if self.plain_:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: Any) -> Any:
        """Every label that is more probable than not or, for plain y, the best class."""
        probabilities = self.predict_proba(X)
        if self.plain_:
            return self.classes_[probabilities.argmax(axis=1)]
        return (probabilities > 0.5).astype(int)

    def examples(self, X: Any) -> Examples | None:
        """The training sets that are like those of X, weighted; None for sparse X or plain y."""
        X = self._checked(X)
        return None if self.forest_ is None or self.plain_ else self.forest_.examples(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def _read_targets(self, y: Any) -> BoolArray:
        check_classification_targets(y)
        self.plain_ = y.ndim == 1 or y.shape[1] == 1
        if not self.plain_:
            self.classes_ = np.arange(y.shape[1])
            return np.asarray(y, dtype=bool)
        self.classes_, which = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        right: BoolArray = which[:, None] == np.arange(len(self.classes_))
        return right

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "smooth_")
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
