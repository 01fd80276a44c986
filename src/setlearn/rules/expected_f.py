"""The set with the highest expected F under the model: nothing to learn, nothing to tune.

Of all sets of k choices one has the highest expected F, and it is easy to find. So the search is
over k alone, and it ends early: the expected F of a set S of size k, under any belief about the
true set Y, is at most ``(1 + β²) m / (β² m + k)`` where m is the expected size of S ∩ Y (F grows
with the overlap, is concave in it, and Y holds no less than the overlap). That falls with k.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Self

import numpy as np

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray, Mask, Nodes
from setlearn.rules.base import Rule, check_positive
from setlearn.rules.independent_choices import IndependentChoices, quadrature
from setlearn.rules.set_distribution import SetDistribution
from setlearn.rules.weighted_sets import WeightedSets, posterior
from setlearn.savable import savable

__all__ = ["ExpectedF"]

LEAST_F = 0.04
"""Below this expected F the network knows nothing, and no care is taken. A sequence enters a set
only above the set's expected F divided by 1 + β², so those far below need not be looked at."""

TIE = 1e-10
"""Sets whose expected F differs by less are equally good, and the smaller one is taken. Rounding
stays well under it: 1e-13 for a hundred choices, some 1e-12 for a thousand."""

BLOCK_ENTRIES = 131_072
"""Numbers in a temporary array: those of one block of rows stay in the processor's cache."""


