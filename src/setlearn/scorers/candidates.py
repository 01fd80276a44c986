"""From lists of candidates to choice points: scorers that know whole sequences.

A candidate is a whole sequence with its own probability to be in the set. The prefix tree of the
candidates of an input is scored so that rules, traces and mixtures treat it like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from setlearn.nodes import ExampleSets, FloatArray, IntArray, Nodes, Step
from setlearn.trie import END, Sequences, concatenated_ranges

__all__ = ["Candidate", "CandidateTrees", "Listing"]

Candidate: TypeAlias = tuple[tuple[int, ...], float]
"""The choices of a sequence without the end symbol, and its probability to be in the set.

The empty sequence stands for the empty set."""


class Listing(NamedTuple):
    """What a scorer lists for a batch of inputs."""

    candidates: list[list[Candidate]]
    example_sets: Callable[[IntArray], list[ExampleSets]]
    """Lists whole sets for the inputs at these places of the batch."""


LEAST = 1e-300
"""What a probability is divided by at least."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTrees:
    """The prefix trees of the candidates of a batch of inputs.

    The membership of a prefix is the highest probability among the candidates that begin with it.
    It is a lower bound on the probability that at least one of them is in the set. It falls along
    each path, and at the end symbol it is the candidate's own probability. A noisy-or would be an
    estimate rather than a bound, but it takes candidates for independent: the many improbable
    spellings that share a stem would then make the stem look certain. With the highest
    probability, `Threshold` keeps exactly the candidates that reach the threshold. The end symbol
    at the root has the probability of the empty sequence, which stands for the empty set.

    Examples
    --------
    >>> trees = CandidateTrees.of([[((1, 2), 0.9), ((1, 1), 0.3)], [((), 0.8)]], n_choices=3)
    >>> step = trees.start()
    >>> step.nodes.membership
    array([[0. , 0.9, 0. ],
           [0.8, 0. , 0. ]])
    >>> CandidateTrees.advance(step, np.array([0]), np.array([1])).nodes.membership
    array([[0. , 0.3, 0.9]])
    """

    first: IntArray  # (n_samples + 1,) where the candidates of each sample begin
    tokens: IntArray  # (m, longest + 1) in lexicographic order per sample, filled up with END
    probability: FloatArray  # (m,)
    n_choices: int

    @classmethod
    def of(cls, lists: Sequence[Sequence[Candidate]], n_choices: int) -> CandidateTrees:
        """Build the trees.

        Parameters
        ----------
        lists : one sequence of candidates per input
            A candidate with a choice that is not in [1, n_choices) is left out: it has a token
            that the vocabulary does not know.
        n_choices : int
            The number of tokens in the vocabulary, plus one for the end symbol.

        Returns
        -------
        CandidateTrees
        """
        kept = [
            [(y, p) for y, p in candidates if all(END < choice < n_choices for choice in y)]
            for candidates in lists
        ]
        probability = np.array([p for candidates in kept for _, p in candidates], np.float64)
        sequences = Sequences.of([[list(y) for y, _ in candidates] for candidates in kept])
        tokens = np.pad(sequences.padded(), ((0, 0), (0, 1)), constant_values=END)
        order = np.lexsort((*tokens.T[::-1], sequences.sample))
        first = np.searchsorted(sequences.sample[order], np.arange(len(lists) + 1))
        return cls(first, tokens[order], probability[order], n_choices)

    def start(self) -> Step:
        """Score the root of every sample."""
        sample = np.arange(len(self.first) - 1)
        one = np.ones(len(sample))
        return self._step(sample, np.zeros_like(sample), self.first[:-1], self.first[1:], one)

    @staticmethod
    def advance(step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below, as `Scorer.advance` does.

        Parameters
        ----------
        step : Step
            What ``start`` or ``advance`` returned.
        parent : array of int, shape (m,)
        token : array of int, shape (m,)

        Returns
        -------
        Step
            Prefixes that no candidate has get the probability 0 everywhere.
        """
        place: _Place = step.state
        nodes, trees = step.nodes, place.trees
        depth = nodes.depth[parent]
        candidate, row = concatenated_ranges(place.begin[parent], place.end[parent])
        taken = trees.tokens[candidate, depth[row]] == token[row]
        # The candidates are sorted, so those that take one choice lie next to each other.
        begin = np.full(len(parent), len(trees.tokens))
        end = np.zeros(len(parent), dtype=np.intp)
        np.minimum.at(begin, row[taken], candidate[taken])
        np.maximum.at(end, row[taken], candidate[taken] + 1)
        begin = np.minimum(begin, end)
        return trees._step(
            nodes.sample[parent], depth + 1, begin, end, nodes.membership[parent, token]
        )

    def _step(
        self, sample: IntArray, depth: IntArray, begin: IntArray, end: IntArray, before: FloatArray
    ) -> Step:
        scores = np.zeros((len(sample), self.n_choices))
        candidate, row = concatenated_ranges(begin, end)
        choice = self.tokens[candidate, depth[row]]
        np.maximum.at(scores, (row, choice), self.probability[candidate])
        scores = np.minimum(scores / np.maximum(before, LEAST)[:, None], 1.0)
        nodes = Nodes(sample, depth, scores, prefix_probability=before)
        return Step(nodes, _Place(self, begin, end))


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Which candidates begin with the prefix of each node: the half-open ranges of their rows."""

    trees: CandidateTrees
    begin: IntArray
    end: IntArray
