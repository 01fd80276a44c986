"""Outputs as units: an input token with the chunk of output tokens that it produces.

Pairs of an input and an output are aligned, so that each input token produces a chunk of none, one
or several output tokens. A unit model says how probable each chunk is after the chunks before it.
A beam search over the positions of the input lists the most probable outputs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setlearn.copied_tokens import stand_ins_of
from setlearn.networks.alignment import Pairs, align
from setlearn.nodes import FloatArray, IntArray
from setlearn.parameter_checks import check_count
from setlearn.savable import savable
from setlearn.scorers.candidates import Candidate
from setlearn.scorers.empty_sets import EmptySets
from setlearn.scorers.listing import ListingScorer
from setlearn.sequence_inputs import TokenReader, learn_inputs
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import StandIns

__all__ = ["EMPTY", "Choices", "ChunkTable", "Contexts", "UnitScorer", "Units"]

LONGEST, LONGEST_PREDICTED = 100, 1000
"""Tokens of an input or an output. Longer ones than the first are not learned from; for inputs
longer than the second nothing is predicted."""

LONGEST_CHUNK = 8
"""Tokens that one input token may produce; outputs with longer chunks are not learned from."""

MOST_EMISSIONS = 4_000_000
"""Input tokens times output tokens; with more, nothing is learned."""

PER_ELEMENT = 2
"""How many partial outputs are kept at least, as a multiple of the size of the largest set."""

BATCH = 64
DECIMALS = 10

EMPTY = 0
"""The number of the empty chunk."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class ChunkTable:
    """The chunks by number: 0 is empty, k is the single choice k, then follow longer ones.

    The last number is that of a copied token that was not seen in training.
    """

    n_choices: int
    longer: tuple[tuple[int, ...], ...]

    @property
    def unknown_copy(self) -> int:
        """The number of the chunk that repeats an input token whose choice is not known."""
        return self.n_choices + len(self.longer)

    def __len__(self) -> int:
        return self.unknown_copy + 1

    def tokens(self, chunk: int, copy: int) -> tuple[int, ...]:
        """The choices of a chunk.

        Parameters
        ----------
        chunk : int
        copy : int
            The choice that is a copy of the input token.

        Returns
        -------
        tuple of int
        """
        if chunk == EMPTY:
            return ()
        if chunk < self.n_choices:
            return (chunk,)
        return (copy,) if chunk == self.unknown_copy else self.longer[chunk - self.n_choices]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Aligned training pairs: what each input token produces."""

    source: IntArray  # (n, longest input) token ids, filled up with UNKNOWN
    length: IntArray  # (n,)
    chunks: IntArray  # (n, longest input) numbers of chunks, filled up with EMPTY
    n_tokens: int
    copies: IntArray  # (n_tokens,) the chunk that repeats each input token
    table: ChunkTable

    def part(self, rows: IntArray) -> Units:
        """Some of the pairs."""
        source, length, chunks = self.source[rows], self.length[rows], self.chunks[rows]
        return replace(self, source=source, length=length, chunks=chunks)


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """Positions of inputs, each with the chunks that the tokens before it produced."""

    source: IntArray  # (b, longest input) the inputs of the batch
    length: IntArray  # (b,)
    sample: IntArray  # (n,) which input each context belongs to
    position: int  # the same one in all contexts
    chunks: IntArray  # (n, position)


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The chunks that may follow contexts, ordered by context."""

    context: IntArray  # (m,)
    chunk: IntArray  # (m,)
    probability: FloatArray  # (m,)


@dataclass(frozen=True, slots=True, eq=False)
class _Beam:
    """The most probable chunks of a batch of inputs, by sample, the best first."""

    sample: IntArray  # (n,)
    chunks: IntArray  # (n, longest input)
    score: FloatArray  # (n,)


