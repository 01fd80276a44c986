"""Measures whether outputs follow their inputs from left to right, which decides on the network."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setlearn.networks.alignment import MOST_EMISSIONS, Pairs, align
from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["ReadingOrder", "reading_order"]

DISPLACED = 0.25
"""The share of the tokens of an output above which it is out of order, if these tokens are in the
input, but not where they are aligned. "singing" has fewer, "Last, First" has more."""


class ReadingOrder(NamedTuple):
    """How far outputs follow their inputs from left to right.

    ``advantage`` lies between -1 and 1: how much more the aligned input tokens say about the output
    tokens than if inputs are read backwards, as a share of all that there is to know about them. It
    is about 0 if the order of the input does not matter, or if there are too many tokens to tell,
    and negative if outputs follow their inputs from right to left. ``displaced`` is the share of
    outputs that copy a good part of their tokens out of order.
    """

    advantage: float
    displaced: float


def reading_order(
    pairs: Pairs, copies: IntArray, n_target: int, rng: np.random.RandomState
) -> ReadingOrder:
    """Measure how far outputs follow their inputs from left to right.

    Outputs are aligned with their inputs, and with their inputs read backwards. Each time the
    aligned input tokens say something about the output tokens: their mutual information.

    Parameters
    ----------
    pairs, copies, n_target, rng
        As for `align`.

    Returns
    -------
    ReadingOrder

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> words, length = rng.randint(0, 9, (200, 5)), np.full(200, 5)
    >>> same = np.arange(9)
    >>> order = reading_order(Pairs(words, length, words, length), same, 9, rng)
    >>> round(order.advantage, 1), order.displaced
    (0.9, 0.0)
    >>> backwards = Pairs(words[:, ::-1], length, words, length)
    >>> round(reading_order(backwards, same, 9, rng).advantage, 1)
    -0.9
    """
    if len(copies) * n_target > MOST_EMISSIONS:
        return ReadingOrder(0.0, 0.0)
    place = np.arange(pairs.source.shape[1])
    last = pairs.source_length[:, None] - 1
    backwards = np.where(place <= last, last - place, place)
    read_backwards = replace(pairs, source=np.take_along_axis(pairs.source, backwards, axis=1))
    information = []
    for read in (read_backwards, pairs):
        pointer = align(read, copies, n_target, rng)
        inside = np.arange(pointer.shape[1]) < pairs.target_length[:, None]
        together = np.zeros((len(copies), n_target))
        aligned = np.take_along_axis(read.source, pointer, axis=1)
        np.add.at(together, (aligned[inside], pairs.target[inside]), 1.0)
        alone = [_entropy(together.sum(axis=axis)) for axis in (0, 1)]
        information.append(sum(alone) - _entropy(together.ravel()))
    advantage = (information[1] - information[0]) / max(alone[0], 1e-9)
    is_elsewhere = inside & (copies[aligned] != pairs.target) & _can_be_copied(pairs, copies)
    share = is_elsewhere.sum(axis=1) / np.maximum(pairs.target_length, 1)
    return ReadingOrder(float(advantage), float((share > DISPLACED).mean()) if len(pairs) else 0.0)


def _can_be_copied(pairs: Pairs, copies: IntArray) -> BoolArray:
    """Which tokens of each output its input has too, (n, longest output)."""
    inside = np.arange(pairs.source.shape[1]) < pairs.source_length[:, None]
    can_copy = np.where(inside, copies[pairs.source], -1)
    found = np.zeros(pairs.target.shape, dtype=bool)
    for column in can_copy.T:
        found |= column[:, None] == pairs.target
    return found


def _entropy(counts: FloatArray) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1)
    return -float(share @ np.log(share))
