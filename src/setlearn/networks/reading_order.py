"""Measures whether outputs follow their inputs from left to right, which decides on the network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from setlearn.networks.alignment import MOST_EMISSIONS, Pairs, align
from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["ReadingOrder", "reading_order"]

DISPLACED = 0.25
"""The share of the tokens of an output above which it is out of order, if these tokens are in the
input, but not where they are aligned. "singing" has fewer, "Last, First" has more."""

EXPLAINED = 0.5
"""The share of output tokens aligned with an input token from which on it stands for one of them.
In a cipher, inputs have tokens of their outputs too, by chance."""


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
    order = np.where(place <= last, last - place, place)
    backwards = replace(pairs, source=np.take_along_axis(pairs.source, order, axis=1))
    as_it_is, reversed_ = (_Aligned.of(read, copies, n_target, rng) for read in (pairs, backwards))
    advantage = as_it_is.information - reversed_.information
    return ReadingOrder(advantage / max(as_it_is.entropy, 1e-9), as_it_is.displaced(copies))


@dataclass(frozen=True, slots=True, eq=False)
class _Aligned:
    """Outputs that are aligned with their inputs."""

    pairs: Pairs
    source: IntArray  # (n, longest output) the input token that each output token is aligned with
    together: FloatArray  # (n_source, n_target) how often tokens are aligned

    @classmethod
    def of(
        cls, pairs: Pairs, copies: IntArray, n_target: int, rng: np.random.RandomState
    ) -> _Aligned:
        pointer = align(pairs, copies, n_target, rng)
        source = np.take_along_axis(pairs.source, pointer, axis=1)
        together = np.zeros((len(copies), n_target))
        inside = _inside(pairs)
        np.add.at(together, (source[inside], pairs.target[inside]), 1.0)
        return cls(pairs, source, together)

    @property
    def entropy(self) -> float:
        """All that there is to know about the output tokens."""
        return _entropy(self.together.sum(axis=0))

    @property
    def information(self) -> float:
        """What the aligned input tokens say about them."""
        return self.entropy + _entropy(self.together.sum(axis=1)) - _entropy(self.together.ravel())

    def displaced(self, copies: IntArray) -> float:
        """The share of outputs with many tokens that the input has, but elsewhere.

        Tokens do not count if the input token that they are aligned with mostly stands for them.
        """
        pairs = self.pairs
        if len(pairs) == 0:
            return 0.0
        share = self.together / np.maximum(self.together.sum(axis=1, keepdims=True), 1)
        is_explained = share[self.source, pairs.target] >= EXPLAINED
        is_elsewhere = (copies[self.source] != pairs.target) & _can_be_copied(pairs, copies)
        n_elsewhere = (is_elsewhere & ~is_explained & _inside(pairs)).sum(axis=1)
        return float((n_elsewhere > DISPLACED * pairs.target_length).mean())


def _inside(pairs: Pairs) -> BoolArray:
    """What of the outputs is no padding, (n, longest output)."""
    inside: BoolArray = np.arange(pairs.target.shape[1]) < pairs.target_length[:, None]
    return inside


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
