"""The blocks of a transformer, for padded inputs and for prefixes that form trees."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad, scaled_dot_product_attention

from setlearn.networks.input_attention import InputBias, attend_within

__all__ = [
    "BIAS_UNIT",
    "Attention",
    "DecoderBlock",
    "Dropout",
    "EncoderBlock",
    "History",
    "SampleGrid",
]

BIAS_UNIT = 10
"""Learned attention biases are multiplied by this. Adam changes every number by about the learning
rate per step, and a bias must grow to several units before attention follows it: without the
factor, two thousand steps were not enough."""

ONE_BYTE = 256


class Dropout(nn.Module):
    """Set each feature to 0 with probability ``p`` in training, and scale the others up.

    On a CPU torch draws one number per feature, which took a quarter of a training step. One
    random byte per feature is enough, and each 64-bit draw has eight, so ``p`` is rounded to
    1/256.

    Parameters
    ----------
    p : float in [0, 1)

    Examples
    --------
    >>> with torch.random.fork_rng():
    ...     dropped = Dropout(0.25)(torch.ones(1000))
    >>> sorted({round(value, 2) for value in dropped.tolist()})
    [0.0, 1.33]
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.n_dropped = min(round(p * ONE_BYTE), ONE_BYTE - 1)

    def forward(self, x: Tensor) -> Tensor:
        """Drop some features of x."""
        if not self.training or self.n_dropped == 0:
            return x
        draws = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device)
        draws.random_(-(2**63), None)
        kept = draws.view(torch.uint8)[: x.numel()].view(x.shape) >= self.n_dropped
        return x * kept.to(x.dtype).mul_(ONE_BYTE / (ONE_BYTE - self.n_dropped))


class SampleGrid:
    """Arranges n prefixes in one row per sample: (n, d) ↔ (samples, slots, d).

    Prefixes of one sample attend to the same input. In one row they share its keys, which would
    otherwise be copied for each prefix.

    Parameters
    ----------
    sample : Tensor of shape (n,)
        The sample of each prefix.
    n_samples : int
    """

    def __init__(self, sample: Tensor, n_samples: int) -> None:
        order = torch.argsort(sample, stable=True)
        counts = torch.bincount(sample, minlength=n_samples)
        first = torch.cumsum(counts, 0) - counts
        rank = torch.arange(len(sample), device=sample.device) - first[sample[order]]
        self.n_slots = max(int(counts.max()), 1)
        self.n_samples = n_samples
        self.sample = sample
        self.slot = torch.empty_like(sample)
        self.slot[order] = sample[order] * self.n_slots + rank
        is_full = len(sample) == n_samples * self.n_slots
        self._is_plain = is_full and bool((sample[1:] >= sample[:-1]).all())

    def arrange(self, x: Tensor) -> Tensor:
        """(n, …) → (samples, slots, …), zero in empty slots."""
        if not self._is_plain:
            empty = x.new_zeros(self.n_samples * self.n_slots, *x.shape[1:])
            x = empty.index_copy(0, self.slot, x)
        return x.view(self.n_samples, self.n_slots, *x.shape[1:])

    def flatten(self, x: Tensor) -> Tensor:
        """(samples, slots, …) → (n, …)."""
        in_slots = x.flatten(0, 1)
        return in_slots if self._is_plain else in_slots.index_select(0, self.slot)


