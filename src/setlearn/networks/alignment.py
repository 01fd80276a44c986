"""Aligns the tokens of outputs with the positions of inputs, by expectation maximisation.

An output is explained from left to right: at each position of the input it may emit some tokens,
then it moves on. How probable it is to emit a token, or to move on after none, one or several
tokens, depends on the input token at the position. Both are learned from all pairs together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from setlearn.nodes import FloatArray, IntArray
from setlearn.sequence_inputs import Inputs
from setlearn.trie import Sequences

__all__ = ["MOST_EMISSIONS", "MOST_LEARNED", "Pairs", "align"]

ROUNDS = 8
"""Of expectation maximisation; more change few alignments."""

MOST_LEARNED = 2_000_000
"""Cells of the tables of the pairs that the probabilities are learned from, such as 20,000 pairs of
words: two seconds. All pairs are aligned with them."""

MOST_CELLS = 4_000_000
"""Cells of the tables of all pairs that are handled together: 100 MB."""

LONGEST = 300
"""Pairs with more tokens on a side are aligned in proportion: probabilities would underflow."""

MOST_EMISSIONS = 16_000_000
"""Input tokens times output tokens, 128 MB a table; with more, all is aligned in proportion."""

SEVERAL = 2
"""Tokens are counted up to here; more count as this many."""

EARLIER = 1 - 1e-9 * np.arange(SEVERAL + 1)
"""Of equally probable ways, that with fewer tokens at the later position is taken, so that equal
pairs are aligned alike, whatever their sums are rounded to."""

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

    def sample(self, rows: IntArray, most_cells: int, rng: np.random.RandomState) -> IntArray:
        """The given rows, or some of them if their tables have too many cells together.

        Parameters
        ----------
        rows : array of int
        most_cells : int
        rng : RandomState

        Returns
        -------
        array of int
        """
        cells = self.source_length * (self.target_length + 1)
        if cells[rows].sum() <= most_cells:
            return rows
        rows = rng.permutation(rows)
        return rows[: max(int(np.searchsorted(cells[rows].cumsum(), most_cells)), 1)]

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
    some = pairs.sample(rows, MOST_LEARNED, rng)
    model = _EmissionModel.start(copies, n_target)
    for _ in range(ROUNDS):
        counts = _Counts(model)
        for part in pairs.chunks(some):
            _Lattice(model, pairs.part(part)).add_to(counts)
        model = counts.model()
    for part in pairs.chunks(rows):
        best = _Lattice(model, pairs.part(part)).best_alignment()
        pointer[part, : best.shape[1]] = best
    return pointer


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


class _Lattice:
    """All states of some pairs while they are aligned.

    In the state (j, i, c), i tokens are written, and c of them at position j, where more than two
    count as two. A step writes a token, or moves on to the next position. So after k steps all
    states lie on the diagonal i + j = k, and are handled together. Tables of states are flat: the
    places of a diagonal in them are equally far apart.
    """

    def __init__(self, model: _EmissionModel, pairs: Pairs) -> None:
        self.pairs = pairs
        n, self.n_positions = pairs.source.shape
        self.n_counts = max(pairs.target.shape[1], 1) + 1  # from 0 tokens to all
        written = np.arange(pairs.target.shape[1]) < pairs.target_length[:, None]
        emit = model.emit[pairs.source[:, :, None], pairs.target[:, None, :]] * written[:, None]
        # To get to i tokens at position j, by writing the one before; and one place beyond the end.
        self.emit = np.zeros((self.n_positions * self.n_counts + 1, n))
        self._as_table(self.emit)[:, 1 : 1 + emit.shape[2]] = np.moveaxis(emit, 0, 2)
        self.move = np.moveaxis(model.move[pairs.source], 0, 2).copy()  # (positions, 3, n)
        self.stay = 1 - self.move
        step = self.n_counts - 1
        self.diagonals: list[tuple[slice, slice]] = []  # positions, and places in flat tables
        for k in range(self.n_positions + step):
            low, high = max(k - step, 0), min(k, self.n_positions - 1)
            places = slice(k + low * step, k + high * step + 1, step)
            self.diagonals.append((slice(low, high + 1), places))

    def _as_table(self, flat: FloatArray) -> FloatArray:
        """A flat table by position and number of tokens."""
        n_states = self.n_positions * self.n_counts
        return flat[:n_states].reshape(self.n_positions, self.n_counts, *flat.shape[1:])

    def forward(self, *, best: bool) -> FloatArray:
        """The probability of each state by what comes before it, (places, 3, n).

        With ``best``, that of the most probable way to it instead of all. Each diagonal is scaled
        by its largest value.
        """
        join = np.maximum if best else np.add
        inside = np.arange(self.n_positions)[:, None] < self.pairs.source_length - 1
        leave = self.move * inside[:, None]  # nothing follows the last position
        states = np.zeros((self.n_positions * self.n_counts, SEVERAL + 1, len(self.pairs)))
        states[0, 0] = 1
        for positions, places in self.diagonals[1:]:
            stayed = states[_moved(places, -1)] * self.stay[positions]
            emit = self.emit[places]
            here = np.empty_like(stayed)
            here[:, 1] = stayed[:, 0] * emit
            here[:, 2] = join(stayed[:, 1], stayed[:, 2]) * emit
            # The first position is reached by no move.
            new = int(positions.start == 0)
            here[:new, 0] = 0
            from_places = slice(places.start + new * places.step, places.stop, places.step)
            left = slice(positions.start + new - 1, positions.stop - 1)
            came = states[_moved(from_places, -self.n_counts)] * leave[left]
            here[new:, 0] = join.reduce(came, axis=1)
            states[places] = here / _largest(here)
        return states

    def add_to(self, counts: _Counts) -> None:
        """Count what happens in the pairs, in expectation."""
        before = self.forward(best=False)
        n = len(self.pairs)
        rest = np.zeros((self.n_positions + 1, SEVERAL + 1, n))  # of the diagonal after this one
        moved, stayed = np.zeros((2, self.n_positions, SEVERAL + 1, n))
        emitted = np.zeros_like(self.emit)
        position, last = np.arange(self.n_positions)[:, None], self.pairs.source_length - 1
        for k, (positions, places) in reversed(list(enumerate(self.diagonals))):
            here = position[positions]
            is_end = k - here == self.pairs.target_length
            after = np.where(
                here == last, is_end, rest[positions.start + 1 : positions.stop + 1, 0]
            )
            by_move = self.move[positions] * after[:, None]
            by_emission = self.stay[positions] * self.emit[_moved(places, 1)][:, None]
            by_emission[:, 0] *= rest[positions, 1]
            by_emission[:, 1:] *= rest[positions, 2:]
            rest[positions] = by_move + by_emission
            rest[positions] /= _largest(rest[positions])
            # Every pair is in one state of each diagonal, up to its last one.
            by_move *= before[places]
            by_emission *= before[places]
            total = by_move.sum(axis=(0, 1)) + by_emission.sum(axis=(0, 1))
            share = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
            moved[positions] += by_move * share
            stayed[positions] += by_emission * share
            emitted[_moved(places, 1)] = by_emission.sum(axis=1) * share
        written = self._as_table(emitted)[:, 1 : 1 + self.pairs.target.shape[1]]
        counts.add(self.pairs, moved, stayed, written)

    def best_alignment(self) -> IntArray:
        """The most probable positions of all tokens, (n, longest output)."""
        states, move, stay = self._as_table(self.forward(best=True)), self.move, self.stay
        rows = np.arange(len(self.pairs))
        pointer = np.zeros(self.pairs.target.shape, dtype=np.intp)
        j, i = self.pairs.source_length - 1, self.pairs.target_length.copy()
        c = (states[j, i, :, rows] * move[j, :, rows] * EARLIER).argmax(axis=1)
        while True:
            back, emits = (c == 0) & (j > 0), (c > 0) & (i > 0)
            if not (back.any() or emits.any()):
                return pointer
            pointer[rows[emits], i[emits] - 1] = j[emits]
            # Where a token was emitted here, the state before it had one less.
            i = i - emits
            likely = states[j, i, :, rows] * stay[j, :, rows] * EARLIER
            fewer = np.where(c == 1, 0, 1 + likely[:, 1:].argmax(axis=1))
            above = np.maximum(j - 1, 0)
            left = (states[above, i, :, rows] * move[above, :, rows] * EARLIER).argmax(axis=1)
            c = np.where(emits, fewer, np.where(back, left, 0))
            j = np.where(back, above, j)


def _moved(places: slice, by: int) -> slice:
    return slice(places.start + by, places.stop + by, places.step)


def _largest(states: FloatArray) -> FloatArray:
    """The largest value of each pair, to divide by."""
    largest: FloatArray = states.max(axis=(0, 1))
    largest[largest == 0] = 1
    return largest


class _Counts:
    """How often everything happens, in expectation."""

    def __init__(self, model: _EmissionModel) -> None:
        # A little of everything, so that nothing becomes impossible.
        self.emit: FloatArray = np.full(model.emit.shape, 0.01 * model.base)
        self.move: FloatArray = np.full((*model.move.shape, 2), 0.1)

    def add(self, pairs: Pairs, moved: FloatArray, stayed: FloatArray, written: FloatArray) -> None:
        """Add how often some pairs move on and stay (positions, 3, n), and write each token."""
        source = pairs.source.T  # (positions, n)
        for c in range(SEVERAL + 1):
            np.add.at(self.move[:, c, 0], source, moved[:, c])
            np.add.at(self.move[:, c, 1], source, stayed[:, c])
        np.add.at(self.emit, (source[:, None], pairs.target.T), written)

    def model(self) -> _EmissionModel:
        """The most probable model given the counts."""
        base = self.emit.sum(axis=0) / self.emit.sum()
        # Relative to how common a token is, so that products of many neither vanish nor explode.
        emit = self.emit / self.emit.sum(axis=1, keepdims=True) / base
        return _EmissionModel(emit, base, self.move[..., 0] / self.move.sum(axis=2))
