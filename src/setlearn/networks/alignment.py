"""Aligns the tokens of outputs with the positions of inputs, by expectation maximisation.

An output is explained from left to right: at each position of the input it may emit some tokens,
then it moves on. How probable it is to emit a token, or to move on after none, one or several
tokens, depends on the input token at the position. Both are learned from all pairs together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from setlearn.nodes import FloatArray, IntArray
from setlearn.sequence_inputs import Inputs
from setlearn.trie import Sequences

__all__ = ["Pairs", "align", "reading_order"]

ROUNDS = 8
"""Of expectation maximisation; more change few alignments."""

MOST_PAIRS = 20_000
"""Pairs that the probabilities are learned from; all are aligned with them."""

MOST_CELLS = 4_000_000
"""Cells of the tables of all pairs that are handled together: 100 MB."""

LONGEST = 300
"""Pairs with more tokens on a side are aligned in proportion: probabilities would underflow."""

MOST_EMISSIONS = 16_000_000
"""Input tokens times output tokens, 128 MB a table; with more, all is aligned in proportion."""

SEVERAL = 2
"""Tokens are counted up to here; more count as this many."""

IDENTITY = 5.0
"""How many times as probable as all tokens together a copy of the input token is at the start."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Inputs and outputs as padded rows of ids, which count from 0."""

    source: IntArray  # (n, longest input)
    source_length: IntArray  # (n,) at least 1
    target: IntArray  # (n, longest output)
    target_length: IntArray  # (n,)

    @classmethod
    def of(cls, inputs: Inputs, sequences: Sequences) -> Pairs:
        """Each sequence with the input of its sample.

        Parameters
        ----------
        inputs : Inputs
            Of tokens.
        sequences : Sequences

        Returns
        -------
        Pairs
        """
        source, length = inputs.take(sequences.sample)
        return cls(source.astype(np.intp), length, sequences.padded(), sequences.length)

    def __len__(self) -> int:
        return len(self.source)

    def part(self, rows: IntArray) -> Pairs:
        """Some of the pairs, padded no more than they need."""
        m = int(self.source_length[rows].max(initial=1))
        n = int(self.target_length[rows].max(initial=0))
        return Pairs(
            self.source[rows, :m],
            self.source_length[rows],
            self.target[rows, :n],
            self.target_length[rows],
        )

    def chunks(self, rows: IntArray) -> Iterator[IntArray]:
        """The given rows in parts of similar length that fit into memory."""
        m, n = self.source_length[rows], self.target_length[rows] + 1
        rows = rows[np.lexsort((n, m))]
        while len(rows):
            m, n = self.source_length[rows], self.target_length[rows] + 1
            cells = np.arange(1, len(rows) + 1) * np.maximum.accumulate(m)
            cells *= np.maximum.accumulate(n) * (SEVERAL + 1)
            size = max(int(np.searchsorted(cells, MOST_CELLS, side="right")), 1)
            yield rows[:size]
            rows = rows[size:]


def align(pairs: Pairs, copies: IntArray, n_target: int, rng: np.random.RandomState) -> IntArray:
    """Find the input position that each output token belongs to.

    Parameters
    ----------
    pairs : Pairs
    copies : array of int, shape (n_source,)
        The output token that is the same as each input token, or -1.
    n_target : int
        The number of output tokens.
    rng : RandomState
        Draws the pairs to learn from if there are many.

    Returns
    -------
    array of int, shape (n, longest output)
        Positions, which never fall along a row; 0 in padding.

    Examples
    --------
    Two letters of "ca" and "ac" stand for their own sounds, whatever their order:

    >>> pairs = Pairs(np.array([[0, 1], [1, 0]]), np.array([2, 2]),
    ...               np.array([[3, 4, 0], [4, 4, 3]]), np.array([2, 3]))
    >>> align(pairs, np.array([-1, -1]), 5, np.random.RandomState(0))
    array([[0, 1, 0],
           [0, 0, 1]])
    """
    long = (pairs.source_length > LONGEST) | (pairs.target_length > LONGEST)
    pointer = _in_proportion(pairs)
    rows = np.flatnonzero(~long)
    if len(rows) == 0 or len(copies) * n_target > MOST_EMISSIONS:
        return pointer
    learned_from = rows if len(rows) <= MOST_PAIRS else rng.permutation(rows)[:MOST_PAIRS]
    model = _EmissionModel.start(copies, n_target)
    for _ in range(ROUNDS):
        counts = _Counts(model)
        for part in pairs.chunks(learned_from):
            counts.add(pairs.part(part))
        model = counts.model()
    for part in pairs.chunks(rows):
        best = _best_alignment(model, pairs.part(part))
        pointer[part, : best.shape[1]] = best
    return pointer


