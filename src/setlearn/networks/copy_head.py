"""The copy head: input positions vote for their own token as the next choice, or for the end.

A position is the better a place to copy from, the more of the prefix was copied from right before
it. So each prefix has pointers into its input, which move on as tokens are copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from setlearn.networks.attention import BIAS_UNIT, MASKED, SampleGrid
from setlearn.trie import END

__all__ = ["N_RELATIONS", "CopyHead", "Pointers", "Spans", "extend_runs", "relations", "shifted"]

N_RELATIONS = 18
"""How many relations between a position and a prefix are distinguished; see `relations`."""


def extend_runs(runs: Tensor, input_choice: Tensor, token: Tensor, first: bool) -> Tensor:
    """Count how many of the last tokens of each prefix match the input up to each position.

    Parameters
    ----------
    runs : Tensor of shape (n, positions)
        The counts of the prefixes without ``token``.
    input_choice : Tensor of shape (n, positions)
        The choice that each input position can be copied as, or END for none.
    token : Tensor of shape (n,)
        The last token of each prefix.
    first : bool
        Whether ``token`` is the first of each prefix.

    Returns
    -------
    Tensor of shape (n, positions)
    """
    same = (input_choice == token[:, None]) & (input_choice != END)
    if first:
        return same.to(runs.dtype)
    before = torch.zeros_like(runs)
    before[:, 1:] = runs[:, :-1]
    return (before + 1) * same


def relations(runs: Tensor, depth: Tensor) -> Tensor:
    """How each position relates to each prefix, as a number below ``N_RELATIONS``.

    The input up to a position may match nothing, the last tokens, or the whole of the prefix. The
    same holds for the position before it, after which a copy would continue. A stretch that
    matches the whole prefix may also start at the position.

    Parameters
    ----------
    runs : Tensor of shape (n, positions)
        From `extend_runs`.
    depth : Tensor of shape (n,)
        The lengths of the prefixes.

    Returns
    -------
    Tensor of shape (n, positions)
    """
    matches_whole = _matches_whole(runs, depth)
    match = (runs > 0).long() + matches_whole.long()  # 0 nothing, 1 the last tokens, 2 the whole
    match_before = torch.zeros_like(match)
    match_before[:, 1:] = match[:, :-1]
    starts = shifted(matches_whole, 1 - depth)
    return match + 3 * match_before + 9 * starts.long()


def _matches_whole(runs: Tensor, depth: Tensor) -> Tensor:
    """Whether the stretch that ends at each position is the whole prefix, (n, positions)."""
    return (runs == depth[:, None]) & (runs > 0)


def shifted(x: Tensor, by: Tensor) -> Tensor:
    """Shift each row of x (n, positions) by its own number of positions, filling with zeros.

    Parameters
    ----------
    x : Tensor of shape (n, positions)
    by : Tensor of shape (n,)
        Positive numbers shift to the right.

    Returns
    -------
    Tensor of shape (n, positions)
    """
    source = torch.arange(x.shape[1], device=x.device) - by[:, None]
    inside = (source >= 0) & (source < x.shape[1])
    return x.gather(1, source.clamp(0, x.shape[1] - 1)) * inside


@dataclass(frozen=True, slots=True, eq=False)
class Pointers:
    """Where prefixes stand in their inputs."""

    sample: Tensor  # (n,)
    runs: Tensor  # (n, positions), see `extend_runs`
    depth: Tensor  # (n,)
    choice: Tensor  # (n, positions) the choice that a position can be copied as, END for none

    def relations(self) -> Tensor:
        """How each position relates to each prefix, (n, positions)."""
        return relations(self.runs, self.depth)


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """What the copy head keeps of the inputs."""

    keys: Tensor  # (b, positions, 4d)
    first: Tensor  # (b, positions, 2d): as the first position of a span that continues, or ends
    last: Tensor  # (b, positions, 2d): as the last one

    def scores(self, sample: Tensor, depth: Tensor) -> tuple[Tensor, Tensor]:
        """Score the spans that each prefix would make at each position.

        A prefix of length k that continues at position i makes the span from i - k to i; one that
        ends there makes the span from i - k + 1.

        Parameters
        ----------
        sample, depth : Tensor of shape (n,)
            Of the prefixes.

        Returns
        -------
        continues, ends : Tensor of shape (n, positions)
        """
        lengths = range(int(depth.max()) + 1)
        first_continues, first_ends = self.first.chunk(2, dim=-1)
        last_continues, last_ends = self.last.chunk(2, dim=-1)
        continues = torch.stack([_along(first_continues, last_continues, k) for k in lengths])
        ends = torch.stack([_along(first_ends, last_ends, k - 1) for k in lengths])
        return continues[depth, sample], ends[depth, sample]


def _along(first: Tensor, last: Tensor, distance: int) -> Tensor:
    """The product of ``last`` at each position with ``first`` that many positions before, or 0."""
    products = last.new_zeros(last.shape[:2])
    if 0 <= distance < last.shape[1]:
        n = last.shape[1] - distance
        products[:, distance:] = (first[:, :n] * last[:, distance:]).sum(-1)
    return products


class CopyHead(nn.Module):
    """Adds the votes of input positions to the logits of choices.

    The vote of a position for its own token depends on the position itself, on the position where
    the copied stretch starts, and on how well the two fit as the ends of one span. Positions where
    the whole prefix has been matched vote for the end in the same way. Votes are odds and add up:
    under a softmax this is the usual mixture of generating and pointing, and under sigmoids each
    position counts on its own.

    Parameters
    ----------
    width : int
        Of the encoder and the decoder.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.query = nn.Linear(width, 4 * width)
        self.key = nn.Linear(width, 4 * width)
        self.first = nn.Linear(width, 2 * width)
        self.last = nn.Linear(width, 2 * width)
        self.relation = nn.Parameter(torch.zeros(N_RELATIONS, 2))
        self.bias = nn.Parameter(torch.full((2,), -3.0))  # votes are weak at first

    def read(self, x: Tensor) -> Spans:
        """What is needed of encoded inputs (b, positions, d)."""
        return Spans(self.key(x), self.first(x) * self.width**-0.5, self.last(x))

    def forward(
        self, logits: Tensor, x: Tensor, spans: Spans, grid: SampleGrid, pointers: Pointers
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
        pointers : Pointers
            Where the prefixes stand in their inputs.

        Returns
        -------
        Tensor of shape (n, n_choices)
        """
        query = grid.arrange(self.query(x).view(len(x), 4, self.width)).transpose(1, 2)
        key = spans.keys.view(*spans.keys.shape[:2], 4, self.width).permute(0, 2, 3, 1)
        scores = grid.flatten((query @ key).transpose(1, 2)) * self.width**-0.5
        here, at_start, end_here, end_at_start = scores.unbind(1)  # each (n, positions)
        depth, choice = pointers.depth, pointers.choice
        span_continues, span_ends = spans.scores(pointers.sample, depth)
        relation = BIAS_UNIT * self.relation[pointers.relations()] + self.bias
        continues = here + shifted(at_start, depth) + span_continues + relation[..., 0]
        continues = continues.masked_fill(choice == END, MASKED)
        ends = end_here + shifted(end_at_start, depth - 1) + span_ends + relation[..., 1]
        ends = ends.masked_fill(~_matches_whole(pointers.runs, depth), MASKED)
        votes = torch.cat([continues, ends], 1)
        voted_for = torch.cat([choice, choice * 0 + END], 1)
        highest = torch.maximum(logits.amax(1, keepdim=True), votes.amax(1, keepdim=True)).detach()
        odds = (logits - highest).exp().scatter_add(1, voted_for, (votes - highest).exp())
        return odds.clamp_min(torch.finfo(odds.dtype).tiny).log() + highest
