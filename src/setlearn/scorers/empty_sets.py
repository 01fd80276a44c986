"""How probable it is that the set of an input is empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, logit

from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.savable import savable
from setlearn.sequence_inputs import Inputs

__all__ = ["EmptySets"]

LEAST_OUTCOMES = 10
"""With fewer empty sets, or fewer others, all inputs have the same probability."""

MOST_TOKENS = 200_000
"""Tokens of all inputs together that are enough to learn from; if there are more, samples are
drawn."""

PENALTIES = (np.inf, 30.0, 3.0, 0.3)
"""Of the squared weights. The first one stands for no weights at all: then the input says nothing
about it. Cross-validation chooses."""

N_PARTS = 5
"""Of samples, for the cross-validation."""

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

    share: float  # of empty sets
    n_tokens: int
    feature: IntArray  # (n_features,) in ascending order
    weight: FloatArray  # (n_features,)
    constant: float

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
        share = float(is_empty.mean())
        none: IntArray = np.zeros(0, dtype=np.intp)
        constant = cls(share, n_tokens, none, none.astype(np.float64), 0.0)
        if min(is_empty.sum(), (~is_empty).sum()) < LEAST_OUTCOMES:
            return constant
        # Mixed, so that parts of them are alike.
        rows = rng.permutation(len(inputs))
        rows = rows[: max(int(np.searchsorted(np.cumsum(inputs.length[rows]), MOST_TOKENS)), 100)]
        inputs, signed = inputs.part(rows), np.where(is_empty[rows], 1.0, -1.0)
        sample, key = _features(inputs, n_tokens)
        feature = np.unique(key)
        columns = _columns(sample, key, feature, len(inputs))
        penalty = min(PENALTIES, key=lambda one: _loss_on_others(columns, signed, one))
        if np.isinf(penalty):
            return constant
        *weight, shift = _weights(columns, signed, penalty).tolist()
        return cls(share, n_tokens, feature, np.array(weight), shift)

    def probabilities(self, inputs: Inputs) -> FloatArray:
        """The probability that each set is empty.

        Parameters
        ----------
        inputs : Inputs

        Returns
        -------
        array of shape (n,)
        """
        if len(self.feature) == 0:
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


def _loss_on_others(columns: csr_array, signed: FloatArray, penalty: float) -> float:
    """The log loss on samples that the weights were not learned from."""
    part, loss = np.arange(len(signed)) % N_PARTS, 0.0
    for number in range(N_PARTS):
        own, other = part == number, part != number
        weights = _weights(columns[other], signed[other], penalty)
        margin = signed[own] * (columns[own] @ weights[:-1] + weights[-1])
        loss += float(np.logaddexp(0, -margin).sum())
    return loss


def _weights(columns: csr_array, signed: FloatArray, penalty: float) -> FloatArray:
    """The weights with the least log loss plus penalty; the last one is the constant."""
    share = ((signed > 0).sum() + 0.5) / (len(signed) + 1)
    begin = np.append(np.zeros(columns.shape[1]), logit(share))
    if np.isinf(penalty):
        return begin

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margin = signed * (columns @ weights[:-1] + weights[-1])
        slope = -signed * expit(-margin)
        gradient = np.append(columns.T @ slope + penalty * weights[:-1], slope.sum())
        value = np.logaddexp(0, -margin).sum() + penalty * weights[:-1] @ weights[:-1] / 2
        return float(value), gradient

    found: FloatArray = minimize(
        loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 500}
    ).x
    return found
