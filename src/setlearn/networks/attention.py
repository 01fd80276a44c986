"""The blocks of a transformer, for inputs in rows and for prefixes that form trees."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad, scaled_dot_product_attention

from setlearn.networks.dropout import Dropout

__all__ = [
    "FORBIDDEN",
    "STRENGTH",
    "Attention",
    "DecoderBlock",
    "EncoderBlock",
    "History",
    "Seating",
]

FORBIDDEN = -1e9
"""Added to what must not be attended to: finite, so that a row of nothing else is no NaN."""

STRENGTH = 10
"""Learned biases on attention are in these units. Adam moves every number by about the learning
rate, and a bias must grow to several units before attention follows it: without this, two
thousand steps were not enough."""


class Seating:
    """Gives each of n prefixes a seat among those of its sample: (n, d) ↔ (b, seats, d).

    Prefixes of one sample attend to the same input; seated together they share its keys, which
    would else be copied for each.
    """

    def __init__(self, sample: Tensor, n_samples: int) -> None:
        order = torch.argsort(sample, stable=True)
        counts = torch.bincount(sample, minlength=n_samples)
        first = torch.cumsum(counts, 0) - counts
        rank = torch.arange(len(sample), device=sample.device) - first[sample[order]]
        self.n_seats = max(int(counts.max()), 1)
        self.n_samples = n_samples
        self.seat = torch.empty_like(sample)
        self.seat[order] = sample[order] * self.n_seats + rank

    def seated(self, x: Tensor) -> Tensor:
        """(n, …) → (b, seats, …), zero where nobody sits."""
        empty = x.new_zeros(self.n_samples * self.n_seats, *x.shape[1:])
        filled = empty.index_copy(0, self.seat, x)
        return filled.view(self.n_samples, self.n_seats, *x.shape[1:])

    def back(self, x: Tensor) -> Tensor:
        """(b, seats, …) → (n, …)."""
        return x.flatten(0, 1).index_select(0, self.seat)


class Attention(nn.Module):
    """Attention with several heads; keys and values are made apart, to be kept and shared."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
        """Attend from x (b, q, d) to keys and values (b, k, 2d); bias (b, heads or 1, q, k)."""
        # A key of zeros with nothing behind it: where nothing fits, nothing is found.
        key, value = pad(key_value, (0, 0, 0, 1)).chunk(2, dim=-1)
        bias = pad(bias, (0, 1))
        found = scaled_dot_product_attention(
            self._by_head(self.query(x)), self._by_head(key), self._by_head(value), attn_mask=bias
        )
        together: Tensor = self.output(found.transpose(1, 2).flatten(2))
        return together

    def _by_head(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class _FeedForward(nn.Module):
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        narrowed: Tensor = self.narrow(self.dropout(gelu(self.wide(x))))
        return narrowed


class EncoderBlock(nn.Module):
    """Every position of an input looks at all others."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.attention = Attention(width, heads)
        self.feed_forward = _FeedForward(width, dropout)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """One step of the residual stream x (b, positions, d)."""
        seen = self.norms[0](x)
        x = x + self.dropout(self.attention(seen, self.attention.key_value(seen), bias))
        fed: Tensor = self.dropout(self.feed_forward(self.norms[1](x)))
        return x + fed


class History(Protocol):
    """What a prefix remembers of the prefixes above it, in a tree or from the steps before."""

    def look_back(self, layer: int, key_value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of each prefix's way, itself last or first, and the bias on them.

        ``key_value`` (n, 2d) are the prefixes' own; the answers are (n, way, 2d) and
        (n, 1, 1, way) or broadcastable to it.
        """
        ...


class DecoderBlock(nn.Module):
    """Every prefix looks at its own beginning, then at the input of its sample."""

    def __init__(self, width: int, heads: int, dropout: float, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.own = Attention(width, heads)
        self.input = Attention(width, heads)
        self.feed_forward = _FeedForward(width, dropout)
        self.dropout = Dropout(dropout)

    def input_keys(self, x: Tensor) -> Tensor:
        """Keys and values of inputs x (b, positions, d), made once for all prefixes."""
        made: Tensor = self.input.key_value(x)
        return made

    def forward(
        self,
        x: Tensor,
        history: History,
        seating: Seating,
        input_key_value: Tensor,
        input_bias: Tensor,
    ) -> Tensor:
        """One step of the residual stream x (n, d) of n prefixes."""
        seen = self.norms[0](x)
        way, way_bias = history.look_back(self.layer, self.own.key_value(seen))
        x = x + self.dropout(self.own(seen[:, None], way, way_bias)[:, 0])
        seated = seating.seated(self.norms[1](x))
        x = x + self.dropout(seating.back(self.input(seated, input_key_value, input_bias)))
        fed: Tensor = self.dropout(self.feed_forward(self.norms[2](x)))
        return x + fed
