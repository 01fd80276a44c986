"""Which embedding a transformer has for each position of an input."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["MOST_POSITIONS", "late_starts", "position_numbers"]

MOST_POSITIONS = 512
"""Positions with an embedding of their own; later ones share the last."""

OWN_POSITIONS = 24
"""So many positions have an embedding of their own if far ones share theirs."""

PER_DOUBLING = 4
"""Then each doubling of the position has so many embeddings."""

LATE = 0.5
"""The share of training inputs that may start at another position than the first."""


def position_numbers(position: Tensor, *, far_ones_share: bool) -> Tensor:
    """The embedding of each position.

    Few training inputs are long. An embedding for each late position would only help to learn them
    by heart; distances tell apart what is near.

    Parameters
    ----------
    position : Tensor of int
    far_ones_share : bool
        Whether more and more positions share an embedding, the farther they are from the start.

    Returns
    -------
    Tensor of int

    Examples
    --------
    >>> position_numbers(torch.tensor([0, 23, 24, 29, 48, 96, 10**6]), far_ones_share=True)
    tensor([ 0, 23, 24, 25, 28, 32, 85])
    """
    if not far_ones_share:
        return position.clamp(max=MOST_POSITIONS - 1)
    doublings = torch.log2(position.clamp(min=OWN_POSITIONS) / OWN_POSITIONS)
    far = OWN_POSITIONS + (PER_DOUBLING * doublings).long()
    return torch.where(position < OWN_POSITIONS, position, far).clamp(max=MOST_POSITIONS - 1)


def late_starts(length: Tensor) -> Tensor:
    """Where to let training inputs start: up to half of them later than at the first position.

    What stands at which position is an easy way to learn inputs by heart. If it changes from pass
    to pass, the network has to see how tokens stand to each other. An input ends no later than the
    longest one. So positions keep their meaning if all inputs are equally long.

    Parameters
    ----------
    length : Tensor of int, shape (n_inputs,)

    Returns
    -------
    Tensor of int, shape (n_inputs,)
        By torch's random numbers.

    Examples
    --------
    >>> late_starts(torch.tensor([7, 7, 7]))
    tensor([0, 0, 0])
    """
    n_starts = length.max() - length + 1
    start = torch.rand(len(length), device=length.device) * n_starts
    is_late = torch.rand(len(length), device=length.device) < LATE
    return start.long() * is_late
