"""Operations that were applied to inputs, and the candidates that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from setlearn.nodes import BoolArray, IntArray
from setlearn.scorers.edit_operations import Numbers
from setlearn.scorers.input_keys import drop_key

__all__ = ["Applied", "Made"]

Made: TypeAlias = dict[Numbers, list[tuple[int, Numbers | None]]]
"""The candidates of an input, each with the operations that lead to it and the tokens that these
drop (None for a constant)."""


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """Operations that were applied to a batch of inputs, by the candidate that they lead to."""

    candidates: list[Numbers]  # input by input
    first: IntArray  # (n_candidates,) where the operations of each candidate begin
    row: IntArray  # (k,) the input of each operation, ascending
    operation: IntArray  # (k,)
    key: IntArray  # (k,) its `drop_key`
    is_constant: BoolArray  # (k,) whether it copies nothing

    @classmethod
    def of(cls, made: Sequence[Made]) -> Applied:
        """Put them into arrays.

        Parameters
        ----------
        made : sequence of Made
            One per input.

        Returns
        -------
        Applied
        """
        groups = [group for of_input in made for group in of_input.values()]
        size = np.array([len(group) for group in groups], dtype=np.intp)
        row = [k for k, of_input in enumerate(made) for group in of_input.values() for _ in group]
        pairs = [pair for group in groups for pair in group]
        key = {pair: drop_key(*pair) for pair in set(pairs)}  # most occur many times
        return cls(
            [candidate for of_input in made for candidate in of_input],
            np.cumsum(size) - size,
            np.array(row, dtype=np.intp),
            np.array([index for index, _ in pairs], dtype=np.intp),
            np.array([key[pair] for pair in pairs], dtype=np.uint64),
            np.array([dropped is None for _, dropped in pairs], dtype=bool),
        )

    def result_of(self, place: int) -> Numbers:
        """The candidate that the operation at this place leads to."""
        return self.candidates[int(np.searchsorted(self.first, place, side="right")) - 1]
