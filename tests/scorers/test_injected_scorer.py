"""What a scorer from outside answers is checked before anything is made of it."""

import numpy as np
import pytest

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError
from setlearn.nodes import Nodes, Step
from setlearn.rules import TopK


class Constant:
    """The same scores, and the same probability of the way, for all prefixes."""

    def __init__(self, row, way=1.0):
        self.row = row
        self.way = way

    def start(self, X):
        return self._step(np.arange(len(X)), np.zeros(len(X), int))

    def advance(self, step, parent, token):
        return self._step(step.nodes.sample[parent], step.nodes.depth[parent] + 1)

    def _step(self, sample, depth):
        rows, way = np.tile(self.row, (len(sample), 1)), np.full(len(sample), self.way)
        return Step(Nodes(sample, depth, rows, prefix_probability=way))


class GoodRoots(Constant):
    """Wrong below the root only."""

    def start(self, X):
        return Constant([0.0, 0.5, 0.5]).start(X)


def predict(scorer):
    model = SequenceSetGenerator(scorer, rule=TopK(1)).fit(["x"] * 4, [{"a", "b"}] * 4)
    return model.predict_ranked(["x"], top=1)


@pytest.mark.parametrize(("kind", "method"), [(Constant, "start"), (GoodRoots, "advance")])
@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.5])
def test_what_is_no_probability_is_refused(kind, method, value):
    message = rf"{kind.__name__}\.{method} must return %s from 0 to 1, got {value} \(.*; turn"
    with pytest.raises(DataError, match=message % "probabilities"):
        predict(kind([0.2, 0.3, value]))
    with pytest.raises(DataError, match=message % "prefix_probability"):
        predict(kind([0.2, 0.3, 0.5], value))


def test_zero_and_one_are_probabilities():
    [[(element, probability)]] = predict(GoodRoots([1.0, 0.0, 0.0]))
    assert (element, probability) == ("a", 1.0)
