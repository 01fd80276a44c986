"""What the parameter ``network`` stands for, and which scorers suit the data if it is None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from setlearn.errors import ParameterError
from setlearn.estimators.candidate_lists import candidate_lists, f1_of_lists
from setlearn.estimators.mixture_source import Mixture
from setlearn.estimators.scorer_names import scorer_named
from setlearn.estimators.scorer_sources import NewNetwork, PassedScorer, ScorerSource
from setlearn.estimators.sequence_parameters import FEW
from setlearn.estimators.sequence_problem import FittedScorer, SampleSplit, SequenceProblem
from setlearn.networks import Training, network_named
from setlearn.networks.alignment import MOST_LEARNED, Pairs
from setlearn.networks.reading_order import reading_order
from setlearn.progress import say_before_progress
from setlearn.scorers import AlignedTrees, AnalogyScorer, JointNgrams, Scorer
from setlearn.sequence_inputs import is_numeric, learn_inputs
from setlearn.trie import END

__all__ = ["SuitedScorer", "scorer_source"]

IN_ORDER, OUT_OF_ORDER = 0.25, 0.1
"""The advantage of reading from left to right from which on outputs are taken to follow their
inputs in this order, unless more than the second share of them does not."""

ENOUGH, FOUND = 0.75, 0.8
"""With few samples, the F1 on held-out ones, and the share of their sequences that are found at
all, from which on analogy may stand alone: the weights of a mixture would be learned from a handful
of samples."""

EXACT, NEARLY_ALL = 0.5, 0.9
"""The share of held-out sets that are exactly right in that case. Below the first, a network is
trained: where analogy misses one form of each word, F1 may be high, but hardly any set is right.
Below the second, a network is trained if it does better after a short training."""

NOT_MANY = 400
SMALL_TRANSDUCER = {"width": 96, "layers": 1}
"""With fewer samples than this a small network is as good, and faster. N-grams and trees then join
the mixture in any case: they need less to learn from."""

MEMBERS, FEWER_MEMBERS, MANY_SAMPLES = 3, 2, 5000
"""Members of a transducer where no tokens are copied: such outputs are harder to learn. From this
number of samples on there are fewer: single ones are better then, and take longer to train."""

MOST_FOR_TREES = 20_000
"""With more samples, trees would be grown on too small a part of them."""

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


class SuitedScorer(ScorerSource):
    """What suits the data: a mixture of analogy, a network, and more where outputs are aligned.

    Where outputs follow their inputs from left to right, the network is a transducer, and trees
    and n-grams on aligned tokens join the mixture. Where outputs are much shorter than their
    inputs, so that most of an input is only read, it is a transformer. Otherwise, and if many
    outputs copy their inputs in another order, both networks are tried for a short time. With
    fewer than 400 samples trees and n-grams always join. For inputs that are numbers, a transformer
    alone. For few samples, analogy alone, if it does well on held-out ones or there are none.
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
        analogy = _Analogy.fit(problem, split, rng) if len(problem.X) < FEW else None
        if analogy and analogy.is_sure:
            return analogy.alone(problem.training)
        shape, is_small = _Shape.of(problem, rng), len(problem.X) < NOT_MANY
        transducer = NewNetwork(network_named("transducer"))
        if is_small:
            transducer.recipe.set_params(**SMALL_TRANSDUCER)
        elif not problem.vocabulary.n_stand_ins:
            is_large = len(problem.X) >= MANY_SAMPLES
            transducer.recipe.set_params(members=FEWER_MEMBERS if is_large else MEMBERS)
        networks = [transformer] * (not shape.is_in_order) + [transducer] * (not shape.is_short)
        is_good = analogy is not None and analogy.is_good
        network, f1, problem = _best(networks, problem, split, rng, always_tried=is_good)
        if analogy and is_good and f1 <= analogy.f1:
            return analogy.alone(problem.training)
        others: list[Any] = [AnalogyScorer()]
        if shape.is_in_order or is_small:
            others += [JointNgrams()] + [AlignedTrees()] * (len(problem.X) <= MOST_FOR_TREES)
        return Mixture([*map(PassedScorer, others), network]).fit(problem, split, rng)


def _best(
    networks: list[NewNetwork],
    problem: SequenceProblem,
    split: SampleSplit,
    rng: np.random.RandomState,
    *,
    always_tried: bool,
) -> tuple[NewNetwork, float, SequenceProblem]:
    """The network that does best in a short training, its F1, and the problem with the time left.

    A single network is not tried unless asked for. If there is no time to try them, it is the first
    one, with an F1 of 0.
    """
    seconds = problem.training.max_seconds
    has_time = seconds is None or seconds >= LEAST_SECONDS
    if not has_time or (len(networks) == 1 and not always_tried):
        return networks[0], 0.0, problem
    trial = problem.with_time(TRIAL)
    f1 = [network.tried(trial, split, rng) for network in networks]
    best = int(np.argmax(f1))
    return networks[best], f1[best], problem.with_time(1 - TRIAL * len(networks))


@dataclass(frozen=True, slots=True)
class _Analogy:
    """Analogy, and how well it does on held-out samples by itself."""

    fitted: FittedScorer
    n_judged: int
    f1: float = 1.0
    exact: float = 1.0  # the share of sets that are exactly right
    found: float = 1.0  # the share of sequences that are listed at all

    @classmethod
    def fit(cls, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState) -> Self:
        """Fit and judge it. With no held-out samples there is nothing to object to."""
        fitted = PassedScorer(AnalogyScorer()).fit(problem, split, rng)
        n_judged = len(split.held_out)
        if n_judged == 0:
            return cls(fitted, 0)
        X, trie = problem.part(split.held_out)
        batches = fitted.judge.batches(X, problem.bounds.together(problem.vocabulary.n_choices))
        nodes, right = candidate_lists(fitted.judge, batches, trie, problem.bounds)
        f1, is_found = f1_of_lists(nodes, right), nodes.probabilities[right] > 0
        found = float(is_found.mean()) if len(is_found) else 1.0
        return cls(fitted, n_judged, float(f1.mean()), float((f1 == 1).mean()), found)

    @property
    def is_good(self) -> bool:
        """Whether it may stand alone."""
        return self.f1 >= ENOUGH and self.exact >= EXACT and self.found >= FOUND

    @property
    def is_sure(self) -> bool:
        """Whether a network can hardly do better."""
        return self.is_good and self.exact >= NEARLY_ALL

    def alone(self, training: Training) -> FittedScorer:
        """The fitted scorer without a network; say why."""
        why = "analogy does well on held-out" if self.n_judged else "there are no held-out"
        say_before_progress(
            f"{why} samples, so no network is trained", verbose=training.verbose_by_default
        )
        return self.fitted


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
