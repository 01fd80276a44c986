"""What tables are made of: systems, and the scorers, rules and yardsticks they name.

A scorer is a public class that is not yet fitted. Its own rule decides what ``fit`` keeps for
`with_rule`: with ``Margin()`` the out-of-fold scores, with "auto" also whole training sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.estimators.sequence_parameters import FEW, default_rule
from setlearn.experiments.samples import Samples, Split
from setlearn.learners import SequenceSigmoidNetwork, SetMixture, SigmoidNetwork
from setlearn.networks import Training, Transformer
from setlearn.nodes import BoolArray, Mask, Nodes
from setlearn.rules import (
    Auto,
    ExpectedF,
    LambdaCNN,
    LambdaRNN,
    LambdaSet,
    Margin,
    Rule,
    Threshold,
    TopK,
)

__all__ = [
    "ENCODER_DECODER",
    "LOGISTIC_REGRESSION",
    "LOGISTIC_REGRESSION_ON_DIGITS",
    "MIXTURE",
    "QUIET",
    "RULES",
    "SEQUENCE_SIGMOID",
    "SIDE_BY_SIDE",
    "SIGMOID",
    "TRANSFORMER",
    "YARDSTICKS",
    "MeanSize",
    "System",
    "Yardstick",
    "best_constant_set",
]


@dataclass(frozen=True, slots=True)
class System:
    """A row of a table: one of its scorers under one of its rules.

    Parameters
    ----------
    name : str
    scorer, rule : str
        Names in the table.
    paper : float, optional
        The figure that the paper reports.
    goal : float, optional
        Our own goal, where the paper has no such system.
    is_yardstick : bool, default=False
        Whether the row is there only for comparison.
    """

    name: str
    scorer: str
    rule: str
    paper: float | None = None
    goal: float | None = None
    is_yardstick: bool = False


# Scorers. Cells run in processes that share one terminal, so none of them shows progress.

QUIET = Training(verbose=False)

# The paper does not report the size of its sigmoid network; ours has the library's defaults.
SIGMOID = SetClassifier(SigmoidNetwork(), Margin(), verbose=False)

# Three folds: its training takes several times as long as that of the dense network.
SEQUENCE_SIGMOID = SetClassifier(SequenceSigmoidNetwork(), Margin(), cv=3, verbose=False)

# As in the paper: one LSTM layer, 60 and 120 units, embeddings of 60, Adam, batches of 15.
ENCODER_DECODER = SequenceSetGenerator("lstm", tokens="char", training=QUIET)

# The library's defaults.
MIXTURE = SetClassifier(SetMixture(), "auto", verbose=False)
GENERATOR = SequenceSetGenerator(tokens="char", training=QUIET)

TRANSFORMER = SequenceSetGenerator("transformer", tokens="char", training=QUIET)
TRANSFORMER_WITH_PAPERS_LOSS = SequenceSetGenerator(
    Transformer(loss="sequence"), tokens="char", training=QUIET
)

# No rule is fitted on their scores, so they need no folds.
LOGISTIC_REGRESSION = SetClassifier(
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    Threshold(0.5),
    verbose=False,
)


def _as_characters(X: list[str]) -> NDArray[Any]:
    """Strings of equal length as a matrix with one column per character."""
    return np.array([list(x) for x in X])


LOGISTIC_REGRESSION_ON_DIGITS = SetClassifier(
    make_pipeline(
        FunctionTransformer(_as_characters),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(max_iter=1000),
    ),
    Threshold(0.5),
    verbose=False,
)


class MeanSize(Rule):
    """A yardstick: keep as many of the best choices as there are right ones on average.

    Attributes
    ----------
    k_ : int
    """

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn the rounded mean number of right choices.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, choices)

        Returns
        -------
        self
        """
        self.k_ = max(1, round(float(np.asarray(positive.sum(axis=1)).mean())))
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep the k best choices."""
        self._check_fitted("k_")
        return TopK(self.k_).accept(nodes)


RULES: dict[str, Rule] = {
    "cut 0.5": Threshold(0.5),
    "tuned cut": Threshold("tuned"),
    # Without a floor, which is not in the paper.
    "Margin": Margin(choice_floor=0),
    "Margin, ρ = 0.3": Margin(rho=0.3, choice_floor=0),
    "Margin, log scale": Margin(space="log", choice_floor=0),
    # Their cut is tuned on training samples that the λ-network was not trained on.
    "λ-RNN": LambdaRNN(cut="tuned"),
    "λ-CNN": LambdaCNN(cut="tuned"),
    "mean size": MeanSize(),
    "auto": Auto(),
    "auto, on sequences": default_rule(gives_marginals=True, n_samples=FEW),
    "λ-set": LambdaSet(cut="tuned"),
    "ExpectedF": ExpectedF(),
    "ExpectedF, joint": ExpectedF(joint=True),
}

SIDE_BY_SIDE = ("cut 0.5", "tuned cut", "Margin", "λ-RNN", "λ-CNN")
"""Rules compared on the same scores, which shows what the λ-networks add."""


Yardstick: TypeAlias = Callable[[Split], list[frozenset[str]]]

MOST_CANDIDATES = 16
"""How many of the most frequent labels may be in the constant set; all their subsets are tried."""


def best_constant_set(train: Samples) -> frozenset[str]:
    """The set with the best mean F1 on the training samples, if it is predicted for all."""
    counts = Counter(chain(*train.sets))
    labels = sorted(counts, key=lambda label: (-counts[label], label))[:MOST_CANDIDATES]
    right = np.array([[label in elements for label in labels] for elements in train.sets], float)
    true_size = np.array([len(elements) for elements in train.sets])
    subsets = (np.arange(2 ** len(labels))[:, None] >> np.arange(len(labels))) & 1
    f1 = np.empty(len(subsets))
    for first in range(0, len(subsets), 1024):  # (1024, n) at a time
        part = subsets[first : first + 1024]
        sizes = part.sum(axis=1, keepdims=True) + true_size
        shares = np.divide(2 * (part @ right.T), sizes, out=np.ones(sizes.shape), where=sizes > 0)
        f1[first : first + 1024] = shares.mean(axis=1)
    best = subsets[int(f1.argmax())]
    return frozenset(label for label, is_in in zip(labels, best, strict=True) if is_in)


def _constant(split: Split) -> list[frozenset[str]]:
    return [best_constant_set(split.train)] * len(split.test)


def _every_label(split: Split) -> list[frozenset[str]]:
    return [frozenset().union(*split.train.sets)] * len(split.test)


def _all_digits(split: Split) -> list[frozenset[str]]:
    return [frozenset(x) for x in split.test.X]


def _perfect(split: Split) -> list[frozenset[str]]:
    return split.test.sets


def _middle_of_the_string(split: Split) -> list[frozenset[str]]:
    return [frozenset([x[10:][3:6]]) for x in split.test.X]


YARDSTICKS: dict[str, Yardstick] = {
    "best constant set": _constant,
    "every label": _every_label,
    "all digits of the input": _all_digits,
    "a perfect answer": _perfect,
    "the substring a[3:6]": _middle_of_the_string,
}
"""Predictions that need no scorer: what any system should beat, and what none can."""
