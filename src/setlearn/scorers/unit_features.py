"""What can be seen at a position of an input whose first tokens have produced their chunks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from setlearn.nodes import IntArray
from setlearn.savable import savable
from setlearn.scorers.units import ChunkTable, Contexts, Units
from setlearn.trie import END
from setlearn.vocabulary import Vocabulary

__all__ = ["UnitFeatures", "endings_of"]

NGRAMS = ((-1, 1), (0, 2), (-2, 1), (0, 3), (-1, 2))
"""Where the n-grams of input tokens begin and end, counted from the present one."""

MOST_ENDINGS = 4
FEWEST_TOKENS = 4
"""How many tokens share an ending that is counted."""

MOST_COUNTED = 3
"""Endings are counted up to here."""

BEFORE = -1
"""Stands for the chunk of a position before the input."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class UnitFeatures:
    """Turns contexts into rows of feature numbers, one per column.

    The columns are the input tokens around the position, n-grams of them, the last chunks, and how
    often each of a few endings of output tokens has been written so far. Each value of a column
    that was seen in training is a feature of its own. A value that was not has the number -1.
    """

    window: int
    history: int
    n_tokens: int
    endings: IntArray  # (n_chunks, n_endings) how often each chunk has each ending
    values: IntArray  # (n_features,) sorted within each column
    first: IntArray  # (n_columns + 1,) the first feature of each column

    @classmethod
    def learn(
        cls, units: Units, window: int, history: int, endings: IntArray
    ) -> tuple[UnitFeatures, IntArray]:
        """Collect the features of all positions of training pairs.

        Parameters
        ----------
        units : Units
        window : int
            Input tokens on each side.
        history : int
            The number of last chunks.
        endings : array of shape (n_chunks, n_endings)
            From `endings_of`.

        Returns
        -------
        features : UnitFeatures
        rows : array of int, shape (sum of lengths, n_columns)
            The features of each position, pair by pair.
        """
        nothing = np.zeros(0, dtype=np.int64)
        new = cls(window, history, units.n_tokens, endings, nothing, nothing)
        by_position = []
        place = []
        for position in range(units.source.shape[1]):
            inside = np.flatnonzero(units.length > position)
            contexts = Contexts(
                units.source, units.length, inside, position, units.chunks[inside, :position]
            )
            by_position.append(new._values(contexts))
            place.append(inside * units.source.shape[1] + position)
        raw = np.concatenate(by_position)[np.argsort(np.concatenate(place))]
        columns = [np.unique(column) for column in raw.T]
        first = np.cumsum([0, *map(len, columns)])
        learned = cls(window, history, units.n_tokens, endings, np.concatenate(columns), first)
        return learned, learned._numbered(raw)

    def column(self) -> IntArray:
        """The column of each feature."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def rows(self, contexts: Contexts) -> IntArray:
        """The features of contexts.

        Parameters
        ----------
        contexts : Contexts

        Returns
        -------
        array of int, shape (n, n_columns)
            -1 for a value that was not seen in training.
        """
        return self._numbered(self._values(contexts))

    def _numbered(self, raw: IntArray) -> IntArray:
        rows = np.full(raw.shape, -1, dtype=np.int32)
        for k, column in enumerate(raw.T):
            known = self.values[self.first[k] : self.first[k + 1]]
            place = np.searchsorted(known, column).clip(max=len(known) - 1)
            rows[:, k] = np.where(known[place] == column, place + self.first[k], -1)
        return rows

    def _values(self, contexts: Contexts) -> IntArray:
        """The values of all columns, (n, n_columns)."""
        around = self._around(contexts)[contexts.sample]
        last = np.full((len(contexts.sample), self.history), BEFORE)
        n_last = min(self.history, contexts.position)
        if n_last:
            last[:, -n_last:] = contexts.chunks[:, -n_last:]
        counts = self.endings[contexts.chunks].sum(axis=1).clip(max=MOST_COUNTED)
        return np.concatenate([around, last, counts], axis=1)

    def _around(self, contexts: Contexts) -> IntArray:
        """The tokens around the position, and their n-grams, of each input, (b, ...)."""
        source, length = contexts.source, contexts.length
        outside = self.n_tokens
        place = contexts.position + np.arange(-self.window, self.window + 1)
        inside = (place >= 0) & (place < length[:, None])
        tokens = np.where(inside, source[:, place.clip(0, source.shape[1] - 1)], outside)
        ngrams = []
        for begin, end in NGRAMS:
            ngram = np.zeros(len(source), dtype=np.int64)
            for k in range(begin, end):
                near = tokens[:, self.window + k] if abs(k) <= self.window else outside
                ngram = ngram * (self.n_tokens + 1) + near
            ngrams.append(ngram)
        return np.column_stack([tokens, *ngrams])


def endings_of(vocabulary: Vocabulary, table: ChunkTable) -> IntArray:
    """How often each chunk has each of the few most frequent endings of output tokens.

    Tokens such as "AH0" and "IY1" often carry a mark at the end, and how many marks of a kind
    have been written decides about the next one. An ending is the last character of a token with
    several characters.

    Parameters
    ----------
    vocabulary : Vocabulary
    table : ChunkTable

    Returns
    -------
    array of int, shape (n_chunks, n_endings)
        Without columns if no ending is frequent.
    """
    last = [t[-1] if isinstance(t, str) and len(t) > 1 else "" for t in vocabulary.tokens]
    shared = Counter(ending for ending in last if ending)
    by_count = sorted((-n, ending) for ending, n in shared.items() if n >= FEWEST_TOKENS)
    frequent = [ending for _, ending in by_count[:MOST_ENDINGS]]
    column = {ending: k for k, ending in enumerate(frequent)}
    counts = np.zeros((len(table), len(frequent)), dtype=np.int64)
    last += [""] * vocabulary.n_stand_ins
    for chunk in range(table.unknown_copy):
        for choice in table.tokens(chunk, END):
            if last[choice - 1] in column:
                counts[chunk, column[last[choice - 1]]] += 1
    return counts