class Attention(nn.Module):
    """Multi-head attention. Keys and values are computed separately, to be kept and shared.

    Parameters
    ----------
    width, heads : int
        The width must be a multiple of the number of heads.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
        """Attend from queries to keys.

        Parameters
        ----------
        x : Tensor of shape (b, queries, d)
        key_value : Tensor of shape (b, keys, 2d)
        bias : Tensor of shape (b, heads or 1, queries, keys)
            Added to the attention scores.

        Returns
        -------
        Tensor of shape (b, queries, d)
        """
        query, key, value = self.by_head(self.query(x), key_value)
        bias = pad(bias, (0, 1))
        if bias.requires_grad:
            shape = (*query.shape[:3], key.shape[2])
            scores = torch.baddbmm(
                bias.expand(shape).flatten(0, 1),
                query.flatten(0, 1),
                key.flatten(0, 1).mT,
                alpha=query.shape[-1] ** -0.5,
            )
            attended = scores.softmax(-1).view(shape) @ value
        else:
            attended = scaled_dot_product_attention(query, key, value, attn_mask=bias)
        output: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return output

    def by_head(self, query: Tensor, key_value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Split queries, keys and values by heads.

        There is an extra key and value of zeros, so that attending to nothing is possible.

        Parameters
        ----------
        query : Tensor of shape (b, queries, d)
        key_value : Tensor of shape (b, keys, 2d)

        Returns
        -------
        query, key, value : Tensor of shape (b, heads, queries or keys + 1, d / heads)
        """
        key, value = pad(key_value, (0, 0, 0, 1)).chunk(2, dim=-1)
        query, key, value = (
            x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2) for x in (query, key, value)
        )
        return query, key, value


class _FeedForward(nn.Module):
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.narrow(self.dropout(gelu(self.wide(x))))
        return output


class EncoderBlock(nn.Module):
    """Every position of an input attends to the others.

    Parameters
    ----------
    width, heads : int
    dropout : float
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.attention = Attention(width, heads)
        self.feed_forward = _FeedForward(width, dropout)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, grid: SampleGrid, bias: InputBias) -> Tensor:
        """Update the residual stream.

        Parameters
        ----------
        x : Tensor of shape (n, d)
            The positions of all inputs, without padding.
        grid : SampleGrid
            Which input each position belongs to.
        bias : InputBias

        Returns
        -------
        Tensor of shape (n, d)
        """
        attention = self.attention
        normed = self.norms[0](x)
        by_head = attention.by_head(
            grid.arrange(attention.query(normed)), grid.arrange(attention.key_value(normed))
        )
        attended = attend_within(*by_head, bias)
        attended = attention.output(grid.flatten(attended.transpose(1, 2).flatten(2)))
        x = x + self.dropout(attended)
        update: Tensor = self.dropout(self.feed_forward(self.norms[1](x)))
        return x + update


class History(Protocol):
    """The prefixes above each prefix, in a tree or from earlier steps."""

    def attend(self, attention: Attention, layer: int, x: Tensor) -> Tensor:
        """Let each prefix attend to those on its path, itself included.

        Parameters
        ----------
        attention : Attention
        layer : int
        x : Tensor of shape (n, d)

        Returns
        -------
        Tensor of shape (n, d)
        """
        ...


class DecoderBlock(nn.Module):
    """Every prefix attends to its own path, then to the input of its sample.

    Parameters
    ----------
    width, heads : int
    dropout : float
    layer : int
        The number of this block, from 0.
    """

    def __init__(self, width: int, heads: int, dropout: float, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.own = Attention(width, heads)
        self.input = Attention(width, heads)
        self.feed_forward = _FeedForward(width, dropout)
        self.dropout = Dropout(dropout)

    def input_keys(self, x: Tensor) -> Tensor:
        """Keys and values of inputs x (b, positions, d), computed once for all prefixes."""
        key_value: Tensor = self.input.key_value(x)
        return key_value

    def forward(
        self,
        x: Tensor,
        history: History,
        grid: SampleGrid,
        input_key_value: Tensor,
        input_bias: Tensor,
    ) -> Tensor:
        """Update the residual stream of n prefixes.

        Parameters
        ----------
        x : Tensor of shape (n, d)
        history : History
        grid : SampleGrid
            Which sample each prefix belongs to.
        input_key_value : Tensor of shape (b, positions, 2d)
            From `input_keys`.
        input_bias : Tensor
            Broadcastable to (b, heads, slots, positions).

        Returns
        -------
        Tensor of shape (n, d)
        """
        x = x + self.dropout(history.attend(self.own, self.layer, self.norms[0](x)))
        arranged = grid.arrange(self.norms[1](x))
        x = x + self.dropout(grid.flatten(self.input(arranged, input_key_value, input_bias)))
        update: Tensor = self.dropout(self.feed_forward(self.norms[2](x)))
        return x + update