@savable()
class ExpectedF(Rule):
    """Keep the set with the highest expected F-measure under the scorer's probabilities.

    It never looks at right choices, so there is nothing to learn. It takes scores at their word:
    they should be marginals (``scores="marginal"``) from a learner that is well calibrated.

    Parameters
    ----------
    beta : float, default=1.0
        What recall weighs against precision: 2 favours recall, 0.5 precision.
    joint : bool, default=False
        By default choices count as independent of each other. True takes the whole sets of
        training samples that are like the input instead, each weighted by how alike it is and by
        how probable the scores make it. That needs a scorer that knows such examples; a choice
        point without any falls back to independence.
    min_size : int, default=0
        Keep at least this many. Give 1 where no true set is empty: then what is kept is exactly
        the best set given that, while by default the empty set is a possible answer.

    Examples
    --------
    What is worth keeping depends on the others: 0.4 is among its likes, 0.42 below 0.9 is not.

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import ExpectedF
    >>> nodes = Nodes.roots(np.array([[0.45, 0.4, 0.4, 0.1], [0.9, 0.42, 0.0, 0.0]]))
    >>> ExpectedF().accept(nodes)
    array([[ True,  True,  True, False],
           [ True, False, False, False]])
    """

    def __init__(self, beta: float = 1.0, *, joint: bool = False, min_size: int = 0) -> None:
        self.beta = beta
        self.joint = joint
        self.min_size = min_size

    @property
    def needs_fit(self) -> bool:
        """Nothing: the probabilities say it all."""
        return False

    @property
    def needs_marginals(self) -> bool:
        """Shares of 1 would all look improbable where a set is large."""
        return True

    @property
    def uses_examples(self) -> bool:
        """For a joint distribution."""
        return bool(self.joint)

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless beta is positive, and the choices are labels where a joint is asked for."""
        number = isinstance(self.beta, Real) and not isinstance(self.beta, bool)
        if not (number and 0 < self.beta < np.inf):
            raise ParameterError(f"beta must be a positive number, got {self.beta!r}")
        if not isinstance(self.joint, bool | np.bool_):
            raise ParameterError(f"joint must be True or False, got {self.joint!r}")
        if not isinstance(self.min_size, int | np.integer) or self.min_size < 0:
            raise ParameterError(
                f"min_size must be a whole number from 0 up, got {self.min_size!r}; "
                "nothing is learned here"
            )
        if self.joint and n_positions > 1:
            raise ParameterError(
                f"joint=True works on sets of labels, got sequences of {n_positions} positions; "
                "use ExpectedF(joint=False) for sequences"
            )

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Check the parameters; there is nothing to learn."""
        self.check_parameters()
        check_positive(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the best set of each choice point; known choices are in it, and certain."""
        self.check_parameters()
        kept = np.empty(nodes.probabilities.shape, dtype=bool)
        for rows, belief in self._beliefs(nodes):
            kept[rows] = belief.best_of_size(_best_size(belief, self.min_size))
        return kept

    def grow(self, nodes: Nodes) -> BoolArray:
        """Follow all but improbable choices: the set is chosen among finished sequences."""
        self.check_parameters(n_positions=int(nodes.depth.max(initial=0)) + 1)
        if self.joint and nodes.examples is None:
            raise _no_examples()
        followed: BoolArray = nodes.membership >= LEAST_F / (1 + float(self.beta) ** 2)
        return followed if nodes.known is None else followed | nodes.known

    def choose(
        self, sample: IntArray, membership: FloatArray, n_known: IntArray | None = None
    ) -> BoolArray:
        """Keep the best set of each sample's sequences, as if each were a label."""
        present, row = np.unique(sample, return_inverse=True)
        count = np.bincount(row, minlength=len(present))
        rank = np.arange(len(row)) - (np.cumsum(count) - count)[row]
        # Where a sample has fewer than others the rest is impossible, which changes nothing.
        candidates = np.zeros((len(present), int(count.max(initial=0))))
        candidates[row, rank] = membership
        given = np.zeros(len(present), dtype=np.intp)
        if n_known is not None:
            given[row] = n_known
        known = np.arange(given.max(initial=0)) < given[:, None]
        nodes = Nodes.roots(
            np.hstack([candidates, known]), np.hstack([np.zeros(candidates.shape, bool), known])
        )
        labels_alike = ExpectedF(self.beta, min_size=self.min_size)
        kept: BoolArray = labels_alike.accept(nodes)[row, rank]
        return kept

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say what the choice would do to the expected F."""
        [(_, belief)] = self._beliefs(node)
        without = self.accept(node)
        added = without.copy()
        added[0, choice] = True
        return (
            f"with {name} the expected F{self.beta:g} is {belief.expected(added)[0]:.4g}, "
            f"without it {belief.expected(without)[0]:.4g}"
        )

    def _beliefs(self, nodes: Nodes) -> Iterator[tuple[IntArray, SetDistribution]]:
        """What to believe about the true set of each choice point, a block of them at a time."""
        beta = float(self.beta)
        known = np.zeros(nodes.probabilities.shape, bool) if nodes.known is None else nodes.known
        uninformed = np.ones(len(nodes), dtype=bool)
        if self.joint:
            if nodes.examples is None:
                raise _no_examples()
            for rows in _blocks(np.arange(len(nodes)), _entries(nodes.examples)):
                weights = posterior(nodes[rows], nodes.examples[rows], known[rows])
                informed = weights.sum(axis=1) > 0
                uninformed[rows] = ~informed
                if informed.any():
                    sets, rows = nodes.examples.sets, rows[informed]
                    yield rows, WeightedSets(weights[informed], sets, known[rows], beta)
        n_points = len(quadrature(nodes.n_choices, beta).u)
        for rows in _blocks(np.flatnonzero(uninformed), max(n_points, nodes.n_choices)):
            yield rows, IndependentChoices(nodes.membership[rows], known[rows], beta)


def _best_size(belief: SetDistribution, min_size: int = 0) -> IntArray:
    """The size of the set with the highest expected F, (n,); at least what is known."""
    n_choices = belief.overlap.shape[1]
    square = belief.beta**2
    size = np.arange(1, n_choices + 1)
    at_most = (1 + square) * belief.overlap / (square * belief.overlap + size)
    # That a true set is not empty raises the expected F of all other answers by one factor.
    least = np.maximum(belief.n_known, min(min_size, n_choices))
    best = np.where(least == 0, belief.empty, -np.inf)
    best_size = least.copy()
    for k, value in enumerate(belief.values(), start=1):
        better = (value > best + TIE) & (k >= least)
        best[better], best_size[better] = value[better], k
        if k < n_choices and (at_most[:, k] <= best + TIE).all():
            break
    return best_size


def _entries(examples: Examples) -> int:
    """How many numbers a row a joint needs, on the average."""
    (n, m), n_choices = examples.weights.shape, examples.sets.shape[1]
    n_sizes = len(np.unique(np.diff(examples.sets.indptr)))
    in_examples = examples.weights.nnz / max(1, n) * examples.sets.nnz / max(1, m)
    return max(n_choices * n_sizes, int(in_examples))


def _blocks(rows: IntArray, entries: int) -> Iterator[IntArray]:
    size = max(1, BLOCK_ENTRIES // max(1, entries))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _no_examples() -> DataError:
    return DataError(
        "joint=True needs training sets with weights (Nodes.examples), and the scorer gave "
        "marginals alone, which do not say which choices go together; use ExpectedF() without "
        "joint, or a scorer that gives examples"
    )
