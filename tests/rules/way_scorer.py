"""A table scorer whose nodes know the probability of the way to them, and sets drawn from it."""

from dataclasses import replace

import numpy as np

from setlearn.nodes import Step
from tests.table_scorer import TableScorer


class WayScorer(TableScorer):
    """A table whose nodes know the probability of the way to them; X names its samples."""

    def __init__(self, n_choices, seed):
        super().__init__(n_choices, seed)
        self.seen = {}  # drawing is slow

    def probabilities(self, sample, prefix):
        if (sample, prefix) not in self.seen:
            self.seen[sample, prefix] = super().probabilities(sample, prefix)
        return self.seen[sample, prefix]

    def start(self, X):
        return self._named([(int(s), ()) for s in X], np.arange(len(X)))

    def advance(self, step, parent, token):
        prefixes = [
            (step.state[row][0], (*step.state[row][1], int(choice)))
            for row, choice in zip(parent, token, strict=True)
        ]
        return self._named(prefixes, step.nodes.sample[parent])

    def _named(self, prefixes, sample):
        before = np.array([self.way(s, prefix) for s, prefix in prefixes])
        step = self._step(prefixes, before)
        return Step(replace(step.nodes, sample=sample), prefixes)

    def way(self, s, prefix):
        return np.prod([self.probabilities(s, prefix[:j])[t] for j, t in enumerate(prefix)])


def drawn_set(scorer, s, rng):
    """Up to four sequences of up to three tokens, drawn as the scorer would."""
    found = set()
    for _ in range(rng.integers(0, 5)):
        prefix = ()
        while len(prefix) < 3:
            token = rng.choice(4, p=scorer.probabilities(s, prefix))
            if token == 0:
                break
            prefix = (*prefix, int(token))
        found |= {prefix} if prefix else set()
    return sorted(found)
