"""The blocks of a transformer, for padded inputs and for prefixes that form trees."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad, scaled_dot_product_attention

__all__ = [
    "BIAS_UNIT",
    "MASKED",
    "Attention",
    "DecoderBlock",
    "Dropout",
    "EncoderBlock",
    "History",
    "SampleGrid",
]

MASKED = -1e9
"""Added to scores that must not count: finite, so that a row of such scores is not NaN."""

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
        self.slot = torch.empty_like(sample)
        self.slot[order] = sample[order] * self.n_slots + rank

    def arrange(self, x: Tensor) -> Tensor:
        """(n, …) → (samples, slots, …), zero in empty slots."""
        empty = x.new_zeros(self.n_samples * self.n_slots, *x.shape[1:])
        filled = empty.index_copy(0, self.slot, x)
        return filled.view(self.n_samples, self.n_slots, *x.shape[1:])

    def flatten(self, x: Tensor) -> Tensor:
        """(samples, slots, …) → (n, …)."""
        return x.flatten(0, 1).index_select(0, self.slot)


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
        # An extra key and value of zeros, so that attending to nothing is possible.
        key, value = pad(key_value, (0, 0, 0, 1)).chunk(2, dim=-1)
        bias = pad(bias, (0, 1))
        attended = scaled_dot_product_attention(
            self._by_head(self.query(x)), self._by_head(key), self._by_head(value), attn_mask=bias
        )
        output: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return output

    def _by_head(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


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
    """Every position of an input attends to all others.

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

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Update the residual stream.

        Parameters
        ----------
        x : Tensor of shape (b, positions, d)
        bias : Tensor
            As in `Attention`.

        Returns
        -------
        Tensor of shape (b, positions, d)
        """
        normed = self.norms[0](x)
        x = x + self.dropout(self.attention(normed, self.attention.key_value(normed), bias))
        update: Tensor = self.dropout(self.feed_forward(self.norms[1](x)))
        return x + update


class History(Protocol):
    """Keys and values of the prefixes above each prefix, in a tree or from earlier steps."""

    def look_back(self, layer: int, key_value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values along the path of each prefix, itself first or last, and their bias.

        Parameters
        ----------
        layer : int
        key_value : Tensor of shape (n, 2d)
            The keys and values of the prefixes themselves.

        Returns
        -------
        key_value : Tensor of shape (n, path, 2d)
        bias : Tensor of shape (n, 1, 1, path), or broadcastable to it
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
        normed = self.norms[0](x)
        path, path_bias = history.look_back(self.layer, self.own.key_value(normed))
        x = x + self.dropout(self.own(normed[:, None], path, path_bias)[:, 0])
        arranged = grid.arrange(self.norms[1](x))
        x = x + self.dropout(grid.flatten(self.input(arranged, input_key_value, input_bias)))
        update: Tensor = self.dropout(self.feed_forward(self.norms[2](x)))
        return x + update
