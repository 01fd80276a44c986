"""Evidence from paradigms: all that a sample does, taken together.

"Add d" is right for "bake", but only together with "drop e, add ing". That does not apply to
"talk", so what "bake" did says nothing about "talk", although each verb shares its ending with no
other one.
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
        steps = np.unique(np.array([s for paradigm in number for s in paradigm], dtype=np.uint64))
        size = [len(paradigm) for paradigm in number]
        column = np.searchsorted(steps, [s for paradigm in number for s in paradigm])
        row = np.repeat(list(number.values()), size).astype(np.intp)
        shape = (len(frequent), len(steps))
        has = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
        pairs = [
            (key, number[paradigm])
            for paradigm, chain in zip(of_sample, chains, strict=True)
            if paradigm in number
            for key in chain
        ]
        of_key = np.array([key for key, _ in pairs], dtype=np.uint64)
        keys, place = np.unique(of_key, return_inverse=True)
        columns = np.array([paradigm for _, paradigm in pairs], dtype=np.intp)
        count = sparse.csr_array(
            (np.ones(len(place)), (place, columns)), shape=(len(keys), len(frequent))
        )
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
