"""The rules that the tables compare, by the names that the tables give them."""

from __future__ import annotations

from typing import Self

import numpy as np

from setlearn.nodes import BoolArray, Mask, Nodes
from setlearn.rules import (
    Auto,
    ExpectedF,
    LambdaCNN,
    LambdaRNN,
    LambdaSet,
    Margin,
    Rule,
    Threshold,
    TopK,
)

__all__ = ["RULES", "SIDE_BY_SIDE", "MeanSize"]


class MeanSize(Rule):
    """A yardstick: as many of the best choices as right ones were there on average.

    Attributes
    ----------
    k_ : int
    """

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn the rounded mean number of right choices."""
        self.k_ = max(1, round(float(np.asarray(positive.sum(axis=1)).mean())))
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the k best."""
        self._check_fitted("k_")
        return TopK(self.k_).accept(nodes)


RULES: dict[str, Rule] = {
    "cut 0.5": Threshold(0.5),
    "tuned cut": Threshold("tuned"),
    "Margin": Margin(),
    "Margin, ρ = 0.3": Margin(rho=0.3),
    "Margin, log scale": Margin(space="log"),
    # Their cut is tuned on training samples that the λ-network was not trained on.
    "λ-RNN": LambdaRNN(cut="tuned"),
    "λ-CNN": LambdaCNN(cut="tuned"),
    "mean size": MeanSize(),
    "auto": Auto(),
    "λ-set": LambdaSet(cut="tuned"),
    "ExpectedF": ExpectedF(),
    "ExpectedF, joint": ExpectedF(joint=True),
}

SIDE_BY_SIDE = ("cut 0.5", "tuned cut", "Margin", "λ-RNN", "λ-CNN")
"""What a λ-network learns by itself shows only beside other rules on the very same scores."""
