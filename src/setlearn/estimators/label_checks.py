"""Whether targets can be learned, and learner, scores and rule work together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.label_space import LabelSpace
from setlearn.rules import Rule
from setlearn.scorers import LabelScorer

__all__ = ["check_combination", "check_examples", "read_targets"]


def read_targets(Y: Any, n_samples: int) -> tuple[LabelSpace, sparse.csr_array]:
    """The labels and the indicator (n, labels), if there is something to learn from them."""
    if Y is None:
        raise DataError("requires y to be passed, but the target y is None; pass label sets")
    space, right = LabelSpace.read(Y)
    if right.shape[0] != n_samples:
        raise DataError(
            f"X has {n_samples} samples but Y has {right.shape[0]} sets; "
            "give one set a sample, an empty one where there is no label"
        )
    if right.nnz == 0:
        raise DataError("every set in Y is empty, so there is no label to learn; check the targets")
    if right.shape[1] == 1 and right.sum() == right.shape[0]:
        raise DataError(
            f"Y holds one class only ({space.classes.tolist()[0]!r} in every sample), so there "
            "is nothing to learn; give samples with different sets"
        )
    return space, right


def check_combination(
    rule: Rule,
    learner: BaseEstimator,
    *,
    of_classes: bool,
    shares_of_one: bool,
    conditional: bool,
) -> None:
    """Raise where the parts cannot work together, before anything costly is done."""
    if rule.requires_examples and (
        shares_of_one or conditional or not hasattr(learner, "examples")
    ):
        raise ParameterError(
            f"{rule!r} needs whole training sets beside the scores. The default learner gives "
            'them, with "marginal" scores and conditional=False; '
            f"{type(learner).__name__} here does not; use ExpectedF() without joint"
        )
    if rule.needs_marginals and shares_of_one and not of_classes:
        raise ParameterError(
            f"{rule!r} needs a probability of each label by itself, and with "
            'scores="softmax" they are shares of 1; use scores="marginal", or another rule '
            "such as Margin()"
        )
    if conditional and shares_of_one:
        what = "a plain 1-d y" if of_classes else 'scores="softmax"'
        raise ParameterError(
            f"conditional=True needs a probability of each label by itself, got {what}; "
            'leave it out, or give sets and scores="marginal"'
        )


def check_examples(rule: Rule, scorer: LabelScorer, X: Any) -> None:
    """Raise if a rule asks for training sets that the fitted learner does not give after all."""
    if not rule.requires_examples:
        return
    if scorer.examples(_safe_indexing(X, np.arange(1))) is None:
        raise ParameterError(
            f"{rule!r} needs whole training sets beside the scores, which the default learner "
            "gives for dense X and two labels or more that vary; use ExpectedF() without joint"
        )
