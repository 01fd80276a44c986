"""What every scorer is: a model of P(next choice | x, prefix)."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from setlearn.nodes import IntArray, Step

__all__ = ["Loss", "Scorer"]

Loss: TypeAlias = Literal["node", "sequence"]
"""How a sequence network was trained, which says what its scores mean."""


class Scorer(Protocol):
    """Scores choice points in batches: the roots first, then what lies below kept choices."""

    def start(self, X: Any) -> Step:
        """Score the root of every sample."""
        ...

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the points below: each takes one choice ``token`` at row ``parent`` of ``step``."""
        ...
