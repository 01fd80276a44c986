"""A guaranteed recall: conformal risk control over the cut.

After Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal risk control" (2022). The loss of a
sample is the share of its true set that a cut misses. It only grows with the cut, which is all
that their theorem asks for.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Self

import numpy as np

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes
from setlearn.rules.base import Rule, check_positive
from setlearn.savable import savable
from setlearn.trie import END

__all__ = ["RiskControl"]

ROUNDING = 1e-9
"""The share by which the allowed risk may be exceeded: 1 - 0.9 is a little less than 0.1."""


@savable()
class RiskControl(Rule):
    """Keep as little as possible while finding, on average, a given share of each true set.

    The cut is the largest one that keeps the promise: for a new sample like those that the rule
    is fitted on (exchangeable with them), the *expected* recall is at least ``recall``, whatever
    the model and however badly calibrated it is. An empty true set counts as found.

    Parameters
    ----------
    recall : float in (0, 1), default=0.9
        The share of a true set to be found, on average over samples.

    Attributes
    ----------
    cut_ : float
        Choices with at least this probability, that of all choices before them included, are
        kept.
    n_calibration_ : int
        How many samples the cut rests on. More of them make smaller sets.

    Notes
    -----
    The promise is exact if the calibration samples were used for nothing else: with
    ``SetClassifier(cv="prefit")`` fitted on fresh data. With folds the scores come from other
    fitted models than the one that predicts, so it holds approximately. `SequenceSetGenerator`
    refuses without held-out samples; the LSTM also stops training by them, which makes them look
    a little easier than new ones. And sequences beyond ``max_size``, ``max_length`` or
    ``max_nodes`` are lost.

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import RiskControl
    >>> scores = np.random.default_rng(0).uniform(size=(500, 4))
    >>> right = np.random.default_rng(1).uniform(size=(500, 4)) < scores
    >>> rule = RiskControl(recall=0.8).fit(Nodes.roots(scores), right)
    >>> round(rule.cut_, 2), rule.n_calibration_
    (0.47, 500)
    >>> rule.accept(Nodes.roots(np.array([[0.9, 0.1, 0.5, 0.3]])))
    array([[ True, False,  True, False]])
    """

    cut_: float
    n_calibration_: int

    def __init__(self, recall: float = 0.9) -> None:
        self.recall = recall

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless the recall can be asked for."""
        number = isinstance(self.recall, Real) and not isinstance(self.recall, bool)
        if not (number and 0 < self.recall < 1):
            raise ParameterError(
                f"recall must lie between 0 and 1, both excluded, got {self.recall!r}; "
                "only the set of all choices finds everything for certain"
            )

    def check_samples(self, n_unseen: int) -> None:
        """Raise unless so many calibration samples are enough for the promise."""
        self._budget(n_unseen)

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Find the largest cut that keeps the promise, on samples that the scorer never saw."""
        self.check_parameters()
        check_positive(nodes, positive)
        samples, sample = np.unique(nodes.sample, return_inverse=True)
        self.n_calibration_ = len(samples)
        budget = self._budget(len(samples))
        owner, membership = _elements(nodes, positive, sample)
        # A sample may miss each of its elements at a cost of one part of its true set.
        cost = 1 / np.bincount(owner, minlength=len(samples))[owner]
        order = np.argsort(membership, kind="stable")
        too_much = np.flatnonzero(np.cumsum(cost[order]) > budget)
        # Where nothing needs to be found, as most true sets are empty, certain choices remain.
        self.cut_ = float(membership[order[too_much[0]]]) if len(too_much) else 1.0
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what is at the cut or above it."""
        self._check_fitted("cut_")
        kept: BoolArray = nodes.membership >= self.cut_
        return kept if nodes.known is None else kept | nodes.known

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say how far under the cut the choice is, and what the cut is for."""
        return (
            f"{name} at {node.membership[0, choice]:.4g} lies under the cut {self.cut_:.4g}, "
            f"which is enough for a recall of {self.recall:g}"
        )

    def _budget(self, n: int) -> float:
        """What all n samples together may miss.

        The risk to bound is (missed + 1) / (n + 1): a new sample may miss everything.
        """
        allowed = (1 - float(self.recall)) * (1 + ROUNDING)
        budget = allowed * (n + 1) - 1
        if budget < 0:
            raise DataError(
                f"a recall of {self.recall:g} cannot be promised from {n} calibration sample(s) "
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
    membership = nodes.probabilities[row, choice]
    if nodes.prefix_probability is not None:
        membership = nodes.prefix_probability[row] * membership
    return sample[row], membership
