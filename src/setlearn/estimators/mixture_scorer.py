"""A mixture of scorers: each lists what it finds probable, and all of them judge all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.utils import _safe_indexing

from setlearn.estimators.candidate_lists import probable_sequences
from setlearn.generate import MOST_SCORES, Bounds
from setlearn.nodes import BoolArray, FloatArray, IntArray, Step
from setlearn.savable import savable
from setlearn.scorers.base import TokenScorer
from setlearn.scorers.candidates import CandidateTrees
from setlearn.scorers.log_odds_pool import LogOddsPool
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["MixtureScorer"]

Found: TypeAlias = dict[tuple[int, ...], float]
"""The probability of each sequence."""

LEAST_WEIGHT = 0.02
"""A scorer with less weight than this is dropped: it costs time and decides nothing."""

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

    def within(self, bounds: Bounds) -> MixtureScorer:
        """The same mixture, with scorers that may search so far."""
        most = max(bounds.max_size, self.bounds.max_size)
        return MixtureScorer(self.scorers, replace(bounds, max_size=most), self.pool)

    def start(self, X: Any) -> Step:
        """List and score the candidates of a batch, and score its roots by them."""
        candidates, scores, truncated = self._candidates(X)
        # Nothing that is listed becomes impossible by rounding: it may be the best there is.
        probability = self.pool.pooled(scores).round(DECIMALS).clip(10**-DECIMALS)
        trees = CandidateTrees.of_sequences(
            candidates, probability, len(X), self.vocabulary.n_choices
        )
        return replace(trees.start(), truncated=truncated)

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below."""
        return CandidateTrees.advance(step, parent, token)

    def fit_pool(self, X: Any, trie: Trie) -> IntArray:
        """Learn the weights of the scorers, and drop those that have almost none.

        Parameters
        ----------
        X : list of inputs, or a numeric array
            Samples that no scorer has seen. If there are none, the weights stay as they are.
        trie : Trie
            The trees of their sets.

        Returns
        -------
        array of int
            The scorers that are left.
        """
        scores, right = [], []
        for samples, inputs in self.batches(X, self._together):
            candidates, by_scorer, _ = self._candidates(inputs)
            is_one = candidates.length > 0
            scores.append(by_scorer[:, is_one])
            right.append(trie.take(samples).holds(candidates)[is_one])
        every: IntArray = np.arange(len(self.scorers))
        if not scores:
            return every
        by_scorer, is_right = np.concatenate(scores, axis=1), np.concatenate(right)
        weights = self.pool.fit(by_scorer, is_right).weights
        left = np.flatnonzero(weights >= min(LEAST_WEIGHT, weights.max()))
        if len(left) < len(every):
            self.scorers = [self.scorers[k] for k in left]
            self.pool = LogOddsPool(len(left)).fit(by_scorer[left], is_right)
        return left

    def _candidates(self, X: Any) -> tuple[Sequences, FloatArray, BoolArray]:
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
        truncated : bool array, shape (n_samples,)
            Whether all scorers were cut off at a limit. What one of them leaves out, the others
            may list.
        """
        found, truncated = zip(*(self._found(scorer, X) for scorer in self.scorers), strict=True)
        every = [sorted({(), *(y for by in found for y in by[k])}) for k in range(len(X))]
        scores = [
            self._scored(scorer, X, every, known)
            for scorer, known in zip(self.scorers, found, strict=True)
        ]
        candidates = Sequences.of([[list(y) for y in sequences] for sequences in every])
        return candidates, np.array(scores), np.all(truncated, axis=0)

    @property
    def _together(self) -> int:
        """How many samples are listed together."""
        return self.bounds.together(self.vocabulary.n_choices)

    def _found(self, scorer: TokenScorer, X: Any) -> tuple[list[Found], BoolArray]:
        """The sequences that a scorer finds probable for each input; whether it was cut off."""
        found: list[Found] = [{} for _ in range(len(X))]
        truncated = np.zeros(len(X), dtype=bool)
        for samples, inputs in scorer.batches(X, self._together):
            grown = probable_sequences(scorer, inputs, self.bounds)
            truncated[samples] = grown.truncated[: len(samples)]
            for sample, tokens, p in zip(
                grown.sample, grown.tokens, grown.probability.tolist(), strict=True
            ):
                found[samples[sample]][tuple(tokens[tokens != END].tolist())] = p
        return found, truncated

    def _scored(
        self, scorer: TokenScorer, X: Any, every: list[list[tuple[int, ...]]], known: list[Found]
    ) -> list[float]:
        """The probability of all candidates by a scorer, which knows some of them already."""
        if scorer.lists_all:
            pairs = zip(every, known, strict=True)
            return [own.get(y, 0.0) for ys, own in pairs for y in ys]
        new = [[list(y) for y in ys if y not in own] for ys, own in zip(every, known, strict=True)]
        sequences = Sequences.of(new)
        trie = Trie.of(sequences, len(X))
        node = trie.reached(sequences.sample, sequences.padded())
        of_new = iter(self._ends(scorer, X, trie)[node].tolist())
        return [
            own[y] if y in own else next(of_new)
            for ys, own in zip(every, known, strict=True)
            for y in ys
        ]

    def _ends(self, scorer: TokenScorer, X: Any, trie: Trie) -> FloatArray:
        """The probability of the end symbol at each node, a few trees at a time."""
        entries = len(trie) * self.vocabulary.n_choices
        parts = np.array_split(np.arange(len(X)), max(-(-entries // MOST_SCORES), 1))
        return np.concatenate(
            [
                scorer.score_trees(_safe_indexing(X, rows), trie.take(rows)).membership[:, END]
                for rows in parts
                if len(rows)
            ]
        )
