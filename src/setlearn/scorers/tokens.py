"""Scorers of token sequences, as `SequenceSetGenerator` uses them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from setlearn.errors import DataError
from setlearn.nodes import IntArray, Nodes, Step
from setlearn.savable import savable
from setlearn.scorers.base import Scorer
from setlearn.trie import Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["InjectedScorer", "TokenScorer", "joined_nodes"]

MOST_IN_A_BATCH = 64
"""Samples that are scored together unless fewer are asked for."""


class TokenScorer(ABC):
    """A scorer with a vocabulary, which reads inputs as users pass them, batch by batch."""

    vocabulary: Vocabulary

    @property
    def n_features(self) -> int | None:
        """How many numbers each input has; None for texts and tokens."""
        return None

    @property
    def reads_token_lists(self) -> bool:
        """Whether inputs are lists of tokens rather than texts, as far as that is known."""
        return False

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Describe the scorer in a few words and numbers."""

    @property
    @abstractmethod
    def gives_marginals(self) -> bool:
        """Whether a finished sequence's membership is its own probability to be in the set."""

    @abstractmethod
    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Any]]:
        """Read inputs in batches that can be scored at once.

        Parameters
        ----------
        X : list of inputs, or a numeric array
        most : int
            The most samples in a batch.

        Yields
        ------
        samples : array of int
            Which rows of X the batch holds, in ascending order.
        inputs : object
            What ``start`` takes.
        """

    @abstractmethod
    def start(self, X: Any) -> Step:
        """Score the root of every sample of a batch."""

    @abstractmethod
    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes that continue rows ``parent`` of a step by ``token``."""

    @abstractmethod
    def as_batch(self, x: Any) -> Any:
        """A single input as a batch of one."""

    def score_trees(self, X: Any, trie: Trie) -> Nodes:
        """Score every node of the true trees of these inputs, in the order of the trie.

        Parameters
        ----------
        X : list of inputs, or a numeric array
        trie : Trie
            One tree per input.

        Returns
        -------
        Nodes
        """
        parts = []
        for samples, inputs in self.batches(X):
            nodes = self._score_batch(inputs, trie.take(samples))
            parts.append(replace(nodes, sample=samples[nodes.sample]))
        return joined_nodes(parts)

    def _score_batch(self, inputs: Any, trie: Trie) -> Nodes:
        """Level by level: all true prefixes of one length in one call."""
        step = self.start(inputs)
        levels = trie.levels()
        steps = [step.nodes]
        for level in levels[1:]:
            step = self.advance(step, level.parent, level.token)
            steps.append(step.nodes)
        by_level = joined_nodes(steps)
        place = np.argsort(np.concatenate([level.nodes for level in levels]), kind="stable")
        return by_level[place]


def joined_nodes(parts: list[Nodes]) -> Nodes:
    """Batches of nodes as one."""
    prefix: Any = None
    if any(part.prefix_probability is not None for part in parts):
        prefix = np.concatenate(
            [
                np.ones(len(part)) if part.prefix_probability is None else part.prefix_probability
                for part in parts
            ]
        )
    return Nodes(
        np.concatenate([part.sample for part in parts]),
        np.concatenate([part.depth for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
        prefix_probability=prefix,
    )


@savable(parts={"vocabulary": (Vocabulary,)})
class InjectedScorer(TokenScorer):
    """A scorer that the user passed, behind the interface of ours.

    Parameters
    ----------
    scorer : Scorer
    vocabulary : Vocabulary
    """

    def __init__(self, scorer: Scorer, vocabulary: Vocabulary) -> None:
        self.scorer = scorer
        self.vocabulary = vocabulary

    def facts(self) -> dict[str, Any]:
        """The class of the scorer."""
        return {"scorer": type(self.scorer).__name__}

    @property
    def gives_marginals(self) -> bool:
        """What the scorer says of itself; scores are shares of 1 if it says nothing."""
        return bool(getattr(self.scorer, "gives_marginals", False))

    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Any]]:
        """Slices of X as they are."""
        for first in range(0, len(X), most):
            part = X[first : first + most]
            yield np.arange(first, first + len(part)), part

    def start(self, X: Any) -> Step:
        """Score the root of every sample."""
        step = self.scorer.start(X)
        self._check(step, len(X), "start")
        return step

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below."""
        below = self.scorer.advance(step, parent, token)
        self._check(below, len(parent), "advance")
        return below

    def as_batch(self, x: Any) -> Any:
        """A list of one input."""
        return [x]

    def _check(self, step: Any, n_rows: int, method: str) -> None:
        nodes = getattr(step, "nodes", None)
        shape = getattr(getattr(nodes, "probabilities", None), "shape", None)
        wanted = (n_rows, self.vocabulary.n_choices)
        if not isinstance(nodes, Nodes) or shape != wanted:
            raise DataError(
                f"{type(self.scorer).__name__}.{method} must return a Step whose nodes have "
                f"probabilities of shape {wanted} (prefixes, tokens and the end symbol), got "
                f"{type(step).__name__} with shape {shape}"
            )
