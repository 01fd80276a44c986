"""How probable it is that the set of an input is empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, xlogy
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.savable import savable
from setlearn.sequence_inputs import Inputs

__all__ = ["EmptySets"]

LEAST_OUTCOMES = 10
"""With fewer empty sets, or fewer others, all inputs have the same probability."""

MOST_TOKENS = 200_000
"""Tokens of all inputs together that are enough to learn from; if there are more, samples are
drawn."""

STRENGTHS = (0.03, 0.3, 3.0)
"""Values of ``C`` of the regression. Cross-validation chooses one, or none: then the input says
nothing about it."""

N_FOLDS = 5

DECIMALS = 10


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class EmptySets:
    """A logistic regression on which tokens and pairs of neighbours an input has.

    The edges of an input are neighbours too, so that its first and its last token count by
    themselves.

    Examples
    --------
    >>> inputs = Inputs(np.full(40, 2), np.array([1, 2, 2, 1, 1, 3, 3, 2] * 10))
    >>> starts_with_3 = inputs.values[::2] == 3
    >>> empty = EmptySets.fit(inputs, starts_with_3, 4, np.random.RandomState(0))
    >>> (empty.probabilities(inputs) > 0.5).tolist() == starts_with_3.tolist()
    True
    """

    share: float  # of empty sets: the probability for all inputs if there are no features
    n_tokens: int = 0
    feature: IntArray | None = None  # (n_features,) in ascending order
    weight: FloatArray | None = None  # (n_features,)
    constant: float = 0.0

    @classmethod
    def fit(
        cls, inputs: Inputs, is_empty: BoolArray, n_tokens: int, rng: np.random.RandomState
    ) -> Self:
        """Learn from training inputs.

        Parameters
        ----------
        inputs : Inputs
        is_empty : bool array of shape (n,)
            Whose sets are empty.
        n_tokens : int
            How many ids tokens may have.
        rng : RandomState
            Draws samples if there are many.

        Returns
        -------
        EmptySets
        """
        constant = cls(float(is_empty.mean()))
        # Mixed, so that folds are alike.
        rows = rng.permutation(len(inputs))
        rows = rows[: max(int(np.searchsorted(np.cumsum(inputs.length[rows]), MOST_TOKENS)), 100)]
        inputs, is_empty = inputs.part(rows), is_empty[rows]
        if min(is_empty.sum(), (~is_empty).sum()) < LEAST_OUTCOMES:
            return constant
        sample, key = _features(inputs, n_tokens)
        feature = np.unique(key)
        columns = _columns(sample, key, feature, len(inputs))
        learners = [LogisticRegression(C=strength, max_iter=1000) for strength in STRENGTHS]
        scores = [
            cross_val_score(learner, columns, is_empty, cv=N_FOLDS, scoring="neg_log_loss").mean()
            for learner in learners
        ]
        share = is_empty.mean()
        if max(scores) <= xlogy(share, share) + xlogy(1 - share, 1 - share):
            return constant
        best = learners[int(np.argmax(scores))].fit(columns, is_empty)
        return cls(constant.share, n_tokens, feature, best.coef_[0], float(best.intercept_[0]))

    def probabilities(self, inputs: Inputs) -> FloatArray:
        """The probability that each set is empty.

        Parameters
        ----------
        inputs : Inputs

        Returns
        -------
        array of shape (n,)
        """
        if self.feature is None or self.weight is None:
            return np.full(len(inputs), self.share)
        columns = _columns(*_features(inputs, self.n_tokens), self.feature, len(inputs))
        return np.round(expit(columns @ self.weight + self.constant), DECIMALS)


def _features(inputs: Inputs, n_tokens: int) -> tuple[IntArray, IntArray]:
    """The sample and the number of each token and of each pair of neighbours.

    Tokens come first, then pairs; the edge of an input is the token ``n_tokens``.
    """
    width = n_tokens + 1
    sample = np.repeat(np.arange(len(inputs)), inputs.length)
    token = inputs.values.astype(np.intp)
    start = np.cumsum(inputs.length) - inputs.length
    last = start + inputs.length - 1
    before = np.roll(token, 1)
    before[start] = n_tokens
    keys = (token, width + before * width + token, width + token[last] * width + n_tokens)
    return np.concatenate([sample, sample, sample[last]]), np.concatenate(keys)


def _columns(sample: IntArray, key: IntArray, feature: IntArray, n: int) -> csr_array:
    """Which features each sample has, (n, n_features)."""
    column = np.searchsorted(feature, key).clip(max=len(feature) - 1)
    known = feature[column] == key
    pair = np.unique(sample[known] * len(feature) + column[known])
    row, column = np.divmod(pair, len(feature))
    return csr_array((np.ones(len(row)), (row, column)), shape=(n, len(feature)))
