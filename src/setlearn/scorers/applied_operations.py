"""Operations that were applied to inputs, and the candidates that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
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
        n_groups = [len(of_input) for of_input in made]
        row = np.repeat(np.repeat(np.arange(len(made)), n_groups), size)
        pairs = list(chain.from_iterable(groups))
        key = cache(drop_key)  # most pairs occur many times
        return cls(
            list(chain.from_iterable(made)),
            np.cumsum(size) - size,
            row,
            np.array([index for index, _ in pairs], dtype=np.intp),
            np.array([key(*pair) for pair in pairs], dtype=np.uint64),
            np.array([dropped is None for _, dropped in pairs], dtype=bool),
        )

    def of_rows(self, rows: IntArray) -> Applied:
        """Only what was applied to some of the inputs, which are numbered anew.

        Parameters
        ----------
        rows : array of int
            Ascending.

        Returns
        -------
        Applied
        """
        wanted = np.isin(self.row, rows)
        has_wanted = wanted[self.first]
        place = np.cumsum(wanted) - 1
        return Applied(
            [self.candidates[k] for k in np.flatnonzero(has_wanted).tolist()],
            place[self.first[has_wanted]],
            np.searchsorted(rows, self.row[wanted]),
            self.operation[wanted],
            self.key[wanted],
            self.is_constant[wanted],
        )

    def result_of(self, place: int) -> Numbers:
        """The candidate that the operation at this place leads to."""
        return self.candidates[int(np.searchsorted(self.first, place, side="right")) - 1]