def reading_order(
    pairs: Pairs, copies: IntArray, n_target: int, rng: np.random.RandomState
) -> float:
    """Measure how far outputs follow their inputs from left to right.

    Outputs are aligned with their inputs, and with their inputs read backwards. Each time the
    aligned input tokens say something about the output tokens: their mutual information.

    Parameters
    ----------
    pairs, copies, n_target, rng
        As for `align`.

    Returns
    -------
    float from -1 to 1
        How much more they say in the right order, as a share of all that there is to know about
        the output tokens. About 0 if the order of the input does not matter, or if there are too
        many tokens to tell; negative if outputs follow their inputs from right to left.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> words, length = rng.randint(0, 9, (200, 5)), np.full(200, 5)
    >>> same = np.arange(9)
    >>> round(reading_order(Pairs(words, length, words, length), same, 9, rng), 1)
    0.9
    >>> backwards = Pairs(words[:, ::-1], length, words, length)
    >>> round(reading_order(backwards, same, 9, rng), 1)
    -0.9
    """
    if len(copies) * n_target > MOST_EMISSIONS:
        return 0.0
    information = []
    place = np.arange(pairs.source.shape[1])
    for backwards in (False, True):
        last = pairs.source_length[:, None] - 1
        order = np.where(place <= last, abs(last * backwards - place), place)
        read = replace(pairs, source=np.take_along_axis(pairs.source, order, axis=1))
        pointer = align(read, copies, n_target, rng)
        inside = np.arange(pointer.shape[1]) < pairs.target_length[:, None]
        together = np.zeros((len(copies), n_target))
        aligned = np.take_along_axis(read.source, pointer, axis=1)[inside]
        np.add.at(together, (aligned, pairs.target[inside]), 1.0)
        alone = [_entropy(together.sum(axis=axis)) for axis in (0, 1)]
        information.append(sum(alone) - _entropy(together.ravel()))
    return float((information[0] - information[1]) / max(alone[0], 1e-9))


def _entropy(counts: FloatArray) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1)
    return -float(share @ np.log(share))


def _in_proportion(pairs: Pairs) -> IntArray:
    """As if each input token stood for equally many output tokens."""
    place = np.arange(pairs.target.shape[1])
    inside = place < pairs.target_length[:, None]
    spread = place * pairs.source_length[:, None] // np.maximum(pairs.target_length, 1)[:, None]
    return np.where(inside, spread, 0)


