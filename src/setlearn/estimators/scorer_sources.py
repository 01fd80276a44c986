"""Where fitted scorers come from: a new network is trained, or what the user passed is fitted."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _is_fitted

from setlearn.copied_tokens import with_input_tokens
from setlearn.estimators.sequence_problem import FittedScorer, SampleSplit, SequenceProblem
from setlearn.networks import network_named
from setlearn.networks.convergence import convergence_problem
from setlearn.networks.recipe import NetworkRecipe, loss_of
from setlearn.networks.training_settings import LEAST_TO_JUDGE, Training, TrainingPlan
from setlearn.nodes import IntArray
from setlearn.scorers.injected import InjectedScorer
from setlearn.sequence_inputs import InputReader, learn_inputs
from setlearn.set_reading import LabelSets
from setlearn.vocabulary import Split, Tokeniser, Vocabulary

if TYPE_CHECKING:
    from setlearn.estimators.sequence_training import SequenceTraining

__all__ = ["NewNetwork", "PassedScorer", "ScorerSource"]

PASSES = 5
"""How often such a training sees each sample, at least."""

TRIED_STEPS = 200
"""Steps that show which of several networks suits the data best."""

EVALUATIONS = 40
"""How often such a training is evaluated at most."""

SOLVED = 1 - 1e-5
"""The held-out score of a network that makes no error and is sure of it, with a loss below 0.1."""


class ScorerSource(ABC):
    """Where a fitted scorer comes from."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary that the scorer brings along; None if it is learned from the sets."""
        return None

    @abstractmethod
    def described(self) -> list[str]:
        """What it fits, part by part."""

    @property
    def tokens(self) -> tuple[Split | None, Split | None]:
        """How the scorer splits inputs and elements; None where this is guessed from the data."""
        return None, None if self.vocabulary is None else self.vocabulary.tokeniser.split

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

    @property
    def gives_examples(self) -> bool:
        """Whether the scorer may know whole sets that an input may have."""
        return False

    @property
    def learns(self) -> bool:
        """Whether there is anything to train."""
        return True

    def needs_held_out(self, training: Training) -> bool:
        """Whether the training itself, besides the rule, learns from held-out samples."""
        return False

    @property
    def trains_network(self) -> bool:
        """Whether training goes in steps, takes time, and can be resumed and continued."""
        return False

    @property
    def fits_fast(self) -> bool:
        """Whether fitting is so fast that it is done twice: without the held-out samples, and with.

        Such a source uses no random numbers but its own.
        """
        return False

    def check(self, X: Any) -> None:  # noqa: B027  # most have nothing to check
        """Raise if it is plain already that these inputs cannot be fitted."""

    @abstractmethod
    def fit(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> FittedScorer:
        """Train on all samples but those held out.

        Parameters
        ----------
        problem : SequenceProblem
        split : SampleSplit
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

    def described(self) -> list[str]:
        """The recipe."""
        return [repr(self.recipe)]

    @property
    def copies_tokens(self) -> bool:
        """What the recipe says of itself."""
        return bool(getattr(self.recipe, "copies_tokens", False))

    @property
    def gives_marginals(self) -> bool:
        """After the loss "node" every sequence has a probability of its own."""
        return self.loss == "node"

    @property
    def trains_network(self) -> bool:
        """It does."""
        return True

    def needs_held_out(self, training: Training) -> bool:
        """A training at a constant rate stops early, by its held-out samples."""
        return self._suited_plan(training).schedule == "constant"

    def fit(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> FittedScorer:
        """Build the network, and train it on all samples but those held out."""
        # torch is imported only where a network is really used.
        from setlearn.estimators.sequence_training import SequenceTraining, new_scorer

        training = problem.training
        plan = self._training_plan(training, split)
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
        network = SequenceTraining(
            scorer,
            inputs,
            problem.sequences,
            problem.trie,
            problem.bounds,
            split.train,
            split.held_out,
        )
        self._prepare(network)
        network.hide_tokens(rng)
        history = network.fit(plan, training, rng)
        suited_steps = self._suited_steps(plan, split)
        unfinished = convergence_problem(history, plan, suited_steps)
        return FittedScorer(scorer, history, scorer, unfinished)

    def _reader(self, problem: SequenceProblem) -> InputReader:
        """What turns inputs into what the network reads."""
        # A token that only sequences have can be copied too, once an input has it.
        vocabulary = problem.vocabulary
        copied = vocabulary.tokens if vocabulary.n_stand_ins else ()
        return learn_inputs(problem.X, problem.input_tokeniser, copied)

    def _prepare(self, training: SequenceTraining) -> None:
        """Change what is to be done differently than for a new network."""

    def tried(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> float:
        """Train for a short time, and return the F1 on held-out samples.

        Parameters
        ----------
        problem : SequenceProblem
        split : SampleSplit
        rng : RandomState

        Returns
        -------
        float
        """
        n = min(self._training_plan(problem.training, split).max_steps, TRIED_STEPS)
        training = clone(problem.training).set_params(
            max_steps=n, evaluate_every=n, checkpoint=None, verbose=False
        )
        tried = self.fit(replace(problem, training=training), split, rng)
        return float(tried.history[-1]["held_out_f1"])

    def _suited_plan(self, training: Training) -> TrainingPlan:
        """How to train: what is given, and otherwise what suits the network."""
        # A recipe that does not say what suits it is trained as in the paper.
        suited = getattr(self.recipe, "suited_training", None)
        return training.plan(suited or network_named("lstm").suited_training)

    def _training_plan(self, training: Training, split: SampleSplit) -> TrainingPlan:
        """The plan that also suits the data."""
        plan = self._suited_plan(training)
        if plan.schedule == "constant":
            return plan
        # Such a training must be long enough for the data. Held-out figures may end it early.
        if training.max_steps is None:
            enough = SOLVED if len(split.held_out) >= LEAST_TO_JUDGE else None
            plan = replace(plan, max_steps=self._steps_for(plan, split), enough=enough)
        if training.evaluate_every is None:
            # Under a time limit evaluations cost training, and with few steps most of the time.
            is_long = training.max_seconds is None and plan.max_steps >= 2 * EVALUATIONS
            n_evaluations = EVALUATIONS if is_long else EVALUATIONS // 2
            plan = replace(plan, evaluate_every=math.ceil(plan.max_steps / n_evaluations))
        return plan

    def _steps_for(self, plan: TrainingPlan, split: SampleSplit) -> int:
        """How many steps of a schedule suit so many samples."""
        per_root = getattr(self.recipe, "steps_per_root", NetworkRecipe.steps_per_root)
        n_samples = len(split.train) + len(split.held_out)
        by_root = round(per_root * math.sqrt(n_samples))
        return max(by_root, plan.steps_for(PASSES, n_samples))

    def _suited_steps(self, plan: TrainingPlan, split: SampleSplit) -> int:
        """How many steps the network needs; 0 if that is not known."""
        return self._steps_for(plan, split)


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

    def described(self) -> list[str]:
        """The scorer."""
        return [repr(self.scorer)]

    @property
    def copies_tokens(self) -> bool | None:
        """True if the scorer says so."""
        return bool(getattr(self.scorer, "copies_tokens", False)) or None

    @property
    def gives_marginals(self) -> bool:
        """What the scorer says of itself."""
        return bool(getattr(self.scorer, "gives_marginals", False))

    @property
    def gives_examples(self) -> bool:
        """Whether the scorer has such sets."""
        return hasattr(self.scorer, "example_sets")

    @property
    def fits_fast(self) -> bool:
        """What the scorer says of itself."""
        return self.learns and bool(getattr(self.scorer, "fits_fast", False))

    @property
    def learns(self) -> bool:
        """Whether the scorer has something to learn, and has not learned it yet."""
        return hasattr(self.scorer, "fit") and not _is_fitted(self.scorer)

    def fit(
        self, problem: SequenceProblem, split: SampleSplit, rng: np.random.RandomState
    ) -> FittedScorer:
        """Train a copy of the scorer, if it has something to learn."""
        if not self.learns:
            passed = InjectedScorer.for_inputs(self.scorer, problem.vocabulary, problem.X)
            return FittedScorer(passed, [], passed)
        scorer = judge = self._fitted(problem, split.train)
        if self.fits_fast and len(split.held_out):
            scorer = self._fitted(problem, np.arange(problem.trie.n_samples))
        return FittedScorer(scorer, [], judge)

    def check(self, X: Any) -> None:
        """Raise what the scorer raises."""
        if self.learns and hasattr(self.scorer, "check"):
            self.scorer.check(X)

    def _fitted(self, problem: SequenceProblem, samples: IntArray) -> InjectedScorer:
        scorer = self.scorer
        scorer = clone(scorer) if hasattr(scorer, "get_params") else deepcopy(scorer)
        if hasattr(scorer, "bind"):
            scorer.bind(problem.vocabulary, problem.input_tokeniser)
        scorer.fit(*problem.part(samples))
        return InjectedScorer.for_inputs(scorer, problem.vocabulary, problem.X)
