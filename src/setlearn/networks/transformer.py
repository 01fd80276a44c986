"""A small encoder–decoder with attention that can copy tokens of its input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from setlearn.errors import ParameterError
from setlearn.networks.attention import (
    BIAS_UNIT,
    MASKED,
    DecoderBlock,
    Dropout,
    EncoderBlock,
    History,
    SampleGrid,
)
from setlearn.networks.copy_head import N_RELATIONS, CopyHead, Pointers, Spans, extend_runs
from setlearn.networks.recipe import Loss, NetworkRecipe
from setlearn.networks.sequence_network import SequenceNetwork, State
from setlearn.nodes import IntArray
from setlearn.parameter_checks import check_share
from setlearn.savable import savable
from setlearn.trie import END, Trie

__all__ = ["Transformer", "TransformerNetwork"]

MOST_POSITIONS = 512
"""Positions with an embedding of their own; later ones share the last."""

MOST_PAIRS = 2_000_000
"""Pairs of positions that prediction handles together: 16 MB for each head."""

MOST_ON_PATHS = 500_000
"""Nodes on the paths of all nodes that one pass handles; larger tries are scored by level, which
needs less memory."""

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
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 32,
        "learning_rate": 2e-3,
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
        *,
        loss: Loss = "node",
    ) -> None:
        self.width = width
        self.heads = heads
        self.encoder_layers = encoder_layers
        self.decoder_layers = decoder_layers
        self.dropout = dropout
        self.copy = copy
        self.loss = loss

    def check_parameters(self) -> None:
        """Raise ParameterError if a parameter is out of range."""
        super().check_parameters()
        if self.width % self.heads:
            raise ParameterError(
                f"width must be a multiple of heads, got {self.width} and {self.heads}"
            )
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
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """What is kept of the inputs."""

    key_values: list[Tensor]  # one per decoder layer: (b, positions, 2d)
    bias: Tensor  # (b, 1, 1, positions): no attention to padding
    choice: Tensor  # (b, positions) the choice that a position can be copied as, END for none
    spans: Spans | None  # for the copy head


class TransformerNetwork(SequenceNetwork):
    """Reads an input with self-attention, then scores all prefixes of a tree in one pass.

    If inputs and sequences share tokens, attention also depends on which input positions continue
    what the prefix has copied so far, and in the copy head these positions vote for their tokens.

    Parameters
    ----------
    n_choices, n_tokens, n_features, copies
        As in `NetworkRecipe.build`.
    width, heads, encoder_layers, decoder_layers, dropout, copy
        As in `Transformer`.
    """

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
        self.distance = nn.Parameter(_first_distance_biases(heads).repeat(encoder_layers, 1, 1))
        encoder = [EncoderBlock(width, heads, dropout) for _ in range(encoder_layers)]
        decoder = [DecoderBlock(width, heads, dropout, k) for k in range(decoder_layers)]
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(width, n_choices)
        if self.copy:
            self.copy_head = CopyHead(width)
            # The attention bias of each head of each layer for each relation.
            self.relation = nn.Parameter(torch.randn(N_RELATIONS, decoder_layers * heads) * 0.02)

    def most_at_once(self, longest: int) -> int:
        """The longer, the fewer: attention between all positions grows with their square."""
        return max(MOST_PAIRS // longest**2, 1)

    def encode(self, values: Tensor, length: Tensor) -> _Memory:
        """Let all positions of each input attend to each other."""
        device = values.device
        n_positions = values.shape[1]
        position = torch.arange(n_positions, device=device)
        inside = position < length.to(device)[:, None]  # (b, positions)
        x = self.read(values) + self.position[position.clamp(max=MOST_POSITIONS - 1)]
        x = self.dropout(x)
        bias = x.new_zeros(inside.shape).masked_fill(~inside, MASKED)[:, None, None]
        distance = (position - position[:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST
        # (layers, heads, positions, positions)
        distance_bias = BIAS_UNIT * self.distance[:, :, distance]
        for number, block in enumerate(self.encoder):
            x = block(x, bias + distance_bias[number])
        x = self.encoder_norm(x)
        choice = torch.zeros_like(inside, dtype=torch.long)
        if self.copy:
            choice = self.copies[values] * inside
        return _Memory(
            [cast(DecoderBlock, block).input_keys(x) for block in self.decoder],
            bias,
            choice,
            self.copy_head.read(x) if self.copy else None,
        )

    def start(self, memory: _Memory) -> tuple[Tensor, State]:
        """Score the empty prefix, by feeding the end symbol."""
        b, n_positions = memory.choice.shape
        device = memory.choice.device
        sample = torch.arange(b, device=device)
        runs = torch.zeros(b, n_positions, dtype=torch.long, device=device)
        past = memory.bias.new_zeros(b, 0, len(self.decoder), 2 * self.tokens.embedding_dim)
        return self._step(memory, sample, past, runs, torch.zeros_like(sample))

    def advance(
        self, memory: _Memory, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Feed one token to every prefix; all have the same length."""
        past, runs = state
        first = past.shape[1] == 1
        runs = extend_runs(runs, memory.choice.index_select(0, sample), token, first)
        return self._step(memory, sample, past, runs, token)

    def score_trie(self, memory: _Memory, trie: Trie) -> Tensor:
        """Score all nodes in one pass, in which each attends to those above it."""
        if len(trie) * (int(trie.depth.max(initial=0)) + 1) > MOST_ON_PATHS:
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
        paths = torch.from_numpy(_paths(trie)).to(device)
        return self._decode(memory, sample, _TreeHistory(paths, memory.bias), token, depth, runs)

    def _step(
        self, memory: _Memory, sample: Tensor, past: Tensor, runs: Tensor, token: Tensor
    ) -> tuple[Tensor, State]:
        history = _GrowingHistory(past)
        depth = torch.full_like(token, past.shape[1])
        logits = self._decode(memory, sample, history, token, depth, runs)
        return logits, (history.grown(), runs)

    def _decode(
        self,
        memory: _Memory,
        sample: Tensor,
        history: History,
        token: Tensor,
        depth: Tensor,
        runs: Tensor,
    ) -> Tensor:
        grid = SampleGrid(sample, len(memory.choice))
        x = self.tokens(token) + self.depth[depth.clamp(max=MOST_POSITIONS - 1)]
        x = self.dropout(x)
        if self.copy:
            pointers = Pointers(sample, runs, depth, memory.choice.index_select(0, sample))
            relation = BIAS_UNIT * self.relation[pointers.relations()]
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
        with_votes: Tensor = self.copy_head(logits, x, memory.spans, grid, pointers)
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


