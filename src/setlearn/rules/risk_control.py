"""A guaranteed recall or precision, by a cut that calibration samples choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, IntArray, Mask, Nodes, check_positive
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.rules.precision_guarantee import PrecisionGuarantee
from setlearn.rules.recall_guarantee import RecallGuarantee
from setlearn.savable import savable

__all__ = ["RiskControl"]

DEFAULT_RECALL = 0.9


@savable()
class RiskControl(ChoosesSequences):
    """Guarantee the recall or the precision of sets, whatever the model.

    With ``recall``, as few choices as possible are kept while finding, on average, a given share
    of each true set. With ``precision``, as many as possible are kept while, on average, a given
    share of each predicted set is right. The guarantees hold for new samples like those that the
    rule is fitted on, however badly calibrated the scores are. Bad scores make large sets where
    the recall is guaranteed, and small ones where the precision is.

    Parameters
    ----------
    recall : float in (0, 1), optional
        The share of a true set to find, on average over samples. An empty true set counts as
        found. By default 0.9, unless ``precision`` is given.
    precision : float in (0, 1), optional
        The share of a predicted set that is right, on average over samples. An empty predicted
        set has nothing wrong in it and counts as 1. Give this or ``recall``, not both.
    confidence : float in (0, 1), default=0.9
        Used with ``precision`` only: the probability, over the draw of the samples that the rule
        is fitted on, that the expected precision of a new sample is at least ``precision``.

    Attributes
    ----------
    cut_ : float
        A choice is kept if its probability, times that of its prefix, is at least this. It is 2
        if no precision can be guaranteed, and nothing is kept.
    n_calibration_ : int
        The number of samples that determined the cut. With more of them, sets are smaller for
        the same recall, and larger for the same precision.

    Notes
    -----
    The recall is guaranteed in expectation over the calibration samples as well, by conformal
    risk control. The share of wrong choices may rise and fall with the cut, so the precision needs
    a test of each cut, by Learn then Test. It holds for a given set of calibration samples, unless
    these are an unlucky draw, whose probability is at most 1 - ``confidence``.

    The guarantees are exact if the calibration samples were used for nothing else, as with
    ``SetClassifier(cv="prefit")`` fitted on fresh data. With folds the scores come from other
    fitted models than the one that predicts, so they are approximate. `SequenceSetGenerator` needs
    held-out samples for them; the LSTM also uses these to stop training, which makes them look a
    little easier than new ones. For sequences, the recall is controlled at each prefix, and the
    precision among finished sequences. Sequences beyond ``max_size``, ``max_length`` or
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

    The same for the precision:

    >>> rule = RiskControl(precision=0.8).fit(Nodes.roots(scores), right)
    >>> rule.accept(Nodes.roots(np.array([[0.9, 0.1, 0.5, 0.3]])))
    array([[ True, False, False, False]])
    """

    cut_: float
    n_calibration_: int

    def __init__(
        self,
        recall: float | None = None,
        *,
        precision: float | None = None,
        confidence: float = 0.9,
    ) -> None:
        self.recall = recall
        self.precision = precision
        self.confidence = confidence

    @property
    def guarantee(self) -> RecallGuarantee | PrecisionGuarantee:
        """What is guaranteed, and how: all that differs between recall and precision."""
        if self.precision is None:
            return RecallGuarantee(DEFAULT_RECALL if self.recall is None else self.recall)
        return PrecisionGuarantee(self.precision, self.confidence)

    @property
    def chooses_sequences(self) -> bool:
        """With a precision: wrong sequences are found only where sequences are generated."""
        return self.guarantee.chooses_sequences

    @property
    def least_followed(self) -> float:
        """With a recall 0: the cut alone decides what to follow."""
        return self.guarantee.least_followed

    @property
    def least_share(self) -> float:
        """With a recall 0: the cut alone decides what to follow."""
        return self.guarantee.least_share

    @property
    def is_monotone(self) -> bool:
        """Always."""
        return True

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless one of recall and precision is given at most, and is in range."""
        if self.recall is not None and self.precision is not None:
            raise ParameterError(
                f"recall={self.recall!r} and precision={self.precision!r} were both given, but one "
                "cut cannot guarantee both; give one of them"
            )
        self.guarantee.check()

    def check_samples(self, n_unseen: int) -> None:
        """Raise unless that many calibration samples are enough for the guarantee."""
        self.guarantee.check_samples(n_unseen)

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Find the cut with the guarantee, on samples that the scorer has not seen.

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
        self.cut_ = self.guarantee.cut(nodes, positive)
        self.n_calibration_ = len(np.unique(nodes.sample))
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what is at the cut or above it."""
        self._check_fitted("cut_")
        return nodes.completed(nodes.membership >= self.cut_)

    def grow(self, nodes: Nodes) -> BoolArray:
        """Follow what is at the cut or above it; what comes after it is never more probable."""
        return super().grow(nodes) & self.accept(replace(nodes, known=None))

    def choose(self, nodes: Nodes) -> BoolArray:
        """Keep all: the tree follows nothing below the cut."""
        return np.ones(nodes.probabilities.shape, dtype=bool)

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
            f"{self.guarantee.reason(self.cut_)}"
        )

    def reasons_not_followed(
        self, nodes: Nodes, row: IntArray, choice: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Compare the probabilities of prefixes with the cut and the least that is followed."""
        too_rare = super().reasons_not_followed(nodes, row, choice, names)
        below_cut = nodes.membership_of(row, choice) < self.cut_
        return [
            self.reason_against(nodes[r : r + 1], int(c), name) if below else reason
            for r, c, name, below, reason in zip(
                row, choice, names, below_cut, too_rare, strict=True
            )
        ]
