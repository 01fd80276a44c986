"""A small encoder–decoder with attention that can copy tokens of its input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from setlearn.networks.attention import (
    BIAS_UNIT,
    DecoderBlock,
    Dropout,
    EncoderBlock,
    History,
    SampleGrid,
)
from setlearn.networks.copy_head import CopyHead, Spans
from setlearn.networks.histories import GrowingHistory, TreeHistory
from setlearn.networks.input_attention import (
    MASKED,
    N_OCCURRENCES,
    N_PAIR_RELATIONS,
    InputBias,
    same_token_pairs,
)
from setlearn.networks.pointers import (
    N_STRETCH_RELATIONS,
    N_WHOLE_RELATIONS,
    extend_runs,
    point_at_stretches,
    point_at_whole,
)
from setlearn.networks.positions import MOST_POSITIONS, late_starts, position_numbers
from setlearn.networks.recipe import Loss, NetworkRecipe
from setlearn.networks.sequence_network import SequenceNetwork, State
from setlearn.networks.windows import Windows
from setlearn.nodes import IntArray
from setlearn.parameter_checks import check_share
from setlearn.savable import savable
from setlearn.trie import END, Trie

__all__ = ["Transformer", "TransformerNetwork"]

MOST_IN_TREES = 16_000_000
"""Pairs of nodes, within the trees of all samples, that one pass handles: 64 MB for each head.
Larger tries are scored by level, which needs less memory."""

FARTHEST = 16
"""The largest distance between positions that attention distinguishes, in either direction."""


@savable()
class Transformer(NetworkRecipe):
    """A small encoder–decoder with attention and a copy head.

    Parameters
    ----------
    width : int, default=96
        Of all layers; a multiple of ``heads``.
    heads : int, default=4
        Attention heads of each layer.
    encoder_layers : int, default=3
    decoder_layers : int, default=1
        One is enough if sequences are copied from the input. Long sequences that are not may need
        more.
    dropout : float in [0, 1), default=0.2
    copy : bool, default=True
        Whether tokens of the input can be copied into the answer. It makes no difference if inputs
        and sequences share no token.
    match_tokens : bool, default=True
        Whether attention between input positions depends on which of them hold the same token, and
        whether a stretch that is copied may begin in the middle of a sequence. Models that were
        saved before this parameter existed have False.
    loss : {"node", "sequence"}, default="node"
        "node" trains each right choice at a prefix on its own. "sequence" is the paper's loss: one
        choice among all.

    Examples
    --------
    >>> from setlearn.networks import Transformer
    >>> network = Transformer(width=32).build(n_choices=11, n_tokens=11, n_features=0)
    >>> network.output.in_features
    32
    """

    sizes = ("width", "heads", "encoder_layers", "decoder_layers")
    steps_per_root: ClassVar[int] = 110
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 32,
        "learning_rate": 3e-3,
        "weight_decay": 0.1,
        "schedule": "one-cycle",
    }

    def __init__(
        self,
        width: int = 96,
        heads: int = 4,
        encoder_layers: int = 3,
        decoder_layers: int = 1,
        dropout: float = 0.2,
        copy: bool = True,
        match_tokens: bool = True,
        *,
        loss: Loss = "node",
    ) -> None:
        self.width = width
        self.heads = heads
        self.encoder_layers = encoder_layers
        self.decoder_layers = decoder_layers
        self.dropout = dropout
        self.copy = copy
        self.match_tokens = match_tokens
        self.loss = loss

    @property
    def copies_tokens(self) -> bool:
        """Whether there is a copy head."""
        return self.copy

    def check_parameters(self) -> None:
        """Raise ParameterError if a parameter is out of range."""
        super().check_parameters()
        check_share("dropout", self.dropout)

    def new_module(
        self, *, n_choices: int, n_tokens: int, n_features: int, copies: IntArray | None
    ) -> TransformerNetwork:
        """Make the network with fresh weights."""
        return TransformerNetwork(
            n_choices,
            n_tokens=n_tokens,
            n_features=n_features,
            copies=copies,
            width=self.width,
            heads=self.heads,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            dropout=self.dropout,
            copy=self.copy,
            match_tokens=self.match_tokens,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """What is kept of the inputs."""

    key_values: list[Tensor]  # one per decoder layer: (b, positions, 2d)
    bias: Tensor  # (b, 1, 1, positions): no attention to padding
    choice: Tensor  # (b, positions) the choice that a position can be copied as, END for none
    spans: Spans | None  # for the copy head
    length: Tensor  # (b,)


class TransformerNetwork(SequenceNetwork):
    """Reads an input with self-attention, then scores all prefixes of a tree in one pass.

    If inputs and sequences share tokens, attention also depends on which input positions continue
    what the prefix has copied so far, and in the copy head these positions vote for their tokens.

    Parameters
    ----------
    n_choices, n_tokens, n_features, copies
        As in `NetworkRecipe.build`.
    width, heads, encoder_layers, decoder_layers, dropout, copy, match_tokens
        As in `Transformer`.
    """

    precision = torch.float32
    copies: Tensor

    def __init__(
        self,
        n_choices: int,
        *,
        n_tokens: int,
        n_features: int,
        copies: IntArray | None,
        width: int,
        heads: int,
        encoder_layers: int,
        decoder_layers: int,
        dropout: float,
        copy: bool,
        match_tokens: bool,
    ) -> None:
        super().__init__()
        self.n_choices = n_choices
        self.heads = heads
        copies = np.zeros(n_tokens, dtype=np.int64) if copies is None else np.asarray(copies)
        self.register_buffer("copies", torch.as_tensor(copies, dtype=torch.long))
        # Computed from the array, because on torch's "meta" device tensors have no values.
        self.copy = copy and bool(n_tokens) and bool((copies != END).any())
        self.read: nn.Module
        if n_features:
            self.read = nn.Linear(n_features, width)
        else:
            self.read = nn.Embedding(n_tokens, width, padding_idx=0)
        self.tokens = nn.Embedding(n_choices, width)  # row 0, the end symbol, also starts
        # As large as embeddings, so that what the layers add at first does not hide them.
        self.position = nn.Parameter(torch.randn(MOST_POSITIONS, width))
        self.depth = nn.Parameter(torch.randn(MOST_POSITIONS, width))
        self.match_tokens = match_tokens and bool(n_tokens)
        self.distance = nn.Parameter(_first_distance_biases(heads).repeat(encoder_layers, 1, 1))
        if self.match_tokens:
            # The attention bias of each head of each layer between positions with the same token.
            self.same_token = nn.Parameter(torch.zeros(encoder_layers, N_PAIR_RELATIONS, heads))
            self.occurrence = nn.Parameter(torch.zeros(N_OCCURRENCES, width))
        encoder = [EncoderBlock(width, heads, dropout) for _ in range(encoder_layers)]
        decoder = [DecoderBlock(width, heads, dropout, k) for k in range(decoder_layers)]
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(width, n_choices)
        # Few choices are right at a prefix. If each starts at one half, half of the training is
        # spent on unlearning that.
        start = -math.log(n_choices)
        nn.init.constant_(self.output.bias, start)
        if self.copy:
            n_relations = N_STRETCH_RELATIONS if match_tokens else N_WHOLE_RELATIONS
            self.copy_head = CopyHead(width, n_relations, start - 1)  # weak, as votes add up
            # The attention bias of each head of each layer for each relation.
            self.relation = nn.Parameter(torch.randn(n_relations, decoder_layers * heads) * 0.02)

    @property
    def longest_whole(self) -> int:
        """Longer inputs are read in windows."""
        return Windows.longest_whole()

    def most_at_once(self, longest: int) -> int:
        """The longer, the fewer."""
        return Windows.of(longest).most_at_once

    def encode(self, values: Tensor, length: Tensor) -> _Memory:
        """Let the positions of each input attend to each other."""
        b, n_positions = values.shape[:2]
        length = length.to(values.device)
        position = torch.arange(n_positions, device=values.device)
        inside = position < length[:, None]  # (b, positions)
        # Layers run on the real positions only, one after the other; padding is for attention.
        sample, place = inside.nonzero(as_tuple=True)
        grid = SampleGrid(sample, b)
        pairs = same_token_pairs(values) if self.match_tokens else None
        if self.training:
            place = place + late_starts(length)[sample]
        numbers = position_numbers(place, far_ones_share=self.match_tokens)
        x = self.read(values[inside]) + self.position[numbers]
        if pairs is not None:
            x = x + self.occurrence[pairs.occurrence[inside]]
        x = self.dropout(x)
        masked = x.new_zeros(inside.shape).masked_fill(~inside, MASKED)
        distance = Windows.of(n_positions).distances(values.device)
        distance = distance.clamp(-FARTHEST, FARTHEST) + FARTHEST
        distance_bias = BIAS_UNIT * self.distance[:, :, distance]  # (layers, heads, distances)
        for number, block in enumerate(self.encoder):
            relation = BIAS_UNIT * self.same_token[number] if self.match_tokens else None
            x = block(x, grid, InputBias(length, distance_bias[number], relation, pairs))
        x = grid.arrange(self.encoder_norm(x))
        choice = torch.zeros_like(inside, dtype=torch.long)
        if self.copy:
            choice = self.copies[values] * inside
        return _Memory(
            [cast(DecoderBlock, block).input_keys(x) for block in self.decoder],
            masked[:, None, None],
            choice,
            self.copy_head.read(x) if self.copy else None,
            length,
        )

    def memory_of(self, memory: _Memory, rows: Tensor) -> _Memory:
        """Only some inputs, and only as many positions as the longest of them has."""
        length = memory.length.index_select(0, rows)
        n = int(length.max())
        return _Memory(
            [part[:, :n].index_select(0, rows) for part in memory.key_values],
            memory.bias[..., :n].index_select(0, rows),
            memory.choice[:, :n].index_select(0, rows),
            None if memory.spans is None else memory.spans.part(rows, n),
            length,
        )

    def start(self, memory: _Memory) -> tuple[Tensor, State]:
        """Score the empty prefix, by feeding the end symbol."""
        sample = torch.arange(len(memory.choice), device=memory.choice.device)
        runs = torch.zeros_like(memory.choice)
        past = memory.bias.new_zeros(len(sample), 0, 2 * self.tokens.embedding_dim)
        return self._step(memory, sample, [past] * len(self.decoder), runs, sample * 0)

    def advance(
        self, memory: _Memory, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Feed one token to every prefix; all have the same length."""
        runs, *past = state
        choice = memory.choice.index_select(0, sample)
        runs = extend_runs(runs[:, : choice.shape[1]], choice, token, past[0].shape[1] == 1)
        return self._step(memory, sample, past, runs, token)

    def score_trie(self, memory: _Memory, trie: Trie) -> Tensor:
        """Score all nodes in one pass, in which each attends to those above it."""
        if trie.n_samples * int(np.bincount(trie.sample).max(initial=0)) ** 2 > MOST_IN_TREES:
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
                choice = memory.choice.index_select(0, sample[nodes])
                runs[nodes] = extend_runs(above, choice, token[nodes], first=number == 0)
        grid = SampleGrid(sample, len(memory.choice))
        history = TreeHistory(trie, grid, memory.bias)
        return self._decode(memory, grid, history, token, depth, runs)

    def _step(
        self, memory: _Memory, sample: Tensor, past: list[Tensor], runs: Tensor, token: Tensor
    ) -> tuple[Tensor, State]:
        history = GrowingHistory(past)
        depth = torch.full_like(token, past[0].shape[1])
        grid = SampleGrid(sample, len(memory.choice))
        logits = self._decode(memory, grid, history, token, depth, runs)
        return logits, (runs, *history.grown)

    def _decode(
        self,
        memory: _Memory,
        grid: SampleGrid,
        history: History,
        token: Tensor,
        depth: Tensor,
        runs: Tensor,
    ) -> Tensor:
        x = self.tokens(token) + self.depth[depth.clamp(max=MOST_POSITIONS - 1)]
        x = self.dropout(x)
        if self.copy:
            point = point_at_stretches if self.match_tokens else point_at_whole
            pointers = point(runs, depth)
            relation = BIAS_UNIT * self.relation[pointers.relation]
            # (b, layers · heads, slots, positions)
            relation_bias = grid.arrange(relation).permute(0, 3, 1, 2)
        for number, block in enumerate(self.decoder):
            bias = memory.bias
            if self.copy:
                bias = bias + relation_bias[:, number * self.heads : (number + 1) * self.heads]
            x = block(x, history, grid, memory.key_values[number], bias)
        x = self.decoder_norm(x)
        logits: Tensor = self.output(x)
        if not self.copy:
            return logits
        choice = memory.choice.index_select(0, grid.sample)
        with_votes: Tensor = self.copy_head(logits, x, memory.spans, grid, choice, pointers)
        return with_votes


def _first_distance_biases(heads: int) -> Tensor:
    """Heads start by preferring the next position, the one before, the same one, or none, in turn.

    So they need not learn first that neighbouring positions matter.
    """
    biases = torch.zeros(heads, 2 * FARTHEST + 1)
    for head in range(heads):
        if head % 4 < 3:
            biases[head, FARTHEST + (1, -1, 0)[head % 4]] = 3 / BIAS_UNIT
    return biases
