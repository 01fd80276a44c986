"""How a mixture of scorers is fitted: all parts, then their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from sklearn.base import clone

from setlearn.estimators.mixture_scorer import MixtureScorer
from setlearn.estimators.scorer_sources import ScorerSource
from setlearn.estimators.sequence_problem import FittedScorer, SampleSplit, SequenceProblem
from setlearn.networks import Training
from setlearn.progress import say_before_progress
from setlearn.vocabulary import Vocabulary

__all__ = ["Mixture"]

MANY = 1000
"""From this number of samples on, fast scorers are fitted beside the network: for fewer, starting
a process takes as long."""


class Mixture(ScorerSource):
    """Several sources; their scorers are pooled with weights that held-out samples decide.

    Scorers that turn out to add nothing are dropped.

    Parameters
    ----------
    parts : sequence of ScorerSource
    """

    def __init__(self, parts: Sequence[ScorerSource]) -> None:
        self.parts = parts

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The first one that a part brings along."""
        return next((part.vocabulary for part in self.parts if part.vocabulary), None)

    def described(self) -> list[str]:
        """Those of all parts."""
        return [name for part in self.parts for name in part.described()]

    @property
    def copies_tokens(self) -> bool | None:
        """Whether a part copies tokens; None if some part does not say how it reads inputs."""
        copying = [part.copies_tokens for part in self.parts]
        return None if None in copying else any(copying)

    @property
    def gives_marginals(self) -> bool:
        """Pooling turns all scores into probabilities to be in the set."""
        return True

    @property
    def gives_examples(self) -> bool:
        """Whether a part does, unless it is dropped."""
        return any(part.gives_examples for part in self.parts)

    @property
    def trains_network(self) -> bool:
        """Whether a part does."""
        return any(part.trains_network for part in self.parts)

    def needs_held_out(self, training: Training) -> bool:
        """The weights are learned from held-out samples."""
        return True

    def fit(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> FittedScorer:
        """Fit all parts on the same samples, then the pool on the others."""
        for part in self.parts:
            part.check(problem.X)
        say_before_progress(
            f"fitting {', '.join(self.described())}",
            verbose=problem.training.verbose_by_default,
        )
        fitted = self._fitted_parts(problem, split, rng)
        judge = MixtureScorer([part.judge for part in fitted], problem.bounds)
        left = judge.fit_pool(*problem.part(split.held_out))
        scorers = [fitted[k].scorer for k in left]
        scorer = MixtureScorer(scorers, problem.bounds, judge.pool, judge.sure)
        history = [{**epoch, "part": k} for k, part in enumerate(fitted) for epoch in part.history]
        for k, scored in enumerate(fitted):
            if scored.unfinished:
                return FittedScorer(scorer, history, judge, scored.unfinished, k in left)
        return FittedScorer(scorer, history, judge)

    def _fitted_parts(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> list[FittedScorer]:
        """Fit each part: the fast ones in a process of their own, if there is a core to spare."""
        parts = [
            (part, replace(problem, training=training))
            for part, training in zip(self.parts, self._trainings(problem.training), strict=True)
        ]
        fast = [pair for pair in parts if pair[0].fits_fast]
        others = [pair for pair in parts if not pair[0].fits_fast]
        if not fast or not others or len(problem.X) < MANY or cpu_count() == 1:
            return _fit_all(parts, split, rng)
        in_background = Parallel(n_jobs=2, return_as="generator")
        answer = in_background([delayed(_fit_all)(fast, split, rng)])
        fitted_others = iter(_fit_all(others, split, rng))
        fitted_fast = iter(next(answer))
        return [next(fitted_fast if part.fits_fast else fitted_others) for part in self.parts]

    def _trainings(self, training: Training) -> list[Training]:
        """The training of each part; networks share the time, and have folders of their own."""
        n_networks = sum(part.trains_network for part in self.parts)
        if n_networks < 2:
            return [training] * len(self.parts)
        trainings = []
        for k in range(len(self.parts)):
            own: dict[str, Any] = {}
            if training.max_seconds is not None:
                own["max_seconds"] = training.max_seconds / n_networks
            if training.checkpoint is not None:
                own["checkpoint"] = Path(training.checkpoint) / f"part-{k}"
            trainings.append(clone(training).set_params(**own))
        return trainings


def _fit_all(
    parts: Sequence[tuple[ScorerSource, SequenceProblem]],
    split: SampleSplit,
    rng: np.random.RandomState,
) -> list[FittedScorer]:
    return [part.fit(problem, split, rng) for part, problem in parts]
