"""The copy head: positions of the input vote for the choice that they spell, or for the end."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from setlearn.networks.alignment import N_RELATIONS, moved, relations, spells_whole
from setlearn.networks.attention import FORBIDDEN, STRENGTH, Seating
from setlearn.trie import END

__all__ = ["CopyHead", "Pointers", "Spans"]


@dataclass(frozen=True, slots=True, eq=False)
class Pointers:
    """Where prefixes stand in their inputs."""

    sample: Tensor  # (n,)
    runs: Tensor  # (n, positions), see setlearn.networks.alignment.run_on
    depth: Tensor  # (n,)
    choice: Tensor  # (n, positions) the choice that a position spells, END for none

    def relations(self) -> Tensor:
        """What each position is to each prefix."""
        return relations(self.runs, self.depth)


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """What the copy head keeps of the inputs."""

    keys: Tensor  # (b, positions, 4d)
    first: Tensor  # (b, positions, 2d): as the first position of a span that goes on, or ends
    last: Tensor  # (b, positions, 2d): as the last one

    def scores(self, sample: Tensor, depth: Tensor) -> tuple[Tensor, Tensor]:
        """How well the spans of each prefix's length go on, and end, at each position.

        A prefix of length k that goes on at position i makes the span from i - k to i; one that
        ends there, the span from i - k + 1. Both answers are (n, positions).
        """
        lengths = range(int(depth.max()) + 1)
        first_on, first_end = self.first.chunk(2, dim=-1)
        last_on, last_end = self.last.chunk(2, dim=-1)
        on = torch.stack([_along(first_on, last_on, k) for k in lengths])
        end = torch.stack([_along(first_end, last_end, k - 1) for k in lengths])
        return on[depth, sample], end[depth, sample]


def _along(first: Tensor, last: Tensor, distance: int) -> Tensor:
    """The products of each position's ``last`` with the ``first`` so far before it; else 0."""
    found = last.new_zeros(last.shape[:2])
    if 0 <= distance < last.shape[1]:
        n = last.shape[1] - distance
        found[:, distance:] = (first[:, :n] * last[:, distance:]).sum(-1)
    return found


class CopyHead(nn.Module):
    """Adds the votes of input positions to the logits of choices.

    A position votes for the choice that it spells by what the prefix asks of it, of where the
    stretch began that it would continue, and by how the two fit as the ends of one span.
    Positions at which the whole prefix has been spelled vote for the end likewise. Votes are
    odds, and add up: under a softmax that makes the usual mixture of generating and pointing,
    under sigmoids it lets each position speak for itself.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.query = nn.Linear(width, 4 * width)
        self.key = nn.Linear(width, 4 * width)
        self.first = nn.Linear(width, 2 * width)
        self.last = nn.Linear(width, 2 * width)
        self.relation = nn.Parameter(torch.zeros(N_RELATIONS, 2))
        self.bias = nn.Parameter(torch.full((2,), -3.0))  # copying is not taken for granted

    def read(self, x: Tensor) -> Spans:
        """What is needed of encoded inputs (b, positions, d)."""
        return Spans(self.key(x), self.first(x) * self.width**-0.5, self.last(x))

    def forward(
        self, logits: Tensor, x: Tensor, spans: Spans, seating: Seating, pointers: Pointers
    ) -> Tensor:
        """Logits (n, V) of prefixes x (n, d), with the votes of their inputs' positions."""
        query = seating.seated(self.query(x).view(len(x), 4, self.width)).transpose(1, 2)
        key = spans.keys.view(*spans.keys.shape[:2], 4, self.width).permute(0, 2, 3, 1)
        asked = seating.back((query @ key).transpose(1, 2)) * self.width**-0.5
        here, begun, end_here, end_begun = asked.unbind(1)  # each (n, positions)
        depth, choice = pointers.depth, pointers.choice
        fits, fits_end = spans.scores(pointers.sample, depth)
        related = STRENGTH * self.relation[pointers.relations()] + self.bias
        goes_on = here + moved(begun, depth) + fits + related[..., 0]
        goes_on = goes_on.masked_fill(choice == END, FORBIDDEN)
        ends = end_here + moved(end_begun, depth - 1) + fits_end + related[..., 1]
        ends = ends.masked_fill(~spells_whole(pointers.runs, depth), FORBIDDEN)
        votes, voted = torch.cat([goes_on, ends], 1), torch.cat([choice, choice * 0 + END], 1)
        highest = torch.maximum(logits.amax(1, keepdim=True), votes.amax(1, keepdim=True)).detach()
        odds = (logits - highest).exp().scatter_add(1, voted, (votes - highest).exp())
        return odds.clamp_min(torch.finfo(odds.dtype).tiny).log() + highest
