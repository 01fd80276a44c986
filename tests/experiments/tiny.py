"""Tables that run in seconds, through the same path as the real ones, and some that go wrong."""

import os
from dataclasses import dataclass, field, replace

from sklearn.base import BaseEstimator

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError
from setlearn.experiments.recipes import LabelRecipe, SequenceRecipe
from setlearn.experiments.rules import RULES
from setlearn.experiments.samples import TaskSource
from setlearn.experiments.scorers import LOGISTIC_REGRESSION_ON_DIGITS
from setlearn.experiments.table import System, Table
from setlearn.experiments.tables.task1 import DECODER, LEARNER, SIGMOIDS, TASK1
from setlearn.experiments.tables.task2 import TASK2
from setlearn.networks import LSTM, Training
from setlearn.rules import LambdaCNN, LambdaRNN

QUICK_RULES = {
    **RULES,
    "λ-RNN": LambdaRNN(cut="tuned", training=Training(max_steps=3)),
    "λ-CNN": LambdaCNN(cut="tuned", training=Training(max_steps=3)),
}
SMALL = LSTM(embedding=4, encoder_units=4, decoder_units=4)
GENERATOR = SequenceRecipe(
    SequenceSetGenerator(SMALL, training=Training(max_steps=10), max_size=4, max_nodes=20)
)

LABELS = replace(
    TASK1,
    source=TaskSource("leading_digits", n_samples=60),
    scorers={
        SIGMOIDS: LabelRecipe(LOGISTIC_REGRESSION_ON_DIGITS.model, cv=2),
        DECODER: GENERATOR,
        LEARNER: LOGISTIC_REGRESSION_ON_DIGITS,
    },
    rules=QUICK_RULES,
)
SEQUENCES = replace(
    TASK2,
    source=TaskSource("substrings", n_samples=60),
    scorers={DECODER: GENERATOR},
    rules=QUICK_RULES,
)


@dataclass(frozen=True)
class NoSource:
    """Data that cannot be had."""

    def load(self, split):
        raise DataError("there is no such data")


@dataclass(frozen=True)
class Quick:
    """A recipe that quickly fails, or takes its process down."""

    deadly: bool = False
    model: BaseEstimator = field(default_factory=BaseEstimator)

    def train(self, train, seed):
        if self.deadly:
            os._exit(3)
        raise ValueError("it does not work")


def one_system(source=SEQUENCES.source, recipe=GENERATOR) -> Table:
    """A table with one scorer under one rule and nothing else."""
    return replace(
        SEQUENCES,
        name="one",
        source=source,
        scorers={DECODER: recipe},
        systems=(System("SSG-S", DECODER, "Margin", paper=8.10),),
        compared={},
    )


class Watcher:
    """A display that remembers; with ``stop_after`` it presses Ctrl-C."""

    def __init__(self, stop_after=None):
        self.missing, self.done, self.notes = [], [], []
        self.stop_after = stop_after

    def begin(self, missing, known):
        self.missing = list(missing)

    def started(self, cell):
        pass

    def finished(self, outcome):
        self.done.append(outcome)
        if len(self.done) == self.stop_after:
            raise KeyboardInterrupt

    def note(self, text):
        self.notes.append(text)
