"""What `SequenceSetGenerator.fit` is given, and the two ways from there to a fitted scorer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _is_fitted

from setlearn.errors import ParameterError
from setlearn.generate import Bounds
from setlearn.networks import network_named
from setlearn.networks.recipe import loss_of
from setlearn.networks.training_settings import Training, TrainingPlan, hold_out
from setlearn.nodes import IntArray
from setlearn.rules import Rule
from setlearn.scorers.base import InjectedScorer, Scorer, TokenScorer
from setlearn.sequence_inputs import learn_inputs, with_input_tokens
from setlearn.set_reading import LabelSets
from setlearn.trie import Sequences, Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

__all__ = [
    "FittedScorer",
    "NewNetwork",
    "PassedScorer",
    "ScorerSource",
    "SequenceProblem",
    "scorer_source",
]

DEFAULT_NETWORK = "transformer"

STEPS = 75
"""Steps of a training without early stopping, times the square root of the number of samples."""

PASSES = 5
"""How often such a training sees each sample, at least."""

EVALUATIONS = 20
"""How often such a training is evaluated."""

HELD_OUT = (0.1, 0.2)
"""The least and the largest share of samples that is held out if something is learned from them."""

ENOUGH_HELD_OUT = (100, 1000)
"""If the least share is more than the first number, it is enough; more than the second is never
held out."""


@dataclass(frozen=True, slots=True, eq=False)
class SequenceProblem:
    """Inputs and sets of sequences, with what is to be fitted on them."""

    X: Any
    input_tokeniser: Tokeniser
    vocabulary: Vocabulary
    sequences: Sequences
    trie: Trie
    rule: Rule
    bounds: Bounds
    training: Training

    def part(self, samples: IntArray) -> tuple[Any, Trie]:
        """The inputs and trees of some samples."""
        return _safe_indexing(self.X, samples), self.trie.take(samples)

    def held_out_share(self, *, stops_early: bool) -> float:
        """The share of samples to hold out: as given, or some if something is learned from them.

        ``stops_early`` says that training stops by its held-out samples.
        """
        if self.training.validation is not None:
            return self.training.validation
        if not (self.rule.needs_fit or stops_early):
            return 0.0
        n, (least, largest), (enough, most) = self.trie.n_samples, HELD_OUT, ENOUGH_HELD_OUT
        return min(max(least, min(largest, enough / n)), most / n)


@dataclass(frozen=True, slots=True, eq=False)
class FittedScorer:
    """A scorer, how its training went, and the samples that it has not seen."""

    scorer: TokenScorer
    history: list[Any]
    held_out: IntArray


class ScorerSource(ABC):
    """Where a fitted scorer comes from."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary that the scorer brings along; None if it is learned from the sets."""
        return None

    @property
    @abstractmethod
    def copies_tokens(self) -> bool | None:
        """Whether the scorer copies tokens; None if it is not known how it reads inputs."""

    def learned_vocabulary(
        self, X: Any, sets: LabelSets, of_inputs: Tokeniser, of_elements: Tokeniser
    ) -> Vocabulary:
        """Learn the vocabulary from training data.

        Parameters
        ----------
        X : list of inputs, or a numeric array
        sets : list of frozenset
        of_inputs, of_elements : Tokeniser

        Returns
        -------
        Vocabulary
        """
        vocabulary = Vocabulary.learn(sets, of_elements)
        if self.copies_tokens is None:
            return vocabulary
        return with_input_tokens(vocabulary, X, sets, of_inputs, can_copy=self.copies_tokens)

    @property
    @abstractmethod
    def gives_marginals(self) -> bool:
        """Whether a sequence's score will be its own probability to be in the set."""

    @abstractmethod
    def fit(self, problem: SequenceProblem, rng: np.random.RandomState) -> FittedScorer:
        """Train on all samples but those held out.

        Parameters
        ----------
        problem : SequenceProblem
        rng : RandomState

        Returns
        -------
        FittedScorer
        """


