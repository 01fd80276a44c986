"""Distributions over true sets, and the expected F of an answer under them.

`ExpectedF` asks a `SetDistribution` for the best set of each size. There are two: choices that
are independent of each other, and training sets with weights. `MostProbable` uses the weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Protocol

import numpy as np
from scipy import sparse

from setlearn.errors import DataError
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, Nodes, log_odds, members

__all__ = [
    "IndependentChoices",
    "SetDistribution",
    "WeightedSets",
    "blocks",
    "blocks_of_sizes",
    "blocks_with_examples",
    "posterior",
    "quadrature",
]

BLOCK_ENTRIES = 131_072
"""Numbers in a temporary array: small enough for the processor's cache."""

FIRST_SIZES = 8
"""The first sizes of answers that are computed together."""

FEW_ROWS = 4
"""So few choice points are computed with all their choices at once."""


class SetDistribution(Protocol):
    """How probable each possible true set is, for a block of n choice points."""

    n_known: IntArray  # (n,)
    empty: FloatArray  # (n,) the probability that the true set is empty
    overlap: FloatArray  # (n, V) the expected number of right choices among the best 1, 2, ...
    beta: float

    def values(self) -> Iterator[FloatArray]:
        """The expected F of the best sets of sizes 1, 2, ..., in blocks (n, sizes)."""
        ...

    def best_of_size(self, size: IntArray) -> BoolArray:
        """The best sets of the given sizes (n,), as a mask (n, V)."""
        ...

    def expected(self, kept: BoolArray) -> FloatArray:
        """The expected F (n,) of any sets, as a mask (n, V); all rows have the same size."""
        ...


class IndependentChoices:
    """Each choice is right with its own probability, whatever the others are.

    Then the best of all sets of size k consists of the k most probable choices. Its expected F is
    a sum over how many of them, and how many of the others, are right. With
    ``1/a = ∫ t^(a-1) dt`` over (0, 1) and ``u = t^β²`` that sum becomes

        (1 + β²) ∫ t^(k-1)  Π_i (1 - p_i + p_i u)  Σ_{j≤k} p_j u / (1 - p_j + p_j u)  dt

    which Gauss quadrature computes exactly: all sizes in one pass, without a table of sums.

    Parameters
    ----------
    nodes : Nodes
        Their membership is the probability of each choice. Padding comes last in every order.
    beta : float
    """

    def __init__(self, nodes: Nodes, beta: float) -> None:
        known = nodes.known_mask()
        self.beta = beta
        self.n_known: IntArray = known.sum(axis=1)
        self.probabilities = np.where(known, 1.0, nodes.membership.astype(np.float64))
        rank = np.where(known, -2, nodes.masked(-self.probabilities, np.inf))
        self.order = np.argsort(rank, axis=1, kind="stable")
        self.descending = np.take_along_axis(self.probabilities, self.order, axis=1)
        self.empty: FloatArray = (1 - self.probabilities).prod(axis=1)
        self.overlap: FloatArray = np.cumsum(self.descending, axis=1)

    def values(self) -> Iterator[FloatArray]:
        """The expected F of the best sets of sizes 1, 2, ..., in blocks (n, sizes)."""
        return _expected_f_of_firsts(self.descending, self.beta)

    def best_of_size(self, size: IntArray) -> BoolArray:
        """The best sets of the given sizes."""
        return _first(self.order, size)

    def expected(self, kept: BoolArray) -> FloatArray:
        """The expected F of any sets."""
        size = int(kept[0].sum())
        if size == 0:
            return self.empty
        kept_first = np.argsort(~kept, axis=1, kind="stable")
        blocks_of_values = _expected_f_of_firsts(
            np.take_along_axis(self.probabilities, kept_first, axis=1), self.beta
        )
        values = (value for block in blocks_of_values for value in block.T)
        return next(islice(values, size - 1, None))


