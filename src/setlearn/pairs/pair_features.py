"""All features of pairs: those of every source, and where candidates stand in their lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setlearn.candidate_lists import CandidateLists
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.pairs.sources import MatrixSource, Source, TextSource
from setlearn.pairs.within_lists import with_standings
from setlearn.savable import savable

__all__ = ["PairFeatures", "ReadPairs"]

BLOCK_ROWS = 20_000
"""Candidates whose features are computed together: some tens of MB."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPairs:
    """Lists of candidates as each source has read them."""

    lists: CandidateLists
    by_source: list[Any]

    def __getitem__(self, samples: slice | IntArray) -> ReadPairs:
        return ReadPairs(self.lists[samples], [read[samples] for read in self.by_source])


@savable()
class PairFeatures:
    """Turns lists of candidates into one row of numbers per candidate.

    Parameters
    ----------
    sources : list of Source
    """

    def __init__(self, sources: list[Source]) -> None:
        self.sources = sources

    @property
    def width(self) -> int | None:
        """How many features the matrices have that it reads; None if it reads texts."""
        return next((s.n_features_ for s in self.sources if isinstance(s, MatrixSource)), None)

    @property
    def reads_tokens(self) -> bool:
        """Whether queries are lists of tokens."""
        texts = [source for source in self.sources if isinstance(source, TextSource)]
        return any(source.query_kind_ == "lists of tokens" for source in texts)

    def fit(self, lists: CandidateLists, right: BoolArray, fold: IntArray) -> ReadPairs:
        """Fit all sources.

        Parameters
        ----------
        lists : CandidateLists
        right : array of bool of shape (n_rows,)
        fold : array of int of shape (n_samples,)

        Returns
        -------
        ReadPairs
            The same lists. Their features do not depend on the sets of their own fold.
        """
        return ReadPairs(lists, [source.fit(lists, right, fold) for source in self.sources])

    def read(self, lists: CandidateLists) -> ReadPairs:
        """Read other lists."""
        return ReadPairs(lists, [source.read(lists) for source in self.sources])

    def features(self, read: ReadPairs) -> FloatArray:
        """The features of all pairs, (n_rows, features), in single precision."""
        parts = []
        for samples in read.lists.blocks(BLOCK_ROWS):
            block = read[samples]
            of_sources = [
                source.features(part)
                for source, part in zip(self.sources, block.by_source, strict=True)
            ]
            parts.append(with_standings(block.lists, np.hstack(of_sources)))
        return np.concatenate(parts)

    def likeness(self, read: ReadPairs, known: BoolArray) -> FloatArray:
        """How similar each candidate is to the known ones of its list.

        Parameters
        ----------
        read : ReadPairs
        known : array of bool of shape (n_rows,)

        Returns
        -------
        array of shape (n_rows, measures)
        """
        parts, first = [], read.lists.first
        for samples in read.lists.blocks(BLOCK_ROWS):
            block, given = read[samples], known[first[samples.start] : first[samples.stop]]
            of_sources = [
                source.likeness(part, given)
                for source, part in zip(self.sources, block.by_source, strict=True)
            ]
            parts.append(np.hstack(of_sources))
        return np.concatenate(parts)
