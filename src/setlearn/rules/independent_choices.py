"""The belief that choices are independent, and the exact expected F of all set sizes under it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.rules.set_distribution import first_of

__all__ = ["IndependentChoices", "quadrature"]


class IndependentChoices:
    """Each choice is right with its own probability, whatever the others are.

    Then of all sets of size k that of the k most probable choices is the best. Its expected F is
    a sum over how many of them, and how many of the others, are right. With
    ``1/a = ∫ t^(a-1) dt`` over (0, 1) and ``u = t^β²`` that sum becomes

        (1 + β²) ∫ t^(k-1)  Π_i (1 - p_i + p_i u)  Σ_{j≤k} p_j u / (1 - p_j + p_j u)  dt

    which Gauss's quadrature takes exactly: all sizes in one pass, and no table of sums.
    """

    def __init__(self, probabilities: FloatArray, known: BoolArray, beta: float) -> None:
        self.beta = beta
        self.n_known: IntArray = known.sum(axis=1)
        self.probabilities = np.where(known, 1.0, probabilities.astype(np.float64))
        self.order = np.argsort(np.where(known, -2, -self.probabilities), axis=1, kind="stable")
        self.descending = np.take_along_axis(self.probabilities, self.order, axis=1)
        self.empty: FloatArray = (1 - self.probabilities).prod(axis=1)
        self.overlap: FloatArray = np.cumsum(self.descending, axis=1)

    def values(self) -> Iterator[FloatArray]:
        """The expected F of the best sets of size 1, 2, ..."""
        return _expected_f_of_firsts(self.descending, self.beta)

    def best_of_size(self, size: IntArray) -> BoolArray:
        """The best sets of the given sizes."""
        return first_of(self.order, size)

    def expected(self, kept: BoolArray) -> FloatArray:
        """The expected F of any sets."""
        size = int(kept[0].sum())
        if size == 0:
            return self.empty
        kept_first = np.argsort(~kept, axis=1, kind="stable")
        values = _expected_f_of_firsts(
            np.take_along_axis(self.probabilities, kept_first, axis=1), self.beta
        )
        return next(islice(values, size - 1, None))


def _expected_f_of_firsts(probabilities: FloatArray, beta: float) -> Iterator[FloatArray]:
    """The expected F (n,) of the first 1, 2, ... of independent choices (n, V)."""
    at = quadrature(probabilities.shape[1], beta)
    columns = np.ascontiguousarray(probabilities.T)[:, :, None]
    product = np.ones((len(probabilities), len(at.u)))
    factor = np.empty_like(product)
    for p in columns:
        np.multiply(p, at.u - 1, out=factor)
        factor += 1
        product *= factor
    inside = np.zeros_like(product)
    for k, p in enumerate(columns, start=1):
        right = p * at.u
        inside += right / (1 - p + right)  # not 1 - p (1 - u), which may vanish where p is 1
        yield (product * inside) @ at.weights(k)


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
        # polynomial of degree d. Gauss's rule with q points takes degree 2q - 1 exactly.
        degree = max(1, n_choices) * self.a * (1 + self.square)
        q = int(np.ceil((np.sqrt(degree * np.log(4 * degree / 1e-16)) + 1) / 2))
        x, w = np.polynomial.legendre.leggauss(q)
        self.v: FloatArray = (x + 1) / 2
        self.u: FloatArray = self.v ** (self.a * self.square)
        self._w: FloatArray = w / 2 * (1 + self.square) * self.a

    def weights(self, k: int) -> FloatArray:
        """What the points weigh in the integral for sets of size k."""
        weights: FloatArray = self._w * self.v ** (self.a * k - 1)
        return weights


@lru_cache(maxsize=16)
def quadrature(n_choices: int, beta: float) -> _Quadrature:
    """Points and weights for that many choices, kept for the next call."""
    return _Quadrature(n_choices, beta)
