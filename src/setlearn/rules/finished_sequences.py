"""How rules choose among finished sequences, of which each counts as a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes, best_of_each_sample
from setlearn.rules.base import Rule
from setlearn.trie import END

__all__ = ["ChoosesSequences", "sequences_as_labels"]

LEAST_FOLLOWED = 1e-3
"""Prefixes with a lower probability are not followed."""

LEAST_SHARE = 0.02
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
    def least_share(self) -> float:
        """The least share of the best sequence's probability that is followed."""
        return LEAST_SHARE

    def grow(self, nodes: Nodes) -> BoolArray:
        """Follow all probable choices, and at each length the best end and the best other choice.

        So there is always a sequence to choose, however improbable all of them are.
        """
        self.check_parameters(n_positions=int(nodes.depth.max(initial=0)) + 1)
        membership = nodes.membership
        probable: BoolArray = membership >= LEAST_FOLLOWED
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

    def choose(
        self, sample: IntArray, membership: FloatArray, n_known: IntArray | None = None
    ) -> BoolArray:
        """Keep what ``accept`` keeps of each sample's sequences, as if each were a label.

        Parameters
        ----------
        sample : int array of shape (m,)
            Ascending.
        membership : array of shape (m,)
            Best first within each sample.
        n_known : int array of shape (m,), optional
            How many other sequences of the same sample are known.

        Returns
        -------
        bool array of shape (m,)
        """
        if len(sample) == 0:
            return np.zeros(0, dtype=bool)
        present, row = np.unique(sample, return_inverse=True)
        count = np.bincount(row, minlength=len(present))
        rank = np.arange(len(row)) - (np.cumsum(count) - count)[row]
        listed = np.arange(int(count.max())) < count[:, None]
        scores = np.zeros(listed.shape)
        scores[row, rank] = membership
        given = np.zeros(len(present), dtype=np.intp)
        if n_known is not None:
            given[row] = n_known
        kept: BoolArray = self.accepted(sequences_as_labels(scores, given, listed))[row, rank]
        return kept

    def reasons_not_followed(
        self, nodes: Nodes, row: IntArray, choice: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Compare the probabilities of prefixes with the least that is followed."""
        membership = nodes.membership[row, choice]
        return [
            f"with its prefix {name} has probability {probability:.4g}, and the tree follows "
            f"{LEAST_FOLLOWED:.4g} or more"
            for probability, name in zip(membership, names, strict=True)
        ]


def sequences_as_labels(
    membership: FloatArray, n_known: IntArray, listed: BoolArray | None = None
) -> Nodes:
    """Choice points whose choices are finished sequences, and then the known ones.

    Parameters
    ----------
    membership : array of shape (n, m)
        The probabilities of sequences, best first.
    n_known : int array of shape (n,)
        How many other sequences are known.
    listed : bool array of shape (n, m), optional
        Which entries are sequences. By default all are.

    Returns
    -------
    Nodes
        Known sequences have the score of the best one, so that they set no bar for others.
    """
    known = np.arange(n_known.max(initial=0)) < n_known[:, None]
    listed = np.ones(membership.shape, dtype=bool) if listed is None else listed
    best = membership.max(axis=1, initial=0.0, keepdims=True)
    return Nodes.roots(
        np.hstack([membership, known * best]),
        np.hstack([np.zeros(membership.shape, bool), known]),
        np.hstack([listed, known]),
    )
