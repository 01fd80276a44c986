"""A scorer whose probabilities come from a random table, for comparing generation with the page."""

import numpy as np

from setlearn.nodes import Nodes, Step


class TableScorer:
    """P(next | sample, prefix) drawn once for each prefix, in some coarse or fine way."""

    def __init__(self, n_choices, seed, levels=None):
        self.n_choices = n_choices
        self.seed = seed
        self.levels = levels  # round to this many levels, which makes ties frequent

    def probabilities(self, sample, prefix):
        rng = np.random.default_rng([self.seed, sample, len(prefix), *prefix])
        p = rng.dirichlet(np.full(self.n_choices, 0.5))
        return np.round(p * self.levels) / self.levels if self.levels else p

    def start(self, n_samples):
        prefixes = [(sample, ()) for sample in range(n_samples)]
        return self._step(prefixes, np.ones(n_samples))

    def advance(self, step, parent, token):
        prefixes = [
            (step.state[row][0], (*step.state[row][1], int(choice)))
            for row, choice in zip(parent, token, strict=True)
        ]
        return self._step(prefixes, step.nodes.membership[parent, token])

    def _step(self, prefixes, before):
        scores = np.array([self.probabilities(s, prefix) for s, prefix in prefixes])
        sample = np.array([s for s, _ in prefixes])
        depth = np.array([len(prefix) for _, prefix in prefixes])
        scores = scores.reshape(len(prefixes), self.n_choices)
        return Step(Nodes(sample, depth, scores, prefix_probability=before), prefixes)
