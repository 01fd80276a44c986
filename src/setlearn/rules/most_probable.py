"""The single most probable set: the answer that is most often exactly right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from setlearn.errors import ParameterError
from setlearn.nodes import (
    BoolArray,
    FloatArray,
    IntArray,
    Mask,
    Nodes,
    best_of_each_sample,
    check_positive,
)
from setlearn.rules.distinct_sets import DistinctSets, with_distinct_sets
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.rules.min_size import check_min_size, fill_up, learned_min_size
from setlearn.rules.set_distribution import blocks_with_examples, posterior
from setlearn.savable import savable

__all__ = ["MostProbable"]

DEPENDENCES = (1.0, 0.75, 0.5, 0.25, 0.0)
"""The values to try; of equally good ones the first is taken."""

LEAST_PROBABILITY = 1e-12
"""Right sets that are no training sets, or less probable, count as if they had this one."""


@savable()
class MostProbable(ChoosesSequences):
    """Keep the set with the highest probability of being exactly right.

    If choices are independent of each other, that is every choice above 0.5. It trusts the scores:
    they should be marginals (``scores="marginal"``) from a learner that is well calibrated. With
    ``joint=True`` it is one of the training sets.

    Parameters
    ----------
    joint : bool, default=False
        By default choices are treated as independent of each other. True keeps the whole set of
        training samples that are similar to the input: the one with the highest weight, by their
        similarity and by its probability under the scores. This needs a scorer that provides such
        examples; a choice point without any falls back to independence.
    min_size : int, optional
        Keep at least this many. By default as many as the smallest training set has, but 1 at
        most if there are fewer than 100.
    dependence : float in [0, 1], optional
        With ``joint=True``: how much the similarity of training samples counts, beside the
        probability of their sets under the scores. 1 takes it as it is, 0 leaves it out. By
        default it is learned: the value under which the right sets are most probable.

    Attributes
    ----------
    min_size_ : int
    dependence_ : float
        With ``joint=True``.

    Examples
    --------
    Both choices are probable, but in training there was always one of them:

    >>> from dataclasses import replace
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from setlearn.nodes import Examples, Nodes
    >>> from setlearn.rules import MostProbable
    >>> sets = sparse.csr_array(np.array([[True, False, False], [False, True, False]]))
    >>> examples = Examples(sets, sparse.csr_array(np.array([[0.5, 0.5]])))
    >>> nodes = replace(Nodes.roots(np.array([[0.55, 0.6, 0.1]])), examples=examples)
    >>> MostProbable(min_size=0).accept(nodes)
    array([[ True,  True, False]])
    >>> MostProbable(joint=True, min_size=0, dependence=1.0).accept(nodes)
    array([[False,  True, False]])
    """

    adjustable: ClassVar[tuple[str, ...]] = ("dependence", "min_size")

    def __init__(
        self,
        *,
        joint: bool = False,
        min_size: int | None = None,
        dependence: float | None = None,
    ) -> None:
        self.joint = joint
        self.min_size = min_size
        self.dependence = dependence

    @property
    def needs_fit(self) -> bool:
        """Whether the least size, or with ``joint=True`` the dependence, has to be learned."""
        return self.min_size is None or (self.joint and self.dependence is None)

    @property
    def needs_marginals(self) -> bool:
        """Always: shares of 1 would all look improbable if a set is large."""
        return True

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
        if not isinstance(self.joint, bool | np.bool_):
            raise ParameterError(f"joint must be True or False, got {self.joint!r}")
        check_min_size(self.min_size)
        number = isinstance(self.dependence, Real) and not isinstance(self.dependence, bool)
        if self.dependence is not None and not (number and 0 <= self.dependence <= 1):
            raise ParameterError(
                f"dependence must be None (learned) or lie in [0, 1], got {self.dependence!r}"
            )

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn the least size and the dependence, unless they are given.

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
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        if self.joint:
            self.dependence_ = self._best_dependence(nodes, positive)
        return self

    def _best_dependence(self, nodes: Nodes, positive: Mask) -> float:
        if self.dependence is not None:
            return float(self.dependence)
        if nodes.examples is None:  # nothing to learn from; ``accept`` will need some
            return DEPENDENCES[0]
        distinct = DistinctSets.of(nodes.examples.sets)
        nodes, right = distinct.merged(nodes), distinct.places(positive)
        found = [self._log_likelihood(nodes, right, value) for value in DEPENDENCES]
        return DEPENDENCES[int(np.argmax(found))]

    def _log_likelihood(self, nodes: Nodes, right: IntArray, dependence: float) -> float:
        """The sum of the log probabilities of the right sets, given by their numbers (n,)."""
        total = 0.0
        for rows, weights in self._weights(nodes, dependence):
            row = np.repeat(np.arange(len(rows)), np.diff(weights.indptr))
            is_right = weights.indices == right[rows][row]
            probability = np.full(len(rows), LEAST_PROBABILITY)
            probability[row[is_right]] = np.maximum(weights.data[is_right], LEAST_PROBABILITY)
            total += float(np.log(probability).sum())
        return total

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the most probable set of each choice point; known choices are in it."""
        self.check_parameters()
        if self.needs_fit:
            self._check_fitted("min_size_")
        kept = nodes.completed(nodes.membership > 0.5)
        fill_up(kept, nodes, self._min_size_now())
        if self.joint:
            merged = with_distinct_sets(nodes)
            for rows, weights in self._weights(merged, self._dependence_now()):
                row = np.repeat(np.arange(len(rows)), np.diff(weights.indptr))
                best = best_of_each_sample(row, weights.data, 1)
                assert merged.examples is not None  # or there would be no weights
                kept[rows[row[best]]] = merged.examples.sets[weights.indices[best]].toarray()
        return kept

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The probability of the choice and, with ``joint=True``, of the best set with it."""
        figures = super().figures(node, choice, memory)
        if (best := self._best_sets(node)) is not None:
            figures["best set with it"] = float(best[choice])
        return figures

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the best set with the choice and the one that is kept."""
        best = self._best_sets(node)
        if best is None:
            return f"{name} at {node.membership[0, choice]:.4g} does not exceed 0.5"
        return (
            f"the best set with {name} has probability {best[choice]:.4g}, the one that is kept "
            f"{best[-1]:.4g}"
        )

    def reasons_not_chosen(
        self, node: Nodes, left_out: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Say the same of sequences."""
        return [
            self.reason_against(node, int(place), name)
            for place, name in zip(left_out, names, strict=True)
        ]

    def _best_sets(self, node: Nodes) -> FloatArray | None:
        """The probability of the best set with each choice, and at the end of the best of all.

        None if sets are not compared: without ``joint``, or if no training set is possible.
        """
        if not self.joint:
            return None
        node = with_distinct_sets(node)
        [(_, weights)] = self._weights(node, self._dependence_now())
        if weights.nnz == 0:
            return None
        assert node.examples is not None  # or there would be no weights
        held = node.examples.sets[weights.indices].astype(np.float64)
        held.data *= np.repeat(weights.data, np.diff(held.indptr))
        best: FloatArray = np.append(held.max(axis=0).toarray(), weights.data.max())
        return best

    def _weights(
        self, nodes: Nodes, dependence: float
    ) -> Iterator[tuple[IntArray, sparse.csr_array]]:
        """The probabilities of distinct sets (rows, d) that are large enough, block by block."""
        for rows in blocks_with_examples(nodes):
            part = nodes[rows]
            assert part.examples is not None  # or there would be no blocks
            weights, size = posterior(part, dependence), np.diff(part.examples.sets.indptr)
            least = np.minimum(self._min_size_now(), part.n_available)
            too_small = size[weights.indices] < np.repeat(least, np.diff(weights.indptr))
            weights.data[too_small] = 0
            weights.eliminate_zeros()
            yield rows, weights

    def _min_size_now(self) -> int:
        return int(getattr(self, "min_size_", self.min_size or 0))

    def _dependence_now(self) -> float:
        return float(getattr(self, "dependence_", self.dependence or 0.0))
