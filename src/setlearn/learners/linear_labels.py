"""Logistic regression, one a label: for more rows than a kernel can take."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import Normalizer, StandardScaler

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["LinearLabels"]


class LinearLabels:
    """P(label | x) by logistic regression, on standardised dense or normalised sparse rows."""

    def fit(self, X: Any, Y: BoolArray, weight: FloatArray) -> Self:
        """Fit one model a label."""
        thin = sparse.issparse(X)
        self.scaler_ = (Normalizer() if thin else StandardScaler()).fit(X)
        # Rows of length 1 have small entries, which need large coefficients.
        model = LogisticRegression(C=10.0 if thin else 1.0, solver="liblinear")
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
        """Each label's probability, (n, labels)."""
        decisions = self.scaler_.transform(X) @ self.coefficients_[:-1] + self.coefficients_[-1]
        probabilities: FloatArray = 1 / (1 + np.exp(-np.clip(decisions, -50, 50)))
        return probabilities
