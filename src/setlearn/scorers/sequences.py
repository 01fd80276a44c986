"""The scorer for sequences: a network behind two batched calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from setlearn.networks.sequence_network import Memory, SequenceNetwork, State, score_trie
from setlearn.nodes import FloatArray, IntArray, Nodes, Step
from setlearn.sequence_inputs import Inputs
from setlearn.trie import Trie

__all__ = ["SequenceScorer", "encode_inputs"]

MOST_NODES = 4096
"""Prefixes that go through the network in one call; more are cut into several."""


CHUNK = 64
"""Samples whose true trees are scored together."""

DECIMALS = 10
"""Of probabilities: sums in another order differ from the 15th on."""


@dataclass(frozen=True, slots=True, eq=False)
class _Prefixes:
    memory: Memory
    state: State


class SequenceScorer:
    """Scores prefixes by a network: roots first, then whole frontiers.

    Inputs are those that the network reads, made by a reader of ``setlearn.sequence_inputs``.
    """

    def __init__(self, network: SequenceNetwork) -> None:
        self.network = network

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    @torch.no_grad()
    def start(self, X: Inputs) -> Step:
        """Score the root of every sample."""
        memory = encode_inputs(self.network, X, slice(None))
        logits, state = self.network.start(memory)
        return Step(Nodes.roots(_probabilities(logits)), _Prefixes(memory, state))

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
        nodes = Nodes(sample, step.nodes.depth[parent] + 1, probabilities)
        return Step(nodes, _Prefixes(prefixes.memory, state))

    def gold_nodes(
        self, X: Inputs, trie: Trie, samples: IntArray
    ) -> tuple[Nodes, sparse.csr_array]:
        """The nodes of these samples' true trees, scored, and the right choices at each."""
        chunks = [samples[first : first + CHUNK] for first in range(0, len(samples), CHUNK)]
        scores = np.concatenate([self._trie_scores(X, trie, chunk) for chunk in chunks])
        part = trie.take(samples)
        nodes = Nodes(samples[part.sample], part.depth, scores)
        return nodes, part.right_choices(self.network.n_choices)

    @torch.no_grad()
    def _trie_scores(self, X: Inputs, trie: Trie, samples: IntArray) -> FloatArray:
        memory = encode_inputs(self.network, X, samples)
        return _probabilities(score_trie(self.network, memory, trie.take(samples)))

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
        return _probabilities(logits), state


def encode_inputs(network: SequenceNetwork, inputs: Inputs, rows: IntArray | slice) -> Memory:
    """Read the given samples, in one batch, with numbers as wide as the network's own."""
    weight = next(network.parameters())
    values, length = inputs.take(rows)
    read = torch.from_numpy(values).to(weight.device)
    if read.is_floating_point():
        read = read.to(weight.dtype)
    return network.encode(read, torch.from_numpy(length))


def _probabilities(logits: Tensor) -> FloatArray:
    # Rounded well above the noise of another batching, so that ties stay ties.
    return logits.softmax(dim=1).cpu().numpy().round(DECIMALS)


def _slices(n: int) -> list[slice]:
    return [slice(first, first + MOST_NODES) for first in range(0, max(n, 1), MOST_NODES)]
