"""The copy head: input positions vote for their own token as the next choice, or for the end.

A position is the better a place to copy from, the more of the prefix was copied from right before
it. So each prefix has pointers into its input, which move on as tokens are copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from setlearn.networks.attention import BIAS_UNIT, SampleGrid
from setlearn.networks.input_attention import MASKED
from setlearn.networks.pointers import Pointers
from setlearn.networks.windows import Windows
from setlearn.trie import END

__all__ = ["CopyHead", "Spans"]


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """What the copy head keeps of the inputs.

    How well the first and the last position of a span fit is kept by the block of the first one,
    (b, blocks, size, seen): for all positions in its block and the next one. A short input is one
    block.
    """

    keys: Tensor  # (b, 4, positions, d)
    continues: Tensor  # (b, blocks, size, seen)
    ends: Tensor  # the same, for spans with which a sequence ends

    def part(self, rows: Tensor, n_positions: int) -> Spans:
        """Only some inputs, and only their first positions.

        Parameters
        ----------
        rows : Tensor of shape (n,)
            The inputs.
        n_positions : int

        Returns
        -------
        Spans
        """
        _, n_blocks, size, _ = self.continues.shape
        needed = -(-n_positions // size)
        seen = n_positions if n_blocks == 1 else None
        return Spans(
            self.keys[:, :, :n_positions].index_select(0, rows),
            self.continues[:, :needed, :seen, :seen].index_select(0, rows),
            self.ends[:, :needed, :seen, :seen].index_select(0, rows),
        )


class CopyHead(nn.Module):
    """Adds the votes of input positions to the logits of choices.

    The vote of a position for its own token depends on the position itself, on the position where
    the copied stretch starts, and on how well the two fit as the ends of one span. Positions where
    the sequence can end vote for the end in the same way. Votes are odds and add up: under a
    softmax this is the usual mixture of generating and pointing, and under sigmoids each position
    counts on its own.

    Parameters
    ----------
    width : int
        Of the encoder and the decoder.
    n_relations : int
        How many relations between a position and a prefix the pointers distinguish.
    start : float
        The logit of a vote before training, about.
    """

    def __init__(self, width: int, n_relations: int, start: float) -> None:
        super().__init__()
        self.width = width
        self.query = nn.Linear(width, 4 * width)
        self.key = nn.Linear(width, 4 * width)
        self.first = nn.Linear(width, 2 * width)
        self.last = nn.Linear(width, 2 * width)
        self.relation = nn.Parameter(torch.zeros(n_relations, 2))
        self.bias = nn.Parameter(torch.full((2,), start))

    def read(self, x: Tensor) -> Spans:
        """What is needed of encoded inputs (b, positions, d)."""
        first = (self.first(x) * self.width**-0.5).chunk(2, dim=-1)
        last = self.last(x).chunk(2, dim=-1)
        windows = Windows.of(x.shape[1])
        continues, ends = (
            windows.split(a) @ windows.beside(b, before=False).mT
            for a, b in zip(first, last, strict=True)
        )
        keys = self.key(x).unflatten(-1, (4, self.width)).transpose(1, 2).contiguous()
        return Spans(keys, continues, ends)

    def forward(
        self,
        logits: Tensor,
        x: Tensor,
        spans: Spans,
        grid: SampleGrid,
        choice: Tensor,
        pointers: Pointers,
    ) -> Tensor:
        """Add the votes of the inputs' positions to the logits.

        Parameters
        ----------
        logits : Tensor of shape (n, n_choices)
        x : Tensor of shape (n, d)
            The prefixes as the decoder represents them.
        spans : Spans
            Of the inputs.
        grid : SampleGrid
        choice : Tensor of shape (n, positions)
            The choice that each position can be copied as, END for none.
        pointers : Pointers
            Where the prefixes stand in their inputs.

        Returns
        -------
        Tensor of shape (n, n_choices)
        """
        query = grid.arrange(self.query(x).view(len(x), 4, self.width)).transpose(1, 2)
        scores = grid.flatten((query @ spans.keys.mT).transpose(1, 2)) * self.width**-0.5
        here, at_start, end_here, end_at_start = scores.unbind(1)  # each (n, positions)
        relation = BIAS_UNIT * self.relation[pointers.relation] + self.bias
        continues = _of_stretches(at_start, spans.continues, grid.sample, pointers.start)
        continues = (here + continues + relation[..., 0]).masked_fill(choice == END, MASKED)
        ends = _of_stretches(end_at_start, spans.ends, grid.sample, pointers.end_start)
        ends = (end_here + ends + relation[..., 1]).masked_fill(~pointers.can_end, MASKED)
        votes = torch.cat([continues, ends], 1)
        voted_for = torch.cat([choice, choice * 0 + END], 1)
        highest = torch.maximum(logits.amax(1, keepdim=True), votes.amax(1, keepdim=True)).detach()
        odds = (logits - highest).exp().scatter_add(1, voted_for, (votes - highest).exp())
        return odds.clamp_min(torch.finfo(odds.dtype).tiny).log() + highest


def _of_stretches(at_start: Tensor, by_span: Tensor, sample: Tensor, start: Tensor) -> Tensor:
    """What the starts of stretches add to the votes of their last positions.

    Parameters
    ----------
    at_start : Tensor of shape (n, positions)
        The scores of all positions as starts.
    by_span : Tensor of shape (b, blocks, size, seen)
        The scores of spans, see `Spans`.
    sample : Tensor of shape (n,)
    start : Tensor of shape (n, positions)
        Where each stretch starts; a stretch that starts before its input adds nothing. Of one that
        is longer than a block, the last part counts.

    Returns
    -------
    Tensor of shape (n, positions)
    """
    n_positions = start.shape[1]
    _, n_blocks, size, n_seen = by_span.shape
    inside = start.clamp(0, n_positions - 1)
    position = torch.arange(n_positions, device=start.device)
    near = torch.maximum(inside, position - size)
    block = near // size
    place = ((sample[:, None] * n_blocks + block) * size + near % size) * n_seen
    of_spans = by_span.take(place + position - block * size)
    return (at_start.gather(1, inside) + of_spans) * (start == inside)
