"""Finished sequences as choice points: one per sample, whose choices are its sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from setlearn.errors import DataError
from setlearn.nodes import BoolArray, Examples, ExampleSets, FloatArray, IntArray, Nodes

__all__ = ["SequenceLists", "check_example_sets"]

LEAST_LEFT = 0.5
"""The share of the weight that sets must have all of whose sequences are listed."""


@dataclass(frozen=True, slots=True, eq=False)
class SequenceLists:
    """The finished sequences of some samples, each of which counts as a label.

    The choices of a sample are its sequences, best first, and then the known ones.
    """

    nodes: Nodes
    sample: IntArray  # (m,) ascending: the sample of each sequence
    rank: IntArray  # (m,) its place in the list of the sample

    @classmethod
    def of(
        cls,
        sample: IntArray,
        membership: FloatArray,
        n_samples: int,
        n_known: IntArray | None = None,
    ) -> SequenceLists:
        """Put sequences into lists.

        Parameters
        ----------
        sample : array of int, shape (m,)
            Ascending.
        membership : array of shape (m,)
            The probability of each sequence, best first within each sample.
        n_samples : int
        n_known : array of int, shape (n_samples,), optional
            How many other sequences of each sample are known. They get the score of the best one,
            so that they set no bar for others.

        Returns
        -------
        SequenceLists
        """
        count = np.bincount(sample, minlength=n_samples)
        rank = np.arange(len(sample)) - (np.cumsum(count) - count)[sample]
        listed = np.arange(max(int(count.max(initial=0)), 1)) < count[:, None]
        scores = np.zeros(listed.shape)
        scores[sample, rank] = membership
        if n_known is None:
            return cls(Nodes.roots(scores, available=listed), sample, rank)
        known = np.arange(int(n_known.max(initial=0))) < n_known[:, None]
        best = scores.max(axis=1, initial=0.0, keepdims=True)
        nodes = Nodes.roots(
            np.hstack([scores, known * best]),
            np.hstack([np.zeros(listed.shape, bool), known]),
            np.hstack([listed, known]),
        )
        return cls(nodes, sample, rank)

    def of_each(self, mask: BoolArray) -> BoolArray:
        """What a mask over the nodes says about each sequence, (m,)."""
        return mask[self.sample, self.rank]

    def with_examples(
        self,
        sequences: Iterable[tuple[int, ...]],
        example_sets: Sequence[ExampleSets],
        known: Sequence[Iterable[tuple[int, ...]]] = (),
    ) -> SequenceLists:
        """The same lists, with whole sets that say which sequences occur together.

        Parameters
        ----------
        sequences : iterable of m tuples
            The sequences of the lists.
        example_sets : list of ExampleSets, one per sample
            Sets with a sequence that is not in the list are left out: it is impossible. Where that
            leaves less than half of the weight, all are left out, since what is left says little.
        known : list of n_samples iterables of tuples, optional
            The known sequences of each sample.

        Returns
        -------
        SequenceLists
        """
        columns: list[dict[tuple[int, ...], int]] = [{} for _ in range(len(self.nodes))]
        for sample, rank, sequence in zip(
            self.sample.tolist(), self.rank.tolist(), sequences, strict=True
        ):
            columns[sample][sequence] = rank
        n_listed = self.nodes.n_choices - int(self.nodes.known_mask().sum(axis=1).max(initial=0))
        for column, of_sample in zip(columns, known or [()] * len(columns), strict=True):
            column |= {sequence: n_listed + k for k, sequence in enumerate(of_sample)}
        possible = [
            (sample, weight, [column[sequence] for sequence in elements])
            for sample, (column, sets) in enumerate(zip(columns, example_sets, strict=True))
            for elements, weight in _listed(sets, column.keys()).items()
        ]
        owner = [number for number, (_, _, places) in enumerate(possible) for _ in places]
        places = [place for _, _, of_set in possible for place in of_set]
        sets = sparse.csr_array(
            (np.ones(len(places), bool), (np.array(owner, np.intp), np.array(places, np.intp))),
            shape=(len(possible), self.nodes.n_choices),
        )
        at = np.array([sample for sample, _, _ in possible], np.intp), np.arange(len(possible))
        weights = sparse.csr_array(
            (np.array([weight for _, weight, _ in possible]), at),
            shape=(len(self.nodes), len(possible)),
        )
        return replace(self, nodes=replace(self.nodes, examples=Examples(sets, weights)))


def _listed(sets: ExampleSets, listed: Set[tuple[int, ...]]) -> ExampleSets:
    """The sets all of whose sequences are listed; none if most of the weight is elsewhere."""
    possible = {elements: weight for elements, weight in sets.items() if elements <= listed}
    return possible if sum(possible.values()) >= LEAST_LEFT * sum(sets.values()) else {}


def check_example_sets(answer: Any, n_inputs: int, name: str) -> None:
    """Raise unless this is one `ExampleSets` per input, as users' own scorers may answer anything.

    Parameters
    ----------
    answer : object
    n_inputs : int
    name : str
        Of the scorer, for the message.

    Raises
    ------
    DataError
    """
    problem = _problem_in(answer, n_inputs)
    if problem:
        raise DataError(
            f"{name}.example_sets must return one dict per input, from frozensets of tuples of "
            f"choices to weights of 0 or more, got {problem}"
        )


def _problem_in(example_sets: Any, n_inputs: int) -> str:
    """What is wrong with the whole sets of a scorer; empty if nothing is."""
    if not isinstance(example_sets, list | tuple) or len(example_sets) != n_inputs:
        return f"{example_sets!r:.60} for {n_inputs} input(s)"
    for sets in example_sets:
        if not isinstance(sets, Mapping):
            return f"{sets!r:.60} for an input"
        for elements, weight in sets.items():
            is_set = isinstance(elements, frozenset) and all(
                isinstance(y, tuple) and y and all(isinstance(k, int) for k in y) for y in elements
            )
            if not is_set or not isinstance(weight, int | float) or not 0 <= weight < np.inf:
                return f"{elements!r:.60} with the weight {weight!r:.20}"
    return ""
