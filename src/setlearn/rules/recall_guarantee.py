"""A guaranteed recall: conformal risk control over the cut.

After Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal risk control" (2022). The loss of a
sample is the share of its true set that a cut misses. It never falls as the cut rises, which is all
that their theorem requires.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setlearn.errors import DataError, SetlearnWarning, warn_user
from setlearn.nodes import FloatArray, IntArray, Mask, Nodes
from setlearn.parameter_checks import check_inner_share
from setlearn.trie import END

__all__ = ["RecallGuarantee"]

ROUNDING = 1e-9
"""The share by which the allowed risk may be exceeded: 1 - 0.9 is a little less than 0.1."""


@dataclass(frozen=True, slots=True)
class RecallGuarantee:
    """The expected share of a true set that is found is at least ``recall``."""

    recall: float

    chooses_sequences: ClassVar[bool] = False  # the true trees say all about what is missed
    least_followed: ClassVar[float] = 0.0  # what a tree does not follow is lost
    least_share: ClassVar[float] = 0.0

    def check(self) -> None:
        """Raise unless the recall is in range."""
        why = "only the set of all choices is certain to hold everything"
        check_inner_share("recall", self.recall, why)

    def check_samples(self, n: int) -> None:
        """Raise unless n calibration samples are enough for it."""
        self._budget(n)

    def cut(self, nodes: Nodes, positive: Mask) -> float:
        """The largest cut with the guarantee.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)

        Returns
        -------
        float
        """
        samples, sample = np.unique(nodes.sample, return_inverse=True)
        budget = self._budget(len(samples))
        owner, membership = _elements(nodes, positive, sample)
        # Missing an element costs one part of its sample's true set.
        cost = 1 / np.bincount(owner, minlength=len(samples))[owner]
        order = np.argsort(membership, kind="stable")
        too_much = np.flatnonzero(np.cumsum(cost[order]) > budget)
        # If nothing needs to be found, as most true sets are empty, certain choices remain.
        cut = float(membership[order[too_much[0]]]) if len(too_much) else 1.0
        if cut == 0 and nodes.depth.max() > 0:  # labels with a score of 0 can be kept
            found = 1 - float(cost[membership == 0].sum()) / len(samples)
            warn_user(
                SetlearnWarning(
                    f"a recall of {self.recall:g} cannot be reached: on average the scorer finds "
                    f"{found:.2f} of a set at all, and the rule keeps everything that it finds; "
                    "ask for less recall, or improve the scorer"
                )
            )
        return cut

    def reason(self, cut: float) -> str:
        """Why this is the cut, after "below the cut 0.3, "."""
        return f"which is enough for a recall of {self.recall:g}"

    def _budget(self, n: int) -> float:
        """The loss that all n samples together may have.

        The risk to bound is (loss + 1) / (n + 1): a new sample may miss everything.
        """
        allowed = (1 - float(self.recall)) * (1 + ROUNDING)
        budget = allowed * (n + 1) - 1
        if budget < 0:
            raise DataError(
                f"a recall of {self.recall:g} cannot be guaranteed from {n} calibration sample(s) "
                f"that the model has not seen; hold out at least {math.ceil(1 / allowed) - 1}, or "
                "ask for less recall"
            )
        return budget


def _elements(nodes: Nodes, positive: Mask, sample: IntArray) -> tuple[IntArray, FloatArray]:
    """All elements of all true sets: the sample that each belongs to, and its membership."""
    row, choice = positive.nonzero()
    if nodes.depth.max() > 0:
        # Of a tree, only the ends below the root are elements.
        ends = (choice == END) & (nodes.depth[row] > 0)
        row, choice = row[ends], choice[ends]
    return sample[row], nodes.membership_of(row, choice)