@dataclass(frozen=True, slots=True, eq=False)
class _EmissionModel:
    """The probabilities of what happens at an input position, by its token."""

    emit: FloatArray  # (n_source, n_target) relative to `base`
    base: FloatArray  # (n_target,)
    move: FloatArray  # (n_source, 3) to move on after 0, 1, or more tokens

    @classmethod
    def start(cls, copies: IntArray, n_target: int) -> _EmissionModel:
        """All tokens are equally probable, but for copies."""
        emit = np.full((len(copies), n_target), 1.0)
        copied = np.flatnonzero(copies >= 0)
        emit[copied, copies[copied]] += IDENTITY * n_target
        base = np.full(n_target, 1 / n_target)
        return cls(emit, base, np.tile([0.3, 0.7, 0.6], (len(copies), 1)))

    def tables(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        """Emissions (positions, tokens, n) and moves (positions, 3, n) of some pairs."""
        emit = self.emit[pairs.source[:, :, None], pairs.target[:, None, :]]
        return np.moveaxis(emit, 0, 2).copy(), np.moveaxis(self.move[pairs.source], 0, 2).copy()


def _forward(emit: FloatArray, move: FloatArray, best: bool) -> FloatArray:
    """The probability of each cell (position, tokens so far, tokens here, n) by its first part.

    With ``best``, that of the most probable way to it instead of all. Each position is scaled by
    its largest value.
    """
    n_positions, n_tokens, n = emit.shape
    join = np.maximum if best else np.add
    cells = np.zeros((n_positions, n_tokens + 1, SEVERAL + 1, n))
    cells[0, 0, 0] = 1
    for j in range(n_positions):
        here = cells[j]
        if j:
            here[:, 0] = join.reduce(cells[j - 1] * move[j - 1], axis=1)
        stay = 1 - move[j]
        here[1:, 1] = here[:-1, 0] * stay[0] * emit[j]
        for i in range(2, n_tokens + 1):
            again = join(here[i - 1, 1] * stay[1], here[i - 1, 2] * stay[2])
            here[i, 2] = again * emit[j, i - 1]
        largest = here.max(axis=(0, 1))
        largest[largest == 0] = 1
        here /= largest
    return cells


class _Counts:
    """How often everything happens, in expectation, under the model of the round before."""

    def __init__(self, model: _EmissionModel) -> None:
        self.before = model
        # A little of everything, so that nothing becomes impossible.
        self.emit: FloatArray = np.full(model.emit.shape, 0.01 * model.base)
        self.move: FloatArray = np.full((*model.move.shape, 2), 0.1)

    def add(self, pairs: Pairs) -> None:
        """Count what happens in some pairs."""
        emit, move = self.before.tables(pairs)
        cells = _forward(emit, move, best=False)
        n_positions, n_tokens, n = emit.shape
        rows = np.arange(n)
        last, length = pairs.source_length - 1, pairs.target_length
        below = np.zeros((n_tokens + 2, SEVERAL + 1, n))  # the row of the next position
        for j in range(n_positions - 1, -1, -1):
            # The probability of the rest after moving on from here.
            after = below[: n_tokens + 1, 0].copy()
            ends = last == j
            after[:, ends] = 0
            after[length[ends], rows[ends]] = 1
            here = np.zeros_like(below)
            for i in range(n_tokens, -1, -1):
                here[i] = move[j] * after[i]
                if i < n_tokens:
                    going_on = (1 - move[j]) * emit[j, i]
                    here[i, 0] += going_on[0] * here[i + 1, 1]
                    here[i, 1:] += going_on[1:] * here[i + 1, 2]
            largest = here.max(axis=(0, 1))
            largest[largest == 0] = 1
            here /= largest
            after /= largest
            self._count(pairs, j, cells[j], here, after, emit[j], move[j])
            below = here

    def _count(
        self,
        pairs: Pairs,
        j: int,
        first: FloatArray,
        rest: FloatArray,
        after: FloatArray,
        emit: FloatArray,
        move: FloatArray,
    ) -> None:
        """Add the shares of all that happens at one position."""
        inside = j < pairs.source_length
        moved = first * move * after[:, None]  # (tokens + 1, 3, n)
        again = rest[1:-1]
        stayed = first[:-1] * (1 - move) * emit[:, None]
        stayed[:, 0] *= again[:, 1]
        stayed[:, 1:] *= again[:, 2:]
        # Every pair leaves each position once: that is what both parts are shares of.
        total = moved.sum(axis=(0, 1))
        share = np.divide(1.0, total, out=np.zeros_like(total), where=(total > 0) & inside)
        moved *= share
        stayed *= share
        source = pairs.source[:, j]
        for c in range(SEVERAL + 1):
            np.add.at(self.move[:, c, 0], source, moved[:, c].sum(axis=0))
            np.add.at(self.move[:, c, 1], source, stayed[:, c].sum(axis=0))
        np.add.at(self.emit, (source[:, None], pairs.target), stayed.sum(axis=1).T)

    def model(self) -> _EmissionModel:
        """The most probable model given the counts."""
        base = self.emit.sum(axis=0) / self.emit.sum()
        # Relative to how common a token is, so that products of many neither vanish nor explode.
        emit = self.emit / self.emit.sum(axis=1, keepdims=True) / base
        return _EmissionModel(emit, base, self.move[..., 0] / self.move.sum(axis=2))


def _best_alignment(model: _EmissionModel, pairs: Pairs) -> IntArray:
    """The most probable positions of all tokens, (n, longest output)."""
    emit, move = model.tables(pairs)
    cells = _forward(emit, move, best=True)
    n = len(pairs)
    rows = np.arange(n)
    pointer = np.zeros(pairs.target.shape, dtype=np.intp)
    j, i = pairs.source_length - 1, pairs.target_length.copy()
    c = (cells[j, i, :, rows] * move[j, :, rows]).argmax(axis=1)
    while True:
        back, emits = (c == 0) & (j > 0), (c > 0) & (i > 0)
        if not (back.any() or emits.any()):
            return pointer
        pointer[rows[emits], i[emits] - 1] = j[emits]
        # Where a token was emitted here, the state before it had one less.
        i = i - emits
        stay = 1 - move[j, :, rows]
        one, several = cells[j, i, 1, rows] * stay[:, 1], cells[j, i, 2, rows] * stay[:, 2]
        fewer = np.where(c == 1, 0, np.where(several > one, 2, 1))
        above = np.maximum(j - 1, 0)
        left = (cells[above, i, :, rows] * move[above, :, rows]).argmax(axis=1)
        c = np.where(emits, fewer, np.where(back, left, 0))
        j = np.where(back, above, j)
