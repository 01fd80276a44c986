"""The set with the highest expected F under the model: nothing to learn, nothing to tune.

Of all sets of k choices one has the highest expected F, and it is easy to find. So the search is
over k alone, and it ends early: the expected F of a set S of size k, under any distribution of
the true set Y, is at most ``(1 + β²) m / (β² m + k)`` where m is the expected size of S ∩ Y (F
grows with the overlap, is concave in it, and Y is at least as large). That falls with k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes, check_positive
from setlearn.rules.calibration import Calibration
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.rules.min_size import check_min_size, learned_min_size
from setlearn.rules.set_distribution import (
    IndependentChoices,
    SetDistribution,
    WeightedSets,
    blocks,
    blocks_with_examples,
    posterior,
    quadrature,
)
from setlearn.savable import savable

__all__ = ["ExpectedF"]

LEAST_F = 0.04
"""A sequence enters a set only if its probability is above the set's expected F divided by
1 + β². This share of the best sequence's probability, divided in the same way, is far below."""

TIE = 1e-10
"""Sets whose expected F differs by less are equally good, and the smaller one is taken. Rounding
stays well under it: 1e-13 for a hundred choices, some 1e-12 for a thousand."""


@savable(parts={"calibration_": (Calibration, None)})
class ExpectedF(ChoosesSequences):
    """Keep the set with the highest expected F-measure under the scorer's probabilities.

    By default it does not use the right choices, so there is nothing to learn. It trusts the
    scores: they should be marginals (``scores="marginal"``) from a learner that is well
    calibrated. With ``calibrate=True`` it learns to correct them.

    Parameters
    ----------
    beta : float, default=1.0
        The weight of recall against precision: 2 favours recall, 0.5 precision.
    joint : bool, default=False
        By default choices are treated as independent of each other. True uses the whole sets of
        training samples that are similar to the input instead, each weighted by its similarity
        and by its probability under the scores. This needs a scorer that provides such examples;
        a choice point without any falls back to independence.
    min_size : int or None, default=0
        Keep at least this many. Use 1 if no true set is empty: then the best set of at least one
        choice is kept. By default the empty set is a possible answer. None: the size of the
        smallest training set, but 1 at most if there are fewer than 100.
    calibrate : bool, default=False
        Whether to learn how probable choices really are, from their scores and from how these
        compare with each other. Needed if scores are not the probabilities of single choices.

    Attributes
    ----------
    min_size_ : int
    calibration_ : what was learned with ``calibrate=True``

    Examples
    --------
    Whether a choice is kept depends on the others: 0.4 is kept beside 0.45, 0.42 beside 0.9 is not.

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import ExpectedF
    >>> nodes = Nodes.roots(np.array([[0.45, 0.4, 0.4, 0.1], [0.9, 0.42, 0.0, 0.0]]))
    >>> ExpectedF().accept(nodes)
    array([[ True,  True,  True, False],
           [ True, False, False, False]])
    """

    adjustable: ClassVar[tuple[str, ...]] = ("min_size",)

    def __init__(
        self,
        beta: float = 1.0,
        *,
        joint: bool = False,
        min_size: int | None = 0,
        calibrate: bool = False,
    ) -> None:
        self.beta = beta
        self.joint = joint
        self.min_size = min_size
        self.calibrate = calibrate

    @property
    def needs_fit(self) -> bool:
        """Only to calibrate, or to learn the least size: otherwise the probabilities decide."""
        return self.calibrate or self.min_size is None

    @property
    def needs_marginals(self) -> bool:
        """Unless it calibrates: shares of 1 would all look improbable if a set is large."""
        return not self.calibrate

    @property
    def uses_examples(self) -> bool:
        """With ``joint=True``."""
        return bool(self.joint)

    @property
    def requires_examples(self) -> bool:
        """With ``joint=True``."""
        return bool(self.joint)

    @property
    def is_monotone(self) -> bool:
        """Unless ``joint=True``."""
        return not self.joint

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range."""
        number = isinstance(self.beta, Real) and not isinstance(self.beta, bool)
        if not (number and 0 < self.beta < np.inf):
            raise ParameterError(f"beta must be a positive number, got {self.beta!r}")
        if not isinstance(self.joint, bool | np.bool_):
            raise ParameterError(f"joint must be True or False, got {self.joint!r}")
        check_min_size(self.min_size)
        if not isinstance(self.calibrate, bool | np.bool_):
            raise ParameterError(f"calibrate must be True or False, got {self.calibrate!r}")

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Calibrate the scores, and learn the least size, if asked to.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)

        Returns
        -------
        self
        """
        self.check_parameters()
        check_positive(nodes, positive)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        if self.calibrate:
            self.calibration_ = Calibration().fit(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the best set of each choice point; known choices are in it, and certain."""
        self.check_parameters()
        if self.needs_fit:
            self._check_fitted("min_size_")
        kept = np.empty(nodes.probabilities.shape, dtype=bool)
        min_size = int(getattr(self, "min_size_", self.min_size or 0))
        for rows, distribution in self._distributions(nodes):
            least = np.minimum(min_size, nodes.n_available[rows])
            kept[rows] = distribution.best_of_size(_best_size(distribution, least))
        return nodes.completed(kept)

    @property
    def least_share(self) -> float:
        """The larger β, the less probable are the sequences that may enter a set."""
        return LEAST_F / (1 + float(self.beta) ** 2)

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The probability of the choice, and the expected F of the set with it."""
        kept = np.zeros(node.probabilities.shape, dtype=bool)
        kept[0, [*memory, choice]] = True
        [value] = self._expected(node, kept).tolist()
        return {**super().figures(node, choice, memory), f"expected F{self.beta:g}": value}

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the expected F with and without the choice."""
        [reason] = self._reasons_against(node, [choice], [name])
        return reason

    def _reasons_against(
        self, node: Nodes, choices: Sequence[int], names: Sequence[str]
    ) -> list[str]:
        """The reasons against several choices of one choice point that are not kept."""
        indices = np.asarray(choices, dtype=np.intp)
        kept = np.repeat(self.accept(node), len(indices) + 1, axis=0)
        kept[np.arange(len(indices)), indices] = True  # one more in all rows but the last
        with_each, [without] = self._expected(node, kept[:-1]), self._expected(node, kept[-1:])
        return [
            f"with {name} the expected F{self.beta:g} is {value:.4g}, without it {without:.4g}"
            for name, value in zip(names, with_each, strict=True)
        ]

    def _expected(self, node: Nodes, kept: BoolArray) -> FloatArray:
        """The expected F (m,) at one choice point of m sets of the same size (m, V)."""
        values = np.empty(len(kept))
        for rows, distribution in self._distributions(node[np.zeros(len(kept), np.intp)]):
            values[rows] = distribution.expected(kept[rows])
        return values

    def reasons_not_chosen(
        self, node: Nodes, left_out: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Compare the expected F with and without each sequence."""
        return self._reasons_against(node, left_out.tolist(), names)

    def _distributions(self, nodes: Nodes) -> Iterator[tuple[IntArray, SetDistribution]]:
        """The distribution of the true set at each choice point, a block of them at a time."""
        beta = float(self.beta)
        independent = np.ones(len(nodes), dtype=bool)
        if self.joint:
            for rows in blocks_with_examples(nodes):
                part = self._calibrated(nodes[rows[0] : rows[-1] + 1])  # blocks are in order
                weights = posterior(part)
                informed = weights.sum(axis=1) > 0
                independent[rows] = ~informed
                if informed.all():
                    yield rows, WeightedSets(weights, part, beta)
                elif informed.any():
                    yield rows[informed], WeightedSets(weights[informed], part[informed], beta)
        n_points = len(quadrature(nodes.n_choices, beta).u)
        for rows in blocks(np.flatnonzero(independent), max(n_points, nodes.n_choices)):
            yield rows, IndependentChoices(self._calibrated(nodes[rows]), beta)

    def _calibrated(self, nodes: Nodes) -> Nodes:
        return self.calibration_.applied(nodes) if self.calibrate else nodes


def _best_size(distribution: SetDistribution, min_size: IntArray | int = 0) -> IntArray:
    """The size of the set with the highest expected F, (n,); at least what is known."""
    n_choices = distribution.overlap.shape[1]
    square = distribution.beta**2
    size = np.arange(1, n_choices + 1)
    at_most = (1 + square) * distribution.overlap / (square * distribution.overlap + size)
    # If the true set cannot be empty, the expected F of all other answers grows by one factor,
    # which does not change their order.
    least = np.maximum(distribution.n_known, min_size)
    best = np.where(least == 0, distribution.empty, -np.inf)
    values = [best[:, None]]
    k = 0
    for block in distribution.values():  # (n, sizes)
        sizes = np.arange(k + 1, k + 1 + block.shape[1])
        values.append(np.where(sizes >= least[:, None], block, -np.inf))
        best, k = np.maximum(best, values[-1].max(axis=1)), k + len(sizes)
        if k < n_choices and (at_most[:, k] <= best + TIE).all():
            break
    is_best = np.concatenate(values, axis=1) >= best[:, None] - TIE
    smallest: IntArray = is_best.argmax(axis=1)
    return smallest