class _TreeHistory:
    """The prefixes of whole trees, which are scored together with the prefixes above them."""

    def __init__(self, paths: Tensor, like: Tensor) -> None:
        self.paths = paths  # (n, longest): from the node itself up to the root, then -1
        self.bias = like.new_zeros(paths.shape).masked_fill(paths < 0, MASKED)[:, None, None]

    def look_back(self, layer: int, key_value: Tensor) -> tuple[Tensor, Tensor]:
        on_paths = key_value.index_select(0, self.paths.clamp(min=0).flatten())
        return on_paths.view(*self.paths.shape, -1), self.bias


class _GrowingHistory:
    """Prefixes that grow token by token: the keys and values of all steps so far."""

    def __init__(self, past: Tensor) -> None:
        self.past = past  # (n, tokens before, layers, 2d)
        self.present: list[Tensor] = []

    def look_back(self, layer: int, key_value: Tensor) -> tuple[Tensor, Tensor]:
        self.present.append(key_value)
        path = torch.cat([self.past[:, :, layer], key_value[:, None]], dim=1)
        return path, path.new_zeros(1, 1, 1, path.shape[1])

    def grown(self) -> Tensor:
        return torch.cat([self.past, torch.stack(self.present, dim=1)[:, None]], dim=1)


def _paths(trie: Trie) -> IntArray:
    """For each node the nodes from itself up to its root, (n, longest), then -1."""
    paths = np.full((len(trie), int(trie.depth.max(initial=0)) + 1), -1, dtype=np.int64)
    node = np.arange(len(trie))
    for column in range(paths.shape[1]):
        paths[:, column] = node
        node = np.where(node < 0, -1, trie.parent[node])
    return paths