class WeightedSets:
    """The true set is one of the training sets, each with a weight: any joint distribution.

    A choice in a set of size k adds ``Σ_Y w_Y [choice ∈ Y] (1 + β²) / (β²|Y| + k)`` to the
    expected F, whatever else is in the set. So the best set of size k consists of the k choices
    that add most. For that it is enough to know the weight that the training sets of each size
    give to each choice.

    Parameters
    ----------
    weights : sparse array of shape (n, m)
        They add up to 1 in each row.
    nodes : Nodes
        Their examples are the m training sets.
    beta : float
    """

    def __init__(self, weights: sparse.csr_array, nodes: Nodes, beta: float) -> None:
        assert nodes.examples is not None
        sets = nodes.examples.sets
        self.beta = beta
        self.nodes = nodes
        self.known = nodes.known_mask()
        self.n_known: IntArray = self.known.sum(axis=1)
        size = np.diff(sets.indptr)
        self.empty: FloatArray = weights @ (size == 0).astype(np.float64)
        self.sizes: IntArray = np.unique(size[size > 0])
        # (n, V, S): the weight of the training sets of each size that hold each choice.
        shape = (*self.known.shape, len(self.sizes))
        row = np.repeat(np.arange(len(nodes)), np.diff(weights.indptr))
        owner, choice = members(sets, weights.indices)
        at_size = np.searchsorted(self.sizes, size[weights.indices])
        place = np.ravel_multi_index((row[owner], choice, at_size[owner]), shape)
        self.by_size: FloatArray = np.bincount(
            place, weights.data[owner], minlength=math.prod(shape)
        ).reshape(shape)
        descending = -np.sort(-self.by_size.sum(axis=2), axis=1)
        self.overlap: FloatArray = np.cumsum(descending, axis=1)

    def values(self) -> Iterator[FloatArray]:
        """The expected F of the best sets of sizes 1, 2, ..., in blocks (n, sizes)."""
        for sizes in blocks_of_sizes(self.known.shape[1], self.known.size):
            gains = self.by_size @ self._shares(sizes).T  # (n, V, sizes)
            of_firsts = np.cumsum(-np.sort(-gains, axis=1), axis=1)
            yield of_firsts[:, sizes - 1, np.arange(len(sizes))]

    def best_of_size(self, size: IntArray) -> BoolArray:
        """The best sets of the given sizes."""
        gains = np.where(self.known, np.inf, self.nodes.masked(self._gains(size)))
        return _first(np.argsort(-gains, axis=1, kind="stable"), size)

    def expected(self, kept: BoolArray) -> FloatArray:
        """The expected F of any sets."""
        size = kept.sum(axis=1)
        value = np.where(kept, self._gains(size), 0).sum(axis=1)
        return np.where(size == 0, self.empty, value)

    def _gains(self, size: IntArray) -> FloatArray:
        """What each choice adds to the expected F of a set of the given size, (n, V)."""
        gains: FloatArray = np.einsum("nvs,ns->nv", self.by_size, self._shares(size))
        return gains

    def _shares(self, size: IntArray) -> FloatArray:
        """What a shared choice adds to F, for answers of these sizes and training sets, (n, S)."""
        square = self.beta**2
        shares: FloatArray = (1 + square) / (square * self.sizes + size[:, None])
        return shares


def posterior(nodes: Nodes, dependence: float = 1.0) -> sparse.csr_array:
    """The weights of the nodes' examples times their likelihoods, (n, m).

    They add up to 1 in each row, or are all 0 if no example is possible. An example is impossible
    if it lacks a known choice or holds one that is not available.

    Parameters
    ----------
    nodes : Nodes
    dependence : float, default=1.0
        The power to which the weights are raised: with 0 only the likelihoods count.

    Returns
    -------
    sparse array of shape (n, m)
    """
    assert nodes.examples is not None
    weights, known = nodes.examples.weights, nodes.known_mask()
    row = np.repeat(np.arange(len(nodes)), np.diff(weights.indptr))
    owner, choice = members(nodes.examples.sets, weights.indices)
    # The likelihood of the empty set is a factor of all others, so it cancels out.
    logits = log_odds(nodes.membership)[row[owner], choice]
    score = np.bincount(owner, logits, minlength=len(row))
    n_known = np.bincount(owner, known[row[owner], choice], minlength=len(row))
    possible = (n_known == known.sum(axis=1)[row]) & (weights.data > 0)
    if nodes.available is not None:
        possible[owner[~nodes.available[row[owner], choice]]] = False
    score = np.where(possible, score, -np.inf)
    top = np.full(len(nodes), np.finfo(np.float64).min)  # finite: a row may have none possible
    np.maximum.at(top, row, score)
    product = weights.data.astype(np.float64) ** dependence * np.exp(score - top[row])
    total = np.bincount(row, product, minlength=len(nodes))[row]
    share = np.divide(product, total, out=np.zeros(len(row)), where=total > 0)
    return sparse.csr_array((share, weights.indices, weights.indptr), shape=weights.shape)


def blocks_with_examples(nodes: Nodes) -> Iterator[IntArray]:
    """Blocks of rows that are small enough for a joint distribution.

    Parameters
    ----------
    nodes : Nodes

    Returns
    -------
    iterator of int arrays

    Raises
    ------
    DataError
        If the nodes have no examples.
    """
    if nodes.examples is None:
        raise DataError(
            "joint=True needs training sets with weights (Nodes.examples), and the scorer gave "
            "marginals only, which do not say which choices occur together; leave joint out, or "
            "use a scorer that gives examples"
        )
    return blocks(np.arange(len(nodes)), _entries(nodes.examples))


