"""Sets of sequences as prefix trees, in arrays, for many samples at once.

Each node is a choice point: a sample and a prefix. Its edges are the right choices there: the
tokens by which some sequence of the sample goes on, and the end symbol where one is complete.
The only loop is over depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setlearn.nodes import IntArray

__all__ = ["END", "Level", "Sequences", "Trie"]

END = 0
"""The choice that closes a sequence; at a root that is all there is, the empty set."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Token ids of many sequences, end to end, and the sample that each belongs to."""

    sample: IntArray  # (m,)
    length: IntArray  # (m,)
    tokens: IntArray  # (sum of lengths,)

    @classmethod
    def of(cls, sets: list[list[list[int]]]) -> Sequences:
        """From one list of sequences a sample."""
        sample = np.repeat(np.arange(len(sets)), [len(sequences) for sequences in sets])
        flat = [sequence for sequences in sets for sequence in sequences]
        length = np.array([len(sequence) for sequence in flat], dtype=np.intp)
        tokens = np.array([token for sequence in flat for token in sequence], dtype=np.intp)
        return cls(sample.astype(np.intp), length, tokens)

    def as_sets(self, n_samples: int) -> list[frozenset[tuple[int, ...]]]:
        """One set of tuples of ids a sample."""
        bounds = np.cumsum(self.length)
        sets: list[list[tuple[int, ...]]] = [[] for _ in range(n_samples)]
        for sample, sequence in zip(self.sample, np.split(self.tokens, bounds)[:-1], strict=True):
            sets[sample].append(tuple(sequence.tolist()))
        return [frozenset(sequences) for sequences in sets]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The nodes of one depth, for a decoder that moves all prefixes one token on together."""

    nodes: IntArray  # their places in the trie
    parent: IntArray  # their parents' places in the level above
    token: IntArray  # the token that leads from there


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """Prefix trees of ``n_samples`` samples; nodes ordered by sample, then by depth.

    ``parent`` is -1 at the roots. ``edge_count`` is the number of sequences that take an edge;
    divided by the node's total it is the share of sequences below that choice.
    """

    n_samples: int
    sample: IntArray  # (n,)
    depth: IntArray  # (n,)
    parent: IntArray  # (n,)
    token: IntArray  # (n,) the choice that leads here; END at the roots
    edge_node: IntArray  # (e,) ascending
    edge_token: IntArray  # (e,)
    edge_count: IntArray  # (e,)

    @classmethod
    def of(cls, sequences: Sequences, n_samples: int) -> Trie:
        """Merge each sample's sequences into a tree. Samples without any get a root that ends."""
        start = np.cumsum(sequences.length) - sequences.length
        at = sequences.sample.copy()  # the node where each sequence stands; roots come first
        running = np.arange(len(at))
        sample = np.arange(n_samples)
        levels: list[tuple[IntArray, IntArray, IntArray]] = [
            (sample, np.full(n_samples, -1), np.full(n_samples, END))
        ]
        childless = np.setdiff1d(sample, sequences.sample)
        edges = [_merge(childless, np.full(len(childless), END))[0]]
        n_nodes, depth = n_samples, 0
        while len(running):
            ends = sequences.length[running] == depth
            edges.append(_merge(at[running[ends]], np.full(ends.sum(), END))[0])
            running = running[~ends]
            (node, token, count), child = _merge(
                at[running], sequences.tokens[start[running] + depth]
            )
            edges.append((node, token, count))
            sample = np.concatenate([sample, sample[node]])
            levels.append((sample[n_nodes:], node, token))
            at[running] = n_nodes + child
            n_nodes, depth = n_nodes + len(node), depth + 1
        return cls._in_order(n_samples, levels, edges)

    @classmethod
    def _in_order(
        cls,
        n_samples: int,
        levels: list[tuple[IntArray, IntArray, IntArray]],
        edges: list[tuple[IntArray, IntArray, IntArray]],
    ) -> Trie:
        """Put nodes that were made level by level into their order by sample."""
        sample, parent, token = (np.concatenate(part) for part in zip(*levels, strict=True))
        depth = np.repeat(np.arange(len(levels)), [len(level[0]) for level in levels])
        order = np.lexsort((depth, sample))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        parent = np.where(parent < 0, -1, place[parent])[order]
        edge_node, edge_token, edge_count = (
            np.concatenate(part) for part in zip(*edges, strict=True)
        )
        edge_node = place[edge_node]
        by_node = np.lexsort((edge_token, edge_node))
        return cls(
            n_samples,
            sample[order],
            depth[order],
            parent,
            token[order],
            edge_node[by_node],
            edge_token[by_node],
            edge_count[by_node],
        )

    def __len__(self) -> int:
        return len(self.sample)

    @property
    def roots(self) -> IntArray:
        """The root of each sample."""
        return np.flatnonzero(self.parent < 0)

    def set_sizes(self) -> IntArray:
        """How many sequences each sample has."""
        ends = (self.edge_token == END) & (self.depth[self.edge_node] > 0)
        return np.bincount(self.sample[self.edge_node[ends]], minlength=self.n_samples)

    def take(self, samples: IntArray) -> Trie:
        """The trees of the given samples, renumbered in their order."""
        bounds = np.searchsorted(self.sample, np.arange(self.n_samples + 1))
        nodes, new_sample = _ranges(bounds[samples], bounds[samples + 1])
        edge_bounds = np.searchsorted(self.edge_node, bounds)
        edges, edge_sample = _ranges(edge_bounds[samples], edge_bounds[samples + 1])
        # Within a sample the order stays, so each number moves by its sample's shift.
        n_nodes = bounds[samples + 1] - bounds[samples]
        shift = np.cumsum(n_nodes) - n_nodes - bounds[samples]
        parent = self.parent[nodes]
        return Trie(
            len(samples),
            new_sample,
            self.depth[nodes],
            np.where(parent < 0, -1, parent + shift[new_sample]),
            self.token[nodes],
            self.edge_node[edges] + shift[edge_sample],
            self.edge_token[edges],
            self.edge_count[edges],
        )

    def levels(self) -> list[Level]:
        """The nodes depth by depth, the roots first."""
        order = np.argsort(self.depth, kind="stable")
        bounds = np.searchsorted(self.depth[order], np.arange(self.depth.max(initial=-1) + 2))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order)) - bounds[self.depth[order]]
        return [
            Level(nodes, place[self.parent[nodes]], self.token[nodes])
            for nodes in np.split(order, bounds[1:-1])
        ]

    def right_choices(self, n_choices: int) -> sparse.csr_array:
        """The mask (n, n_choices) of right choices at each node."""
        there = np.ones(len(self.edge_node), dtype=bool)
        return sparse.csr_array(
            (there, (self.edge_node, self.edge_token)), shape=(len(self), n_choices)
        )

    def child(self, node: IntArray, token: IntArray) -> IntArray:
        """The node below ``node`` by ``token``; -1 where the tree has none, or ``node`` is -1."""
        below = np.flatnonzero(self.parent >= 0)
        width = int(max(self.token.max(initial=0), token.max(initial=0))) + 1
        keys = self.parent[below] * width + self.token[below]
        order = np.argsort(keys)
        wanted = node * width + token
        found = np.searchsorted(keys[order], wanted).clip(max=max(len(keys) - 1, 0))
        if len(keys) == 0:
            return np.full(len(node), -1)
        hit = (keys[order][found] == wanted) & (node >= 0)
        return np.where(hit, below[order][found], -1)


def _merge(node: IntArray, token: IntArray) -> tuple[tuple[IntArray, IntArray, IntArray], IntArray]:
    """The distinct pairs (node, token) with how often each occurs, and each input's place."""
    width = int(token.max(initial=0)) + 1
    keys, place, count = np.unique(node * width + token, return_inverse=True, return_counts=True)
    return (keys // width, keys % width, count), place


def _ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of all half-open ranges one after the other, and the range of each."""
    length = last - first
    which = np.repeat(np.arange(len(first)), length)
    offset = np.cumsum(length) - length
    return np.arange(len(which)) - offset[which] + first[which], which
