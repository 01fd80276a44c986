"""Windows of inputs: what a position can see of an input that is too long to compare all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

__all__ = ["Windows"]

MOST_PAIRS = 2_000_000
"""Pairs of positions that are compared together: 16 MB for each head in double precision."""

WINDOW = 128
"""The positions of a block of a long input."""

ENDS = 32
"""So many positions at either end of a long input are seen from everywhere: questions and
instructions stand there."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The blocks of an input, and what each position of a block can see.

    A short input is one block, and each position sees all others. In longer ones a position sees
    its own block, the blocks beside it, and both ends of the input, so that the cost grows with
    the length and not with its square.

    Examples
    --------
    >>> Windows.of(100).size, Windows.of(1000).size
    (100, 128)
    >>> Windows.of(1000).split(torch.zeros(2, 1000, 3)).shape
    torch.Size([2, 8, 128, 3])
    """

    n_positions: int
    size: int  # positions of a block
    n_blocks: int

    @classmethod
    def of(cls, n_positions: int) -> Windows:
        """The windows of inputs with so many positions, padding included."""
        if n_positions <= cls.longest_whole():
            return cls(n_positions, n_positions, 1)
        return cls(n_positions, WINDOW, -(-n_positions // WINDOW))

    @staticmethod
    def longest_whole() -> int:
        """The most positions of an input that is a single block."""
        return 3 * WINDOW

    @property
    def most_at_once(self) -> int:
        """How many inputs can be read together in bounded memory: the longer, the fewer."""
        return max(MOST_PAIRS // (self.n_positions * self.n_seen), 1)

    @property
    def around(self) -> int:
        """How many positions before and after its block a position sees."""
        return self.size if self.n_blocks > 1 else 0

    @property
    def ends(self) -> int:
        """How many positions at either end of the input a position sees in addition."""
        return ENDS if self.n_blocks > 1 else 0

    @property
    def n_seen(self) -> int:
        """How many positions a position sees: the start of the input, its window, the end."""
        return self.size + 2 * (self.around + self.ends)

    def distances(self, device: torch.device) -> Tensor:
        """All distances from a position to one that it sees, ascending."""
        return torch.arange(1 - self.size - self.around, self.size + self.around, device=device)

    def split(self, x: Tensor) -> Tensor:
        """(b, positions, …) → (b, blocks, size, …), filled up with zeros at the end."""
        missing = self.n_blocks * self.size - self.n_positions
        if missing:
            x = pad(x, (*[0, 0] * (x.dim() - 2), 0, missing))
        return x.reshape(len(x), self.n_blocks, self.size, *x.shape[2:])

    def join(self, x: Tensor) -> Tensor:
        """(b, blocks, size, …) → (b, positions, …), the reverse of `split`."""
        return x.flatten(1, 2)[:, : self.n_positions]

    def beside(self, x: Tensor, *, before: bool = True) -> Tensor:
        """(b, positions, …) → each block with those beside it, (b, blocks, 3 size, …).

        There are zeros before the first position and after the last one.

        Parameters
        ----------
        x : Tensor of shape (b, positions, …)
        before : bool, default=True
            Whether to include the block before.

        Returns
        -------
        Tensor
        """
        blocks = self.split(x)
        if self.n_blocks == 1:
            return blocks
        padded = pad(blocks, (*[0, 0] * (blocks.dim() - 2), 1, 1))
        parts = [padded[:, k : k + self.n_blocks] for k in range(0 if before else 1, 3)]
        return torch.cat(parts, dim=2)

    def seen(self, x: Tensor, length: Tensor) -> Tensor:
        """(b, positions, …) → what the positions of each block see, (b, blocks, n_seen, …).

        Parameters
        ----------
        x : Tensor of shape (b, positions, …)
        length : Tensor of shape (b,)
            Of the inputs without padding.

        Returns
        -------
        Tensor
        """
        beside = self.beside(x)
        if not self.ends:
            return beside
        sample = torch.arange(len(x), device=x.device)[:, None]
        at_ends = x[sample, self._positions_of_ends(length)]  # (b, 2 ends, …)
        at_ends = at_ends[:, None].expand(-1, self.n_blocks, *at_ends.shape[1:])
        return torch.cat([at_ends[:, :, : self.ends], beside, at_ends[:, :, self.ends :]], dim=2)

    def is_hidden(self, length: Tensor) -> Tensor:
        """What of `seen` does not count, (b, blocks, n_seen): padding, and what is there twice.

        Parameters
        ----------
        length : Tensor of shape (b,)

        Returns
        -------
        Tensor of bool
        """
        device = length.device
        first = torch.arange(self.n_blocks, device=device)[:, None] * self.size - self.around
        place = first + torch.arange(self.size + 2 * self.around, device=device)
        outside = (place < 0) | (place >= length[:, None, None])  # (b, blocks, window)
        if not self.ends:
            return outside
        ends = self._positions_of_ends(length)[:, None]  # (b, 1, 2 ends)
        twice = (ends >= first) & (ends < first + self.size + 2 * self.around)
        start, end = twice.chunk(2, dim=2)
        end = end | (ends[..., self.ends :] < self.ends)
        start = start | (ends[..., : self.ends] >= length[:, None, None])
        return torch.cat([start, outside, end], dim=2)

    def _positions_of_ends(self, length: Tensor) -> Tensor:
        """The first positions and the last ones of each input, (b, 2 ends)."""
        place = torch.arange(self.ends, device=length.device)
        last = (length[:, None] - self.ends + place).clamp(min=0)
        return torch.cat([place.expand_as(last), last], dim=1)
