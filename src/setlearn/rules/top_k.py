"""A set of fixed size: the k best choices."""

from __future__ import annotations

from typing import Self

import numpy as np

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, Mask, Nodes
from setlearn.rules.base import Rule, check_positive
from setlearn.savable import savable

__all__ = ["TopK"]


@savable()
class TopK(Rule):
    """Keep the k best choices, or the k best that are not known yet.

    Parameters
    ----------
    k : int, default=1

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import TopK
    >>> TopK(2).accept(Nodes.roots(np.array([[0.2, 0.5, 0.3]])))
    array([[False,  True,  True]])
    """

    def __init__(self, k: int = 1) -> None:
        self.k = k

    @property
    def needs_fit(self) -> bool:
        """Nothing: k is given."""
        return False

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Check the parameters; there is nothing to learn."""
        self.check_parameters()
        check_positive(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the k best of each choice point; ties go to the earlier choice."""
        self.check_parameters()
        kept = (
            np.zeros(nodes.probabilities.shape, bool) if nodes.known is None else nodes.known.copy()
        )
        for rows in nodes.row_chunks():
            part = nodes[rows]
            open_scores = part.probabilities
            if part.known is not None:
                open_scores = np.where(part.known, -np.inf, open_scores)
            best = np.argsort(-open_scores, axis=1, kind="stable")[:, : self.k]
            np.put_along_axis(kept[rows], best, True, axis=1)
        return kept

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say how many were asked for."""
        return f"{self.k} choice(s) were asked for; {name} comes next"

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless k is a count."""
        if not isinstance(self.k, int | np.integer) or self.k < 1:
            raise ParameterError(f"k must be a whole number from 1 up, got {self.k!r}")
