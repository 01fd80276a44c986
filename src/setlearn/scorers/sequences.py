"""The scorer for sequences that is trained here: a network behind two batched calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from setlearn.copied_tokens import stand_ins_of
from setlearn.networks.recipe import Loss, loss_of
from setlearn.networks.sequence_network import Memory, SequenceNetwork, State
from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes, Step
from setlearn.savable import savable
from setlearn.scorers.base import MOST_IN_A_BATCH, TokenScorer
from setlearn.sequence_inputs import InputReader, Inputs, NumericReader, TokenReader
from setlearn.trie import END, Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["SequenceScorer", "encode_inputs"]

MOST_NODES = 4096
"""Prefixes that go through the network in one call; more are cut into several."""

MOST_READ = 512
"""Inputs that are read together, and put in the order of their lengths."""

DECIMALS = {torch.float64: 10, torch.float32: 6}
"""Of probabilities: sums in another order differ from the 15th on, or from the 7th."""

MOST_OPEN = 0.75
"""Inputs without open prefixes are dropped as soon as at most this share still has some."""


@dataclass(frozen=True, slots=True, eq=False)
class _Prefixes:
    memory: Memory
    state: State
    inputs: IntArray  # the samples whose inputs the memory holds, ascending


@savable(parts={"reader": (NumericReader, TokenReader), "vocabulary": (Vocabulary,)})
class SequenceScorer(TokenScorer):
    """Scores prefixes by a network: roots first, then whole frontiers.

    After the loss "sequence" a probability is that of the next choice alone, one among all at its
    node. After "node" it is the probability that some sequence of the set goes this way, whatever
    else the set holds: a product along the path, which only falls downwards and at the end symbol
    is the sequence's probability to be in the set.

    Parameters
    ----------
    recipe : NetworkRecipe, or an object with a method ``build``
        Builds the network. Its ``loss`` says what the scores mean.
    reader : InputReader
        Turns inputs into what the network reads.
    vocabulary : Vocabulary
    network : SequenceNetwork, optional
        By default a new one with fresh weights.
    """

    def __init__(
        self,
        recipe: Any,
        reader: InputReader,
        vocabulary: Vocabulary,
        network: SequenceNetwork | None = None,
    ) -> None:
        self.recipe = recipe
        self.reader = reader
        self.vocabulary = vocabulary
        self.network = self.new_network() if network is None else network

    def new_network(self) -> SequenceNetwork:
        """Build a network with fresh weights for these inputs and this vocabulary."""
        sizes, more = self.reader.sizes, {}
        copies = self.copies
        if copies is not None:
            sizes["n_tokens"] = len(copies)
        if getattr(self.recipe, "reads_spelling", False):
            more["spelling"] = self.vocabulary.spelling()
        network: SequenceNetwork = self.recipe.build(
            n_choices=self.vocabulary.n_choices, copies=copies, **sizes, **more
        )
        network.n_choices = self.vocabulary.n_choices
        network.n_stand_ins = self.vocabulary.n_stand_ins
        return network

    @property
    def copies(self) -> IntArray | None:
        """The choice that is the same token as each input id, END for none; None for numbers."""
        vocabulary, tokens = self.vocabulary, self.reader.tokens
        if not tokens:
            return None
        stand_ins = range(vocabulary.n_choices - vocabulary.n_stand_ins, vocabulary.n_choices)
        # The first id is that of unknown tokens, which spell nothing.
        return np.array([END, *vocabulary.spelled_by(tokens), *stand_ins])

    @property
    def loss(self) -> Loss:
        """What the network was trained with."""
        return loss_of(self.recipe)

    @property
    def gives_marginals(self) -> bool:
        """After the loss "node" every sequence has a probability of its own."""
        return self.loss == "node"

    @property
    def n_features(self) -> int | None:
        """How many numbers each input has; None for texts and tokens."""
        return self.reader.sizes["n_features"] or None

    @property
    def reads_token_lists(self) -> bool:
        """Whether inputs are lists of tokens."""
        return self.reader.reads_token_lists

    def facts(self) -> dict[str, Any]:
        """The network and its size."""
        weights = sum(parameter.numel() for parameter in self.network.parameters())
        return {"network": repr(self.recipe), "weights": weights}

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Inputs]]:
        """Read inputs, and cut them into parts that the network can take at once.

        Inputs of like length are together, so that little is padded.
        """
        for first in range(0, len(X), MOST_READ):
            inputs = self._read(X[first : first + MOST_READ])
            for rows in self.chunks(inputs, np.argsort(inputs.length, kind="stable"), most):
                yield first + rows, inputs.part(rows)

    def chunks(
        self, inputs: Inputs, samples: IntArray, most: int = MOST_IN_A_BATCH
    ) -> list[IntArray]:
        """The samples in parts that the network can take at once.

        Parameters
        ----------
        inputs : Inputs
        samples : array of int
            Rows of ``inputs``.
        most : int
            The most samples in a part.

        Returns
        -------
        list of arrays of int
            The rows of each part, in the order given.
        """
        parts: list[IntArray] = []
        first = longest = 0
        lengths = inputs.length[samples]
        is_long = lengths > (self.network.longest_whole or np.inf)
        for place, length in enumerate(lengths.tolist()):
            longest = max(longest, length)
            is_full = place - first >= min(most, self.network.most_at_once(longest) or most)
            if is_full or is_long[place] != is_long[first]:
                parts.append(samples[first:place])
                first, longest = place, length
        return [*parts, samples[first:]] if len(samples) else parts

    def as_batch(self, x: Any) -> Inputs:
        """A single input, read."""
        return self._read(self.reader.as_batch(x))

    def _read(self, X: Any) -> Inputs:
        return self.reader.read(X, stand_ins_of(X, self.vocabulary))

    def _available(self, inputs: Inputs) -> BoolArray | None:
        """Which choices each input has: stand-ins only for its own tokens."""
        if self.network.n_stand_ins == 0:
            return None
        first = len(self.reader.tokens) + 1  # the id of the first stand-in
        highest = np.maximum.reduceat(inputs.values, np.cumsum(inputs.length) - inputs.length)
        return self.vocabulary.available(np.maximum(highest - first + 1, 0))

    @torch.no_grad()
    def start(self, X: Inputs) -> Step:
        """Score the root of every sample."""
        memory = encode_inputs(self.network, X, slice(None))
        logits, state = self.network.start(memory)
        prefixes = _Prefixes(memory, state, np.arange(len(X)))
        available = self._available(X)
        nodes = Nodes.roots(self._probabilities(logits, available), available=available)
        return Step(nodes, prefixes)

    @torch.no_grad()
    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Gather the states of the parents and feed one token to each, all in one batch."""
        sample = step.nodes.sample[parent]
        prefixes = self._without_finished(step.state, sample)
        row = np.searchsorted(prefixes.inputs, sample)
        available = None if step.nodes.available is None else step.nodes.available[parent]
        parts = [
            self._advance_part(
                prefixes,
                row[rows],
                parent[rows],
                token[rows],
                None if available is None else available[rows],
            )
            for rows in _slices(len(parent))
        ]
        state = tuple(torch.cat(tensors) for tensors in zip(*(s for _, s in parts), strict=True))
        probabilities = np.concatenate([p for p, _ in parts])
        nodes = self._nodes(
            sample,
            step.nodes.depth[parent] + 1,
            probabilities,
            step.nodes.membership[parent, token],
            available,
        )
        return Step(nodes, replace(prefixes, state=state))

    def _without_finished(self, prefixes: _Prefixes, sample: IntArray) -> _Prefixes:
        """Drop inputs that have no open prefix any more, if the network can and they are many."""
        still_open = np.unique(sample)
        if len(still_open) > MOST_OPEN * len(prefixes.inputs):
            return prefixes
        rows = torch.from_numpy(np.searchsorted(prefixes.inputs, still_open)).to(self.device)
        memory = self.network.memory_of(prefixes.memory, rows)
        return prefixes if memory is None else replace(prefixes, memory=memory, inputs=still_open)

    @torch.no_grad()
    def _score_batch(self, inputs: Inputs, trie: Trie) -> Nodes:
        """All nodes of the trees in one pass, where the network can do that."""
        memory = encode_inputs(self.network, inputs, slice(None))
        available = self._available(inputs)
        if available is not None:
            available = available[trie.sample]
        scores = self._probabilities(self.network.score_trie(memory, trie), available)
        before = np.ones(len(trie))
        for level in trie.levels()[1:]:
            above = trie.parent[level.nodes]
            before[level.nodes] = before[above] * scores[above, level.token]
        return self._nodes(trie.sample, trie.depth, scores, before, available)

    def _nodes(
        self,
        sample: IntArray,
        depth: IntArray,
        scores: FloatArray,
        before: FloatArray,
        available: BoolArray | None,
    ) -> Nodes:
        if self.gives_marginals:
            return Nodes(sample, depth, before[:, None] * scores, available=available)
        return Nodes(sample, depth, scores, prefix_probability=before, available=available)

    def _probabilities(self, logits: Tensor, available: BoolArray | None) -> FloatArray:
        if available is not None:
            logits = logits.masked_fill(~torch.from_numpy(available).to(logits.device), -torch.inf)
        probabilities = logits.sigmoid() if self.gives_marginals else logits.softmax(dim=1)
        # Rounded above the noise of another batching, so that ties stay ties.
        rounded: FloatArray = probabilities.cpu().double().numpy().round(DECIMALS[logits.dtype])
        return rounded

    def _advance_part(
        self,
        prefixes: _Prefixes,
        row: IntArray,
        parent: IntArray,
        token: IntArray,
        available: BoolArray | None,
    ) -> tuple[FloatArray, State]:
        parents = torch.from_numpy(parent).to(self.device)
        state = tuple(part.index_select(0, parents) for part in prefixes.state)
        logits, state = self.network.advance(
            prefixes.memory,
            torch.from_numpy(row).to(self.device),
            state,
            torch.from_numpy(token).to(self.device),
        )
        return self._probabilities(logits, available), state


def encode_inputs(network: SequenceNetwork, inputs: Inputs, rows: IntArray | slice) -> Memory:
    """Encode the given samples in one batch, in the precision of the network.

    Parameters
    ----------
    network : SequenceNetwork
    inputs : Inputs
    rows : array of int or slice

    Returns
    -------
    Memory
        What the network keeps of the inputs.
    """
    weight = next(network.parameters())
    values, length = inputs.take(rows)
    read = torch.from_numpy(values).to(weight.device)
    if read.is_floating_point():
        read = read.to(weight.dtype)
    return network.encode(read, torch.from_numpy(length))


def _slices(n: int) -> list[slice]:
    return [slice(first, first + MOST_NODES) for first in range(0, max(n, 1), MOST_NODES)]
