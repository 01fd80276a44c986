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
from setlearn.scorers.input_keys import Keys, find, known_levels

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

    def shares(self, chains: Sequence[Keys], row: IntArray, steps: IntArray) -> FloatArray:
        """The share of each step among samples with the same keys whose paradigms apply.

        Parameters
        ----------
        chains : sequence of Keys
            The keys of some inputs.
        row : array of int, shape (k,)
            The input that each step can be done with.
        steps : array of int, shape (k,)
            What can be done: operations with the tokens that they drop, as keys.

        Returns
        -------
        array of shape (k,)
            nan where no paradigm applies to the input.
        """
        place, known = find(self.steps, steps)
        row_of_known, place = row[known], place[known]
        possible = np.zeros((len(self.steps), len(chains)))
        possible[place, row_of_known] = 1.0
        size = np.diff(self.has.indptr)
        n_possible = (self.has @ possible).T
        applies = (n_possible == size) & (size > 0)
        share = applies / np.maximum(applies.sum(axis=1, keepdims=True), 1)
        for _, rows, keys in known_levels(chains, self.keys):
            count = self.count[keys].toarray() * applies[rows]
            total = count.sum(axis=1, keepdims=True)
            share[rows] = (count + self.smoothing * share[rows]) / (total + self.smoothing)
        shares = np.zeros(len(steps))
        shares[known] = (self.has.T @ share.T)[place, row_of_known]
        shares[~applies.any(axis=1)[row]] = np.nan
        return shares
