"""What our learners of labels have in common: they answer for rows that are left out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["READING", "LabelLearner", "refuse_gaps_in_sparse"]

READING = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}
"""How inputs are read in ``fit`` and later."""


class LabelLearner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A learner whose fit also tells what it answers for training rows that it has not seen."""

    scores_rows_alone: ClassVar[bool] = True
    """The score of a row does not depend, to the last bit, on which rows are scored with it."""
    single_precision: ClassVar[bool] = True
    """Numbers must not be too large for single precision, in which rows are kept or read."""

    plain_: bool
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit all models, and what joins their answers.

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
        self.fit_held_out(X, y, sample_weight)
        return self

    @abstractmethod
    def fit_held_out(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit, and answer for training rows as if they had been left out.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        HeldOut or ListedHeldOut
        """

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label (n, labels), or of each class if y was 1-d."""

    def predict(self, X: Any) -> Any:
        """The labels with a probability above 0.5, or the best class if y was 1-d."""
        probabilities = self.predict_proba(X)
        if self.plain_:
            return self.classes_[probabilities.argmax(axis=1)]
        return (probabilities > 0.5).astype(int)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _read_targets(self, y: Any) -> BoolArray:
        """Targets as an indicator; whether they are plain classes is kept."""
        check_classification_targets(y)
        self.plain_ = y.ndim == 1 or y.shape[1] == 1
        if not self.plain_:
            self.classes_ = np.arange(y.shape[1])
            return np.asarray(y, dtype=bool)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        right: BoolArray = codes[:, None] == np.arange(len(self.classes_))
        return right


def refuse_gaps_in_sparse(X: Any) -> None:
    """Raise if a sparse X has entries that are no numbers.

    Parameters
    ----------
    X : array or sparse matrix

    Raises
    ------
    ValueError
    """
    if sparse.issparse(X):
        assert_all_finite(X, input_name="X")
