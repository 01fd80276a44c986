"""Sets of sequences as prefix trees, stored in arrays, for many samples at once.

Each node is a choice point: a sample and a prefix. Its edges are the correct choices there: the
tokens that continue some sequence of the sample, and the end symbol if one is complete. The only
loop is over depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from setlearn.nodes import BoolArray, IntArray

__all__ = ["END", "Level", "Sequences", "Trie", "concatenated_ranges"]

END = 0
"""The choice that ends a sequence. As the only choice at a root, it means the empty set."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Token ids of many sequences, concatenated, and the sample that each belongs to."""

    sample: IntArray  # (m,)
    length: IntArray  # (m,)
    tokens: IntArray  # (sum of lengths,)

    @classmethod
    def of(cls, sets: list[list[list[int]]]) -> Sequences:
        """Make it from one list of sequences per sample."""
        sample = np.repeat(np.arange(len(sets)), [len(sequences) for sequences in sets])
        flat = [sequence for sequences in sets for sequence in sequences]
        length = np.array([len(sequence) for sequence in flat], dtype=np.intp)
        tokens = np.array([token for sequence in flat for token in sequence], dtype=np.intp)
        return cls(sample.astype(np.intp), length, tokens)

    def part(self, rows: IntArray) -> Sequences:
        """Return some of the sequences."""
        last = np.cumsum(self.length)[rows]
        place, _ = concatenated_ranges(last - self.length[rows], last)
        return Sequences(self.sample[rows], self.length[rows], self.tokens[place])

    def padded(self) -> IntArray:
        """Return one row per sequence, (m, longest), filled up with END."""
        inside = np.arange(self.length.max(initial=0)) < self.length[:, None]
        rows = np.full(inside.shape, END, dtype=np.intp)
        rows[inside] = self.tokens
        return rows

    def as_sets(self, n_samples: int) -> list[frozenset[tuple[int, ...]]]:
        """Return one set of tuples of ids per sample."""
        bounds = np.cumsum(self.length)
        sets: list[list[tuple[int, ...]]] = [[] for _ in range(n_samples)]
        for sample, sequence in zip(self.sample, np.split(self.tokens, bounds)[:-1], strict=True):
            sets[sample].append(tuple(sequence.tolist()))
        return [frozenset(sequences) for sequences in sets]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The nodes of one depth, for a decoder that extends all prefixes by one token at once."""

    nodes: IntArray  # (m,) their indices in the trie
    parent: IntArray  # (m,) the indices of their parents in the level above
    token: IntArray  # (m,) the token that leads from the parent to the node


@dataclass(frozen=True, eq=False)
class Trie:
    """The prefix trees of ``n_samples`` samples, with nodes ordered by sample, then by depth.

    ``parent`` is -1 at the roots. ``edge_count`` is the number of sequences that use an edge.
    Divided by the total of the node, it is the share of sequences that make this choice.
    """

    n_samples: int
    sample: IntArray  # (n,)
    depth: IntArray  # (n,)
    parent: IntArray  # (n,)
    token: IntArray  # (n,) the choice that leads to the node; END at the roots
    edge_node: IntArray  # (e,) ascending
    edge_token: IntArray  # (e,)
    edge_count: IntArray  # (e,)

    @classmethod
    def of(cls, sequences: Sequences, n_samples: int) -> Trie:
        """Merge the sequences of each sample into a tree.

        Parameters
        ----------
        sequences : Sequences
            The sequences of all samples.
        n_samples : int
            The number of samples. A sample without sequences gets a root whose only choice is END.

        Returns
        -------
        Trie
            One tree per sample.
        """
        start = np.cumsum(sequences.length) - sequences.length
        at = sequences.sample.copy()  # the node that each sequence has reached; roots come first
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
        """Sort nodes that were made level by level into their order by sample."""
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

    def as_sets(self) -> list[frozenset[tuple[int, ...]]]:
        """Return the set of each sample, as tuples of ids."""
        sets: list[set[tuple[int, ...]]] = [set() for _ in range(self.n_samples)]
        prefix: list[tuple[int, ...]] = []
        for parent, token in zip(self.parent.tolist(), self.token.tolist(), strict=True):
            prefix.append((*prefix[parent], token) if parent >= 0 else ())
        ends = (self.edge_token == END) & (self.depth[self.edge_node] > 0)
        for node in self.edge_node[ends].tolist():
            sets[self.sample[node]].add(prefix[node])
        return [frozenset(elements) for elements in sets]

    @cached_property
    def _bounds(self) -> tuple[IntArray, IntArray]:
        """Where the nodes and the edges of each sample start, and where those of the last end."""
        nodes = np.searchsorted(self.sample, np.arange(self.n_samples + 1))
        return nodes, np.searchsorted(self.edge_node, nodes)

    def take(self, samples: IntArray) -> Trie:
        """Return the trees of the given samples, renumbered in that order."""
        bounds, edge_bounds = self._bounds
        nodes, new_sample = concatenated_ranges(bounds[samples], bounds[samples + 1])
        edges, edge_sample = concatenated_ranges(edge_bounds[samples], edge_bounds[samples + 1])
        # The order within a sample is unchanged, so all its indices shift by the same amount.
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
        """Return the nodes by depth, the roots first."""
        order = np.argsort(self.depth, kind="stable")
        bounds = np.searchsorted(self.depth[order], np.arange(self.depth.max(initial=-1) + 2))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order)) - bounds[self.depth[order]]
        return [
            Level(nodes, place[self.parent[nodes]], self.token[nodes])
            for nodes in np.split(order, bounds[1:-1])
        ]

    def right_choices(self, n_choices: int) -> sparse.csr_array:
        """Return the mask (n, n_choices) of correct choices at each node."""
        present = np.ones(len(self.edge_node), dtype=bool)
        return sparse.csr_array(
            (present, (self.edge_node, self.edge_token)), shape=(len(self), n_choices)
        )

    def child(self, node: IntArray, token: IntArray) -> IntArray:
        """Find the children of nodes.

        Parameters
        ----------
        node : array of int, shape (m,)
            The nodes; -1 stands for no node.
        token : array of int, shape (m,)
            The token that leads from each node to its child.

        Returns
        -------
        array of int, shape (m,)
            The children; -1 if there is no such child, or no node.
        """
        below = np.flatnonzero(self.parent >= 0)
        width = int(max(self.token.max(initial=0), token.max(initial=0))) + 1
        keys = self.parent[below] * width + self.token[below]
        order = np.argsort(keys)
        sought = node * width + token
        if len(keys) == 0:
            return np.full(len(node), -1)
        position = np.searchsorted(keys[order], sought).clip(max=len(keys) - 1)
        exists = (keys[order][position] == sought) & (node >= 0)
        return np.where(exists, below[order][position], -1)

    def reached(self, sample: IntArray, tokens: IntArray) -> IntArray:
        """Follow sequences from the roots of their samples.

        Parameters
        ----------
        sample : array of int, shape (m,)
        tokens : array of int, shape (m, longest)
            Filled up with END.

        Returns
        -------
        array of int, shape (m,)
            The nodes where they end; -1 if the tree does not have a sequence.
        """
        node = self.roots[sample]
        for choice in tokens.T:
            node = np.where(choice == END, node, self.child(node, choice))
        return node

    def holds(self, sequences: Sequences) -> BoolArray:
        """Return whether each sequence is in the set of its sample, (m,)."""
        ends = np.zeros(len(self) + 1, dtype=bool)  # the last for no node, -1
        ends[self.edge_node[self.edge_token == END]] = True
        held: BoolArray = ends[self.reached(sequences.sample, sequences.padded())]
        return held


def _merge(node: IntArray, token: IntArray) -> tuple[tuple[IntArray, IntArray, IntArray], IntArray]:
    """The distinct pairs (node, token) with their counts, and the pair of each input."""
    width = int(token.max(initial=0)) + 1
    keys, place, count = np.unique(node * width + token, return_inverse=True, return_counts=True)
    return (keys // width, keys % width, count), place


def concatenated_ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of all half-open ranges, concatenated.

    Parameters
    ----------
    first, last : arrays of int, shape (n,)
        The first number of each range, and the one after its last.

    Returns
    -------
    number : array of int, shape (m,)
    which : array of int, shape (m,)
        The range of each number.
    """
    length = last - first
    which = np.repeat(np.arange(len(first)), length)
    offset = np.cumsum(length) - length
    return np.arange(len(which)) - offset[which] + first[which], which
