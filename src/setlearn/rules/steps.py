"""The sequential process at one choice point, step by step, as the paper tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from setlearn.nodes import FloatArray

__all__ = ["Pick", "Steps"]


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """One step: the penalised scores, the winner, and the memory Z after it.

    A winner that is not ``kept`` is the one that ended the walk or, with the robust stop, a
    repeat that only raised its own counter.
    """

    scores: FloatArray  # (V,) after the penalties
    penalties: FloatArray  # (V,) what the memory costs each choice
    winner: int
    kept: bool
    memory: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """All steps at one choice point, and why they ended."""

    picks: tuple[Pick, ...]
    reason: str

    def after(self, known: Sequence[int]) -> Steps:
        """The same steps with these choices in the memory from the start."""
        picks = [replace(pick, memory=(*known, *pick.memory)) for pick in self.picks]
        return Steps(tuple(picks), self.reason)
