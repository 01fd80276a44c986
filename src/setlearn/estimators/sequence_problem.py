"""What `SequenceSetGenerator.fit` is given, and the two ways from there to a fitted scorer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _is_fitted

from setlearn.errors import ParameterError
from setlearn.estimators.scorer_names import scorer_named
from setlearn.generate import Bounds
from setlearn.networks import network_named
from setlearn.networks.convergence import convergence_problem
from setlearn.networks.recipe import loss_of
from setlearn.networks.training_settings import Training, TrainingPlan, hold_out
from setlearn.nodes import IntArray
from setlearn.rules import Rule
from setlearn.scorers.base import InjectedScorer, Scorer, TokenScorer
from setlearn.sequence_inputs import InputReader, learn_inputs
from setlearn.trie import Sequences, Trie
from setlearn.vocabulary import Split, Tokeniser, Vocabulary

if TYPE_CHECKING:
    from setlearn.estimators.sequence_training import SequenceTraining

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
    unfinished: str | None = None
    """Why the training should have been longer, if it seems so."""


class ScorerSource(ABC):
    """Where a fitted scorer comes from."""

    keeps_checkpoints: ClassVar[bool] = False
    """Whether training goes in steps, and can be resumed from a checkpoint."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary that the scorer brings along; None if it is learned from the sets."""
        return None

    @property
    def tokens(self) -> tuple[Split | None, Split | None]:
        """How the scorer splits inputs and elements; None where this is guessed from the data."""
        return None, None if self.vocabulary is None else self.vocabulary.tokeniser.split

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

    keeps_checkpoints: ClassVar[bool] = True

    def __init__(self, recipe: Any) -> None:
        self.recipe = recipe
        self.loss = loss_of(recipe)

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
        reader = self._reader(problem)
        inputs = reader.read(problem.X)
        scorer = new_scorer(
            self.recipe,
            reader,
            problem.vocabulary,
            inputs,
            device=training.device,
            seed=int(rng.randint(2**31 - 1)),
        )
        network = SequenceTraining(scorer, inputs, problem.sequences, problem.trie, problem.bounds)
        network.hold_out(problem.held_out_share(stops_early=plan.schedule == "constant"), rng)
        self._prepare(network, problem)
        problem.rule.check_samples(len(network.held_out))
        history = network.fit(plan, training, rng)
        unfinished = convergence_problem(history, plan)
        return FittedScorer(scorer, history, network.held_out, unfinished)

    def _reader(self, problem: SequenceProblem) -> InputReader:
        """What turns inputs into what the network reads."""
        return learn_inputs(problem.X, problem.input_tokeniser)

    def _prepare(self, training: SequenceTraining, problem: SequenceProblem) -> None:
        """Change what is to be done differently than for a new network."""

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
        network = scorer_named(network or DEFAULT_NETWORK)
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
