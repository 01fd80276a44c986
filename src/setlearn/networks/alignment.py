"""Where a prefix stands in its input: a pointer that steps on as the prefix is copied."""

from __future__ import annotations

import torch
from torch import Tensor

from setlearn.trie import END

__all__ = ["N_RELATIONS", "moved", "relations", "run_on", "spells_whole"]

N_RELATIONS = 18
"""What a position may be to a prefix; see ``relations``."""


def run_on(runs: Tensor, input_choice: Tensor, token: Tensor, first: bool) -> Tensor:
    """How many last tokens of each prefix lie in the input up to each position, (n, positions).

    ``runs`` are those of the prefixes without ``token``, ``input_choice`` the choice that each
    position of the prefix's input spells, or END for none. ``first`` says that ``token`` is the
    prefix's first.
    """
    same = (input_choice == token[:, None]) & (input_choice != END)
    if first:
        return same.to(runs.dtype)
    stepped = torch.zeros_like(runs)
    stepped[:, 1:] = runs[:, :-1]
    return (stepped + 1) * same


def relations(runs: Tensor, depth: Tensor) -> Tensor:
    """What each position is to each prefix, a number below ``N_RELATIONS``, (n, positions).

    A position may end a stretch that spells nothing, the end, or the whole of the prefix; the
    same is asked of the position before it, for that is where a copy goes on. And a stretch that
    spells the whole prefix may begin there.
    """
    whole = spells_whole(runs, depth)
    here = (runs > 0).long() + whole.long()
    behind = torch.zeros_like(here)
    behind[:, 1:] = here[:, :-1]
    begins = moved(whole, 1 - depth)
    return here + 3 * behind + 9 * begins.long()


def spells_whole(runs: Tensor, depth: Tensor) -> Tensor:
    """Whether a stretch that ends at each position spells the whole prefix, (n, positions)."""
    return (runs == depth[:, None]) & (runs > 0)


def moved(x: Tensor, by: Tensor) -> Tensor:
    """Values (n, positions) with each row moved on by so many positions, (n,); zero comes in."""
    source = torch.arange(x.shape[1], device=x.device) - by[:, None]
    inside = (source >= 0) & (source < x.shape[1])
    return x.gather(1, source.clamp(0, x.shape[1] - 1)) * inside
