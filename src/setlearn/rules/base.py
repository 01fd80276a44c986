"""What every rule is: it learns from scored choice points, then keeps some of the choices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes, dense_mask
from setlearn.rules.steps import Pick, Steps

__all__ = ["Rule"]


class Rule(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """Decides which choices to keep at each choice point.

    A rule is a scikit-learn estimator over choice points: ``__init__`` only stores, ``fit``
    learns attributes that end in an underscore, ``clone`` and ``set_params`` work. Any rule
    works with any scorer.

    Examples
    --------
    A rule of one's own is a class with two methods:

    >>> class AboveAverage(Rule):
    ...     def fit(self, nodes, positive):
    ...         return self
    ...     def accept(self, nodes):
    ...         return nodes.probabilities > nodes.probabilities.mean(axis=1, keepdims=True)
    >>> AboveAverage().accept(Nodes.roots(np.array([[0.5, 0.1, 0.4]])))
    array([[ True, False,  True]])
    """

    @property
    def needs_fit(self) -> bool:
        """Whether ``accept`` needs a ``fit`` before; a rule with all numbers given does not."""
        return True

    @property
    def uses_examples(self) -> bool:
        """Whether it looks at whole training sets, which not every scorer can give."""
        return False

    @property
    def needs_marginals(self) -> bool:
        """Whether it takes each score for a choice's own probability, not for a share of 1."""
        return False

    @property
    def requires_examples(self) -> bool:
        """Whether it cannot work without whole training sets."""
        return self.uses_examples

    @property
    def chosen(self) -> Rule:
        """The rule that decides in the end: this one, or the one that it has chosen."""
        return self

    @property
    def candidate_scores(self) -> dict[str, Any] | None:
        """The scores of the rules that it has tried, if it tries any."""
        return None

    def check_samples(self, n_unseen: int) -> None:
        """Raise if so many samples that the scorer has not seen are too few to learn from."""

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range: before anything costly is done with it.

        ``n_positions`` is how deep the choice points will lie; labels have one position.
        """

    @abstractmethod
    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn from choice points and the mask (n, V) of their right choices."""

    @abstractmethod
    def accept(self, nodes: Nodes) -> BoolArray:
        """The memory Z at the end of each choice point's process, as a mask (n, V).

        Choices that were known from the start are in it.
        """

    def grow(self, nodes: Nodes) -> BoolArray:
        """Which choices a tree of sequences follows, as a mask (n, V).

        The same as ``accept`` unless a rule decides on finished sequences: then it follows all
        that might matter here, and ``choose`` has the last word.
        """
        return self.accept(nodes)

    def choose(
        self, sample: IntArray, membership: FloatArray, n_known: IntArray | None = None
    ) -> BoolArray:
        """Which of the finished sequences to keep, (m,), given the probability of each.

        They come by sample and then best first. ``n_known`` (m,) is how many sequences of the
        same sample are known beside.
        """
        return np.ones(len(sample), dtype=bool)

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """Tell how the set at one choice point came about, best choice first.

        This one serves every rule that looks at all choices at once; a rule with a process of
        its own tells that instead.
        """
        scores = node.probabilities[0]
        penalties = np.zeros_like(scores)
        known = np.zeros(len(scores), bool) if node.known is None else node.known[0]
        kept = self.accept(node)[0] & ~known
        memory = tuple(np.flatnonzero(known).tolist())
        picks = []
        for winner in best_first(scores, kept):
            memory += (winner,)
            picks.append(Pick(scores, penalties, winner, True, memory))
        rejected = best_first(scores, ~kept & ~known)
        if not rejected:
            return Steps(tuple(picks), "every choice is in the set")
        runner_up = rejected[0]
        picks.append(Pick(scores, penalties, runner_up, False, memory))
        return Steps(tuple(picks), self.reason_against(node, runner_up, names[runner_up]))

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say in one line why a choice was not kept."""
        return f"{name} at {node.probabilities[0, choice]:.4g} is not kept by {self!r}"

    def _check_fitted(self, attribute: str) -> None:
        try:
            check_is_fitted(self, attribute)
        except Exception as error:
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted; call fit(nodes, positive) first, "
                "or fit the estimator that holds it"
            ) from error


def check_positive(nodes: Nodes, positive: Mask) -> None:
    """Raise unless there is something to learn from and the shapes agree."""
    if len(nodes) == 0:
        raise DataError("there are no choice points to learn from; pass at least one sample")
    if positive.shape != nodes.probabilities.shape:
        raise DataError(
            f"positive has shape {positive.shape} but the probabilities have "
            f"{nodes.probabilities.shape}; give one entry a choice"
        )


def check_min_size(min_size: int | None) -> None:
    """Raise unless ``min_size`` is None or a count."""
    if min_size is not None and (not isinstance(min_size, int | np.integer) or min_size < 0):
        raise ParameterError(
            f"min_size must be None (learned) or a whole number from 0 up, got {min_size!r}"
        )


def learned_min_size(min_size: int | None, nodes: Nodes, positive: Mask) -> int:
    """``min_size`` itself or, if None, 1 where every choice point seen had a right choice.

    Prefix trees always have one (the end symbol counts), label sets unless some are empty.
    """
    check_min_size(min_size)
    if min_size is not None:
        return int(min_size)
    return int(all(dense_mask(positive, rows).any(axis=1).all() for rows in nodes.row_chunks()))


def fill_up(kept: BoolArray, nodes: Nodes, min_size: int) -> BoolArray:
    """Add the best remaining choices, in place, where fewer than ``min_size`` were kept."""
    if min_size == 0:
        return kept
    short = np.flatnonzero(kept.sum(axis=1) < min_size)
    if len(short):
        # Kept ones are ranked above all others, so the first min_size hold them all.
        ranks = np.where(kept[short], np.inf, nodes.probabilities[short])
        best = np.argsort(-ranks, axis=1, kind="stable")[:, :min_size]
        kept[short[:, None], best] = True
    return kept


def best_first(scores: FloatArray, among: BoolArray) -> list[int]:
    order = np.argsort(-scores, kind="stable")
    return [int(choice) for choice in order[among[order]]]
