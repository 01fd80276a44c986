"""The scorers of the paper's experiments, and the learner that everybody compares with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from setlearn import SequenceSetGenerator
from setlearn.experiments.recipes import LabelRecipe, SequenceRecipe
from setlearn.learners.sequence_sigmoid_network import SequenceSigmoidNetwork
from setlearn.learners.set_mixture import SetMixture
from setlearn.learners.sigmoid_network import SigmoidNetwork

__all__ = [
    "ENCODER_DECODER",
    "LOGISTIC_REGRESSION",
    "LOGISTIC_REGRESSION_ON_DIGITS",
    "MIXTURE",
    "SEQUENCE_SIGMOID",
    "SIGMOID",
    "TRANSFORMER",
]


def as_characters(X: list[str]) -> NDArray[Any]:
    """Strings of one length as a matrix with one character a column."""
    return np.array([list(x) for x in X])


# The paper does not say how large its sigmoid network is: ours has the library's default sizes.
SIGMOID = LabelRecipe(SigmoidNetwork())

# Three folds: its training takes several times as long as that of the dense network.
SEQUENCE_SIGMOID = LabelRecipe(SequenceSigmoidNetwork(), cv=3)

# As printed: one LSTM layer, 60 and 120 units, embeddings of 60, Adam, batches of 15.
ENCODER_DECODER = SequenceRecipe(SequenceSetGenerator("lstm"))

# What SetClassifier() and SequenceSetGenerator() are without any argument.
MIXTURE = LabelRecipe(SetMixture(), with_examples=True)
TRANSFORMER = SequenceRecipe(SequenceSetGenerator())

LOGISTIC_REGRESSION = LabelRecipe(
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), cv=None
)

LOGISTIC_REGRESSION_ON_DIGITS = LabelRecipe(
    make_pipeline(
        FunctionTransformer(as_characters),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(max_iter=1000),
    ),
    cv=None,
)
