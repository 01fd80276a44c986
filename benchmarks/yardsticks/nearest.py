"""Nearest neighbours: the elements of the training sets whose inputs share the most tokens."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from benchmarks.sequence_data import Tokens
from benchmarks.yardsticks.cut import Cut, Ranking
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

NUMBERS = (1, 2, 4, 8, 16, 32)
LONGEST = 3
BATCH = 500


class NearestNeighbours:
    """Vote among the nearest training samples, and keep the elements above a threshold.

    Inputs are compared by the cosine of their tokens and token n-grams, rare ones counting more.
    The number of neighbours and the threshold are tuned on the training samples, each predicted
    from the others.
    """

    def fit(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> NearestNeighbours:
        self.sets_ = Y
        self.vectorizer_ = TfidfVectorizer(analyzer=_ngrams)
        self.features_ = csr_array(self.vectorizer_.fit_transform(X))
        neighbours = self._neighbours(self.features_, leave_out_self=True)
        cuts = {n: Cut().fit(self._votes(neighbours, n), Y) for n in NUMBERS}
        self.number_ = max(cuts, key=lambda n: cuts[n].f1_)
        self.cut_ = cuts[self.number_]
        return self

    def predict(self, X: list[Tokens]) -> list[frozenset[Tokens]]:
        return self.cut_.apply(self.rank(X))

    def rank(self, X: list[Tokens]) -> list[Ranking]:
        neighbours = self._neighbours(csr_array(self.vectorizer_.transform(X)))
        return self._votes(neighbours, self.number_)

    def _neighbours(
        self, features: csr_array, leave_out_self: bool = False
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the nearest training samples of each input and their similarities."""
        nearest = []
        for first in range(0, features.shape[0], BATCH):
            similarity = (features[first : first + BATCH] @ self.features_.T).toarray()
            if leave_out_self:
                rows = np.arange(len(similarity))
                similarity[rows, first + rows] = 0
            order = np.argsort(-similarity, axis=1, kind="stable")[:, : max(NUMBERS)]
            nearest += zip(order, np.take_along_axis(similarity, order, axis=1), strict=True)
        return nearest

    def _votes(self, neighbours: list[tuple[np.ndarray, np.ndarray]], number: int) -> list[Ranking]:
        rankings = []
        for samples, similarity in neighbours:
            votes: dict[Tokens, float] = defaultdict(float)
            weights = similarity[:number] / max(similarity[:number].sum(), 1e-12)
            for sample, weight in zip(samples[:number], weights, strict=True):
                for element in self.sets_[sample]:
                    votes[element] += weight
            rankings.append(sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])))
        return rankings


def _ngrams(x: Tokens) -> list[Tokens]:
    """Return the n-grams of an input up to the longest length that is compared."""
    return [x[i : i + n] for n in range(1, LONGEST + 1) for i in range(len(x) - n + 1)]
