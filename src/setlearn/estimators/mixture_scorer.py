"""A mixture of scorers: each lists what it finds probable, and all of them judge all of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.utils import _safe_indexing

from setlearn.copied_tokens import stand_ins_of
from setlearn.estimators.candidate_lists import probable_sequences
from setlearn.generate import MOST_SCORES, Bounds, Generated
from setlearn.learners.log_odds_pool import LogOddsPool, useful_pool
from setlearn.nodes import BoolArray, ExampleSets, FloatArray, IntArray, Step
from setlearn.rules.finished_sequences import LEAST_FOLLOWED, LEAST_OF_FINISHED
from setlearn.savable import savable
from setlearn.scorers.base import MOST_IN_A_BATCH, TokenScorer
from setlearn.scorers.candidates import Candidate, CandidateTrees, Listing
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["MixtureScorer", "doubt"]

Found: TypeAlias = dict[tuple[int, ...], float]
"""The probability of each sequence."""

LEAST_SURE = 100
"""Held-out samples of which the first scorer must be sure, for it to decide alone anywhere."""

IMPROBABLE = 0.1
"""What a list left out does not count if the last one that is listed has a smaller share of the
probability of the best one."""

KEPT_ANYWAY = 10
"""If improbable sequences are wanted too, so many of a list are kept, whatever they score."""

DECIMALS = 6
"""Of probabilities: batched in another way, those of networks differ from the 7th on."""


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
    """All sequences that some scorer finds probable, scored by each."""

    sequences: list[list[tuple[int, ...]]]
    """By sample. The first is the empty sequence, which stands for the empty set."""

    scores: FloatArray  # (n_scorers, n_candidates)
    truncated: BoolArray
    """Whether all scorers but the first were cut off. What one leaves out, others may list."""


@savable(
    extra=("vocabulary",),
    parts={"vocabulary": (Vocabulary,), "pool": (LogOddsPool,), "bounds": (Bounds,)},
)
class MixtureScorer(TokenScorer):
    """Several scorers of the same sequences, as one.

    For each input, every scorer generates the sequences that it finds probable. All of them are
    then scored by all scorers, and the log-odds are pooled. So a sequence that one scorer has not
    thought of can still win by the votes of the others. Where the first scorer is sure enough of
    all that it lists, the others are not asked.

    Parameters
    ----------
    scorers : list of TokenScorer
        They have the same vocabulary.
    bounds : Bounds
        How far each of them may search.
    pool : LogOddsPool, optional
        By default one with equal weights.
    sure : float, default=0.0
        The doubt up to which the first scorer decides alone, see `doubt`.
    """

    gives_marginals: ClassVar[bool] = True

    thorough: bool = False
    """Whether sequences are wanted that are clearly improbable."""

    def __init__(
        self,
        scorers: Sequence[TokenScorer],
        bounds: Bounds,
        pool: LogOddsPool | None = None,
        sure: float = 0.0,
    ) -> None:
        self.scorers = list(scorers)
        self.vocabulary = self.scorers[0].vocabulary
        self.bounds = bounds
        self.pool = LogOddsPool(len(self.scorers)) if pool is None else pool
        self.sure = sure

    @property
    def n_features(self) -> int | None:
        """How many numbers each input has; None for texts and tokens."""
        return self.scorers[0].n_features

    @property
    def reads_token_lists(self) -> bool:
        """Whether inputs are lists of tokens."""
        return self.scorers[0].reads_token_lists

    def facts(self) -> dict[str, Any]:
        """Each scorer with its weight, and where the first one is enough."""
        parts = [
            {**scorer.facts(), "weight in the mixture": round(float(weight), 3)}
            for scorer, weight in zip(self.scorers, self.pool.weights, strict=True)
        ]
        if self.sure:
            parts[0]["alone up to a doubt of"] = float(f"{self.sure:.2g}")
        return {"mixture": parts}

    def within(self, bounds: Bounds, *, thorough: bool = False) -> MixtureScorer:
        """The same mixture, with scorers that may search so far; all are asked if thorough."""
        bounds = replace(bounds, max_size=max(bounds.max_size, self.bounds.max_size))
        sure = 0.0 if thorough else self.sure
        mixture = MixtureScorer(self.scorers, bounds, self.pool, sure)
        mixture.thorough = thorough
        return mixture

    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Any]]:
        """Slices of X. They may be larger than asked for: each scorer cuts them by itself."""
        room = self.bounds.listed_together(self.vocabulary.n_choices, len(self.scorers))
        return super().batches(X, max(most, room))

    @property
    def gives_examples(self) -> bool:
        """Whether one of the scorers does."""
        return any(scorer.gives_examples for scorer in self.scorers)

    def example_sets(self, X: Any) -> list[ExampleSets]:
        """Those of the first scorer that knows some."""
        scorer = next((s for s in self.scorers if s.gives_examples), self.scorers[0])
        return scorer.example_sets(X)

    def start(self, X: Any) -> Step:
        """List and score the candidates of a batch, and score its roots by them."""
        return self._started(X, self.scorers[0].listing(X))[0]

    def start_with_examples(self, X: Any) -> Step:
        """Add whole sets of the samples for which all scorers are asked."""
        first = self.scorers[0]
        listing = first.listing(X)
        step, asked = self._started(X, listing)
        if first.gives_examples:
            of_asked = listing.example_sets(asked)
        else:
            of_asked = self.example_sets(_safe_indexing(X, asked))
        sets: list[ExampleSets] = [{} for _ in range(len(X))]
        for k, of_sample in zip(asked, of_asked, strict=True):
            sets[k] = of_sample
        return replace(step, example_sets=sets)

    def _started(self, X: Any, listing: Listing) -> tuple[Step, IntArray]:
        """The first step, and the samples for which all scorers were asked.

        ``listing`` is that of the first scorer.
        """
        found, truncated = self._found(self.scorers[0], X, listing.candidates)
        asked = np.arange(len(X))
        if self.sure:
            sample = np.repeat(asked, [len(by_first) for by_first in found])
            probability = np.array([p for by_first in found for p in by_first.values()])
            asked = np.flatnonzero(doubt(sample, probability, len(X)) > self.sure)
        if len(asked):
            listed = self._listed(_safe_indexing(X, asked), [found[k] for k in asked])
            pooled = iter(self.pool.pooled(listed.scores).tolist())
            for k, sequences in zip(asked.tolist(), listed.sequences, strict=True):
                found[k] = {y: next(pooled) for y in sequences}
            truncated[asked] &= listed.truncated
        # Nothing that is listed becomes impossible by rounding: it may be the best there is.
        least = 10**-DECIMALS
        lists = [[(y, max(round(p, DECIMALS), least)) for y, p in by.items()] for by in found]
        trees = CandidateTrees.of(lists, self.vocabulary.n_choices)
        return replace(trees.start(), truncated=truncated), asked

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below."""
        return CandidateTrees.advance(step, parent, token)

    def fit_pool(self, X: Any, trie: Trie) -> IntArray:
        """Learn the weights of the scorers, drop those that add nothing, and learn `sure`.

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
        owner, length, scores, right = [], [], [], []
        for samples, inputs in self.batches(X, self._together):
            listed = self._listed(inputs, self._found(self.scorers[0], inputs)[0])
            candidates = Sequences.of([[list(y) for y in ys] for ys in listed.sequences])
            owner.append(samples[candidates.sample])
            length.append(candidates.length)
            scores.append(listed.scores)
            right.append(trie.take(samples).holds(candidates))
        left: IntArray = np.arange(len(self.scorers))
        if not scores:
            return left
        by_scorer, is_right = np.concatenate(scores, axis=1), np.concatenate(right)
        is_one = np.concatenate(length) > 0
        self.pool, left = useful_pool(by_scorer[:, is_one], is_right[is_one])
        self.scorers = [self.scorers[k] for k in left]
        if len(left) > 1 and self.scorers[0].lists_all:
            self.sure = self._learned_doubt(np.concatenate(owner), by_scorer[left])
        return left

    def _learned_doubt(self, sample: IntArray, scores: FloatArray) -> float:
        """Half of the least doubt with which the first scorer and the pool choose differently.

        Parameters
        ----------
        sample : array of int, shape (n_candidates,)
        scores : array of shape (n_scorers, n_candidates)

        Returns
        -------
        float
            0 if it is sure of too few samples to tell.
        """
        n = int(sample.max()) + 1
        differs = (scores[0] > 0.5) != (self.pool.pooled(scores) > 0.5)
        doubts = doubt(sample, scores[0], n)
        sure = doubts[np.unique(sample[differs])].min(initial=0.5) / 2
        return float(sure) if (doubts <= sure).sum() >= LEAST_SURE else 0.0

    def _listed(self, X: Any, found_by_first: list[Found]) -> _Listed:
        """All sequences that some scorer finds probable, scored by each."""
        others = [self._found(scorer, X) for scorer in self.scorers[1:]]
        found = [found_by_first, *(by_scorer for by_scorer, _ in others)]
        every = [sorted({(), *(y for by in found for y in by[k])}) for k in range(len(X))]
        scores = [
            self._scored(scorer, X, every, known)
            for scorer, known in zip(self.scorers, found, strict=True)
        ]
        truncated = np.all([np.ones(len(X), bool), *(cut_off for _, cut_off in others)], axis=0)
        return _Listed(every, np.array(scores), truncated)

    @property
    def _together(self) -> int:
        """How many samples are listed together."""
        return self.bounds.together(self.vocabulary.n_choices)

    def _found(
        self, scorer: TokenScorer, X: Any, listed: list[list[Candidate]] | None = None
    ) -> tuple[list[Found], BoolArray]:
        """The sequences that a scorer finds probable for each input; whether it was cut off.

        ``listed`` is what a scorer lists that lists all, if that is known.
        """
        if scorer.lists_all:
            return self._probable_candidates(scorer.candidates(X) if listed is None else listed, X)
        found: list[Found] = [{} for _ in range(len(X))]
        truncated = np.zeros(len(X), dtype=bool)
        for samples, inputs in scorer.batches(X, self._together):
            grown = probable_sequences(scorer, inputs, self.bounds)
            truncated[samples] = (grown.truncated & _lost_something(grown))[: len(samples)]
            for sample, tokens, p in zip(
                grown.sample, grown.tuples(), grown.probability.tolist(), strict=True
            ):
                found[samples[sample]][tokens] = p
        return found, truncated

    def _probable_candidates(
        self, listed: list[list[Candidate]], X: Any
    ) -> tuple[list[Found], BoolArray]:
        """What is probable of a list for each input, without growing it; whether it is cut off."""
        bounds, vocabulary = self.bounds, self.vocabulary
        first_stand_in = vocabulary.n_choices - vocabulary.n_stand_ins
        found, truncated = [], np.zeros(len(X), dtype=bool)
        lists = zip(listed, stand_ins_of(X, vocabulary), strict=True)
        for k, (candidates, stand_ins) in enumerate(lists):
            n_choices = first_stand_in + len(stand_ins)
            writable = sorted(
                (-p, y) for y, p in candidates if y and min(y) > END and max(y) < n_choices
            )
            best_first = [pair for pair in writable if len(pair[1]) <= bounds.max_length]
            best = -best_first[0][0] if best_first else 0.0
            least = max(LEAST_FOLLOWED, 0.0 if self.thorough else LEAST_OF_FINISHED * best)
            n_probable = bisect_right(best_first, -least, key=itemgetter(0))
            n_wanted = max(n_probable, KEPT_ANYWAY if self.thorough else 1)
            kept = best_first[: min(n_wanted, bounds.max_size)]
            # The best that there is no room for, or that is too long.
            lost = [-p for p, y in writable if len(y) > bounds.max_length][:1]
            lost += [-p for p, _ in best_first[len(kept) :][:1]]
            truncated[k] = max(lost, default=0.0) >= max(least, IMPROBABLE * best)
            found.append({y: -p for p, y in kept})
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


def _lost_something(grown: Generated) -> BoolArray:
    """For each sample, whether what its list had no room for may be probable."""
    n_samples = len(grown.truncated)
    best, last = np.zeros(n_samples), np.ones(n_samples)
    np.maximum.at(best, grown.sample, grown.probability)
    np.minimum.at(last, grown.sample, grown.probability)
    return last >= IMPROBABLE * best


def doubt(sample: IntArray, probability: FloatArray, n_samples: int) -> FloatArray:
    """How far a scorer is from being sure of everything that it lists for an input.

    Parameters
    ----------
    sample : array of int, shape (m,)
    probability : array of shape (m,)
    n_samples : int

    Returns
    -------
    array of shape (n_samples,)
        The largest distance of a probability from 0 or 1; 1 if none is above a half.
    """
    farthest, best = np.zeros(n_samples), np.zeros(n_samples)
    np.maximum.at(farthest, sample, np.minimum(probability, 1 - probability))
    np.maximum.at(best, sample, probability)
    return np.where(best > 0.5, farthest, 1.0)
