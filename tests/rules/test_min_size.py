"""The least size of sets, which rules learn if it is not given."""

import numpy as np
import pytest

from setlearn.networks import Training
from setlearn.nodes import Nodes
from setlearn.rules import (
    ExpectedF,
    LambdaCNN,
    LambdaRNN,
    LambdaSet,
    Margin,
    OnSequences,
    Threshold,
)

QUICK = Training(max_steps=5)
RULES = [
    ExpectedF(min_size=None),
    ExpectedF(min_size=None, calibrate=True),
    Threshold(0.5, min_size=None),
    Threshold("tuned", min_size=None),
    Margin(),
    Margin(space="log"),
    OnSequences(Margin(space="log")),
    LambdaRNN(training=QUICK, random_state=0),
    LambdaCNN(training=QUICK, random_state=0),
    LambdaSet(training=QUICK, random_state=0),
]


@pytest.mark.parametrize(("n", "least"), [(99, 1), (100, 2)])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_sets_are_as_large_as_the_smallest_of_many(rule, n, least):
    rng = np.random.default_rng(0)
    right = np.tile([True, True, False, False], (n, 1))
    right[0, 2] = True
    nodes = Nodes.roots(np.clip(right - rng.uniform(0, 0.4, size=right.shape), 0.01, 0.99))
    rule.fit(nodes, right)
    kept = rule.accept(Nodes.roots(np.array([[0.97, 0.004, 0.002, 0.001]])))
    assert kept.sum() >= least
    assert getattr(rule, "rule_", rule).min_size_ == least


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_one_empty_set_is_enough_to_allow_others(rule):
    right = np.tile([True, True, False, False], (120, 1))
    right[0] = False
    nodes = Nodes.roots(np.where(right, 0.8, 0.1))
    rule.fit(nodes, right)
    assert getattr(rule, "rule_", rule).min_size_ == 0
