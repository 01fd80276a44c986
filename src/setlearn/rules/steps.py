"""The steps by which a rule explains its decision at one choice point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["Pick", "Steps", "best_first"]


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """One step: the scores, the winner, and the memory Z after it.

    A winner that is not ``kept`` is the one at which the process stopped or, with the robust
    stop of `Margin`, a repeat that only raised its own counter.
    """

    scores: FloatArray  # (V,) after the penalties, if there are any
    penalties: FloatArray | None  # (V,) what the memory costs each choice; None: no such process
    winner: int
    kept: bool
    memory: tuple[int, ...]
    figures: Mapping[str, float] = field(default_factory=dict)  # what decided on the winner


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """All steps at one choice point, and why they ended.

    ``columns`` are the names of the figures that every pick has, in the order to show them.
    """

    picks: tuple[Pick, ...]
    reason: str
    columns: tuple[str, ...] = ()

    def after(self, known: Sequence[int]) -> Steps:
        """The same steps with these choices in the memory from the start."""
        picks = [replace(pick, memory=(*known, *pick.memory)) for pick in self.picks]
        return replace(self, picks=tuple(picks))


def best_first(scores: FloatArray, among: BoolArray) -> list[int]:
    """The choices in a mask, by falling score; ties keep their order.

    Parameters
    ----------
    scores : array, shape (V,)
    among : array of bool, shape (V,)
        The choices to list.

    Returns
    -------
    list of int
        Indices into ``scores``.
    """
    order = np.argsort(-scores, kind="stable")
    return [int(choice) for choice in order[among[order]]]
