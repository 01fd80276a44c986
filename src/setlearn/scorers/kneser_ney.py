"""An n-gram model of sequences of numbers, with interpolated Kneser-Ney smoothing.

The n-grams form a trie, which is built, smoothed and asked with whole arrays. Discounts are those
of Chen and Goodman, "An empirical study of smoothing techniques for language modeling" (1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["ROOT", "KneserNey"]

ROOT = 0
"""The node of the empty n-gram."""

LEAST_DISCOUNT = 0.1
"""So that something is left for shorter n-grams, and nothing is impossible."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class KneserNey:
    """The probability of the next symbol, given the symbols before it.

    Each n-gram that was seen is a node. Node k + 1 is reached by ``key[k]``: the node of the n-gram
    without its last symbol, times the number of symbols, plus the last symbol. Shorter n-grams come
    first, so keys ascend.
    """

    n_symbols: int
    key: IntArray  # (n_nodes - 1,)
    shorter: IntArray  # (n_nodes,) the node of the n-gram without its first symbol
    share: FloatArray  # (n_nodes,) of the last symbol after the others, less the discount
    left: FloatArray  # (n_nodes,) what the discounts leave for shorter n-grams

    @classmethod
    def fit(cls, symbols: IntArray, place: IntArray, n_symbols: int, order: int) -> KneserNey:
        """Count n-grams and smooth their shares.

        Parameters
        ----------
        symbols : array of int, shape (n,)
            All sequences, one after the other. Each begins with a symbol that occurs nowhere else.
        place : array of int, shape (n,)
            The position of each symbol in its sequence, from 0.
        n_symbols : int
        order : int
            The largest n.

        Returns
        -------
        KneserNey
        """
        at = np.full(len(symbols), ROOT)  # the node of the n-gram that ends at each symbol
        keys: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        counts: list[IntArray] = [np.array([0])]
        parents: list[IntArray] = [np.array([ROOT])]
        shorter: list[IntArray] = [np.array([ROOT])]
        n_nodes = 1
        for depth in range(order):
            ends = np.flatnonzero(place >= depth)
            if len(ends) == 0:
                break
            context = at[ends - 1] if depth else np.full(len(ends), ROOT)
            key, first, number, count = np.unique(
                context * n_symbols + symbols[ends],
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            keys.append(key)
            counts.append(count)
            parents.append(key // n_symbols)
            shorter.append(at[ends[first]])
            at = np.full(len(symbols), -1)
            at[ends] = n_nodes + number
            n_nodes += len(key)
        depth_of = np.repeat(np.arange(len(counts)), [len(count) for count in counts])
        shorter_of = np.concatenate(shorter)
        start = 1 + int(np.searchsorted(keys[1], symbols[0]))
        share, left = _smoothed(
            np.concatenate(counts), depth_of, np.concatenate(parents), shorter_of, start
        )
        return cls(
            n_symbols,
            np.concatenate(keys),
            shorter_of.astype(np.int32),
            share.astype(np.float32),
            left.astype(np.float32),
        )

    def following(self, node: IntArray, symbol: IntArray) -> IntArray:
        """Find the longest n-grams that were seen, and end with a symbol after those of nodes.

        Parameters
        ----------
        node, symbol : arrays of int, shape (n,)
            A symbol of -1 was never seen.

        Returns
        -------
        array of int, shape (n,)
        """
        found = np.full(len(node), ROOT)
        sought, node = np.flatnonzero(symbol >= 0), node.copy()
        while len(sought):
            child = self._child(node[sought], symbol[sought])
            found[sought] = np.maximum(child, ROOT)
            sought = sought[(child < 0) & (node[sought] != ROOT)]
            node[sought] = self.shorter[node[sought]]
        return found

    def probability(self, node: IntArray, symbol: IntArray) -> FloatArray:
        """The probability of a symbol after the n-gram of a node.

        Parameters
        ----------
        node, symbol : arrays of int, shape (n,)

        Returns
        -------
        array of shape (n,)
        """
        weight, probability = np.ones(len(node)), np.zeros(len(node))
        asked, node = np.arange(len(node)), node.copy()
        while len(asked):
            here = node[asked]
            child = self._child(here, symbol[asked])
            probability[asked] += np.where(child < 0, 0, weight[asked] * self.share[child])
            weight[asked] *= self.left[here]
            asked = asked[here != ROOT]
            node[asked] = self.shorter[node[asked]]
        return probability + weight / self.n_symbols

    def _child(self, node: IntArray, symbol: IntArray) -> IntArray:
        """The node of the n-gram that is longer by a symbol; -1 if it was not seen."""
        key = node.astype(np.int64) * self.n_symbols + symbol
        place = np.searchsorted(self.key, key).clip(max=len(self.key) - 1)
        return np.where(self.key[place] == key, place + 1, -1)


def _smoothed(
    count: IntArray, depth: IntArray, parent: IntArray, shorter: IntArray, start: int
) -> tuple[FloatArray, FloatArray]:
    """The discounted share of each n-gram, and what is left for shorter ones after it."""
    n_nodes = len(count)
    # Below the highest order, what counts is how many different symbols stand before an n-gram.
    n_before = np.bincount(shorter[1:], minlength=n_nodes)
    count = np.where((depth == depth.max()) | (n_before == 0), count, n_before)
    count[start] = 0  # nothing is followed by the start of a sequence
    discounts = np.array([_discounts(count[depth == d]) for d in range(depth.max() + 1)])
    kept = np.maximum(count - discounts[depth, np.minimum(count, 3)], 0)
    total = np.bincount(parent[1:], count[1:], minlength=n_nodes)
    n_kept = np.bincount(parent[1:], kept[1:], minlength=n_nodes)
    share = kept / np.maximum(total[parent], 1)
    return share, np.where(total > 0, 1 - n_kept / np.maximum(total, 1), 1.0)


def _discounts(counts: IntArray) -> FloatArray:
    """What is subtracted from counts of 0, 1, 2, and 3 or more."""
    seen = np.bincount(np.minimum(counts, 5), minlength=5)[1:5]
    if (seen == 0).any():
        return np.array([0, 0.5, 0.75, 0.75])
    ratio = seen[0] / (seen[0] + 2 * seen[1])
    steps = np.arange(1, 4)
    estimate = steps - (steps + 1) * ratio * seen[1:] / seen[:-1]
    return np.append(0, np.maximum(estimate, LEAST_DISCOUNT))
