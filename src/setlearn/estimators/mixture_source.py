"""How a mixture of scorers is fitted, and which one suits the data if none is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from sklearn.base import clone

from setlearn.errors import ParameterError
from setlearn.estimators.candidate_lists import candidate_lists, f1_of_lists
from setlearn.estimators.mixture_scorer import MixtureScorer
from setlearn.estimators.scorer_names import scorer_named
from setlearn.estimators.scorer_sources import NewNetwork, PassedScorer, ScorerSource
from setlearn.estimators.sequence_parameters import FEW
from setlearn.estimators.sequence_problem import FittedScorer, SampleSplit, SequenceProblem
from setlearn.networks import Training, network_named
from setlearn.networks.alignment import MOST_LEARNED, Pairs
from setlearn.networks.reading_order import reading_order
from setlearn.progress import say_before_progress
from setlearn.scorers import AlignedTrees, AnalogyScorer, JointNgrams, Scorer
from setlearn.scorers.base import TokenScorer
from setlearn.sequence_inputs import is_numeric, learn_inputs
from setlearn.trie import END
from setlearn.vocabulary import Vocabulary

__all__ = ["Mixture", "SuitedScorer", "scorer_source"]

IN_ORDER, OUT_OF_ORDER = 0.25, 0.1
"""The advantage of reading from left to right from which on outputs are taken to follow their
inputs in this order, unless more than the second share of them does not."""

ENOUGH, EXACT, FOUND = 0.75, 0.5, 0.8
"""With few samples, the F1 on held-out ones, the share of their sets that are exactly right, and
the share of their sequences that are found at all, from which on analogy stands alone: the weights
of a mixture would be learned from a handful of samples. With 80 samples of English inflection,
between 0.56 and 1 of the held-out sets are right; where analogy misses one form of each word, F1
may be as high, but hardly any set is right."""

NOT_MANY = 400
SMALL_TRANSDUCER = {"width": 96, "layers": 1}
"""With fewer samples than this a small network is as good, and faster."""

WITHOUT_COPIES = 2
"""Members of a transducer where no tokens are copied: such outputs are harder to learn."""

MOST_FOR_TREES = 20_000
"""With more samples, trees would be grown on too small a part of them."""

MANY = 1000
"""From this number of samples on, fast scorers are fitted beside the network: for fewer, starting
a process takes as long."""

MOST_COMPARED = 1000
"""Sequences that are enough to see in which order inputs are read."""

TRIAL = 0.1
LEAST_SECONDS = 60.0
"""The share of the time limit in which a network is tried, and the least limit to do so."""

SHORT = 0.4
"""Outputs whose length is a smaller share of that of their inputs are short."""


def scorer_source(network: Any) -> ScorerSource:
    """What the parameter ``network`` stands for.

    Raises
    ------
    ParameterError
        If it is neither the name of a network, nor a recipe, nor a scorer, nor a list of these.
    """
    if network is None:
        return SuitedScorer()
    if isinstance(network, str):
        network = scorer_named(network)
    if isinstance(network, list | tuple) and network:
        return Mixture([scorer_source(part) for part in network])
    if not isinstance(network, type):
        if hasattr(network, "build"):
            return NewNetwork(network)
        if isinstance(network, Scorer):
            return PassedScorer(network)
    raise ParameterError(
        "network must be a name, a recipe with a method build(n_choices=, n_tokens=, "
        "n_features=, copies=None) such as setlearn.networks.LSTM(), a scorer with the methods "
        "start and advance (setlearn.scorers.Scorer), or a list of these for a mixture, got "
        f"{network!r}"
    )


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
            verbose=problem.training.verbose is not False,
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


class SuitedScorer(ScorerSource):
    """What suits the data: a mixture of analogy, a network, and more where outputs are aligned.

    Where outputs follow their inputs from left to right, the network is a transducer, and trees
    and n-grams on aligned tokens join the mixture. Where outputs are much shorter than their
    inputs, so that most of an input is only read, it is a transformer. Otherwise both networks are
    tried for a short time. For inputs that are numbers, a transformer alone. For few samples,
    analogy alone, if it does well on held-out ones or there are none.
    """

    def described(self) -> list[str]:
        """Unknown before it has seen the data."""
        return ["what suits the data"]

    @property
    def copies_tokens(self) -> bool:
        """Whatever is chosen copies tokens."""
        return True

    @property
    def gives_marginals(self) -> bool:
        """Whatever is chosen gives each sequence a probability of its own."""
        return True

    @property
    def gives_examples(self) -> bool:
        """Analogy does; it is not chosen for numbers, and may be dropped."""
        return True

    @property
    def trains_network(self) -> bool:
        """Whatever is chosen, it mostly is or has a network."""
        return True

    def needs_held_out(self, training: Training) -> bool:
        """The weights of the mixture are learned from held-out samples."""
        return True

    def fit(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> FittedScorer:
        """Choose, then fit."""
        transformer = NewNetwork(network_named("transformer"))
        if is_numeric(problem.X):
            return transformer.fit(problem, split, rng)
        if len(problem.X) < FEW:
            analogy = PassedScorer(AnalogyScorer()).fit(problem, split, rng)
            if _is_enough(analogy.judge, problem, split):
                is_judged = len(split.held_out) > 0
                why = "analogy does well on held-out" if is_judged else "there are no held-out"
                say_before_progress(
                    f"{why} samples, so no network is trained",
                    verbose=problem.training.verbose is not False,
                )
                return analogy
        transducer = NewNetwork(network_named("transducer"))
        if len(problem.X) < NOT_MANY:
            transducer.recipe.set_params(**SMALL_TRANSDUCER)
        elif not problem.vocabulary.n_stand_ins:
            transducer.recipe.set_params(members=WITHOUT_COPIES)
        shape = _Shape.of(problem, rng)
        others: list[Any] = [AnalogyScorer()]
        if shape.is_in_order:
            network = transducer
            others += [JointNgrams()] + [AlignedTrees()] * (len(problem.X) <= MOST_FOR_TREES)
        elif shape.is_short:
            network = transformer
        else:
            network, problem = self._better((transformer, transducer), problem, split, rng)
        parts = [*(PassedScorer(scorer) for scorer in others), network]
        return Mixture(parts).fit(problem, split, rng)

    def _better(
        self,
        networks: tuple[NewNetwork, NewNetwork],
        problem: SequenceProblem,
        split: SampleSplit,
        rng: np.random.RandomState,
    ) -> tuple[NewNetwork, SequenceProblem]:
        """The one that does better in a short training, and the problem with the time that is left.

        It is the first one if there is no time to try them.
        """
        seconds = problem.training.max_seconds
        if seconds is not None and seconds < LEAST_SECONDS:
            return networks[0], problem
        trial = problem.with_time(TRIAL)
        better = max(networks, key=lambda network: network.tried(trial, split, rng))
        return better, problem.with_time(1 - TRIAL * len(networks))


def _is_enough(analogy: TokenScorer, problem: SequenceProblem, split: SampleSplit) -> bool:
    """Whether analogy alone does well on held-out samples, or there are none to tell."""
    if len(split.held_out) == 0:
        return True
    X, trie = problem.part(split.held_out)
    batches = analogy.batches(X, problem.bounds.together(problem.vocabulary.n_choices))
    nodes, right = candidate_lists(analogy, batches, trie, problem.bounds)
    f1, found = f1_of_lists(nodes, right), nodes.probabilities[right] > 0
    is_exact = f1 == 1
    return bool(
        f1.mean() >= ENOUGH and is_exact.mean() >= EXACT and found.sum() >= FOUND * len(found)
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """How outputs are related to their inputs."""

    is_short: bool
    is_in_order: bool

    @classmethod
    def of(cls, problem: SequenceProblem, rng: np.random.RandomState) -> _Shape:
        """Measure it in training data."""
        sequences, vocabulary = problem.sequences, problem.vocabulary
        reader = learn_inputs(problem.X, problem.input_tokeniser)
        inputs = reader.read(problem.X)
        if sequences.length.sum() <= SHORT * inputs.length[sequences.sample].sum():
            return cls(is_short=True, is_in_order=False)
        some = np.sort(rng.permutation(len(sequences.sample))[:MOST_COMPARED])
        pairs = Pairs.of(inputs, sequences.part(some))
        pairs = pairs.part(pairs.sample(np.arange(len(pairs)), MOST_LEARNED, rng))
        copies = np.array([END, *vocabulary.spelled_by(reader.tokens)])
        order = reading_order(pairs, np.where(copies == END, -1, copies), vocabulary.n_choices, rng)
        in_order = order.advantage >= IN_ORDER and order.displaced <= OUT_OF_ORDER
        return cls(is_short=False, is_in_order=in_order)
