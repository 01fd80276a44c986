"""Evidence from samples whose tokens play similar roles, for short inputs with listed answers.

"bird interacts_with" without a sample of its own is like "fish interacts_with" if birds and fish
were given similar answers elsewhere, and were answers to similar inputs themselves. Unlike in
`substitution`, all tokens of two inputs may differ, and what a token does as an answer counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable
from setlearn.scorers.edit_operations import Numbers

__all__ = ["N_ROLE_KINDS", "TokenRoles"]

LONGEST_INPUT = 6
MOST_TOKENS = 2000
"""Different tokens in inputs: a matrix of all pairs is kept."""

MOST_SAMPLES = 10_000
MOST_RIDGE_SAMPLES = 3000
CONSTANT_SHARE = 0.5
"""The share of operations in use that are constants, at least."""

ABSENT = 0
"""What shorter inputs have at the positions that they lack; no token has this number."""

POWERS = (2, 6)
"""Of similarities in votes. With a high power the samples that are most alike decide; the more
positions there are, the lower is the best power."""

LEAST_SIMILARITY = 0.01
COMMON = 0.1
"""The similarity that any two tokens have in the ridge regression."""

PENALTY = 0.1
N_ROLE_KINDS = len(POWERS) + 1
"""How many scores there are: those of votes, and one of a ridge regression."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TokenRoles:
    """How similar the tokens of inputs are, and votes among training samples by it.

    The roles of a token are the surroundings that it occurs in, the operations that go with it,
    and, where it is in an answer, the inputs and the tokens of inputs with that answer. Two tokens
    are as similar as their roles, by the cosine of tf-idf vectors. Two inputs are as similar as
    the product over their positions says.
    """

    token: IntArray  # (t,) sorted
    similarity: FloatArray  # (t + 1, t + 1); the last row and column are of unknown tokens
    inputs: IntArray  # (n, longest) indices of tokens
    labels: sparse.csr_array  # (n, n_operations)
    part: IntArray  # (p,) the samples of the ridge regression
    weights: FloatArray  # (p, n_operations)
    mean: FloatArray  # (n_operations,)

    @staticmethod
    def apply_to(X: Sequence[Numbers], labels: sparse.csr_array, answers: list[Numbers]) -> bool:
        """Whether inputs are short, and most of what samples do is to give listed answers.

        Parameters
        ----------
        X : sequence of Numbers
        labels : sparse array of shape (n_samples, n_operations)
        answers : list of Numbers

        Returns
        -------
        bool
        """
        longest = max(map(len, X), default=0)
        if not 2 <= longest <= LONGEST_INPUT or len(X) > MOST_SAMPLES:
            return False
        constant = np.array([len(answer) > 0 for answer in answers], dtype=bool)
        used = labels.indices
        return (
            bool(constant[used].sum() >= max(1, CONSTANT_SHARE * len(used)))
            and len({token for x in X for token in x}) <= MOST_TOKENS
        )

    @classmethod
    def fit(
        cls,
        X: Sequence[Numbers],
        labels: sparse.csr_array,
        answers: list[Numbers],
        rng: np.random.RandomState,
    ) -> TokenRoles:
        """Compare all tokens of inputs.

        Parameters
        ----------
        X : sequence of Numbers
            The inputs.
        labels : sparse array of shape (n_samples, n_operations)
            The operations that each sample uses.
        answers : list of Numbers
            The tokens that each operation adds if it copies nothing; empty for others.
        rng : RandomState
            Draws the samples of the ridge regression, if there are many.

        Returns
        -------
        TokenRoles
        """
        padded = _padded(X, max(map(len, X)))
        token = np.unique(padded)
        # A token that was in answers only may be in an input later.
        everywhere = np.union1d(token, [t for answer in answers for t in answer]).astype(np.intp)
        token = everywhere if len(everywhere) <= MOST_TOKENS else token
        inputs = np.searchsorted(token, padded)
        similarity = np.zeros((len(token) + 1, len(token) + 1), dtype=np.float32)
        similarity[:-1, :-1] = _similarity(_role_counts(token, inputs, labels, answers))
        part = np.arange(len(X))
        if len(part) > MOST_RIDGE_SAMPLES:
            part = np.sort(rng.permutation(part)[:MOST_RIDGE_SAMPLES])
        mean = labels.mean(axis=0)
        kernel = _product(similarity, COMMON, inputs[part], inputs[part])
        kernel[np.diag_indices(len(kernel))] += PENALTY
        factor = cho_factor(kernel, overwrite_a=True, check_finite=False)
        weights = cho_solve(factor, labels[part].toarray() - mean, check_finite=False)
        return cls(token, similarity, inputs, labels, part, weights.astype(np.float32), mean)

    def score(self, X: Sequence[Numbers], otherwise: FloatArray) -> list[FloatArray]:
        """Score all operations for inputs.

        Parameters
        ----------
        X : sequence of Numbers
        otherwise : array of shape (n, n_operations)
            The shares that are mixed in, so that none is 0.

        Returns
        -------
        list of arrays of shape (n, n_operations)
            Log-odds of the share among samples, weighted by powers of their similarity, and the
            prediction of the ridge regression.
        """
        longest = self.inputs.shape[1]
        padded = _padded([x[:longest] for x in X], longest)
        place = np.minimum(np.searchsorted(self.token, padded), len(self.token) - 1)
        asked = np.where(self.token[place] == padded, place, len(self.token))
        alike = _product(self.similarity, LEAST_SIMILARITY, asked, self.inputs)
        scores = []
        for power in POWERS:
            votes = alike**power
            votes /= votes.sum(axis=1, keepdims=True)
            shares = 0.98 * (self.labels.T @ votes.T).T + 0.01 * otherwise + 0.002
            scores.append(np.log(shares / (1 - shares)))
        kernel = _product(self.similarity, COMMON, asked, self.inputs[self.part])
        # One input at a time, so that rounding does not depend on what is asked together.
        ridge = np.array([self.mean + row @ self.weights for row in kernel])
        return [*scores, 4 * np.clip(ridge, -0.2, 1.2)]