class UnitScorer(ListingScorer):
    """A scorer that lists the outputs that a model of units finds most probable.

    Subclasses also have the parameter ``beam``.
    """

    beam: int

    @abstractmethod
    def _fit_units(self, units: Units, rng: np.random.RandomState) -> None:
        """Learn the model of units. There is at least one pair."""

    @abstractmethod
    def _choices(self, contexts: Contexts) -> Choices:
        """The probable chunks at a position. Any positive scores will do as probabilities."""

    def _end(self, contexts: Contexts) -> FloatArray:
        """The probability that an output ends after all chunks of its input, (n,)."""
        return np.ones(len(contexts.sample))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "chunks_")

    def _learn(self, X: list[Sequence[Any]], trie: Trie, rng: np.random.RandomState) -> None:
        """Align the elements with their inputs, and learn the model of units."""
        reader = learn_inputs(X, self.tokeniser_)
        assert isinstance(reader, TokenReader)
        self.reader_ = reader
        sizes = trie.set_sizes()
        self.empty_ = EmptySets.fit(reader.read(X), sizes == 0, reader.n_tokens, rng)
        self.mean_size_ = float(sizes[sizes > 0].mean()) if sizes.any() else 0.0
        self.beam_ = max(self.beam, PER_ELEMENT * int(sizes.max(initial=0)))
        units = self._aligned(X, trie, rng)
        self.chunks_ = units.table
        self.copies_ = units.copies
        self.learned_ = len(units.source) > 0
        if self.learned_:
            self._fit_units(units, rng)

    def candidates(self, X: Any) -> list[list[Candidate]]:
        """List the most probable outputs of each input."""
        inputs, tokens = self.reader_.read(X), self._token_lists(X)
        stand_ins = stand_ins_of(X, self.vocabulary_)
        lists: list[list[Candidate]] = [[] for _ in range(len(inputs))]
        empty = self.empty_.probabilities(inputs).tolist()
        if self.learned_:
            short = np.flatnonzero(inputs.length <= LONGEST_PREDICTED)
            for begin in range(0, len(short), BATCH):
                rows = short[begin : begin + BATCH]
                source, length = inputs.take(rows)
                beam = self._search(source.astype(np.intp), length)
                copies = [self._copies(tokens[row], stand_ins[row]) for row in rows]
                outputs = self._merged(beam, copies)
                for row, scores in zip(rows, outputs, strict=True):
                    lists[row] = self._as_candidates(scores, 1.0 - empty[row])
        for candidates, probability in zip(lists, empty, strict=True):
            if probability:
                candidates.append(((), probability))
        return [sorted(found, key=lambda pair: (-pair[1], pair[0])) for found in lists]

    def _check_parameters(self) -> None:
        check_count("beam", self.beam)

    def _aligned(self, X: Any, trie: Trie, rng: np.random.RandomState) -> Units:
        """The training pairs as units; none if there are too many tokens."""
        inputs, n_choices = self.reader_.read(X), self.vocabulary_.n_choices
        n_tokens = self.reader_.n_tokens
        same = np.array([END, *self.vocabulary_.spelled_by(self.reader_.tokens)])
        sequences = Sequences.of([[list(y) for y in sorted(s)] for s in trie.as_sets()])
        usable = (inputs.length[sequences.sample] <= LONGEST) & (sequences.length <= LONGEST)
        usable &= n_tokens * n_choices <= MOST_EMISSIONS
        pairs = Pairs.of(inputs, sequences.part(np.flatnonzero(usable)))
        pointer = align(pairs, np.where(same == END, -1, same), n_choices, rng)
        chunks = _chunks(pairs, pointer)
        kept = [k for k, parts in enumerate(chunks) if max(map(len, parts)) <= LONGEST_CHUNK]
        longer = Counter(part for k in kept for part in chunks[k] if len(part) > 1)
        table = ChunkTable(n_choices, tuple(sorted(longer)))
        number = {part: n_choices + k for k, part in enumerate(table.longer)}
        number |= {(): EMPTY} | {(choice,): choice for choice in range(1, n_choices)}
        numbers = np.full((len(kept), pairs.source.shape[1]), EMPTY)
        for row, k in enumerate(kept):
            numbers[row, : len(chunks[k])] = [number[part] for part in chunks[k]]
        copies = np.where(same == END, table.unknown_copy, same)
        return Units(
            pairs.source[kept], pairs.source_length[kept], numbers, n_tokens, copies, table
        )

    def _copies(self, tokens: Sequence[Hashable], stand_ins: StandIns) -> list[int]:
        """The choice that is a copy of each token, END if there is none."""
        vocabulary = self.vocabulary_
        first = vocabulary.n_choices - vocabulary.n_stand_ins
        unseen = {token: choice for choice, token in enumerate(stand_ins, first)}
        choices = zip(vocabulary.spelled_by(tokens), tokens, strict=True)
        # An empty input is read as one unknown token.
        return [choice or unseen.get(token, END) for choice, token in choices] or [END]

    def _search(self, source: IntArray, length: IntArray) -> _Beam:
        """The most probable chunks of each input."""
        sample: IntArray = np.arange(len(source))
        chunks = np.zeros((len(source), 0), dtype=np.intp)
        score = np.ones(len(source))
        for position in range(int(length.max(initial=0))):
            going_on = np.flatnonzero(length[sample] > position)
            over = np.flatnonzero(length[sample] <= position)
            found = self._choices(
                Contexts(source, length, sample[going_on], position, chunks[going_on])
            )
            parent = np.concatenate([over, going_on[found.context]])
            chunk = np.concatenate([np.full(len(over), EMPTY), found.chunk])
            factor = np.concatenate([np.ones(len(over)), found.probability])
            reached = score[parent] * factor
            kept = _best(sample[parent], parent, chunk, reached, self.beam_)
            parent, score = parent[kept], reached[kept]
            sample, chunks = sample[parent], np.column_stack([chunks[parent], chunk[kept]])
            # Scores are relative to the best one, so that they do not vanish.
            largest = np.zeros(len(source))
            np.maximum.at(largest, sample, score)
            score = score / largest[sample]
        score = score * self._end(Contexts(source, length, sample, chunks.shape[1], chunks))
        return _Beam(sample, chunks, score)

    def _merged(self, beam: _Beam, copies: list[list[int]]) -> list[dict[tuple[int, ...], float]]:
        """The outputs of each sample with their scores, those spelled alike as one."""
        outputs: list[dict[tuple[int, ...], float]] = [{} for _ in copies]
        rows = zip(beam.sample.tolist(), beam.chunks.tolist(), beam.score.tolist(), strict=True)
        for sample, chunks, score in rows:
            parts = zip(chunks, copies[sample], strict=False)
            choices = [c for chunk, copy in parts for c in self.chunks_.tokens(chunk, copy)]
            if END in choices:  # a copy that cannot be written
                continue
            if self.vocabulary_.kind is frozenset:
                choices = sorted(set(choices))
            if choices:
                found, output = outputs[sample], tuple(choices)
                found[output] = found.get(output, 0.0) + score
        return outputs

    def _as_candidates(
        self, outputs: dict[tuple[int, ...], float], not_empty: float
    ) -> list[Candidate]:
        """The probability of each output to be in the set.

        Its share is the probability that a random element is this one. So many elements as a set
        has on average are taken to be drawn independently, if the set is not empty.
        """
        total = sum(outputs.values())
        candidates = []
        for output, score in outputs.items():
            missed = (1.0 - min(score / total, 1.0)) ** self.mean_size_
            probability = round((1.0 - missed) * not_empty, DECIMALS)
            if probability:
                candidates.append((output, probability))
        return candidates


def _chunks(pairs: Pairs, pointer: IntArray) -> list[list[tuple[int, ...]]]:
    """What each input token of each pair produces."""
    chunks = []
    rows = zip(pairs.source_length, pairs.target_length, pairs.target, pointer, strict=True)
    for n_source, n_target, target, places in rows:
        parts: list[tuple[int, ...]] = [()] * int(n_source)
        for choice, place in zip(target[:n_target].tolist(), places.tolist(), strict=False):
            parts[place] = (*parts[place], choice)
        chunks.append(parts)
    return chunks


def _best(
    sample: IntArray, parent: IntArray, chunk: IntArray, score: FloatArray, most: int
) -> IntArray:
    """The rows with the highest scores of each sample, in that order; ties by parent and chunk."""
    order = np.lexsort((chunk, parent, -score, sample))
    by_sample = sample[order]
    first = np.searchsorted(by_sample, by_sample)
    kept: IntArray = order[np.arange(len(order)) - first < most]
    return kept
