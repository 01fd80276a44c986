"""What a scorer from outside answers is checked before anything is made of it."""

from dataclasses import replace

import numpy as np
import pytest

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError
from setlearn.estimators.base import InputLayout
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


def test_rounding_errors_of_single_precision_are_no_fault():
    row = np.array([np.float32(1.0000001), -1e-7, 0.0], dtype=np.float32)
    [[(element, probability)]] = predict(GoodRoots(row))
    assert (element, probability) == ("a", 1.0)


class ReadsRows(GoodRoots):
    """Reads rows of an array, and nothing else."""

    def start(self, X):
        assert isinstance(X, np.ndarray)
        assert X.ndim == 2
        return super().start(X)


def test_every_verb_hands_over_inputs_as_fit_was_given_them():
    X = np.zeros((4, 3))
    model = SequenceSetGenerator(ReadsRows([1.0, 0.0, 0.0]), rule=TopK(1))
    model.fit(X, [{"a", "b"}] * 4)
    assert model.input_layout().n_features == 3
    assert model.trace(X[0]).result == model.predict(X[:1])[0] == model.predict_sets(X)[3]


@pytest.mark.parametrize(("x", "lists"), [("ab", False), (["a", "b"], True), ({"any": 1}, False)])
def test_inputs_that_are_no_numbers_are_handed_over_as_they_are(x, lists):
    model = SequenceSetGenerator(GoodRoots([1.0, 0.0, 0.0]), rule=TopK(1))
    model.fit([x] * 4, [{"a", "b"}] * 4)
    assert model.input_layout() == InputLayout(None, lists)
    assert model.trace(x).result == model.predict([x])[0]


class Misplaced(GoodRoots):
    """Its nodes below the root belong to the first sample, or to the wrong depth."""

    def __init__(self, wrong):
        super().__init__([1.0, 0.0, 0.0])
        self.wrong = wrong

    def advance(self, step, parent, token):
        nodes = super().advance(step, parent, token).nodes
        return Step(replace(nodes, **{self.wrong: np.zeros(len(parent), int)}))


@pytest.mark.parametrize("wrong", ["sample", "depth"])
def test_nodes_that_belong_elsewhere_are_refused(wrong):
    model = SequenceSetGenerator(GoodRoots([1.0, 0.0, 0.0]), rule=TopK(2))
    model.fit(["x"] * 4, [{"a", "b"}] * 4)
    model.scorer_.scorer = Misplaced(wrong)
    with pytest.raises(DataError, match=rf"Misplaced.advance must return .* with {wrong} \["):
        model.predict(["x", "x", "x"])


def test_another_number_of_features_is_refused():
    X = np.zeros((4, 3))
    model = SequenceSetGenerator(ReadsRows([1.0, 0.0, 0.0]), rule=TopK(1))
    model.fit(X, [{"a", "b"}] * 4)
    for ask in (lambda: model.predict(X[:, :2]), lambda: model.trace(X[0, :2])):
        with pytest.raises(DataError, match=r"array with 3 features, got shape"):
            ask()
    with pytest.raises(DataError, match="got list"):
        model.predict([[0.0, 0.0, 0.0]])
