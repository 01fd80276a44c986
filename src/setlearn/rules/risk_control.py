"""A guaranteed recall: conformal risk control over the cut.

After Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal risk control" (2022). The loss of a
sample is the share of its true set that a cut misses. It never falls as the cut rises, which is all
that their theorem requires.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from setlearn.errors import DataError, ParameterError, SetlearnWarning, warn_user
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes, check_positive
from setlearn.rules.base import Rule
from setlearn.savable import savable
from setlearn.trie import END

__all__ = ["RiskControl"]

ROUNDING = 1e-9
"""The share by which the allowed risk may be exceeded: 1 - 0.9 is a little less than 0.1."""


@savable()
class RiskControl(Rule):
    """Keep as few choices as possible while finding, on average, a given share of each true set.

    The cut is the largest one with this guarantee: for a new sample like those that the rule is
    fitted on (exchangeable with them), the *expected* recall is at least ``recall``, whatever the
    model and however badly calibrated it is. An empty true set counts as found.

    Parameters
    ----------
    recall : float in (0, 1), default=0.9
        The share of a true set to find, on average over samples.

    Attributes
    ----------
    cut_ : float
        A choice is kept if its probability, times that of its prefix, is at least this.
    n_calibration_ : int
        The number of samples that determined the cut. More of them make smaller sets.

    Notes
    -----
    The guarantee is exact if the calibration samples were used for nothing else, as with
    ``SetClassifier(cv="prefit")`` fitted on fresh data. With folds the scores come from other
    fitted models than the one that predicts, so it is approximate. `SequenceSetGenerator` needs
    held-out samples for it; the LSTM also uses them to stop training, which makes them look a
    little easier than new ones. Sequences beyond ``max_size``, ``max_length`` or ``max_nodes``
    are lost.

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

    @property
    def is_monotone(self) -> bool:
        """Always."""
        return True

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless the recall is in range."""
        number = isinstance(self.recall, Real) and not isinstance(self.recall, bool)
        if not (number and 0 < self.recall < 1):
            raise ParameterError(
                f"recall must lie between 0 and 1, both excluded, got {self.recall!r}; "
                "only the set of all choices is certain to hold everything"
            )

    def check_samples(self, n_unseen: int) -> None:
        """Raise unless that many calibration samples are enough for the guarantee."""
        self._budget(n_unseen)

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Find the largest cut with the guarantee, on samples that the scorer has not seen.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)
            The right choices.

        Returns
        -------
        self
        """
        self.check_parameters()
        check_positive(nodes, positive)
        samples, sample = np.unique(nodes.sample, return_inverse=True)
        self.n_calibration_ = len(samples)
        budget = self._budget(len(samples))
        owner, membership = _elements(nodes, positive, sample)
        # Missing an element costs one part of its sample's true set.
        cost = 1 / np.bincount(owner, minlength=len(samples))[owner]
        order = np.argsort(membership, kind="stable")
        too_much = np.flatnonzero(np.cumsum(cost[order]) > budget)
        # If nothing needs to be found, as most true sets are empty, certain choices remain.
        self.cut_ = float(membership[order[too_much[0]]]) if len(too_much) else 1.0
        if self.cut_ == 0 and nodes.depth.max() > 0:  # labels with a score of 0 can be kept
            found = 1 - float(cost[membership == 0].sum()) / len(samples)
            warn_user(
                SetlearnWarning(
                    f"a recall of {self.recall:g} cannot be reached: on average the scorer finds "
                    f"{found:.2f} of a set at all, and the rule keeps everything that it finds; "
                    "ask for less recall, or improve the scorer"
                )
            )
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what is at the cut or above it."""
        self._check_fitted("cut_")
        return nodes.completed(nodes.membership >= self.cut_)

    def facts(self) -> dict[str, Any]:
        """The cut; it is not a parameter, so the base class does not list it."""
        return {**super().facts(), "cut": self.cut_}

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The membership of the choice (its probability times that of its prefix), and the cut."""
        return {"membership": float(node.membership[0, choice]), "cut": self.cut_}

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the choice's membership with the cut."""
        return (
            f"{name} at {node.membership[0, choice]:.4g} is below the cut {self.cut_:.4g}, "
            f"which is enough for a recall of {self.recall:g}"
        )

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
    membership = nodes.probabilities[row, choice]
    if nodes.prefix_probability is not None:
        membership = nodes.prefix_probability[row] * membership
    return sample[row], membership
