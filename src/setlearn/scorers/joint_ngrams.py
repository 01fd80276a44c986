"""A scorer that models input and output together, by n-grams of units."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from setlearn.nodes import FloatArray, IntArray
from setlearn.parameter_checks import check_count
from setlearn.savable import savable
from setlearn.scorers.empty_sets import EmptySets
from setlearn.scorers.kneser_ney import ROOT, KneserNey
from setlearn.scorers.units import EMPTY, Choices, ChunkTable, Contexts, Units, UnitScorer
from setlearn.sequence_inputs import TokenReader
from setlearn.trie import concatenated_ranges
from setlearn.vocabulary import Tokeniser, Vocabulary

__all__ = ["JointNgrams"]

START, STOP = 0, 1
N_MARKS = 2
"""How many symbols are no units: the start and the end of a sequence."""


@savable(
    parts={
        "vocabulary_": (Vocabulary,),
        "tokeniser_": (Tokeniser,),
        "reader_": (TokenReader,),
        "chunks_": (ChunkTable,),
        "empty_": (EmptySets,),
        "ngrams_": (KneserNey,),
    }
)
class JointNgrams(UnitScorer):
    """Predict sequences that follow their inputs from left to right, by n-grams of both.

    Training pairs are aligned, so that each becomes a sequence of units: an input token with the
    chunk of output tokens that it produces. An n-gram model with Kneser-Ney smoothing scores
    sequences of units [1]_. A beam search lists the most probable outputs of an input.

    It is fitted in seconds, even on 100,000 pairs. An input token that was not seen in training is
    copied or produces nothing. It learns from inputs and outputs of up to 100 tokens, and inputs of
    more than 1000 have no candidates. How probable it is that a set is empty is learned from the
    tokens of inputs.

    Parameters
    ----------
    order : int, default=8
        The n of the n-grams.
    beam : int, default=30
        How many partial outputs are kept at each position, and the largest number of candidates.
        If training sets have more than half as many elements, it is twice the size of the largest.
    random_state : int or RandomState, default=0
        Draws the pairs that the alignment is learned from if there are more than 20,000.

    Attributes
    ----------
    chunks_ : ChunkTable
        What input tokens may produce.
    ngrams_ : KneserNey
        The n-gram model.

    References
    ----------
    .. [1] Bisani and Ney, "Joint-sequence models for grapheme-to-phoneme conversion" (2008).

    Examples
    --------
    >>> from setlearn import SequenceSetGenerator
    >>> from setlearn.scorers import JointNgrams
    >>> words = ["cat", "cent", "act", "ace", "can", "cell", "cot", "ice", "tact", "nice"] * 2
    >>> sounds = [{w.replace("ce", "se").replace("c", "k")} for w in words]
    >>> model = SequenceSetGenerator(JointNgrams()).fit(words, sounds)
    >>> model.predict_ranked(["cane"], top=1)[0][0][0]
    'kane'
    """

    short_name: ClassVar[str] = "ngrams"

    def __init__(
        self,
        *,
        order: int = 8,
        beam: int = 30,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.order = order
        self.beam = beam
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("order", self.order)
        check_count("beam", self.beam)

    def _fit_units(self, units: Units, rng: np.random.RandomState) -> None:
        n, longest = units.source.shape
        inside = np.arange(longest) < units.length[:, None]
        key = units.source * len(units.table) + units.chunks
        self.unit_ = np.unique(key[inside])  # input token times number of chunks, plus chunk
        symbols = np.full((n, longest + 2), STOP)
        symbols[:, 0] = START
        symbols[:, 1:-1][inside] = np.searchsorted(self.unit_, key[inside]) + N_MARKS
        place = np.arange(longest + 2)
        used = place < units.length[:, None] + 2
        self.ngrams_ = KneserNey.fit(
            symbols[used],
            np.broadcast_to(place, used.shape)[used],
            len(self.unit_) + N_MARKS,
            self.order,
        )
        is_copy = (units.chunks == units.copies[units.source])[inside]
        self.copied_share_ = float((is_copy.sum() + 1) / (len(is_copy) + 2))

    def _choices(self, contexts: Contexts) -> Choices:
        token = contexts.source[contexts.sample, contexts.position]
        node = self._nodes(contexts, np.full(len(token), contexts.position))
        # Many contexts have the same last units.
        width = int(self.reader_.n_tokens)
        asked, place = np.unique(node * width + token, return_inverse=True)
        found = self._after(asked // width, asked % width)
        begin = np.searchsorted(found.context, np.arange(len(asked) + 1))
        entry, context = concatenated_ranges(begin[place], begin[place + 1])
        return Choices(context, found.chunk[entry], found.probability[entry])

    def _after(self, node: IntArray, token: IntArray) -> Choices:
        """The chunks of input tokens after the n-grams of nodes."""
        n_chunks = len(self.chunks_)
        first = np.searchsorted(self.unit_, token * n_chunks)
        last = np.searchsorted(self.unit_, (token + 1) * n_chunks)
        unit, context = concatenated_ranges(first, last)
        probability = self.ngrams_.probability(node[context], unit + N_MARKS)
        # A token without units is copied, or produces nothing.
        new = np.flatnonzero(first == last)
        copies = self.copies_[token[new]]
        share = np.full(len(new), self.copied_share_)
        context = np.concatenate([context, new, new])
        chunk = np.concatenate([self.unit_[unit] % n_chunks, copies, np.full(len(new), EMPTY)])
        probability = np.concatenate([probability, share, 1 - share])
        order = np.lexsort((chunk, context))
        return Choices(context[order], chunk[order], probability[order])

    def _end(self, contexts: Contexts) -> FloatArray:
        node = self._nodes(contexts, contexts.length[contexts.sample])
        return self.ngrams_.probability(node, np.full(len(node), STOP))

    def _nodes(self, contexts: Contexts, end: IntArray) -> IntArray:
        """The longest n-gram that was seen of the units before the position ``end``, (n,)."""
        node = np.full(len(end), ROOT)
        for back in range(self.order - 1, 0, -1):
            place = end - back
            node = np.where(place == -1, self._start(len(node)), node)
            inside = np.flatnonzero(place >= 0)
            token = contexts.source[contexts.sample[inside], place[inside]]
            key = token * len(self.chunks_) + contexts.chunks[inside, place[inside]]
            unit = np.searchsorted(self.unit_, key).clip(max=len(self.unit_) - 1)
            symbol = np.where(self.unit_[unit] == key, unit + N_MARKS, -1)
            node[inside] = self.ngrams_.following(node[inside], symbol)
        return node

    def _start(self, n: int) -> IntArray:
        """The node of the start of a sequence, n times."""
        return self.ngrams_.following(np.full(n, ROOT), np.full(n, START))
