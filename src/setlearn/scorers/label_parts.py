"""Labels that share a model: which samples it is fitted on, and its targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from setlearn.nodes import FloatArray, IntArray
from setlearn.scorers.classifiers import fit_learner, params_of_rows

__all__ = ["LabelPart"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelPart:
    """Labels that one model is fitted on, and the samples for which they are known."""

    labels: IntArray  # places among the varying labels
    samples: IntArray
    columns: sparse.csc_array  # (all samples, varying labels)
    unknown: sparse.csr_array | None = None  # (samples, labels), where the learner takes NaN

    @property
    def size(self) -> int:
        """Labels times samples."""
        return len(self.labels) * len(self.samples)

    def problem(self, X: Any) -> tuple[Any, Any]:
        """Inputs and targets: an indicator, or for a single label the classes 0 and 1.

        Unknown entries of an indicator are NaN.
        """
        columns = self.columns[:, self.labels]
        if len(self.samples) < columns.shape[0]:
            X, columns = _safe_indexing(X, self.samples), columns[self.samples]
        # int64: narrower integers overflow in scikit-learn's label indices past 255 labels.
        y = columns.toarray().astype(np.int64)
        if self.unknown is not None:
            return X, np.where(self.unknown.toarray(), np.nan, y)
        return X, y if len(self.labels) > 1 else y.ravel()

    def fitted(self, learner: BaseEstimator, X: Any, params: Mapping[str, Any]) -> BaseEstimator:
        """A copy of the learner that is fitted on these labels.

        Parameters
        ----------
        learner : BaseEstimator
        X : inputs of all samples
        params : mapping
            Passed to ``fit``.

        Returns
        -------
        BaseEstimator
        """
        rows, y = self.problem(X)
        if y.ndim == 1:
            return fit_learner(learner, rows, y, self.params(params))
        return clone(learner).fit(rows, y, **self.params(params))

    def params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Fit parameters of the samples."""
        n_samples = self.columns.shape[0]
        if len(self.samples) == n_samples:
            return dict(params)
        return params_of_rows(params, self.samples, n_samples)

    def own_scores(self, probabilities: FloatArray) -> FloatArray:
        """The scores of the labels, where a model of a single label also answers for "not"."""
        return probabilities if len(self.labels) > 1 else probabilities[:, 1:]
