"""How rules choose among finished sequences, of which each counts as a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes, best_of_each_sample
from setlearn.rules.base import Rule
from setlearn.trie import END

__all__ = ["LEAST_FOLLOWED", "LEAST_OF_FINISHED", "ChoosesSequences"]

LEAST_FOLLOWED = 1e-3
"""Prefixes with a lower probability are not followed."""

LEAST_OF_FINISHED = 0.02
"""Prefixes whose probability is a smaller share of the best finished sequence's are not followed:
no rule would keep a sequence that is fifty times less probable than another."""


class ChoosesSequences(Rule):
    """A rule that follows all probable prefixes, and decides when their sequences are finished.

    The probability of a long sequence is a product of many, so no single step shows how it
    compares with others. A subclass decides in ``accept`` as for labels.
    """

    @property
    def chooses_sequences(self) -> bool:
        """Always."""
        return True

    @property
    def least_followed(self) -> float:
        """The least probability of a prefix that is followed, unless there is no better one."""
        return LEAST_FOLLOWED

    @property
    def least_share(self) -> float:
        """The least share of the best sequence's probability that is followed."""
        return LEAST_OF_FINISHED

    def grow(self, nodes: Nodes) -> BoolArray:
        """Follow all probable choices, and at each length the best end and the best other choice.

        So there is always a sequence to choose, however improbable all of them are.
        """
        self.check_parameters(n_positions=int(nodes.depth.max(initial=0)) + 1)
        membership = nodes.membership
        probable: BoolArray = membership >= self.least_followed
        rows = np.arange(len(nodes))
        for first, last in ((END, END + 1), (END + 1, nodes.n_choices)):
            if first < last:
                best = membership[:, first:last].argmax(axis=1) + first
                score = membership[rows, best]
                row = np.flatnonzero(best_of_each_sample(nodes.sample, score, 1) & (score > 0))
                probable[row, best[row]] = True
        return probable

    def least_useful(self, sample: IntArray, membership: FloatArray, n_samples: int) -> FloatArray:
        """A share of the best finished sequence's probability; 0 if there is none.

        Parameters
        ----------
        sample : int array of shape (m,)
        membership : array of shape (m,)
        n_samples : int

        Returns
        -------
        array of shape (n_samples,)
        """
        best = np.zeros(n_samples)
        np.maximum.at(best, sample, membership)
        return best * self.least_share

    def choose(self, nodes: Nodes) -> BoolArray:
        """Keep what ``accept`` keeps, as if each sequence were a label."""
        return self.accepted(nodes)

    def reasons_not_followed(
        self, nodes: Nodes, row: IntArray, choice: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Compare the probabilities of prefixes with the least that is followed."""
        membership = nodes.membership[row, choice]
        return [
            f"with its prefix {name} has probability {probability:.4g}, and the tree follows "
            f"{self.least_followed:.4g} or more"
            for probability, name in zip(membership, names, strict=True)
        ]
