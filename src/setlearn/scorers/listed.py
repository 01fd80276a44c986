"""A scorer for very many labels: each sample has a list of its own, of labels that are probable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from setlearn.errors import DataError
from setlearn.nodes import Mask, Nodes, Step
from setlearn.savable import savable
from setlearn.scorers.label_targets import LabelTargets
from setlearn.scorers.labels import LabelScorer
from setlearn.scorers.shared_steps import share_steps

__all__ = ["ListedScorer", "lists_labels"]

LARGEST_SET = 1000
"""A rule is not fitted on samples with more labels."""


def lists_labels(estimator: BaseEstimator) -> bool:
    """Whether a learner, or the last step of a pipeline, has a method ``predict_listed``."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return hasattr(last, "predict_listed")


@savable()
class ListedScorer(LabelScorer):
    """Each label's own probability, for the labels that the learner lists; others have none.

    The learner has a method ``predict_listed``, which returns a sparse matrix, as `ManyLabels` has.
    Choice points have the labels of their list as choices (`Nodes.choices`), so nothing of the size
    samples times labels is made.
    """

    shares_of_one: ClassVar[bool] = False
    steps_: Pipeline | None = None

    def fit(self, X: Any, targets: LabelTargets, params: Mapping[str, Any]) -> Self:
        """Fit the learner on a sparse indicator."""
        return self._take(clone(self.estimator).fit(X, targets.right, **params))

    def fit_held_out(
        self, X: Any, targets: LabelTargets, params: Mapping[str, Any], *, with_examples: bool
    ) -> Nodes | None:
        """Fit a learner that answers for training rows as if they had been left out."""
        if params and isinstance(self.estimator, Pipeline):  # they may be for any step
            return None
        steps, learner, features = share_steps(self.estimator, X)
        if not hasattr(learner, "fit_held_out"):  # the steps before it need targets
            return None
        self.steps_, self.model_ = steps, clone(learner)
        held_out = self.model_.fit_held_out(features, targets.right, **params)
        return replace(Nodes.listed(held_out.probabilities), sample=held_out.rows)

    def prefit(self) -> Self:
        """Take a learner that was fitted on an indicator matrix with these columns."""
        return self._take(self.estimator)

    def start(
        self, X: Any, known: sparse.csr_array | None = None, *, with_examples: bool = False
    ) -> Step:
        """Score the labels that are listed for each sample, and those that are known.

        Raises
        ------
        DataError
            If the learner answers for another number of labels.
        """
        if self.steps_ is not None:
            X = self.steps_.transform(X)
        listed = sparse.csr_array(self.model_.predict_listed(X))
        if listed.shape[1] != self.n_labels:
            raise DataError(
                f"the estimator answers for {listed.shape[1]} labels but Y has {self.n_labels}; "
                'with cv="prefit" the labels must be those that it was fitted on'
            )
        listed.sort_indices()
        return Step(Nodes.listed(listed, known))

    def with_right(self, nodes: Nodes, right: sparse.csr_array) -> tuple[Nodes, Mask]:
        """The choice points with columns for all right labels, and the mask of these.

        All rows are as wide as the widest. So samples with very large sets are left out.
        """
        if not len(nodes):
            return nodes, right
        few = np.flatnonzero(np.diff(right.indptr) <= LARGEST_SET)
        return nodes[few].with_right(right[few])

    def _take(self, fitted: Any) -> Self:
        """Divide a fitted estimator into the learner and the steps before it."""
        if isinstance(fitted, Pipeline):
            self.steps_, self.model_ = fitted[:-1], fitted[-1]
        else:
            self.model_ = fitted
        return self
