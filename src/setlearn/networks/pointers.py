"""Pointers into inputs: where prefixes that were copied from an input stand in it.

Which stretch of the input a prefix was copied from is not known, so each position has a count: how
many of the last tokens of the prefix it spells, together with the positions before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from setlearn.trie import END

__all__ = [
    "N_STRETCH_RELATIONS",
    "N_WHOLE_RELATIONS",
    "Pointers",
    "extend_runs",
    "point_at_stretches",
    "point_at_whole",
    "shifted",
    "stretch_relations",
    "whole_relations",
]

N_WHOLE_RELATIONS = 18
"""How many relations between a position and a prefix `whole_relations` distinguishes."""

N_STRETCH_RELATIONS = 32
"""How many relations between a position and a prefix `stretch_relations` distinguishes."""


@dataclass(frozen=True, slots=True, eq=False)
class Pointers:
    """Where prefixes stand in their inputs: one row per prefix, one column per position.

    If a position is copied next, or if the sequence ends with it, the stretch that has been copied
    ends there. Where it begins may lie before the input, at a negative number.
    """

    relation: Tensor  # how the position relates to the prefix
    start: Tensor  # the first position of the stretch if this one is copied next
    end_start: Tensor  # the first position of the stretch if the sequence ends here
    can_end: Tensor  # whether the sequence may end here


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
    return (_from_position_before(runs) + 1) * same


def point_at_stretches(runs: Tensor, depth: Tensor) -> Pointers:
    """Point to stretches that were copied into the end of each prefix, whatever stands before.

    Parameters
    ----------
    runs : Tensor of shape (n, positions)
        From `extend_runs`.
    depth : Tensor of shape (n,)
        The lengths of the prefixes.

    Returns
    -------
    Pointers
    """
    position = torch.arange(runs.shape[1], device=runs.device)
    return Pointers(
        stretch_relations(runs, depth),
        position - _from_position_before(runs),
        _first_positions(runs),
        runs > 0,
    )


def point_at_whole(runs: Tensor, depth: Tensor) -> Pointers:
    """Point to where the whole of each prefix was copied from.

    Parameters
    ----------
    runs, depth
        As in `point_at_stretches`.

    Returns
    -------
    Pointers
    """
    position = torch.arange(runs.shape[1], device=runs.device)
    start = position - depth[:, None]
    can_end = _matches_whole(runs, depth)
    return Pointers(whole_relations(runs, depth), start, start + 1, can_end)


def stretch_relations(runs: Tensor, depth: Tensor) -> Tensor:
    """How each position relates to each prefix, as a number below ``N_STRETCH_RELATIONS``.

    The input up to a position may match nothing, the last tokens of the prefix, more of them than
    anywhere else, or the whole prefix. The same holds for the position before it, after which a
    copy would continue. A match of the last two kinds may also start at the position.

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
    is_longest = (runs == runs.amax(1, keepdim=True)) & (runs > 0)
    match = (runs > 0).long() + is_longest + _matches_whole(runs, depth)
    n_starts = torch.zeros_like(runs).scatter_add(1, _first_positions(runs), is_longest.to(runs))
    return match + 4 * _from_position_before(match) + 16 * (n_starts > 0)


def whole_relations(runs: Tensor, depth: Tensor) -> Tensor:
    """How each position relates to each prefix, as a number below ``N_WHOLE_RELATIONS``.

    The input up to a position may match nothing, the last tokens, or the whole of the prefix. The
    same holds for the position before it. A stretch that matches the whole prefix may also start
    at the position.

    Parameters
    ----------
    runs, depth
        As in `stretch_relations`.

    Returns
    -------
    Tensor of shape (n, positions)
    """
    matches_whole = _matches_whole(runs, depth)
    match = (runs > 0).long() + matches_whole
    starts = shifted(matches_whole, 1 - depth)
    return match + 3 * _from_position_before(match) + 9 * starts


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


def _matches_whole(runs: Tensor, depth: Tensor) -> Tensor:
    """Whether the stretch that ends at each position is the whole prefix, (n, positions)."""
    return (runs == depth[:, None]) & (runs > 0)


def _first_positions(runs: Tensor) -> Tensor:
    """Where the stretch that ends at each position begins; the position itself without one."""
    position = torch.arange(runs.shape[1], device=runs.device)
    return position - (runs - 1).clamp(min=0)


def _from_position_before(x: Tensor) -> Tensor:
    """Each row of x (n, positions), moved to the right by one position."""
    before = torch.zeros_like(x)
    before[:, 1:] = x[:, :-1]
    return before
