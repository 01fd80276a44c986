"""The scorer for sequences: a network behind two batched calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from setlearn.networks.sequence_network import Memory, SequenceNetwork, State
from setlearn.nodes import FloatArray, IntArray, Nodes, Step
from setlearn.scorers.base import Loss
from setlearn.sequence_inputs import Inputs
from setlearn.trie import Trie

__all__ = ["SequenceScorer", "encode_inputs"]

MOST_NODES = 4096
"""Prefixes that go through the network in one call; more are cut into several."""


CHUNK = 64
"""Samples that are scored together unless more are asked for."""

DECIMALS = 10
"""Of probabilities: sums in another order differ from the 15th on."""


@dataclass(frozen=True, slots=True, eq=False)
class _Prefixes:
    memory: Memory
    state: State


class SequenceScorer:
    """Scores prefixes by a network: roots first, then whole frontiers.

    Inputs are those that the network reads, made by a reader of ``setlearn.sequence_inputs``.

    Parameters
    ----------
    network : SequenceNetwork
    loss : {"node", "sequence"}
        What the network was trained with. After "sequence" a probability is that of the next
        choice alone, one among all at its node. After "node" it is that of some sequence of the
        set going this way, whatever else the set holds: a product along the path, which falls
        only downwards and at the end symbol is the sequence's probability to be in the set.
    """

    def __init__(self, network: SequenceNetwork, loss: Loss = "sequence") -> None:
        self.network = network
        self.loss = loss

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    def chunks(self, X: Inputs, samples: IntArray, most: int = CHUNK) -> list[IntArray]:
        """The samples in parts that the network can take at once, of at most so many."""
        longest = int(X.length[samples].max(initial=1))
        size = min(most, self.network.most_at_once(longest) or most)
        return [samples[first : first + size] for first in range(0, len(samples), size)]

    @torch.no_grad()
    def start(self, X: Inputs) -> Step:
        """Score the root of every sample."""
        memory = encode_inputs(self.network, X, slice(None))
        logits, state = self.network.start(memory)
        return Step(Nodes.roots(self._probabilities(logits)), _Prefixes(memory, state))

    @torch.no_grad()
    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Gather the states of the parents and feed one token to each, all in one batch."""
        prefixes: _Prefixes = step.state
        sample = step.nodes.sample[parent]
        parts = [
            self._advance_part(prefixes, sample[rows], parent[rows], token[rows])
            for rows in _slices(len(parent))
        ]
        state = tuple(torch.cat(tensors) for tensors in zip(*(s for _, s in parts), strict=True))
        probabilities = np.concatenate([p for p, _ in parts])
        nodes = self._nodes(
            sample,
            step.nodes.depth[parent] + 1,
            probabilities,
            step.nodes.membership[parent, token],
        )
        return Step(nodes, _Prefixes(prefixes.memory, state))

    def gold_nodes(
        self, X: Inputs, trie: Trie, samples: IntArray
    ) -> tuple[Nodes, sparse.csr_array]:
        """The nodes of these samples' true trees, scored, and the right choices at each."""
        chunks = self.chunks(X, samples)
        scores = np.concatenate([self._trie_scores(X, trie, chunk) for chunk in chunks])
        part = trie.take(samples)
        before = np.ones(len(part))
        for level in part.levels()[1:]:
            above = part.parent[level.nodes]
            before[level.nodes] = before[above] * scores[above, level.token]
        nodes = self._nodes(samples[part.sample], part.depth, scores, before)
        return nodes, part.right_choices(self.network.n_choices)

    def _nodes(
        self, sample: IntArray, depth: IntArray, scores: FloatArray, before: FloatArray
    ) -> Nodes:
        if self.loss == "sequence":
            return Nodes(sample, depth, scores, prefix_probability=before)
        return Nodes(sample, depth, before[:, None] * scores)

    def _probabilities(self, logits: Tensor) -> FloatArray:
        found = logits.sigmoid() if self.loss == "node" else logits.softmax(dim=1)
        # Rounded well above the noise of another batching, so that ties stay ties.
        return found.cpu().numpy().round(DECIMALS)

    @torch.no_grad()
    def _trie_scores(self, X: Inputs, trie: Trie, samples: IntArray) -> FloatArray:
        memory = encode_inputs(self.network, X, samples)
        return self._probabilities(self.network.score_trie(memory, trie.take(samples)))

    def _advance_part(
        self, prefixes: _Prefixes, sample: IntArray, parent: IntArray, token: IntArray
    ) -> tuple[FloatArray, State]:
        rows = torch.from_numpy(parent).to(self.device)
        state = tuple(part.index_select(0, rows) for part in prefixes.state)
        logits, state = self.network.advance(
            prefixes.memory,
            torch.from_numpy(sample).to(self.device),
            state,
            torch.from_numpy(token).to(self.device),
        )
        return self._probabilities(logits), state


def encode_inputs(network: SequenceNetwork, inputs: Inputs, rows: IntArray | slice) -> Memory:
    """Read the given samples, in one batch, with numbers as wide as the network's own."""
    weight = next(network.parameters())
    values, length = inputs.take(rows)
    read = torch.from_numpy(values).to(weight.device)
    if read.is_floating_point():
        read = read.to(weight.dtype)
    return network.encode(read, torch.from_numpy(length))


def _slices(n: int) -> list[slice]:
    return [slice(first, first + MOST_NODES) for first in range(0, max(n, 1), MOST_NODES)]
