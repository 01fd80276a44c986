"""A scorer that lets trees choose what each input token produces."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, IntArray
from setlearn.parameter_checks import check_count
from setlearn.savable import savable
from setlearn.scorers.binary_forest import BinaryForests, ForestBuilder
from setlearn.scorers.empty_sets import EmptySets
from setlearn.scorers.unit_features import UnitFeatures, endings_of
from setlearn.scorers.units import Choices, ChunkTable, Contexts, Units, UnitScorer
from setlearn.sequence_inputs import TokenReader
from setlearn.trie import concatenated_ranges
from setlearn.vocabulary import Tokeniser, Vocabulary

__all__ = ["AlignedTrees"]

LEAST_OCCURRENCES = 20
"""An input token that occurs less often has no forest of its own."""

MOST_FORESTS = 200
"""Tokens that have a forest of their own: the most frequent ones."""

MOST_POOLED = 3000
"""Occurrences that the forest for rare tokens is grown from."""

MOST_LABELS = 200
"""Chunks that a forest distinguishes; rows with rarer ones are left out."""

POOLED_WEIGHT = 2.0
"""How many occurrences of a rare token the forest for all of them counts for."""

POOLED = 0
"""The number of the forest for rare tokens."""


@savable(
    parts={
        "vocabulary_": (Vocabulary,),
        "tokeniser_": (Tokeniser,),
        "reader_": (TokenReader,),
        "chunks_": (ChunkTable,),
        "empty_": (EmptySets,),
        "features_": (UnitFeatures,),
        "forests_": (BinaryForests,),
    }
)
class AlignedTrees(UnitScorer):
    """Predict sequences that follow their inputs from left to right, token by token.

    Training pairs are aligned, so that each input token produces a chunk of none, one or several
    output tokens. For each input token, a forest of extremely randomised trees chooses the chunk.
    It sees the input tokens around, n-grams of them, the last chunks, and how often a few endings
    of output tokens were written so far. Tokens that are rare or new share a forest. There, "a
    copy of the input token" is a chunk like any other. A beam search over the positions lists the
    most probable outputs.

    It suits pronunciation, transliteration and spelling. It learns from inputs and outputs of up to
    100 tokens, and inputs of more than 1000 have no candidates. How probable it is that a set is
    empty is learned from the tokens of inputs. Where outputs do not follow their inputs, use
    another scorer.

    Parameters
    ----------
    n_trees : int, default=80
        The number of trees per input token.
    max_features : float, default=0.15
        The share of features that are tried at each node.
    window : int, default=6
        How many input tokens the trees see on each side.
    history : int, default=2
        How many of the last chunks the trees see.
    beam : int, default=20
        How many partial outputs are kept at each position, and the largest number of candidates.
        If training sets have more than half as many elements, it is twice the size of the largest.
    max_pairs : int, default=10000
        How many pairs of an input and an element the trees are grown from. If there are more, some
        are drawn. The time to fit is proportional to it.
    random_state : int or RandomState, default=0
        Seeds the trees.

    Attributes
    ----------
    chunks_ : ChunkTable
        What input tokens may produce.
    forests_ : BinaryForests
        The trees.

    Examples
    --------
    >>> from setlearn import SequenceSetGenerator
    >>> from setlearn.scorers import AlignedTrees
    >>> words = ["cat", "cent", "act", "ace", "can", "cell", "cot", "ice", "tact", "nice"] * 2
    >>> sounds = [{w.replace("ce", "se").replace("c", "k")} for w in words]
    >>> model = SequenceSetGenerator(AlignedTrees()).fit(words, sounds)
    >>> model.predict_ranked(["cane"], top=1)[0][0][0]
    'kane'
    """

    short_name: ClassVar[str] = "trees"

    def __init__(
        self,
        *,
        n_trees: int = 80,
        max_features: float = 0.15,
        window: int = 6,
        history: int = 2,
        beam: int = 20,
        max_pairs: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.window = window
        self.history = history
        self.beam = beam
        self.max_pairs = max_pairs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name in ("n_trees", "window", "history", "beam", "max_pairs"):
            check_count(name, getattr(self, name))
        share = self.max_features
        if not isinstance(share, int | float | np.number) or not 0 < share <= 1:
            raise ParameterError(f"max_features must be in (0, 1], got {share!r}")

    def _fit_units(self, units: Units, rng: np.random.RandomState) -> None:
        if len(units.source) > self.max_pairs:
            units = units.part(np.sort(rng.permutation(len(units.source))[: self.max_pairs]))
        endings = endings_of(self.vocabulary_, units.table)
        self.features_, rows = UnitFeatures.learn(units, self.window, self.history, endings)
        inside = np.arange(units.source.shape[1]) < units.length[:, None]
        token, chunk = units.source[inside], units.chunks[inside]  # (n_rows,) like `rows`
        count = np.bincount(token, minlength=units.n_tokens)
        frequent = np.argsort(-count, kind="stable")[:MOST_FORESTS]
        frequent = np.sort(frequent[count[frequent] >= LEAST_OCCURRENCES])
        self.forest_ = np.full(units.n_tokens, POOLED)
        self.forest_[frequent] = np.arange(1, len(frequent) + 1)
        builder = ForestBuilder(self.n_trees, float(self.max_features))
        is_copy = chunk == units.copies[token]
        relation = np.where(is_copy, units.table.unknown_copy, chunk)
        rare = self.forest_[token] == POOLED
        pooled = _pooled_rows(rare, rng)
        pooled = pooled[_has_frequent(relation[pooled])]
        builder.add(rows[pooled], relation[pooled], rng)
        by_token = np.argsort(token, kind="stable")
        begin = np.searchsorted(token[by_token], np.arange(units.n_tokens + 1))
        for number in frequent:
            own = by_token[begin[number] : begin[number + 1]]
            own = own[_has_frequent(chunk[own])]
            builder.add(rows[own], chunk[own], rng)
        self.forests_ = builder.forests()
        key, self.rare_count_ = np.unique(
            token[rare] * len(units.table) + chunk[rare], return_counts=True
        )
        self.rare_token_, self.rare_chunk_ = np.divmod(key, len(units.table))

    def _choices(self, contexts: Contexts) -> Choices:
        rows = self.features_.rows(contexts)
        token = contexts.source[contexts.sample, contexts.position]
        asked, place = np.unique(np.column_stack([token, rows]), axis=0, return_inverse=True)
        found = self._distributions(asked[:, 0], asked[:, 1:])
        begin = np.searchsorted(found.context, np.arange(len(asked) + 1))
        place = place.ravel()
        entry, context = concatenated_ranges(begin[place], begin[place + 1])
        return Choices(context, found.chunk[entry], found.probability[entry])

    def _distributions(self, token: IntArray, rows: IntArray) -> Choices:
        """The probable chunks of input tokens with these features."""
        forest = self.forest_[token]
        row, chunk, probability = self.forests_.predict(forest, rows, self.features_.column())
        pooled = forest[row] == POOLED
        copied = pooled & (chunk == self.chunks_.unknown_copy)
        chunk = np.where(copied, self.copies_[token[row]], chunk)
        # Of rare tokens: what they were seen to produce, and what tokens like them produce.
        first = np.searchsorted(self.rare_token_, token)
        last = np.searchsorted(self.rare_token_, token, side="right")
        entry, seen = concatenated_ranges(first, last)
        count = np.bincount(seen, self.rare_count_[entry], minlength=len(token))
        weight = np.where(forest == POOLED, POOLED_WEIGHT / (POOLED_WEIGHT + count), 1.0)
        own = self.rare_count_[entry] / (POOLED_WEIGHT + count[seen])
        row, chunk = np.concatenate([row, seen]), np.concatenate([chunk, self.rare_chunk_[entry]])
        probability = np.concatenate([probability * weight[row[: len(probability)]], own])
        key, place = np.unique(row * len(self.chunks_) + chunk, return_inverse=True)
        total = np.bincount(place, probability, minlength=len(key)).astype(np.float64)
        return Choices(key // len(self.chunks_), key % len(self.chunks_), total)


def _pooled_rows(is_rare: BoolArray, rng: np.random.RandomState) -> IntArray:
    """Occurrences of all tokens, those of rare ones first of all."""
    order = rng.permutation(len(is_rare))
    order = order[np.argsort(~is_rare[order], kind="stable")]
    return np.sort(order[:MOST_POOLED])


def _has_frequent(labels: IntArray) -> IntArray:
    """The rows with one of the most frequent labels."""
    distinct, place, count = np.unique(labels, return_inverse=True, return_counts=True)
    kept = np.zeros(len(distinct), dtype=bool)
    kept[np.argsort(-count, kind="stable")[:MOST_LABELS]] = True
    return np.flatnonzero(kept[place])