def _padded(X: Sequence[Numbers], longest: int) -> IntArray:
    return np.array([(*x, *(ABSENT,) * (longest - len(x))) for x in X], dtype=np.intp)


def _product(similarity: FloatArray, least: float, first: IntArray, second: IntArray) -> FloatArray:
    """How similar the inputs of two lists are, (n, m): the product over positions."""
    lifted = least + (1 - least) * similarity.astype(np.float64)
    product = np.ones((len(first), len(second)))
    for here, there in zip(first.T, second.T, strict=True):
        product *= lifted[np.ix_(here, there)]
    return product


def _role_counts(
    token: IntArray, inputs: IntArray, labels: sparse.csr_array, answers: list[Numbers]
) -> sparse.csr_array:
    """How often each token plays each role, (n_tokens, n_roles)."""
    uses = labels.tocoo()
    n_operations, n_tokens = labels.shape[1], len(token)
    _, whole = np.unique(inputs, axis=0, return_inverse=True)
    # Pairs of a sample and a token of inputs that is in one of its answers.
    size = np.array([len(answer) for answer in answers])[uses.col]
    sample = np.repeat(uses.row, size)
    in_answer = np.array([t for k in uses.col.tolist() for t in answers[k]], dtype=np.intp)
    place = np.minimum(np.searchsorted(token, in_answer), n_tokens - 1)
    known = token[place] == in_answer
    sample, answer = sample[known], place[known]
    roles: list[tuple[IntArray, IntArray]] = [(answer, whole.ravel()[sample])]
    for position, here in enumerate(inputs.T):
        rest = np.delete(inputs, position, axis=1)
        _, around = np.unique(rest, axis=0, return_inverse=True)
        around = around.ravel()
        roles += [
            (here, around),
            (here[uses.row], uses.col),
            (here[uses.row], around[uses.row] * n_operations + uses.col),
            (answer, here[sample]),
        ]
    rows, columns, n_roles = [], [], 0
    for who, role in roles:
        _, column = np.unique(role, return_inverse=True)
        rows.append(who)
        columns.append(column + n_roles)
        n_roles += int(column.max(initial=-1)) + 1
    row, column = np.concatenate(rows), np.concatenate(columns)
    kept = token[row] != ABSENT
    where = (row[kept], column[kept])
    return sparse.csr_array((np.ones(len(where[0])), where), shape=(n_tokens, n_roles))


def _similarity(counts: sparse.csr_array) -> FloatArray:
    """The cosine of the tf-idf vectors of all tokens, 1 for each with itself."""
    n_tokens, n_roles = counts.shape
    tokens_with = np.bincount(counts.indices, minlength=n_roles)
    weighted = counts * (np.log((1 + n_tokens) / (1 + tokens_with)) + 1)[None, :]
    length = np.sqrt((weighted**2).sum(axis=1))
    unit = sparse.csr_array(weighted / np.where(length > 0, length, 1)[:, None])
    cosine: FloatArray = (unit @ unit.T).toarray()
    np.fill_diagonal(cosine, 1.0)
    return cosine
