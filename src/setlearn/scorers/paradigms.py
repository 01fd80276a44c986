"""Evidence from paradigms: all that a sample does, taken together.

"baked" is "bake" with a d, and "baking" is "bake" with ing in place of e. The second operation
cannot be applied to "talk", which has no e to drop. So "bake" is no model for "talk" at all, and
what it did is no evidence for "talkd".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable
from setlearn.scorers.input_keys import Keys, find, known_levels

__all__ = ["Paradigms"]

LEAST_EXAMPLE, MOST_WHOLE = 1e-3, 32
"""Paradigms with a smaller share, or after so many others, are no examples for an input."""

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
        share = self._of_inputs(chains, row[known], place[known])
        shares = np.zeros(len(steps))
        shares[known] = (self.has.T @ share.T)[place[known], row[known]]
        shares[(share == 0).all(axis=1)[row]] = np.nan
        return shares

    def whole(
        self, chains: Sequence[Keys], row: IntArray, steps: IntArray
    ) -> Iterator[tuple[int, list[int], float]]:
        """The paradigms that apply to inputs, the most frequent ones of each first.

        Parameters
        ----------
        chains, row, steps
            As in `shares`.

        Yields
        ------
        input : int
        places : list of int
            Which of the given steps it consists of.
        share : float
            Its share among samples with the same keys whose paradigms apply.
        """
        place, known = find(self.steps, steps)
        share = self._of_inputs(chains, row[known], place[known])
        given: list[dict[int, int]] = [{} for _ in chains]
        for k in np.flatnonzero(known).tolist():
            given[row[k]][int(place[k])] = k
        best = np.argsort(-share, axis=1, kind="stable")[:, :MOST_WHOLE]
        for number, paradigms in enumerate(best):
            for paradigm in paradigms[share[number, paradigms] >= LEAST_EXAMPLE]:
                own = self.has.indices[self.has.indptr[paradigm] : self.has.indptr[paradigm + 1]]
                places = [given[number][step] for step in own.tolist()]
                yield number, places, float(share[number, paradigm])

    def _of_inputs(self, chains: Sequence[Keys], row: IntArray, place: IntArray) -> FloatArray:
        """The share of each paradigm for each input, (n_inputs, n_paradigms); 0 if it cannot apply.

        ``place`` says where in ``steps`` each step is that can be done.
        """
        possible = np.zeros((len(self.steps), len(chains)))
        possible[place, row] = 1.0
        size = np.diff(self.has.indptr)
        n_possible = (self.has @ possible).T
        applies = (n_possible == size) & (size > 0)
        share: FloatArray = applies / np.maximum(applies.sum(axis=1, keepdims=True), 1)
        for _, rows, keys in known_levels(chains, self.keys):
            count = self.count[keys].toarray() * applies[rows]
            total = count.sum(axis=1, keepdims=True)
            share[rows] = (count + self.smoothing * share[rows]) / (total + self.smoothing)
        return share
