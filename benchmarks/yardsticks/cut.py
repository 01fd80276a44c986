"""Where to cut a ranked list of answers: a threshold tuned for mean F1 on held-out samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np

from setlearn.metrics import mean_f1

Ranking: TypeAlias = list[tuple[Hashable, float]]
"""Answers with their probabilities, most probable first."""

N_THRESHOLDS = 60


class Cut:
    """Keep the answers whose probability reaches a threshold.

    The threshold is for the probability itself or for its ratio to that of the best answer,
    whichever is better on the samples of ``fit``. The best answer is always kept if none of their
    sets is empty.
    """

    def fit(self, rankings: Sequence[Ranking], Y: Sequence[frozenset[Hashable]]) -> Cut:
        self.at_least_one_ = all(len(elements) > 0 for elements in Y)
        candidates = []
        for relative in (False, True):
            self.relative_ = relative
            values = np.array([v for r in rankings for v in self._values(r)] or [0.5])
            for threshold in np.unique(np.quantile(values, np.linspace(0, 1, N_THRESHOLDS))):
                self.threshold_ = threshold
                candidates.append((mean_f1(Y, self.apply(rankings)), threshold, relative))
        self.f1_, self.threshold_, self.relative_ = max(candidates)
        return self

    def apply(self, rankings: Sequence[Ranking]) -> list[frozenset[Hashable]]:
        """Return the set that is kept of each ranking."""
        kept = []
        for ranking in rankings:
            n = sum(value >= self.threshold_ for value in self._values(ranking))
            n = max(n, 1) if self.at_least_one_ else n
            kept.append(frozenset(element for element, _ in ranking[:n]))
        return kept

    def _values(self, ranking: Ranking) -> list[float]:
        scale = ranking[0][1] if self.relative_ and ranking else 1.0
        return [probability / scale for _, probability in ranking]
