"""Which input token each output token comes from, learned by expectation maximisation.

Every input token produces 0, 1, 2, … output tokens, in order. The probabilities of the numbers
and of the tokens depend on the input token alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.sequence_data import Tokens

COUNTED = 3
"""Numbers of output tokens from this one on share a probability."""

DECAY = 0.1
"""How much rarer each further output token of one input token is taken to be."""

MOST_CELLS = 4_000_000
"""Cells of the lattices that are computed together, which bounds memory."""


@dataclass
class Batch:
    """Pairs as arrays, padded with 0: ``x`` of (pairs, J) and ``y`` of (pairs, I)."""

    pairs: np.ndarray
    x: np.ndarray
    y: np.ndarray
    n_x: np.ndarray
    n_y: np.ndarray

    @property
    def most(self) -> int:
        """The largest number of output tokens that one input token may produce."""
        return max(COUNTED, int(np.ceil(self.n_y / self.n_x).max()))


class Aligner:
    """Monotone alignment of every output token with one input token.

    Parameters
    ----------
    n_iterations : int
        Iterations of expectation maximisation.
    most_pairs : int
        Pairs that the probabilities are learned from; the first ones are used.
    """

    def __init__(self, n_iterations: int = 8, most_pairs: int = 20_000) -> None:
        self.n_iterations = n_iterations
        self.most_pairs = most_pairs

    def align(self, X: Sequence[Tokens], Y: Sequence[Tokens]) -> list[list[Tokens]]:
        """Learn from pairs, and return what each input token of each pair produces.

        Parameters
        ----------
        X, Y : list of tuples of tokens
            Inputs, which must not be empty, and for each one output.

        Returns
        -------
        chunks : list of list of tuples of tokens
            For each pair one tuple per input token; joined they are the output.
        """
        x_ids = {token: i for i, token in enumerate(sorted({t for x in X for t in x}))}
        y_ids = {token: i for i, token in enumerate(sorted({t for y in Y for t in y}))}
        xs = [np.array([x_ids[t] for t in x]) for x in X]
        ys = [np.array([y_ids[t] for t in y], dtype=int) for y in Y]
        self.number_ = np.tile([0.25, 0.6, 0.1, 0.05], (len(x_ids), 1))
        self.emission_ = np.full((len(x_ids), max(len(y_ids), 1)), 1 / max(len(y_ids), 1))
        few = slice(self.most_pairs)
        batches = list(_batches(xs[few], ys[few]))
        for _ in range(self.n_iterations):
            numbers = np.full(self.number_.shape, 0.1)
            emissions = np.full(self.emission_.shape, 1e-3 / self.emission_.shape[1])
            for batch in batches:
                self._count(batch, numbers, emissions)
            self.number_ = numbers / numbers.sum(axis=1, keepdims=True)
            self.emission_ = emissions / emissions.sum(axis=1, keepdims=True)
        chunks: list[list[Tokens]] = [[] for _ in X]
        for batch in _batches(xs, ys):
            for pair, numbers in zip(batch.pairs, self._best(batch), strict=True):
                ends = np.cumsum(numbers[: len(X[pair])])
                chunks[pair] = [
                    Y[pair][end - n : end] for end, n in zip(ends, numbers, strict=False)
                ]
        return chunks

    def _arcs(self, batch: Batch, j: int) -> Iterator[tuple[int, np.ndarray]]:
        """Yield for each number k the probability that input token j produces y[i:i+k], for all i.

        Inputs that have ended produce nothing, with probability 1.
        """
        n_pairs, n_y = batch.y.shape
        emission = self.emission_[batch.x[:, j, None], batch.y]  # (pairs, I)
        ended = (j >= batch.n_x)[:, None]
        product = np.ones((n_pairs, n_y + 1))
        for k in range(batch.most + 1):
            if k:
                product = product[:, :-1] * emission[:, k - 1 :]
            if product.shape[1] == 0:
                return
            number = self.number_[batch.x[:, j], min(k, COUNTED)] * DECAY ** max(k - COUNTED, 0)
            yield k, np.where(ended, float(k == 0), product * number[:, None])

    def _count(self, batch: Batch, numbers: np.ndarray, emissions: np.ndarray) -> None:
        """Add the expected counts of a batch, by the forward-backward algorithm."""
        n_pairs, n_x = batch.x.shape
        n_y = batch.y.shape[1]
        forward = np.zeros((n_x + 1, n_pairs, n_y + 1))
        forward[0, :, 0] = 1
        for j in range(n_x):
            for k, arc in self._arcs(batch, j):
                forward[j + 1, :, k:] += forward[j, :, : n_y + 1 - k] * arc
        pairs = np.arange(n_pairs)
        total = np.maximum(forward[n_x, pairs, batch.n_y], 1e-300)
        backward = np.zeros((n_pairs, n_y + 1))
        backward[pairs, batch.n_y] = 1 / total
        for j in reversed(range(n_x)):
            before = np.zeros_like(backward)
            real = j < batch.n_x
            for k, arc in self._arcs(batch, j):
                through = arc * backward[:, k:]  # (pairs, I + 1 - k)
                before[:, : n_y + 1 - k] += through
                posterior = forward[j, :, : n_y + 1 - k] * through * real[:, None]
                np.add.at(numbers, (batch.x[:, j], min(k, COUNTED)), posterior.sum(axis=1))
                for offset in range(k):
                    produced = batch.y[:, offset : offset + posterior.shape[1]]
                    np.add.at(emissions, (batch.x[:, j, None], produced), posterior)
            backward = before

    def _best(self, batch: Batch) -> np.ndarray:
        """Return how many output tokens each input token produces in the best alignment."""
        n_pairs, n_x = batch.x.shape
        n_y = batch.y.shape[1]
        score = np.zeros((n_pairs, n_y + 1))
        score[:, 0] = 1
        chosen = np.zeros((n_x, n_pairs, n_y + 1), dtype=np.int8)
        for j in range(n_x):
            after = np.zeros_like(score)
            for k, arc in self._arcs(batch, j):
                reached = score[:, : n_y + 1 - k] * arc
                better = reached > after[:, k:]
                after[:, k:][better] = reached[better]
                chosen[j, :, k:][better] = k
            score = after / np.maximum(after.max(axis=1, keepdims=True), 1e-300)
        numbers = np.zeros((n_pairs, n_x), dtype=int)
        pairs, left = np.arange(n_pairs), batch.n_y.copy()
        for j in reversed(range(n_x)):
            numbers[:, j] = chosen[j, pairs, left]
            left = left - numbers[:, j]
        return numbers


def _batches(xs: list[np.ndarray], ys: list[np.ndarray]) -> Iterator[Batch]:
    """Yield pairs of similar length together."""
    n_x = np.array([len(x) for x in xs])
    n_y = np.array([len(y) for y in ys])
    order = np.lexsort((n_y, n_x))
    while len(order):
        cells = (n_x[order] + 1) * (np.maximum.accumulate(n_y[order]) + 1)
        size = max(int((cells * np.arange(1, len(order) + 1) <= MOST_CELLS).sum()), 1)
        pairs, order = order[:size], order[size:]
        x = np.zeros((size, n_x[pairs].max()), dtype=int)
        y = np.zeros((size, n_y[pairs].max()), dtype=int)
        for row, pair in enumerate(pairs):
            x[row, : n_x[pair]], y[row, : n_y[pair]] = xs[pair], ys[pair]
        yield Batch(pairs, x, y, n_x[pairs], n_y[pairs])
