"""Choice points, the one value that scorers hand to rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import DataError

__all__ = [
    "BoolArray",
    "Examples",
    "FloatArray",
    "IntArray",
    "Mask",
    "Nodes",
    "Step",
    "dense_mask",
]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Mask: TypeAlias = BoolArray | sparse.csr_array
"""Which choices are right, (n, V): dense, or sparse where the vocabulary is large."""

CHUNK_ENTRIES = 4_000_000
"""Scores looked at together by code that needs copies of them: about 32 MB a temporary array."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Whole sets that were seen in training, weighted for each choice point: a joint distribution.

    Marginals say how probable each choice is by itself; examples also say which ones go together.
    """

    sets: sparse.csr_array  # (m, V) bool
    weights: sparse.csr_array  # (n, m), not negative; a row without any says nothing

    def __getitem__(self, rows: slice | IntArray | BoolArray) -> Examples:
        return Examples(self.sets, self.weights[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """A batch of choice points: for each, a probability of every possible next choice.

    Labels have one choice point a sample, the root, at depth 0. Sequences have one a prefix.

    Parameters
    ----------
    sample : array of shape (n,)
        Which input each choice point belongs to.
    depth : array of shape (n,)
        How many choices lie above it; 0 for labels.
    probabilities : array of shape (n, V)
        The scorer's probability of each choice.
    known : mask of shape (n, V), optional
        Choices that are in the memory Z from the start: "given these, what else?".
    prefix_probability : array of shape (n,), optional
        The probability of the prefix that leads to each choice point, where ``probabilities`` do
        not hold it already. Roots need none.
    examples : Examples, optional
        Training sets with weights, from scorers that know which ones are alike.

    Examples
    --------
    >>> import numpy as np
    >>> nodes = Nodes.roots(np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]))
    >>> len(nodes), nodes.n_choices
    (2, 3)
    """

    sample: IntArray
    depth: IntArray
    probabilities: FloatArray
    known: BoolArray | None = None
    prefix_probability: FloatArray | None = None
    examples: Examples | None = None

    def __post_init__(self) -> None:
        if self.probabilities.ndim != 2:
            raise DataError(
                f"probabilities must be a matrix (choice points, choices), got "
                f"{self.probabilities.ndim} dimension(s); reshape a single row with p[None, :]"
            )
        n = len(self.probabilities)
        if self.sample.shape != (n,) or self.depth.shape != (n,):
            raise DataError(
                f"{n} rows of probabilities need {n} samples and depths, "
                f"got {self.sample.shape} and {self.depth.shape}"
            )
        if self.known is not None and self.known.shape != self.probabilities.shape:
            raise DataError(
                f"known has shape {self.known.shape} but the probabilities have "
                f"{self.probabilities.shape}; give one entry a choice"
            )

    @classmethod
    def roots(cls, probabilities: FloatArray, known: BoolArray | None = None) -> Self:
        """One choice point a sample, at depth 0: the label case."""
        n = len(probabilities)
        return cls(np.arange(n), np.zeros(n, dtype=np.intp), probabilities, known)

    @property
    def n_choices(self) -> int:
        """How many choices each point has."""
        return int(self.probabilities.shape[1])

    @property
    def membership(self) -> FloatArray:
        """The probability of each choice with all choices before it, (n, V): falls downwards."""
        if self.prefix_probability is None:
            return self.probabilities
        product: FloatArray = self.prefix_probability[:, None] * self.probabilities
        return product

    def __len__(self) -> int:
        return len(self.probabilities)

    def __getitem__(self, rows: slice | IntArray | BoolArray) -> Nodes:
        return Nodes(
            self.sample[rows],
            self.depth[rows],
            self.probabilities[rows],
            None if self.known is None else self.known[rows],
            None if self.prefix_probability is None else self.prefix_probability[rows],
            None if self.examples is None else self.examples[rows],
        )

    def row_chunks(self) -> Iterator[slice]:
        """Slices of rows small enough that a few copies of their scores do no harm."""
        size = max(1, CHUNK_ENTRIES // max(1, self.n_choices))
        for start in range(0, len(self), size):
            yield slice(start, min(start + size, len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What a scorer answers: scored choice points, and the states to go on from."""

    nodes: Nodes
    state: Any = None


def dense_mask(positive: Mask, rows: slice) -> BoolArray:
    """The given rows of a mask, dense, whether it is sparse as a whole or not."""
    part = positive[rows]
    if sparse.issparse(part):
        part = part.toarray()
    return np.asarray(part, dtype=bool)