def blocks(rows: IntArray, entries: int) -> Iterator[IntArray]:
    """Split rows into blocks that are small enough.

    Parameters
    ----------
    rows : int array
    entries : int
        How many numbers each row needs.

    Returns
    -------
    iterator of int arrays
    """
    size = max(1, BLOCK_ENTRIES // max(1, entries))
    return (rows[start : start + size] for start in range(0, len(rows), size))


def blocks_of_sizes(n_choices: int, entries: int) -> Iterator[IntArray]:
    """The sizes 1, 2, ... in blocks that double, because the best size is often small.

    Parameters
    ----------
    n_choices : int
        The largest size.
    entries : int
        How many numbers each size needs.

    Returns
    -------
    iterator of int arrays
    """
    most, start, n_sizes = max(1, BLOCK_ENTRIES // max(1, entries)), 1, FIRST_SIZES
    while start <= n_choices:
        stop = min(start + min(n_sizes, most), n_choices + 1)
        yield np.arange(start, stop)
        start, n_sizes = stop, 2 * n_sizes


def _entries(examples: Examples) -> int:
    """The average number of values per row that a joint distribution needs."""
    (n, m), n_choices = examples.weights.shape, examples.sets.shape[1]
    n_sizes = len(np.unique(np.diff(examples.sets.indptr)))
    in_examples = examples.weights.nnz / max(1, n) * examples.sets.nnz / max(1, m)
    return max(n_choices * n_sizes, int(in_examples))


def _first(order: IntArray, size: IntArray) -> BoolArray:
    """The first ``size`` of each row's order, as a mask (n, V)."""
    first = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(first, order, np.arange(order.shape[1]) < size[:, None], axis=1)
    return first


def _expected_f_of_firsts(probabilities: FloatArray, beta: float) -> Iterator[FloatArray]:
    """The expected F of the first 1, 2, ... of independent choices (n, V), in blocks (n, sizes)."""
    at = quadrature(probabilities.shape[1], beta)
    columns = np.ascontiguousarray(probabilities.T)[:, :, None]
    product = _product(columns, at.u)
    inside = np.zeros_like(product)
    for sizes in blocks_of_sizes(len(columns), product.size):
        p = columns[sizes - 1]
        right = p * at.u  # (sizes, n, points)
        terms = right / (1 - p + right)  # not 1 - p (1 - u), which may vanish where p is 1
        terms[0] += inside
        sums = np.cumsum(terms, axis=0)
        inside = sums[-1]
        yield ((product * sums) @ at.weights(sizes)[:, :, None])[:, :, 0].T


def _product(columns: FloatArray, u: FloatArray) -> FloatArray:
    """The product of 1 - p + p u over all choices (V, n, 1), at each point u, (n, points).

    Factors are multiplied in the same order for any number of rows, so that the result for a row
    does not depend on the others. For a few rows one call is fastest, for many one per choice is.
    """
    if columns.shape[1] <= FEW_ROWS:
        product: FloatArray = np.multiply.reduce(columns * (u - 1) + 1, axis=0)
        return product
    product = np.ones((columns.shape[1], len(u)))
    factor = np.empty_like(product)
    for p in columns:
        np.multiply(p, u - 1, out=factor)
        factor += 1
        product *= factor
    return product


class _Quadrature:
    """Points v in (0, 1) where t = v^a, and their weights for the integral over t.

    ``a`` is chosen so that the integrand is a polynomial in v or, where β² is not a simple
    fraction, so smooth at 0 that it is as good as one.
    """

    def __init__(self, n_choices: int, beta: float) -> None:
        self.square = beta**2
        simple = (a for a in range(1, 9) if (a * self.square).is_integer())
        self.a = min(next(simple, np.inf), 20 / (1 + self.square))
        # All coefficients are positive, and v^n = cos(θ/2)^2n lies within 2 exp(-d²/n) of a
        # polynomial of degree d. Gauss quadrature with q points is exact up to degree 2q - 1.
        degree = max(1, n_choices) * self.a * (1 + self.square)
        q = int(np.ceil((np.sqrt(degree * np.log(4 * degree / 1e-16)) + 1) / 2))
        x, w = np.polynomial.legendre.leggauss(q)
        self.v: FloatArray = (x + 1) / 2
        self.u: FloatArray = self.v ** (self.a * self.square)
        self._w: FloatArray = w / 2 * (1 + self.square) * self.a
        self._step: FloatArray = self.v**self.a  # from one size to the next

    def weights(self, sizes: IntArray) -> FloatArray:
        """The weights of the points in the integrals for consecutive sizes, (sizes, points)."""
        factors = np.tile(self._step, (len(sizes), 1))
        factors[0] = self._w * self.v ** (self.a * sizes[0] - 1)
        return np.multiply.accumulate(factors)


@lru_cache(maxsize=16)
def quadrature(n_choices: int, beta: float) -> _Quadrature:
    """Points and weights for that many choices, kept for the next call.

    Parameters
    ----------
    n_choices : int
    beta : float

    Returns
    -------
    object
        With the points ``u``, and ``weights(sizes)`` for sets of these sizes.
    """
    return _Quadrature(n_choices, beta)
