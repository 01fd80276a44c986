"""Tables that run in seconds, in the same way as the real ones, and some that fail."""

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from sklearn.base import BaseEstimator

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.errors import DataError
from setlearn.experiments.samples import TaskSource
from setlearn.experiments.systems import LOGISTIC_REGRESSION_ON_DIGITS, RULES, System
from setlearn.experiments.table import Table
from setlearn.experiments.tables.tasks import DECODER, LEARNER, SIGMOIDS, TASK1, TASK2, TRANSFORMER
from setlearn.networks import LSTM, Training
from setlearn.rules import LambdaCNN, LambdaRNN, Margin

QUICK_RULES = {
    **RULES,
    "λ-RNN": LambdaRNN(cut="tuned", training=Training(max_steps=3)),
    "λ-CNN": LambdaCNN(cut="tuned", training=Training(max_steps=3)),
}
SMALL = LSTM(embedding=4, encoder_units=4, decoder_units=4)
GENERATOR = SequenceSetGenerator(
    SMALL, training=Training(max_steps=10, verbose=False), max_size=4, max_nodes=20
)

LABELS = replace(
    TASK1,
    source=TaskSource("leading_digits", n_samples=60),
    scorers={
        SIGMOIDS: SetClassifier(
            LOGISTIC_REGRESSION_ON_DIGITS.estimator, Margin(), cv=2, verbose=False
        ),
        DECODER: GENERATOR,
        LEARNER: LOGISTIC_REGRESSION_ON_DIGITS,
    },
    rules=QUICK_RULES,
)
SEQUENCES = replace(
    TASK2,
    source=TaskSource("substrings", n_samples=60),
    scorers={DECODER: GENERATOR, TRANSFORMER: GENERATOR},
    rules=QUICK_RULES,
)


@dataclass(frozen=True)
class NoSource:
    """Data that is not available."""

    def load(self, split):
        raise DataError("there is no such data")


class EndlessPredictor(BaseEstimator):
    """A predictor whose ``fit`` writes the number of its process to a file, and never ends."""

    def __init__(self, file="", random_state=None):
        self.file = file
        self.random_state = random_state

    def fit(self, X, y):
        path = Path(self.file)
        path.with_suffix(".new").write_text(str(os.getpid()))
        path.with_suffix(".new").rename(path)
        while True:
            time.sleep(0.1)


class FailingPredictor(BaseEstimator):
    """A predictor that fails in ``fit``, or ends its process."""

    def __init__(self, deadly=False, random_state=None):
        self.deadly = deadly
        self.random_state = random_state

    def fit(self, X, y):
        if self.deadly:
            os._exit(3)
        raise ValueError("it does not work")


def one_system(source=SEQUENCES.source, scorer=GENERATOR) -> Table:
    """A table with one scorer under one rule and nothing else."""
    return replace(
        SEQUENCES,
        name="one",
        source=source,
        scorers={DECODER: scorer},
        systems=(System("SSG-S", DECODER, "Margin", paper=8.10),),
        compared={},
    )


class Watcher:
    """A display that remembers what it was told; with ``stop_after`` it simulates Ctrl-C."""

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