class NewNetwork(ScorerSource):
    """A recipe: the network is built and trained here.

    Parameters
    ----------
    recipe : NetworkRecipe, or an object with a method ``build``
    """

    def __init__(self, recipe: Any) -> None:
        self.recipe = recipe
        self.loss = loss_of(recipe)

    @property
    def copies_tokens(self) -> bool:
        """What the recipe says of itself."""
        return bool(getattr(self.recipe, "copies_tokens", False))

    @property
    def gives_marginals(self) -> bool:
        """After the loss "node" every sequence has a probability of its own."""
        return self.loss == "node"

    def fit(self, problem: SequenceProblem, rng: np.random.RandomState) -> FittedScorer:
        """Build the network, and train it on all samples but those held out."""
        # torch is imported only where a network is really used.
        from setlearn.estimators.sequence_training import SequenceTraining, new_scorer

        training = problem.training
        plan = self._training_plan(training, len(problem.X))
        # A token that only sequences have can be copied too, once an input has it.
        vocabulary = problem.vocabulary
        copied = vocabulary.tokens if vocabulary.n_stand_ins else ()
        reader = learn_inputs(problem.X, problem.input_tokeniser, copied)
        inputs = reader.read(problem.X)
        scorer = new_scorer(
            self.recipe,
            reader,
            vocabulary,
            inputs,
            device=training.device,
            seed=int(rng.randint(2**31 - 1)),
        )
        network = SequenceTraining(scorer, inputs, problem.sequences, problem.trie, problem.bounds)
        network.hold_out(problem.held_out_share(stops_early=plan.schedule == "constant"), rng)
        problem.rule.check_samples(len(network.held_out))
        network.hide_tokens(rng)
        history = network.fit(plan, training, rng)
        return FittedScorer(scorer, history, network.held_out)

    def _training_plan(self, training: Training, n_samples: int) -> TrainingPlan:
        """How to train: what is given, and otherwise what suits the network and the data."""
        # A recipe that does not say what suits it is trained as in the paper.
        suited = getattr(self.recipe, "suited_training", None)
        plan = training.plan(suited or network_named("lstm").suited_training)
        if plan.schedule == "constant":
            return plan
        # Nothing stops such a training early, so it must be long enough for the data.
        if training.max_steps is None:
            steps = max(round(STEPS * math.sqrt(n_samples)), plan.steps_for(PASSES, n_samples))
            plan = replace(plan, max_steps=steps)
        if training.evaluate_every is None:
            plan = replace(plan, evaluate_every=max(plan.max_steps // EVALUATIONS, 1))
        return plan


class PassedScorer(ScorerSource):
    """A scorer that the user passed: a copy of it is trained, unless it is trained already.

    Parameters
    ----------
    scorer : Scorer
    """

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The scorer's own, if it has one."""
        vocabulary: Vocabulary | None = getattr(self.scorer, "vocabulary", None)
        return vocabulary

    @property
    def copies_tokens(self) -> bool | None:
        """True if the scorer says so."""
        return bool(getattr(self.scorer, "copies_tokens", False)) or None

    @property
    def gives_marginals(self) -> bool:
        """What the scorer says of itself."""
        return bool(getattr(self.scorer, "gives_marginals", False))

    def fit(self, problem: SequenceProblem, rng: np.random.RandomState) -> FittedScorer:
        """Train a copy of the scorer, if it has something to learn."""
        scorer = self.scorer
        held_out: IntArray = np.arange(problem.trie.n_samples)
        if hasattr(scorer, "fit") and not _is_fitted(scorer):
            share = problem.held_out_share(stops_early=False)
            train, held_out = hold_out(held_out, share, rng)
            scorer = clone(scorer) if hasattr(scorer, "get_params") else deepcopy(scorer)
            if hasattr(scorer, "bind"):
                scorer.bind(problem.vocabulary, problem.input_tokeniser)
            scorer.fit(*problem.part(train))
        problem.rule.check_samples(len(held_out))
        wrapped = InjectedScorer.for_inputs(scorer, problem.vocabulary, problem.X)
        return FittedScorer(wrapped, [], held_out)


def scorer_source(network: Any) -> ScorerSource:
    """What the parameter ``network`` stands for.

    Raises
    ------
    ParameterError
        If it is neither the name of a network, nor a recipe, nor a scorer.
    """
    if network is None or isinstance(network, str):
        return NewNetwork(network_named(network or DEFAULT_NETWORK))
    if not isinstance(network, type):
        if hasattr(network, "build"):
            return NewNetwork(network)
        if isinstance(network, Scorer):
            return PassedScorer(network)
    raise ParameterError(
        "network must be a name, a recipe with a method build(n_choices=, n_tokens=, "
        "n_features=, copies=None) such as setlearn.networks.LSTM(), or a scorer with the "
        f"methods start and advance (setlearn.scorers.Scorer), got {network!r}"
    )
