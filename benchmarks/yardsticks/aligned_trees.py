"""Alignment, then one classifier per input token: extra trees choose what it produces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from benchmarks.sequence_data import Tokens
from benchmarks.yardsticks.alignment import Aligner
from benchmarks.yardsticks.cut import Cut, Ranking
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

PAD = ""
NGRAMS = ((-1, 1), (0, 2), (-2, 1), (0, 3), (-1, 2))
"""Where the n-grams that are features begin and end, from the present token on."""

Chunks: TypeAlias = Sequence[Tokens]
"""What each input token produces."""

Partial: TypeAlias = tuple[tuple[Tokens, ...], float]
"""What the input tokens so far produce, and the probability of that."""


class AlignedTrees:
    """Rank outputs by the product of the trees' probabilities, and keep those above a threshold.

    The trees see the input tokens around the present one, and what the tokens before it produced.

    Parameters
    ----------
    window : int
        Input tokens that the trees see on each side, at least 2.
    history : int
        Tokens before the present one whose output the trees see.
    n_trees : int
    beam : int
        Partial outputs that are kept at each input token.
    held_out : float
        Share of the samples that the threshold is tuned on, before all are used to fit.
    random_state : int
    """

    def __init__(
        self,
        window: int = 4,
        history: int = 2,
        n_trees: int = 80,
        beam: int = 20,
        held_out: float = 0.15,
        random_state: int = 0,
    ) -> None:
        self.window = window
        self.history = history
        self.n_trees = n_trees
        self.beam = beam
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> AlignedTrees:
        pairs = [(i, y) for i, elements in enumerate(Y) for y in sorted(elements)]
        chunks = Aligner().align([X[i] for i, _ in pairs], [y for _, y in pairs])
        aligned = [(i, X[i], parts) for (i, _), parts in zip(pairs, chunks, strict=True)]
        order = np.random.RandomState(self.random_state).permutation(len(X))
        held_out = sorted(order[: int(len(X) * self.held_out)].tolist())
        self._fit_trees([(x, parts) for i, x, parts in aligned if i not in set(held_out)])
        self.cut_ = Cut().fit(self.rank([X[i] for i in held_out]), [Y[i] for i in held_out])
        self._fit_trees([(x, parts) for _, x, parts in aligned])
        return self

    def predict(self, X: list[Tokens]) -> list[frozenset[Tokens]]:
        return self.cut_.apply(self.rank(X))

    def top(self, X: list[Tokens]) -> list[Tokens]:
        return [ranking[0][0] for ranking in self.rank(X)]

    def rank(self, X: list[Tokens]) -> list[Ranking]:
        """Return the outputs of the beam, for all inputs together, one position at a time."""
        beams: list[list[Partial]] = [[((), 1.0)] for _ in X]
        for j in range(max(map(len, X))):
            at_token = defaultdict(list)
            for i, x in enumerate(X):
                if j < len(x):
                    at_token[x[j]].append(i)
            for token, samples in at_token.items():
                self._extend(beams, token, samples, X, j)
        return [_merged(beam) for beam in beams]

    def _fit_trees(self, aligned: list[tuple[Tokens, Chunks]]) -> None:
        rows, produced = defaultdict(list), defaultdict(list)
        for x, parts in aligned:
            for j, part in enumerate(parts):
                rows[x[j]].append(self._row(x, j, parts))
                produced[x[j]].append(part)
        self.choices_, self.trees_ = {}, {}
        for token in rows:
            self.choices_[token] = sorted(set(produced[token]))
            ids = {part: k for k, part in enumerate(self.choices_[token])}
            self.trees_[token] = make_pipeline(
                OneHotEncoder(handle_unknown="ignore", dtype=np.float32),
                ExtraTreesClassifier(
                    self.n_trees, max_features=0.15, random_state=self.random_state
                ),
            ).fit(rows[token], [ids[part] for part in produced[token]])

    def _row(self, x: Tokens, j: int, parts: Chunks) -> list[str]:
        """Return the features of position j, before which the input produced ``parts``.

        They are the tokens around it, n-grams of them, what the last tokens produced, and how many
        output tokens so far end in each digit, which is how CMUdict writes stress.
        """
        around = range(j - self.window, j + self.window + 1)
        tokens = [x[k] if 0 <= k < len(x) else PAD for k in around]
        ngrams = [" ".join(tokens[self.window + a : self.window + b]) for a, b in NGRAMS]
        before = ["_".join(parts[k]) if k >= 0 else PAD for k in range(j - self.history, j)]
        ends = [token[-1] for part in parts[:j] for token in part]
        return tokens + ngrams + before + [str(ends.count(digit)) for digit in "012"]

    def _extend(
        self, beams: list[list[Partial]], token: str, samples: list[int], X: list[Tokens], j: int
    ) -> None:
        """Replace the beams of inputs with the same token at position j by their continuations."""
        if token not in self.trees_:
            choices, probabilities = [()], np.ones((sum(len(beams[i]) for i in samples), 1))
        else:
            rows = [self._row(X[i], j, parts) for i in samples for parts, _ in beams[i]]
            choices, probabilities = self.choices_[token], self.trees_[token].predict_proba(rows)
        first = 0
        for i in samples:
            last = first + len(beams[i])
            scores = np.array([score for _, score in beams[i]])[:, None] * probabilities[first:last]
            best = np.argsort(scores, axis=None)[::-1][: self.beam]
            beams[i] = [
                ((*beams[i][row][0], choices[choice]), scores[row, choice])
                for row, choice in zip(*np.unravel_index(best, scores.shape), strict=True)
                if scores[row, choice] > 0
            ]
            first = last


def _merged(beam: list[Partial]) -> Ranking:
    """Return the outputs with probabilities that add up to 1, those spelled alike as one."""
    outputs: dict[Tokens, float] = defaultdict(float)
    total = sum(score for _, score in beam)
    for parts, score in beam:
        outputs[sum(parts, ())] += score / total
    return sorted(outputs.items(), key=lambda answer: -answer[1])
