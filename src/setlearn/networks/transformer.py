"""A small encoder–decoder with attention, a copy head, and an eye on where a prefix stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from setlearn.networks.alignment import N_RELATIONS, run_on
from setlearn.networks.attention import (
    FORBIDDEN,
    STRENGTH,
    DecoderBlock,
    EncoderBlock,
    History,
    Seating,
)
from setlearn.networks.copy_head import CopyHead, Pointers, Spans
from setlearn.networks.dropout import Dropout
from setlearn.networks.sequence_network import SequenceNetwork, State
from setlearn.nodes import IntArray
from setlearn.trie import END, Trie

__all__ = ["TransformerNetwork"]

MOST_POSITIONS = 512
"""Positions with an embedding of their own; those further on share the last one."""

MOST_PAIRS = 2_000_000
"""Pairs of positions that are looked at together in prediction, 16 MB for each head."""

MOST_ON_WAYS = 500_000
"""Nodes on the ways of all nodes that one pass looks at; more go level by level, in less memory."""

FARTHEST = 16
"""Distances between positions that attention tells apart, either way."""


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """What is kept of the inputs."""

    key_values: list[Tensor]  # a decoder layer: (b, positions, 2d)
    bias: Tensor  # (b, 1, 1, positions): no attention to padding
    choice: Tensor  # (b, positions) the choice that a position spells, END for none
    spans: Spans | None  # for the copy head


class TransformerNetwork(SequenceNetwork):
    """Reads an input with self-attention, then scores all prefixes of a tree in one pass.

    Where inputs and sequences share tokens, attention is told which positions of the input
    continue what a prefix has spelled so far, and a copy head lets these positions vote.

    Parameters
    ----------
    n_choices : int
        Tokens of the sequences, and the end symbol.
    n_tokens, n_features : int
        As in ``LSTMNetwork``.
    copies : array of shape (n_tokens,), optional
        The choice that each input token spells, 0 for none. Without it nothing is copied.
    width, heads, encoder_layers, decoder_layers : int
    dropout : float
    copy : bool
        Whether there is a copy head; and with it attention sees which positions continue what
        the prefix has spelled so far.
    """

    copies: Tensor

    def __init__(
        self,
        n_choices: int,
        *,
        n_tokens: int = 0,
        n_features: int = 0,
        copies: IntArray | None = None,
        width: int = 96,
        heads: int = 4,
        encoder_layers: int = 3,
        decoder_layers: int = 1,
        dropout: float = 0.2,
        copy: bool = True,
    ) -> None:
        super().__init__()
        self.n_choices = n_choices
        self.heads = heads
        spelled = np.zeros(n_tokens, dtype=np.int64) if copies is None else copies
        self.register_buffer("copies", torch.as_tensor(spelled, dtype=torch.long))
        # Asked of the array, for on torch's "meta" device tensors have no values.
        self.copy = copy and bool(n_tokens) and bool((np.asarray(spelled) != END).any())
        self.read: nn.Module
        if n_features:
            self.read = nn.Linear(n_features, width)
        else:
            self.read = nn.Embedding(n_tokens, width, padding_idx=0)
        self.tokens = nn.Embedding(n_choices, width)  # row 0, the end, also starts
        # As large as embeddings are: what the layers add at first must not drown them.
        self.position = nn.Parameter(torch.randn(MOST_POSITIONS, width))
        self.depth = nn.Parameter(torch.randn(MOST_POSITIONS, width))
        self.distance = nn.Parameter(_liked_distances(heads).repeat(encoder_layers, 1, 1))
        encoder = [EncoderBlock(width, heads, dropout) for _ in range(encoder_layers)]
        decoder = [DecoderBlock(width, heads, dropout, k) for k in range(decoder_layers)]
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(width, n_choices)
        if self.copy:
            self.copy_head = CopyHead(width)
            # How each head of each layer likes what a position is to a prefix.
            self.relation = nn.Parameter(torch.randn(N_RELATIONS, decoder_layers * heads) * 0.02)

    def most_at_once(self, longest: int) -> int:
        """Few of long ones: attention between all positions grows with their square."""
        return max(MOST_PAIRS // longest**2, 1)

    def encode(self, values: Tensor, length: Tensor) -> _Read:
        """Let all positions of each input look at each other."""
        device = values.device
        n_positions = values.shape[1]
        place = torch.arange(n_positions, device=device)
        inside = place < length.to(device)[:, None]  # (b, positions)
        x = self.read(values) + self.position[place.clamp(max=MOST_POSITIONS - 1)]
        x = self.dropout(x)
        bias = x.new_zeros(inside.shape).masked_fill(~inside, FORBIDDEN)[:, None, None]
        far = (place - place[:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST
        near = STRENGTH * self.distance[:, :, far]  # (layers, heads, positions, positions)
        for number, block in enumerate(self.encoder):
            x = block(x, bias + near[number])
        x = self.encoder_norm(x)
        choice = torch.zeros_like(inside, dtype=torch.long)
        if self.copy:
            choice = self.copies[values] * inside
        return _Read(
            [cast(DecoderBlock, block).input_keys(x) for block in self.decoder],
            bias,
            choice,
            self.copy_head.read(x) if self.copy else None,
        )

    def start(self, memory: _Read) -> tuple[Tensor, State]:
        """Score the empty prefix, which is as if the end symbol had been fed."""
        b, n_positions = memory.choice.shape
        device = memory.choice.device
        sample = torch.arange(b, device=device)
        runs = torch.zeros(b, n_positions, dtype=torch.long, device=device)
        past = memory.bias.new_zeros(b, 0, len(self.decoder), 2 * self.tokens.embedding_dim)
        return self._step(memory, sample, past, runs, torch.zeros_like(sample))

    def advance(
        self, memory: _Read, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Feed one token to every prefix; all are equally long."""
        past, runs = state
        first = past.shape[1] == 1
        runs = run_on(runs, memory.choice.index_select(0, sample), token, first)
        return self._step(memory, sample, past, runs, token)

    def score_trie(self, memory: _Read, trie: Trie) -> Tensor:
        """All nodes in one pass: each attends to those above it."""
        if len(trie) * (int(trie.depth.max(initial=0)) + 1) > MOST_ON_WAYS:
            return super().score_trie(memory, trie)
        device = memory.choice.device
        sample, token, depth = (
            torch.from_numpy(part).to(device) for part in (trie.sample, trie.token, trie.depth)
        )
        runs = torch.zeros(len(trie), memory.choice.shape[1], dtype=torch.long, device=device)
        if self.copy:
            for number, level in enumerate(trie.levels()[1:]):
                nodes = torch.from_numpy(level.nodes).to(device)
                above = runs.index_select(0, torch.from_numpy(trie.parent[level.nodes]).to(device))
                spelled = memory.choice.index_select(0, sample[nodes])
                runs[nodes] = run_on(above, spelled, token[nodes], first=number == 0)
        ways = torch.from_numpy(_ways(trie)).to(device)
        return self._decode(memory, sample, _TreeHistory(ways, memory.bias), token, depth, runs)

    def _step(
        self, memory: _Read, sample: Tensor, past: Tensor, runs: Tensor, token: Tensor
    ) -> tuple[Tensor, State]:
        history = _GrowingHistory(past)
        depth = torch.full_like(token, past.shape[1])
        logits = self._decode(memory, sample, history, token, depth, runs)
        return logits, (history.grown(), runs)

    def _decode(
        self,
        memory: _Read,
        sample: Tensor,
        history: History,
        token: Tensor,
        depth: Tensor,
        runs: Tensor,
    ) -> Tensor:
        seating = Seating(sample, len(memory.choice))
        x = self.tokens(token) + self.depth[depth.clamp(max=MOST_POSITIONS - 1)]
        x = self.dropout(x)
        if self.copy:
            pointers = Pointers(sample, runs, depth, memory.choice.index_select(0, sample))
            related = STRENGTH * self.relation[pointers.relations()]
            liked = seating.seated(related).permute(0, 3, 1, 2)  # as attention wants its biases
        for number, block in enumerate(self.decoder):
            bias = memory.bias
            if self.copy:
                bias = bias + liked[:, number * self.heads : (number + 1) * self.heads]
            x = block(x, history, seating, memory.key_values[number], bias)
        x = self.decoder_norm(x)
        logits: Tensor = self.output(x)
        if not self.copy:
            return logits
        with_votes: Tensor = self.copy_head(logits, x, memory.spans, seating, pointers)
        return with_votes


