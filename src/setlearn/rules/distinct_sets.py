"""Training sets without repeats: equal ones count together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from scipy import sparse

from setlearn.nodes import Examples, IntArray, Mask, Nodes

__all__ = ["DistinctSets", "with_distinct_sets"]


@dataclass(frozen=True, slots=True, eq=False)
class DistinctSets:
    """The distinct sets among some, in order of first occurrence."""

    sets: sparse.csr_array  # (d, V)
    which: sparse.csr_array  # (m, d): which of them each set is
    numbers: dict[bytes, int]

    @classmethod
    def of(cls, sets: sparse.csr_array) -> Self:
        """Find the distinct rows of a mask.

        Parameters
        ----------
        sets : sparse array of bool, shape (m, V)

        Returns
        -------
        DistinctSets
        """
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(key, len(numbers)) for key in _keys(sets)]
        first = np.unique(which, return_index=True)[1]
        entries = np.ones(len(which)), (np.arange(len(which)), which)
        shape = (len(which), len(numbers))
        return cls(sets[first], sparse.csr_array(entries, shape=shape), numbers)

    def places(self, positive: Mask) -> IntArray:
        """The number of each set in a mask (n, V), -1 if it is not among them."""
        return np.array([self.numbers.get(key, -1) for key in _keys(positive)], dtype=np.intp)

    def merged(self, nodes: Nodes) -> Nodes:
        """The nodes with these sets as examples; weights of equal sets are added."""
        assert nodes.examples is not None
        weights = sparse.csr_array(nodes.examples.weights @ self.which)
        weights.sort_indices()
        return replace(nodes, examples=Examples(self.sets, weights))


def with_distinct_sets(nodes: Nodes) -> Nodes:
    """The nodes with the distinct sets among their examples; as they are if they have none.

    Examples
    --------
    >>> sets = sparse.csr_array(np.array([[True, False], [False, True], [True, False]]))
    >>> examples = Examples(sets, sparse.csr_array(np.array([[0.3, 0.4, 0.3]])))
    >>> nodes = replace(Nodes.roots(np.array([[0.5, 0.5]])), examples=examples)
    >>> with_distinct_sets(nodes).examples.weights.toarray()
    array([[0.6, 0.4]])
    """
    if nodes.examples is None:
        return nodes
    return DistinctSets.of(nodes.examples.sets).merged(nodes)


def _keys(sets: Mask) -> list[bytes]:
    """One key per row of a mask, the same for equal sets."""
    sets = sparse.csr_array(sets, copy=True)
    sets.sort_indices()
    choices, ends = sets.indices.astype(np.int64), sets.indptr.tolist()
    return [choices[start:end].tobytes() for start, end in pairwise(ends)]
