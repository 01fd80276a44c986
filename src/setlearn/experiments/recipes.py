"""What a table trains: a scorer as a recipe, which answers under any rule once it is trained."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from setlearn import SequenceSetGenerator
from setlearn.errors import TruncationWarning
from setlearn.estimators.label_space import LabelSpace
from setlearn.estimators.out_of_fold import fit_out_of_fold
from setlearn.estimators.traces import LabelTrace
from setlearn.experiments.samples import Samples
from setlearn.nodes import Mask, Nodes
from setlearn.rules import Rule
from setlearn.scorers import MarginalScorer
from setlearn.scorers.classifiers import with_seeds
from setlearn.scorers.labels import LabelScorer

__all__ = ["Answer", "LabelRecipe", "Recipe", "SequenceRecipe", "Trained"]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The predicted sets of a test part under one rule, and what they cost."""

    rule: Rule  # fitted
    sets: list[frozenset[str]]
    fit_seconds: float
    predict_seconds: float
    n_truncated: int = 0


class Trained(Protocol):
    """A scorer that has been trained, ready for any number of rules."""

    @property
    def history(self) -> list[dict[str, Any]]:
        """The epochs of the training; none for a learner without them."""
        ...

    @property
    def rule_nodes(self) -> tuple[Nodes, Mask]:
        """The choice points that rules learn from, unseen in training if any were left out."""
        ...

    def answer(self, rule: Rule, test: Samples) -> Answer:
        """Fit the rule, and predict the test part's sets under it."""
        ...

    def trace(self, answer: Answer, test: Samples, row: int) -> str:
        """Tell how one set of an answer came about."""
        ...


class Recipe(Protocol):
    """A scorer before training: data that a table holds."""

    @property
    def model(self) -> BaseEstimator:
        """The untrained model, whose parameters name the recipe."""
        ...

    def train(self, train: Samples, seed: int) -> Trained:
        """Train on these samples, with all randomness from the seed."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LabelRecipe:
    """A multi-label classifier. Rules learn from its out-of-fold scores; ``cv`` is the folds.

    ``with_examples`` also asks the learner for training sets like each sample's.
    """

    model: BaseEstimator
    cv: int | None = 5
    with_examples: bool = False

    def train(self, train: Samples, seed: int) -> TrainedLabels:
        """Fit on all samples, and once without each fold."""
        rng = np.random.RandomState(seed)
        space, right = LabelSpace.read(train.sets)
        unfitted = MarginalScorer(with_seeds(self.model, rng), n_labels=right.shape[1])
        scorer, nodes = fit_out_of_fold(
            unfitted,
            train.X,
            right,
            {},
            cv=self.cv,
            with_examples=self.with_examples,
            rng=rng,
            n_jobs=None,
            verbose=False,
        )
        return TrainedLabels(space, scorer, nodes, right, seed)


@dataclass(eq=False)
class TrainedLabels:
    """A fitted label scorer with its out-of-fold scores."""

    space: LabelSpace
    scorer: LabelScorer
    nodes: Nodes
    right: sparse.csr_array
    seed: int

    @property
    def history(self) -> list[dict[str, Any]]:
        """The epochs of the learner that was fitted on all samples."""
        return list(getattr(getattr(self.scorer, "model_", None), "history_", []))

    @property
    def rule_nodes(self) -> tuple[Nodes, Mask]:
        """The out-of-fold scores."""
        return self.nodes, self.scorer.right_choices(self.right[self.nodes.sample])

    def answer(self, rule: Rule, test: Samples) -> Answer:
        """Fit the rule on out-of-fold scores, and predict."""
        started = time.perf_counter()
        fitted = with_seeds(rule, np.random.RandomState(self.seed))
        if fitted.needs_fit:
            fitted.fit(*self.rule_nodes)
        learned = time.perf_counter()
        nodes = self.scorer.start(test.X, with_examples=fitted.uses_examples).nodes
        kept = sparse.csr_array(fitted.accept(nodes))
        sets: Any = self.space.answer_sets(kept)
        return Answer(fitted, sets, learned - started, time.perf_counter() - learned)

    def trace(self, answer: Answer, test: Samples, row: int) -> str:
        """The picks of one sample, as a table."""
        uses_examples = answer.rule.uses_examples
        row_alone = test.take(np.array([row])).X
        node = self.scorer.start(row_alone, with_examples=uses_examples).nodes
        labels = self.space.classes.tolist()
        walk = answer.rule.steps(node, [str(label) for label in labels])
        return str(LabelTrace.of(labels, walk, answer.sets[row], frozenset()))


@dataclass(frozen=True, slots=True, eq=False)
class SequenceRecipe:
    """A generator of sequence sets. Rules learn from samples that its network was not shown."""

    model: SequenceSetGenerator

    def train(self, train: Samples, seed: int) -> TrainedSequences:
        """Train the network once; the rule that comes with it is replaced later."""
        model = clone(self.model).set_params(random_state=seed, training__verbose=False)
        return TrainedSequences(model.fit(train.X, train.sets), train, seed)


@dataclass(eq=False)
class TrainedSequences:
    """A trained sequence network with the samples that were held out from it."""

    model: SequenceSetGenerator
    train: Samples
    seed: int

    @property
    def history(self) -> list[dict[str, Any]]:
        """The epochs of the network."""
        return [dict(epoch) for epoch in self.model.history_]

    @cached_property
    def unseen(self) -> Samples:
        """What rules learn from; everything, where too few samples were left to hold out."""
        held_out = self.model.held_out_
        return self.train.take(held_out if len(held_out) else np.arange(len(self.train)))

    @cached_property
    def rule_nodes(self) -> tuple[Nodes, Mask]:
        """The true prefix trees of the held-out samples."""
        return self.model.choice_points(self.unseen.X, self.unseen.sets)

    def answer(self, rule: Rule, test: Samples) -> Answer:
        """Fit the rule on the held-out samples, and generate."""
        started = time.perf_counter()
        seeded = with_seeds(rule, np.random.RandomState(self.seed))
        model = self.model.with_rule(seeded, self.unseen.X, self.unseen.sets)
        learned = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # counted instead
            rankings = model.predict_ranked(test.X)
        seconds = time.perf_counter() - learned
        sets = [frozenset(element for element, _ in ranking) for ranking in rankings]
        n_truncated = sum(ranking.truncated for ranking in rankings)
        return Answer(model.rule_, sets, learned - started, seconds, n_truncated)

    def trace(self, answer: Answer, test: Samples, row: int) -> str:
        """The prefix tree of one sample as it grew."""
        model = self.model.with_rule(answer.rule, self.unseen.X, self.unseen.sets)
        return str(model.trace(test.X[row]))