def _liked_distances(heads: int) -> Tensor:
    """First likings: the next position, the one before, the own one, and all alike, in turn.

    Heads that look at neighbours from the start need not find out that there are any.
    """
    liked = torch.zeros(heads, 2 * FARTHEST + 1)
    for head in range(heads):
        if head % 4 < 3:
            liked[head, FARTHEST + (1, -1, 0)[head % 4]] = 3 / STRENGTH
    return liked


class _TreeHistory:
    """Prefixes of whole trees: each looks at the nodes on its way, which are all there at once."""

    def __init__(self, ways: Tensor, like: Tensor) -> None:
        self.ways = ways  # (n, longest): nodes from the own one up to the root, then -1
        self.bias = like.new_zeros(ways.shape).masked_fill(ways < 0, FORBIDDEN)[:, None, None]

    def look_back(self, layer: int, key_value: Tensor) -> tuple[Tensor, Tensor]:
        way = key_value.index_select(0, self.ways.clamp(min=0).flatten())
        return way.view(*self.ways.shape, -1), self.bias


class _GrowingHistory:
    """Prefixes that grow token by token: what their shorter selves left behind."""

    def __init__(self, past: Tensor) -> None:
        self.past = past  # (n, tokens before, layers, 2d)
        self.present: list[Tensor] = []

    def look_back(self, layer: int, key_value: Tensor) -> tuple[Tensor, Tensor]:
        self.present.append(key_value)
        way = torch.cat([self.past[:, :, layer], key_value[:, None]], dim=1)
        return way, way.new_zeros(1, 1, 1, way.shape[1])

    def grown(self) -> Tensor:
        return torch.cat([self.past, torch.stack(self.present, dim=1)[:, None]], dim=1)


def _ways(trie: Trie) -> IntArray:
    """For each node the nodes from itself up to its root, (n, longest), -1 beyond."""
    ways = np.full((len(trie), int(trie.depth.max(initial=0)) + 1), -1, dtype=np.int64)
    at = np.arange(len(trie))
    for column in range(ways.shape[1]):
        ways[:, column] = at
        at = np.where(at < 0, -1, trie.parent[at])
    return ways
