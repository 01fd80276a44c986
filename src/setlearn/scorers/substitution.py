"""Evidence from samples that differ from an input in a single token, for short inputs.

An input such as "(head, relation)" is like another one with the same relation if the two heads
were given the same answers elsewhere, as in collaborative filtering. An element of one token may
also be the head of another sample, whose answers then say something about it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable
from setlearn.scorers.edit_operations import Numbers

__all__ = ["N_KINDS", "Substitution"]

LONGEST_INPUT = 6
MOST_DISTINCT = 2000
"""Different tokens at one position, or surroundings of it: matrices of all pairs are kept."""

SMOOTHING = 2.0
LEAST_WEIGHT = 1e-3
N_KINDS = 4
"""How many scores each position gives: three of like tokens, one of reversed facts."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """For each position of inputs, what is known of samples that are equal everywhere else."""

    positions: tuple[_Position, ...]
    labels: sparse.csr_array  # (n_samples, n_operations)

    @staticmethod
    def places(X: Sequence[Numbers]) -> tuple[int, ...]:
        """The positions to compare: none where inputs are long, or tokens too many."""
        longest = max(map(len, X), default=0)
        if not 2 <= longest <= LONGEST_INPUT:
            return ()
        return tuple(
            place
            for place in range(longest)
            if len({x[place] for x in X if len(x) > place}) <= MOST_DISTINCT
            and len({_without(x, place) for x in X if len(x) > place}) <= MOST_DISTINCT
        )

    @classmethod
    def fit(
        cls,
        X: Sequence[Numbers],
        labels: sparse.csr_array,
        constants: IntArray,
        places: Sequence[int],
    ) -> Substitution:
        """Compare all tokens that occur at the same position.

        Parameters
        ----------
        X : sequence of Numbers
            The inputs.
        labels : sparse array of shape (n_samples, n_operations)
            The operations that each sample uses.
        constants : array of int, shape (n_operations,)
            The token that an operation adds if it does nothing else; 0 for others.
        places : sequence of int
            The positions to compare.

        Returns
        -------
        Substitution
        """
        return cls(tuple(_Position.fit(X, labels, constants, p) for p in places), labels)

    def score(self, X: Sequence[Numbers], otherwise: FloatArray) -> list[FloatArray]:
        """Score all operations for inputs.

        Parameters
        ----------
        X : sequence of Numbers
        otherwise : array of shape (n, n_operations)
            The shares to assume where nothing is known.

        Returns
        -------
        list of arrays of shape (n, n_operations)
            `N_KINDS` per position: log-odds of the share among samples with like tokens, and
            the probability that a known fact holds the other way round.
        """
        scores: list[FloatArray] = []
        for position in self.positions:
            shares = np.tile(otherwise, (N_KINDS - 1, 1, 1))
            reverse = np.zeros(otherwise.shape)
            for row, x in enumerate(X):
                position.score(x, self.labels, shares[:, row], reverse[row])
            shares = 0.98 * shares + 0.01 * otherwise + 0.002
            scores += [*np.log(shares / (1 - shares)), reverse]
        return scores


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class _Position:
    place: int
    token: IntArray  # (t,) sorted: what occurs here
    rest: tuple[Numbers, ...]  # (r,) sorted: what inputs have elsewhere
    alike: FloatArray  # (t, t) how far answers agree with the same surroundings
    shared: FloatArray  # (t, t) how far the surroundings are the same
    first: IntArray  # (r + 1,) where the samples of each surroundings begin
    sample: IntArray  # (n,) their numbers
    which: IntArray  # (n,) the token of each, as an index
    answer: IntArray  # (f,) sorted: facts "token, surroundings: answer" with answers of one token
    fact_rest: IntArray  # (f,)
    fact_column: IntArray  # (f,) the operation that adds the fact's token
    reverses: FloatArray  # (r, r) how often a fact holds with token and answer exchanged

    @classmethod
    def fit(
        cls, X: Sequence[Numbers], labels: sparse.csr_array, constants: IntArray, place: int
    ) -> _Position:
        sample = np.array([i for i, x in enumerate(X) if len(x) > place], dtype=np.intp)
        rests = [_without(X[i], place) for i in sample]
        here = np.array([X[i][place] for i in sample], dtype=np.intp)
        token, which = np.unique(here, return_inverse=True)
        rest = tuple(sorted(set(rests)))
        number = {numbers: index for index, numbers in enumerate(rest)}
        of_rest = np.array([number[numbers] for numbers in rests], dtype=np.intp)
        part = sparse.coo_array(labels[sample])
        n_tokens, n_rests, n_columns = len(token), len(rest), labels.shape[1]
        answers = _indicator(
            which[part.row], of_rest[part.row] * n_columns + part.col, n_tokens, n_rests * n_columns
        )
        present = _indicator(which, of_rest, n_tokens, n_rests)
        n_answers = sparse.csr_array(answers @ _block_sums(n_rests, n_columns))
        both = (answers @ answers.T).toarray()
        either = (n_answers @ present.T).toarray()
        either = either + either.T - both
        common = (present @ present.T).toarray()
        degree = common.diagonal()
        order = np.argsort(of_rest, kind="stable")
        fact_order, facts = _facts(token[which], of_rest, part, constants)
        return cls(
            place,
            token,
            rest,
            (both / (either + SMOOTHING)).astype(np.float32),
            (common / (degree[:, None] + degree - common + 1)).astype(np.float32),
            np.searchsorted(of_rest[order], np.arange(n_rests + 1)),
            sample[order],
            which[order],
            facts[2][fact_order],
            facts[1][fact_order],
            _columns(facts[0][fact_order], constants),
            _reversal(facts, token[which], of_rest, n_rests),
        )

    def score(
        self, x: Numbers, labels: sparse.csr_array, shares: FloatArray, reverse: FloatArray
    ) -> None:
        """Write the scores of one input into rows of the given arrays."""
        rest = _index(self.rest, _without(x, self.place)) if len(x) > self.place else None
        if rest is None:
            return
        begin, end = self.first[rest : rest + 2]
        neighbours, answers = self.which[begin:end], labels[self.sample[begin:end]]
        at = int(np.searchsorted(self.token, x[self.place]))
        if at < len(self.token) and self.token[at] == x[self.place]:
            alike = self.alike[at, neighbours].astype(np.float64)
            shared = self.shared[at, neighbours]
        else:
            alike = shared = np.ones(len(neighbours))
        weights = [alike**2, alike * shared, (alike == alike.max()) * 1e6]
        for row, weight in enumerate(weights):
            weight = weight + LEAST_WEIGHT
            shares[row] = answers.T @ (weight / weight.sum())
        low, high = np.searchsorted(self.answer, [x[self.place], x[self.place] + 1])
        column = self.fact_column[low:high]
        value = self.reverses[rest, self.fact_rest[low:high]]
        np.maximum.at(reverse, column[column >= 0], value[column >= 0])


def _without(x: Numbers, place: int) -> Numbers:
    return x[:place] + x[place + 1 :]


def _index(values: Sequence[Numbers], value: Numbers) -> int | None:
    at = bisect_left(values, value)
    return at if at < len(values) and values[at] == value else None


def _indicator(row: IntArray, column: IntArray, n_rows: int, n_columns: int) -> sparse.csr_array:
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n_rows, n_columns))
    matrix.data[:] = 1.0
    return matrix


def _block_sums(n_blocks: int, width: int) -> sparse.csr_array:
    """A matrix whose product sums blocks of columns."""
    n = n_blocks * width
    return sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) // width)), (n, n_blocks))


def _facts(
    token: IntArray, of_rest: IntArray, part: sparse.coo_array, constants: IntArray
) -> tuple[IntArray, tuple[IntArray, IntArray, IntArray]]:
    """Tokens, surroundings and answers of all facts, and their order by answer."""
    single = constants[part.col] > 0
    row = part.row[single]
    facts = token[row], of_rest[row], constants[part.col[single]]
    return np.argsort(facts[2], kind="stable"), facts


def _columns(tokens: IntArray, constants: IntArray) -> IntArray:
    """The operation that adds each token; -1 if there is none."""
    column = {int(token): index for index, token in enumerate(constants) if token > 0}
    return np.array([column.get(int(token), -1) for token in tokens], dtype=np.intp)


def _reversal(
    facts: tuple[IntArray, IntArray, IntArray], token: IntArray, of_rest: IntArray, n_rests: int
) -> FloatArray:
    """For each pair of surroundings (r, s): P(h, r: t | t, s: h), from all h that occur with r."""
    head, rest, tail = facts
    width = int(max(token.max(initial=0), tail.max(initial=0))) + 1
    codes, code = np.unique(
        np.concatenate([head * width + tail, tail * width + head]), return_inverse=True
    )
    n = len(head)
    forward = _indicator(rest, code[:n], n_rests, len(codes))
    backward = _indicator(rest, code[n:], n_rests, len(codes))
    occurs = _indicator(of_rest, token, n_rests, width)
    answers = sparse.csr_array((np.ones(n), (rest, tail)), shape=(n_rests, width))
    known = (occurs @ answers.T).toarray()
    hits = (forward @ backward.T).toarray()
    share: FloatArray = np.where(known > 0, (hits + 0.1) / (known + 1), 0).astype(np.float32)
    return share
