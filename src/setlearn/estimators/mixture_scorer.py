"""A mixture of scorers: each lists what it finds probable, and all of them judge all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing

from setlearn.estimators.candidate_lists import probable_sequences
from setlearn.generate import Bounds
from setlearn.nodes import FloatArray, IntArray, Step
from setlearn.savable import savable
from setlearn.scorers.base import MOST_IN_A_BATCH, TokenScorer
from setlearn.scorers.candidates import CandidateTrees
from setlearn.scorers.log_odds_pool import LogOddsPool
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["MixtureScorer"]

MOST_ENTRIES = 32_000_000
"""Prefixes times choices that are scored together."""

DECIMALS = 6
"""Of probabilities: batched in another way, those of networks differ from the 7th on."""


@savable(
    extra=("vocabulary",),
    parts={"vocabulary": (Vocabulary,), "pool": (LogOddsPool,), "bounds": (Bounds,)},
)
class MixtureScorer(TokenScorer):
    """Several scorers of the same sequences, as one.

    For each input, every scorer generates the sequences that it finds probable. All of them are
    then scored by all scorers, and the log-odds are pooled. So a sequence that one scorer has not
    thought of can still win by the votes of the others.

    Parameters
    ----------
    scorers : list of TokenScorer
        They have the same vocabulary.
    bounds : Bounds
        How far each of them may search.
    pool : LogOddsPool, optional
        By default one with equal weights.
    """

    gives_marginals: ClassVar[bool] = True

    def __init__(
        self, scorers: Sequence[TokenScorer], bounds: Bounds, pool: LogOddsPool | None = None
    ) -> None:
        self.scorers = list(scorers)
        self.vocabulary = self.scorers[0].vocabulary
        self.bounds = bounds
        self.pool = LogOddsPool(len(self.scorers)) if pool is None else pool

    @property
    def n_features(self) -> int | None:
        """How many numbers each input has; None for texts and tokens."""
        return self.scorers[0].n_features

    @property
    def reads_token_lists(self) -> bool:
        """Whether inputs are lists of tokens."""
        return self.scorers[0].reads_token_lists

    def facts(self) -> dict[str, Any]:
        """Each scorer with its weight."""
        return {
            "mixture": [
                {**scorer.facts(), "weight in the mixture": round(float(weight), 3)}
                for scorer, weight in zip(self.scorers, self.pool.weights, strict=True)
            ]
        }

    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Any]]:
        """Slices of X as they are; each scorer reads them in its own way."""
        for first in range(0, len(X), most):
            part = X[first : first + most]
            yield np.arange(first, first + len(part)), part

    def as_batch(self, x: Any) -> Any:
        """A list or an array of one input."""
        return [x] if self.n_features is None else np.asarray(x)[None]

    def start(self, X: Any) -> Step:
        """List and score the candidates of a batch, and score its roots by them."""
        candidates, scores = self.candidates(X)
        probability = self.pool.pooled(scores).round(DECIMALS)
        return CandidateTrees.of_sequences(
            candidates, probability, len(X), self.vocabulary.n_choices
        ).start()

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below.

        Parameters
        ----------
        step : Step
        parent : array of int, shape (m,)
        token : array of int, shape (m,)

        Returns
        -------
        Step
        """
        return CandidateTrees.advance(step, parent, token)

    def fit_pool(self, X: Any, trie: Trie) -> None:
        """Learn the weights of the scorers.

        Parameters
        ----------
        X : list of inputs, or a numeric array
            Samples that no scorer has seen. If there are none, the weights stay as they are.
        trie : Trie
            The trees of their sets.
        """
        scores, right = [], []
        for samples, inputs in self.batches(X):
            candidates, by_scorer = self.candidates(inputs)
            is_one = candidates.length > 0
            scores.append(by_scorer[:, is_one])
            right.append(trie.take(samples).holds(candidates)[is_one])
        if scores:
            self.pool.fit(np.concatenate(scores, axis=1), np.concatenate(right))

    def candidates(self, X: Any) -> tuple[Sequences, FloatArray]:
        """All sequences that some scorer finds probable, scored by each.

        Parameters
        ----------
        X : list of inputs, or a numeric array

        Returns
        -------
        candidates : Sequences
            By sample. The first one of each sample is the empty sequence, which stands for the
            empty set.
        scores : array of shape (n_scorers, n_candidates)
            The probability of each by each scorer.
        """
        found: list[set[tuple[int, ...]]] = [{()} for _ in range(len(X))]
        for scorer in self.scorers:
            for samples, inputs in scorer.batches(X):
                grown = probable_sequences(scorer, inputs, self.bounds)
                for sample, tokens in zip(grown.sample, grown.tokens, strict=True):
                    found[samples[sample]].add(tuple(tokens[tokens != END].tolist()))
        candidates = Sequences.of([[list(y) for y in sorted(sequences)] for sequences in found])
        trie = Trie.of(candidates, len(X))
        node = trie.reached(candidates.sample, candidates.padded())
        return candidates, np.array([self._ends(scorer, X, trie) for scorer in self.scorers])[
            :, node
        ]

    def _ends(self, scorer: TokenScorer, X: Any, trie: Trie) -> FloatArray:
        """The probability of the end symbol at each node, a few trees at a time."""
        entries = len(trie) * self.vocabulary.n_choices
        parts = np.array_split(np.arange(len(X)), max(-(-entries // MOST_ENTRIES), 1))
        return np.concatenate(
            [
                scorer.score_trees(_safe_indexing(X, rows), trie.take(rows)).membership[:, END]
                for rows in parts
                if len(rows)
            ]
        )
