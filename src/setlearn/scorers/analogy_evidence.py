"""Evidence for operations: what training samples that are like an input say about each of them.

Each kind of evidence is a matrix of scores (inputs, operations), computed from the keys that an
input has in common with training samples (`input_keys`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable
from setlearn.scorers.applied_operations import Applied
from setlearn.scorers.edit_operations import Numbers
from setlearn.scorers.input_keys import InputKeys, Keys, find, known_levels
from setlearn.scorers.paradigms import Paradigms
from setlearn.scorers.substitution import N_KINDS, Substitution
from setlearn.scorers.token_roles import N_ROLE_KINDS, TokenRoles

__all__ = [
    "Backoff",
    "Evidence",
    "Ridge",
    "Samples",
    "logits",
]

RARE = 0.05
"""The count that is added to each operation: that of one never seen."""

LESS = 0.5
"""The smoothing of paradigms, as a share of that of single operations."""

MOST_RIDGE_SAMPLES = 3000
MOST_RIDGE_OPERATIONS = 512


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Backoff:
    """How often samples with the same keys used each operation, from general keys to specific.

    The share of a key is smoothed with that of the key before: ``(count + smoothing · share before)
    / (total + smoothing)``.
    """

    keys: IntArray  # (m,) sorted
    total: FloatArray  # (m,) samples that have the key
    count: sparse.csr_array  # (m, n_operations) those among them that use the operation
    smoothing: float

    @classmethod
    def fit(cls, chains: Sequence[Keys], labels: sparse.csr_array, smoothing: float) -> Backoff:
        """Count.

        Parameters
        ----------
        chains : sequence of Keys
            The keys of each sample.
        labels : sparse array of shape (n_samples, n_operations)
        smoothing : float

        Returns
        -------
        Backoff
        """
        sample = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
        keys, row = np.unique(_flat(chains), return_inverse=True)
        has = sparse.csr_array((np.ones(len(row)), (row, sample)), shape=(len(keys), len(chains)))
        return cls(keys, has.sum(axis=1), sparse.csr_array(has @ labels), smoothing)

    def score(self, chains: Sequence[Keys]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Follow the keys of inputs as far as they are known.

        Returns
        -------
        share : array of shape (n, n_operations)
            The smoothed share of each operation.
        exact : array of shape (n, n_operations)
            The share among the samples with the most specific key, not smoothed.
        depth : array of shape (2, n, n_operations)
            How specific the last key was, and the last key at which the operation was seen.
        """
        shape = (len(chains), self.count.shape[1])
        share, exact, depth = np.zeros(shape), np.zeros(shape), np.zeros((2, *shape))
        for level, rows, place in known_levels(chains, self.keys):
            count, total = self.count[place].toarray(), self.total[place][:, None]
            if level == 0:
                share[rows] = (count + RARE) / (total + 1)
            else:
                share[rows] = (count + self.smoothing * share[rows]) / (total + self.smoothing)
            exact[rows] = count / total
            depth[0, rows] = level
            depth[1, rows] = np.where(count > 0, level, depth[1, rows])
        return share, exact, depth


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """Ridge regression of all operations on the features of inputs, in its kernel form.

    A weight for each feature and operation would need much more memory than one for each sample
    and operation. So those of the features at hand are computed when they are needed.
    """

    keys: IntArray  # (m,) sorted
    samples: sparse.csr_array  # (m, n_samples): which samples have each feature
    weights: FloatArray  # (n_samples, n_frequent): of the operations in the first columns
    mean: FloatArray  # (n_operations,)

    @classmethod
    def fit(
        cls,
        features: Sequence[Keys],
        labels: sparse.csr_array,
        penalty: float,
        rng: np.random.RandomState,
    ) -> Ridge:
        """Solve for the most frequent operations, which come first, on a part of large data.

        Parameters
        ----------
        features : sequence of Keys
            The features of each sample.
        labels : sparse array of shape (n_samples, n_operations)
        penalty : float
        rng : RandomState
            Draws the part.

        Returns
        -------
        Ridge
        """
        mean = labels.mean(axis=0)
        rows = np.arange(len(features))
        if len(rows) > MOST_RIDGE_SAMPLES:
            rows = np.sort(rng.permutation(rows)[:MOST_RIDGE_SAMPLES])
        part = [features[i] for i in rows.tolist()]
        keys = np.unique(_flat(part))
        matrix = _feature_matrix(part, keys)
        targets = labels[rows][:, :MOST_RIDGE_OPERATIONS].toarray() - mean[:MOST_RIDGE_OPERATIONS]
        kernel = (matrix @ matrix.T).toarray()
        kernel[np.diag_indices(len(kernel))] += penalty
        factor = cho_factor(kernel, overwrite_a=True, check_finite=False)
        weights = cho_solve(factor, targets, overwrite_b=True, check_finite=False)
        return cls(keys, sparse.csr_array(matrix.T), weights.astype(np.float32), mean)

    def score(self, features: Sequence[Keys]) -> FloatArray:
        """Predict for inputs: about 1 for operations that apply, and 0 for others."""
        matrix = _feature_matrix(features, self.keys)
        used, column = np.unique(matrix.indices, return_inverse=True)
        # Sparse products add up in the same order whatever is asked together; BLAS does not.
        by_feature = self.samples[used] @ self.weights  # (n_used, n_frequent)
        of_used = sparse.csr_array((matrix.data, column, matrix.indptr), (len(features), len(used)))
        scores = np.tile(self.mean, (len(features), 1))
        scores[:, : self.weights.shape[1]] += of_used @ by_feature
        clipped: FloatArray = np.clip(scores, -0.2, 1.2)
        return clipped


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Training samples, with all that evidence is computed from."""

    inputs: list[Numbers]
    keys: list[InputKeys]
    labels: sparse.csr_array  # (n_samples, n_operations)
    drops: list[Keys]  # for each sample, the `drop_key` of the operations that it uses
    paradigms: list[Keys]  # of them, one for each element of the sample
    answers: list[Numbers]  # for each operation the tokens it adds if it copies nothing, or ()
    places: tuple[int, ...]  # the positions whose tokens are compared
    has_roles: bool  # whether the roles of tokens are compared

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, rows: IntArray) -> Samples:
        """Only the given samples."""
        numbers = rows.tolist()
        return Samples(
            [self.inputs[i] for i in numbers],
            [self.keys[i] for i in numbers],
            self.labels[rows],
            [self.drops[i] for i in numbers],
            [self.paradigms[i] for i in numbers],
            self.answers,
            self.places,
            self.has_roles,
        )

    def default_weights(self) -> FloatArray:
        """Weights of evidence where none are learned: only what similar samples do counts.

        Returns
        -------
        array
            One weight per kind of evidence, the last one of the constant 1.
        """
        n_kinds = len(self.keys[0].chains) + len(self.places) * N_KINDS + 10
        n_kinds += N_ROLE_KINDS * self.has_roles
        weights = np.zeros(n_kinds + 1)
        weights[0] = 1.0
        return weights


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All kinds of evidence from some training samples."""

    chains: tuple[Backoff, ...]
    ridge: Ridge
    substitution: Substitution
    roles: TokenRoles | None
    paradigms: Paradigms
    frequency: FloatArray  # (n_operations,) samples that use each operation
    drop_keys: IntArray  # (m,) sorted: operations together with the tokens that they dropped
    drop_count: IntArray  # (m,)
    n_samples: int

    N_STRONG: ClassVar[int] = 4

    @classmethod
    def fit(
        cls, samples: Samples, smoothing: float, penalty: float, rng: np.random.RandomState
    ) -> Evidence:
        """Collect it.

        Parameters
        ----------
        samples : Samples
        smoothing : float
            Of the backoff.
        penalty : float
            Of the ridge regression.
        rng : RandomState

        Returns
        -------
        Evidence
        """
        keys, labels = samples.keys, samples.labels
        chains = tuple(
            Backoff.fit([key.chains[k] for key in keys], labels, smoothing)
            for k in range(len(keys[0].chains))
        )
        drop_keys, drop_count = np.unique(_flat(samples.drops), return_counts=True)
        constants = np.array([a[0] if len(a) == 1 else 0 for a in samples.answers], dtype=np.intp)
        roles = None
        if samples.has_roles:
            roles = TokenRoles.fit(samples.inputs, labels, samples.answers, rng)
        return cls(
            chains,
            Ridge.fit([key.features for key in keys], labels, penalty, rng),
            Substitution.fit(samples.inputs, labels, constants, samples.places),
            roles,
            Paradigms.fit(samples.paradigms, [key.chains[0] for key in keys], LESS * smoothing),
            labels.sum(axis=0).astype(np.float64),
            drop_keys,
            drop_count,
            len(samples),
        )

    def score(self, X: Sequence[Numbers], keys: Sequence[InputKeys]) -> list[FloatArray]:
        """Score all operations for inputs.

        Parameters
        ----------
        X : sequence of Numbers
        keys : sequence of InputKeys

        Returns
        -------
        list of arrays of shape (n, n_operations)
            One per kind of evidence, the `N_STRONG` strongest first.
        """
        parts = [
            chain.score([key.chains[k] for key in keys]) for k, chain in enumerate(self.chains)
        ]
        share, exact, (depth, seen) = parts[0]
        by_ending, *others = (logits(part[0]) for part in parts)
        ridge = 4 * self.ridge.score([key.features for key in keys])
        rare = logits((self.frequency + RARE) / (self.n_samples + 1))
        return [
            *(by_ending, *others[:2], ridge, *others[2:]),
            *(np.broadcast_to(rare, share.shape), exact, seen / 4, (depth - seen) / 4),
            *self.substitution.score(X, share),
            *(self.roles.score(X, share) if self.roles else ()),
        ]

    def rough(self, scores: list[FloatArray]) -> FloatArray:
        """A first guess from all scores, (n, n_operations), by which candidates are chosen."""
        strong = scores[: self.N_STRONG] + (scores[-N_ROLE_KINDS:] if self.roles else [])
        total: FloatArray = np.sum(strong, axis=0)
        return total

    def features(
        self, keys: Sequence[InputKeys], scores: list[FloatArray], applied: Applied
    ) -> FloatArray:
        """The evidence for candidates.

        Parameters
        ----------
        keys : sequence of InputKeys
        scores : list of arrays of shape (n, n_operations)
            From `score`, for the same inputs.
        applied : Applied
            The operations that lead to the candidates.

        Returns
        -------
        array of shape (n_candidates, n_kinds)
            The best score of each kind among the operations of each candidate.
        """
        row, operation, constant = applied.row, applied.operation, applied.is_constant
        place, known = find(self.drop_keys, applied.key)
        dropped = np.zeros(len(row))
        dropped[known] = self.drop_count[place[known]]
        usual = np.log((dropped + 0.1) / (self.frequency[operation] + 0.1))
        endings = [key.chains[0] for key in keys]
        together = logits(self.paradigms.shares(endings, row, applied.key))
        columns = np.column_stack(
            [
                np.where(np.isnan(together), scores[0][row, operation], together),
                *(score[row, operation] for score in scores),
                np.where(constant, 0.0, usual),
                (dropped > 0) | constant,
            ]
        )
        best = np.maximum.reduceat(columns, applied.first)
        fixed = np.logical_and.reduceat(constant, applied.first)
        rare = best[:, self._rare]
        return np.column_stack([best, fixed, fixed * rare])

    def whole_sets(
        self, keys: Sequence[InputKeys], applied: Applied
    ) -> Iterator[tuple[int, list[Numbers], float]]:
        """What samples do whose operations all apply.

        Parameters
        ----------
        keys : sequence of InputKeys
        applied : Applied

        Yields
        ------
        row : int
            The input.
        candidates : list of Numbers
            What it would have.
        share : float
            The share of such samples among those with the same ending.
        """
        endings = [key.chains[0] for key in keys]
        for row, places, share in self.paradigms.whole(endings, applied.row, applied.key):
            yield row, [applied.result_of(place) for place in places], share

    @property
    def _rare(self) -> int:
        """The column of how rare an operation is."""
        return len(self.chains) + 2


def logits(shares: FloatArray) -> FloatArray:
    """Log-odds of shares, which are kept away from 0 and 1."""
    inside = np.clip(shares, 1e-4, 1 - 1e-4)
    odds: FloatArray = np.log(inside / (1 - inside))
    return odds


def _feature_matrix(features: Sequence[Keys], keys: IntArray) -> sparse.csr_array:
    """Which of the known features each input has, (n, m), in rows of length 1 at most."""
    size = np.array([len(part) for part in features], dtype=np.intp)
    row = np.repeat(np.arange(len(features)), size)
    column, known = find(keys, _flat(features))
    value = (np.maximum(size, 1) ** -0.5)[row]
    return sparse.csr_array(
        (value[known], (row[known], column[known])), shape=(len(features), len(keys))
    )


def _flat(lists: Sequence[Keys]) -> IntArray:
    parts = [np.asarray(part, dtype=np.uint64) for part in lists]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)
