"""Evidence from paradigms: all that a sample does, taken together.

"baked" is "bake" with a d, and "baking" is "bake" with ing in place of e. The second operation
cannot be applied to "talk", which has no e to drop. So "bake" is no model for "talk" at all, and
what it did is no evidence for "talkd".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable
from setlearn.scorers.input_keys import Keys

__all__ = ["Paradigms"]

MOST_PARADIGMS = 1024
FEW_PARADIGMS = 256
"""With more paradigms than this, those seen once are left out."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Paradigms:
    """Which operations samples use together, and how often samples with the same keys do so.

    A paradigm is the set of all operations that a sample uses, together with the tokens that each
    of them drops. It applies to an input if all of them can be applied, and drop the same tokens.
    """

    steps: IntArray  # (s,) sorted: operations with the tokens that they drop, as keys
    has: sparse.csr_array  # (n_paradigms, s)
    keys: IntArray  # (m,) sorted: keys of inputs
    count: sparse.csr_array  # (m, n_paradigms) samples with the key that have the paradigm
    smoothing: float

    @classmethod
    def fit(cls, drops: Sequence[Keys], chains: Sequence[Keys], smoothing: float) -> Paradigms:
        """Count.

        Parameters
        ----------
        drops : sequence of Keys
            The operations of each sample, with the tokens that they drop.
        chains : sequence of Keys
            The keys of each sample, from general to specific.
        smoothing : float
            How many samples the share at the key before counts for.

        Returns
        -------
        Paradigms
        """
        of_sample = [tuple(sorted(steps)) for steps in drops]
        frequent = Counter(of_sample).most_common(MOST_PARADIGMS)
        if len(frequent) > FEW_PARADIGMS:
            frequent = [pair for pair in frequent if pair[1] > 1] or frequent[:FEW_PARADIGMS]
        number = {paradigm: index for index, (paradigm, _) in enumerate(frequent) if paradigm}
        flat = np.array([step for paradigm in number for step in paradigm], dtype=np.uint64)
        steps, column = np.unique(flat, return_inverse=True)
        row = np.repeat(np.array([*number.values()], dtype=np.intp), [*map(len, number)])
        shape = (len(frequent), len(steps))
        has = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
        counted = [i for i, paradigm in enumerate(of_sample) if paradigm in number]
        own = [np.asarray(chains[i], dtype=np.uint64) for i in counted]
        keys, row = np.unique(np.concatenate([np.empty(0, np.uint64), *own]), return_inverse=True)
        column = np.repeat(
            np.array([number[of_sample[i]] for i in counted], dtype=np.intp), [*map(len, own)]
        )
        shape = (len(keys), len(frequent))
        count = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
        return cls(steps, has, keys, count, smoothing)

    def shares(self, chain: Keys, steps: IntArray) -> FloatArray:
        """The share of each step among samples with the same keys whose paradigms apply.

        Parameters
        ----------
        chain : Keys
            The keys of an input.
        steps : array of int, shape (k,)
            What can be done with the input: operations with the tokens that they drop, as keys.

        Returns
        -------
        array of shape (k,)
            nan everywhere if no paradigm applies.
        """
        place, known = _found(self.steps, steps)
        possible = np.zeros(len(self.steps))
        possible[place[known]] = 1.0
        applies = (self.has @ possible) == np.diff(self.has.indptr)
        applies &= np.diff(self.has.indptr) > 0
        if not applies.any():
            return np.full(len(steps), np.nan)
        row, is_key = _found(self.keys, np.asarray(chain, dtype=np.uint64))
        share = applies / applies.sum()
        for count in self.count[row[is_key]].toarray() * applies:
            share = (count + self.smoothing * share) / (count.sum() + self.smoothing)
        shares = np.zeros(len(steps))
        shares[known] = (share @ self.has)[place[known]]
        return shares


def _found(values: IntArray, wanted: IntArray) -> tuple[IntArray, IntArray]:
    """Where wanted values are in a sorted array, and which of them are there."""
    if len(values) == 0:
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return place, values[place] == wanted
