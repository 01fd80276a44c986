"""A set of fixed size: the k best choices, or the k best sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from setlearn.nodes import (
    BoolArray,
    FloatArray,
    IntArray,
    Mask,
    Nodes,
    best_of_each_sample,
    check_positive,
)
from setlearn.parameter_checks import check_count
from setlearn.rules.base import Rule
from setlearn.rules.steps import best_first
from setlearn.savable import savable
from setlearn.trie import END

__all__ = ["TopK"]

LEAST_BEAM = 16


@savable()
class TopK(Rule):
    """Keep the k best choices; known ones do not count.

    With ``scores="softmax"`` and empty sets in training, "nothing" is one more choice. Where it is
    the best of all, the set is empty. Otherwise it does not count, and k labels are kept.

    For sequences it keeps the k most probable *sequences* of each sample. They are found by
    beam search: of the prefixes of each length, the 4·k most probable ones (at least 16) are
    followed, as long as they can still beat the sequences that are finished. Each known prefix
    widens the beam by one, so that known sequences do not displace others.

    Parameters
    ----------
    k : int, default=1

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import TopK
    >>> TopK(2).accept(Nodes.roots(np.array([[0.2, 0.5, 0.3]])))
    array([[False,  True,  True]])
    """

    def __init__(self, k: int = 1) -> None:
        self.k = k

    @property
    def keeps_improbable(self) -> bool:
        """Always: k are kept."""
        return True

    @property
    def needs_fit(self) -> bool:
        """Never: k is given."""
        return False

    @property
    def chooses_sequences(self) -> bool:
        """Always."""
        return True

    @property
    def is_monotone(self) -> bool:
        """Always."""
        return True

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Check the parameters; there is nothing to learn.

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
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the k best of each choice point; ties go to the earlier choice."""
        self.check_parameters()
        kept = nodes.known_mask()
        for rows in nodes.row_chunks():
            part = nodes[rows]
            open_scores = part.masked(part.probabilities)
            if part.known is not None:
                open_scores = np.where(part.known, -np.inf, open_scores)
            if part.nothing is not None:  # alone where it leads, elsewhere no choice
                leads = open_scores.argmax(axis=1) == part.nothing
                is_element = np.arange(part.n_choices) != part.nothing
                open_scores = np.where(is_element == leads[:, None], -np.inf, open_scores)
            best = np.argsort(-open_scores, axis=1, kind="stable")[:, : self.k]
            is_choice = np.take_along_axis(open_scores, best, axis=1) > -np.inf
            np.put_along_axis(kept[rows], best, is_choice, axis=1)
        return nodes.completed(kept)

    def grow(self, nodes: Nodes) -> BoolArray:
        """Follow every end, and the most probable other choices of each sample.

        Known choices compete like others, but the beam of a sample has room for all of them.
        """
        self.check_parameters()
        followed = np.zeros(nodes.probabilities.shape, dtype=bool)
        followed[:, END] = True if nodes.available is None else nodes.available[:, END]
        _, sample = np.unique(nodes.sample, return_inverse=True)
        width = self._width() + _known_of_each_sample(nodes, sample)
        membership = nodes.membership
        # The best of each row first, so that only few choices are sorted by sample.
        goes_on = np.where(np.arange(nodes.n_choices) == END, 0.0, membership)
        most = int(width.max(initial=0))
        row, choice = np.nonzero(_best_of_each_row(goes_on, most) & (goes_on > 0))
        best = best_of_each_sample(sample[row], membership[row, choice], width)
        followed[row[best], choice[best]] = True
        return followed

    def least_nodes(self, max_length: int, n_known: int = 0) -> int:
        """Room for a whole beam at every length.

        Parameters
        ----------
        max_length : int
        n_known : int, default=0

        Returns
        -------
        int
        """
        return (self._width() + n_known) * (max_length + 1)

    def _width(self) -> int:
        return max(4 * int(self.k), LEAST_BEAM)

    def least_useful(self, sample: IntArray, membership: FloatArray, n_samples: int) -> FloatArray:
        """The membership of the k-th best finished sequence of each sample; 0 if there are fewer.

        Parameters
        ----------
        sample : int array of shape (m,)
        membership : array of shape (m,)
        n_samples : int

        Returns
        -------
        array of shape (n_samples,)
        """
        best = best_of_each_sample(sample, membership, self.k)
        sample, membership = sample[best], membership[best]
        least = np.full(n_samples, np.inf)
        np.minimum.at(least, sample, membership)
        least[np.bincount(sample, minlength=n_samples) < self.k] = 0
        return least

    def choose(self, nodes: Nodes) -> BoolArray:
        """Keep the k best sequences of each sample, except impossible ones."""
        return self.accepted(nodes) & (nodes.probabilities > 0)

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The probability of the choice, and its rank among those that are not known."""
        n_known = 0 if node.known is None else int(node.known.sum())
        rank = len(memory) - n_known + 1
        if choice == node.nothing:  # the rule looked for it at the top alone
            rank = 1 + best_first(node.probabilities[0], ~node.known_mask()[0]).index(choice)
        return {**super().figures(node, choice, memory), "rank": rank}

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the rank of the choice with k."""
        if choice == node.nothing:
            return f"{name} means an empty set, and is an answer only where it ranks first"
        if node.nothing is not None and self.accept(node)[0, node.nothing]:
            return f"the empty set ranks first, and {name} lower"
        return f"k = {self.k}, and {name} at {node.probabilities[0, choice]:.4g} ranks lower"

    def reasons_not_followed(
        self, nodes: Nodes, row: IntArray, choice: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Compare the ranks of prefixes among all of their length with the width of the beam."""
        membership = nodes.membership[:, END + 1 :]
        rank = np.empty(membership.size, dtype=np.intp)
        rank[np.argsort(-membership, axis=None, kind="stable")] = np.arange(1, rank.size + 1)
        ranks = rank.reshape(membership.shape)
        width = self._width() + _known_of_each_sample(nodes, np.zeros(len(nodes), np.intp))[0]
        return [
            f"{name} ranks {ranks[r, c - END - 1]} among all prefixes of this length, and the "
            f"best {width} are followed"
            if membership[r, c - END - 1] > 0
            else f"{name} has probability 0"
            for r, c, name in zip(row, choice, names, strict=True)
        ]

    def reasons_not_chosen(
        self, node: Nodes, left_out: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Compare the ranks of sequences with k."""
        membership = node.probabilities[0]
        return [
            f"k = {self.k}, and {name} at {membership[place]:.4g} ranks {place + 1}"
            if membership[place] > 0
            else f"{name} has probability 0"
            for place, name in zip(left_out, names, strict=True)
        ]

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless k is a count."""
        check_count("k", self.k)


def _known_of_each_sample(nodes: Nodes, sample: IntArray) -> IntArray:
    """The number of known choices of each sample without ends; ``sample`` counts from 0."""
    counts = np.zeros(int(sample.max(initial=-1)) + 1, dtype=np.intp)
    if nodes.known is not None:
        np.add.at(counts, sample, nodes.known[:, END + 1 :].sum(axis=1))
    return counts


def _best_of_each_row(scores: FloatArray, count: int) -> BoolArray:
    """The entries at or above the ``count``-th best of their row (n, V)."""
    if scores.shape[1] <= count:
        return np.ones(scores.shape, dtype=bool)
    last = np.partition(scores, -count, axis=1)[:, -count, None]
    at_least: BoolArray = scores >= last
    return at_least
