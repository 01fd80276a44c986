"""A guaranteed precision: Learn then Test over the cut.

After Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then test: calibrating predictive
algorithms to achieve risk control" (2021). The loss of a sample is the share of its predicted set
that is wrong, and 0 if that set is empty. It may rise and fall with the cut, so conformal risk
control does not apply. Instead, cuts are tested one after the other, from the highest one down. The
hypothesis is that the expected loss is too high. The first cut for which it cannot be rejected ends
the sequence, and so no correction for many tests is needed.

The order of the tests must not depend on the samples. It does not: *all* cuts are tested. The
losses change only where the cut passes a score of a calibration sample, so it is enough to compute
them there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import bdtr, rel_entr

from setlearn.errors import DataError, SetlearnWarning, warn_user
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, dense_mask
from setlearn.parameter_checks import check_inner_share
from setlearn.rules.finished_sequences import LEAST_FOLLOWED, LEAST_OF_FINISHED

__all__ = ["NOTHING_KEPT", "PrecisionGuarantee", "hoeffding_bentkus", "total_losses"]

NOTHING_KEPT = 2.0
"""A cut above all probabilities."""

ROUNDING = 1e-9
"""Sums of losses, and 1 - confidence, may be off by this much."""

MOST_COARSE = 2000
"""Cuts that are tested first, to see how far down all others need to be tested."""


@dataclass(frozen=True, slots=True)
class PrecisionGuarantee:
    """With probability ``confidence``, the expected precision is at least ``precision``."""

    precision: float
    confidence: float

    # Wrong sequences are found only where sequences are generated. Predictions follow what the
    # lists followed on which the cut is learned.
    chooses_sequences: ClassVar[bool] = True
    least_followed: ClassVar[float] = LEAST_FOLLOWED
    least_share: ClassVar[float] = LEAST_OF_FINISHED

    def check(self) -> None:
        """Raise unless both numbers are in range."""
        why = "no number of samples makes certain that nothing is wrong"
        check_inner_share("precision", self.precision, why)
        check_inner_share("confidence", self.confidence, "no number of samples makes it 1")

    def check_samples(self, n: int) -> None:
        """Raise unless n calibration samples without any loss are enough for it."""
        if not self._is_certain(np.zeros(1), n)[0]:
            needed = math.log1p(-self.confidence) / math.log(self.precision)
            raise DataError(
                f"{self} cannot be guaranteed from {n} calibration sample(s) that the model has "
                f"not seen; hold out at least {math.ceil(needed * (1 - ROUNDING))}, or ask for "
                "less precision or confidence"
            )

    def cut(self, nodes: Nodes, positive: Mask) -> float:
        """The lowest cut such that it and all higher ones pass their tests.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)

        Returns
        -------
        float
            `NOTHING_KEPT`, after a warning, if the highest score does not pass.
        """
        n = len(np.unique(nodes.sample))
        self.check_samples(n)
        coarse = _some_scores(nodes)
        n_passed = self._n_passed(total_losses(nodes, positive, coarse), n)
        cuts = _all_scores(nodes, least=coarse[n_passed] if n_passed < len(coarse) else 0.0)
        n_passed = self._n_passed(total_losses(nodes, positive, cuts), n)
        if n_passed:
            return float(cuts[n_passed - 1])
        warn_user(
            SetlearnWarning(
                f"{self} cannot be guaranteed: too much is wrong even among the highest scores, "
                "so the rule keeps nothing; ask for less precision or confidence, pass more "
                "samples to fit the rule on, or improve the scorer"
            )
        )
        return NOTHING_KEPT

    def reason(self, cut: float) -> str:
        """Why this is the cut, after "below the cut 0.3, "."""
        if cut == NOTHING_KEPT:
            return f"which nothing reaches, as no other cut guarantees {self}"
        return f"the lowest one that guarantees {self}"

    def __str__(self) -> str:
        return f"a precision of {self.precision:g} with confidence {self.confidence:g}"

    def _n_passed(self, losses: FloatArray, n: int) -> int:
        """How many cuts, from the highest one down, pass their tests before one fails."""
        fails = ~self._is_certain(losses, n)
        return int(np.argmax(fails)) if fails.any() else len(losses)

    def _is_certain(self, losses: FloatArray, n: int) -> BoolArray:
        """For total losses (m,) of n samples, whether a test rejects that the risk is too high."""
        p_values = hoeffding_bentkus(losses, n, 1 - float(self.precision))
        certain: BoolArray = p_values <= (1 - float(self.confidence)) * (1 + ROUNDING)
        return certain


def hoeffding_bentkus(losses: FloatArray, n: int, risk: float) -> FloatArray:
    """P-values of the hypothesis that the expected loss of a sample is above ``risk``.

    Parameters
    ----------
    losses : array of shape (m,)
        Sums of the losses of n samples, each in [0, 1].
    n : int
    risk : float

    Returns
    -------
    array of shape (m,)
    """
    mean = np.clip(losses / max(n, 1), 0, risk)
    hoeffding = np.exp(-n * (rel_entr(mean, risk) + rel_entr(1 - mean, 1 - risk)))
    bentkus = math.e * bdtr(np.ceil(losses - ROUNDING), n, risk)
    smaller: FloatArray = np.minimum(hoeffding, bentkus)
    return smaller


def total_losses(nodes: Nodes, positive: Mask, cuts: FloatArray) -> FloatArray:
    """The sum over samples of the share of the predicted set that is wrong, at each cut.

    Lowering the cut adds each point's choices one by one, and each changes that point's loss by a
    known amount. Summing these amounts in the order of the cuts gives the losses of all of them.

    Parameters
    ----------
    nodes : Nodes
        A sample with several choice points has the mean of their losses.
    positive : mask of shape (n, V)
    cuts : array of shape (m,)
        Descending, and above 0.

    Returns
    -------
    array of shape (m,)
    """
    _, sample, n_points = np.unique(nodes.sample, return_inverse=True, return_counts=True)
    weight = 1 / n_points[sample]
    change = np.zeros(len(cuts) + 1)
    size = np.arange(1, nodes.n_choices + 1)
    for rows in nodes.row_chunks():
        scores = _element_scores(nodes[rows])
        order = np.argsort(-scores, axis=1, kind="stable")
        wrong = ~np.take_along_axis(dense_mask(positive, rows), order, axis=1)
        share = np.cumsum(wrong, axis=1) / size  # of the best 1, 2, ... choices
        changes = np.diff(share, axis=1, prepend=0) * weight[rows, None]
        # A choice enters at the first cut that is not above its score, or at none of them.
        entry = np.searchsorted(-cuts, -np.take_along_axis(scores, order, axis=1).ravel())
        change += np.bincount(entry, weights=changes.ravel(), minlength=len(change))
    return np.cumsum(change[:-1])


def _element_scores(nodes: Nodes) -> FloatArray:
    """The membership of each choice (n, V); 0, which no cut keeps, for what is no element."""
    scores: FloatArray = nodes.membership.astype(np.float64)
    if nodes.nothing is not None:
        scores[:, nodes.nothing] = 0
    return scores


def _some_scores(nodes: Nodes) -> FloatArray:
    """Some of the scores above 0, from all over the array, in descending order."""
    size = nodes.probabilities.size
    places = np.linspace(0, size - 1, min(size, MOST_COARSE)).astype(np.intp)
    scores = np.unique(nodes.membership_of(*np.divmod(places, nodes.n_choices)))
    return scores[scores > 0][::-1].astype(np.float64)


def _all_scores(nodes: Nodes, least: float) -> FloatArray:
    """All distinct scores above 0 that are at least so high, in descending order."""
    found = []
    for rows in nodes.row_chunks():
        scores = _element_scores(nodes[rows])
        found.append(np.unique(scores[(scores >= least) & (scores > 0)]))
    return np.unique(np.concatenate(found))[::-1]
