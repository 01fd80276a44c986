"""The least size of sets, which rules learn if it is not given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn import nodes as nodes_module
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
from setlearn.rules.min_size import fill_up

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


@st.composite
def partly_kept(draw):
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    scores = draw(st.lists(st.integers(0, 4), min_size=20, max_size=20))
    marks = draw(st.lists(st.integers(0, 3), min_size=20, max_size=20))
    P = np.resize(np.array(scores) / 4, shape)
    kept, known, missing = (np.resize(np.array(marks) == k, shape) for k in (1, 2, 3))
    return np.where(missing, 0, P), kept, known, ~missing


@settings(max_examples=300, deadline=None)
@given(partly_kept(), st.integers(0, 6), st.booleans())
def test_filling_up_adds_the_best_of_the_others(case, min_size, in_chunks):
    P, kept, known, available = case
    nodes = Nodes.roots(P, known, available)
    expected = []
    for p, is_kept, is_known, is_choice in zip(P, kept, known, available, strict=True):
        members = set(np.flatnonzero(is_kept | is_known).tolist())
        others = [k for k in np.flatnonzero(is_choice).tolist() if k not in members]
        others.sort(key=lambda k: -p[k])  # ties keep their order
        expected.append(members | set(others[: max(0, min_size - len(members))]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes_module, "CHUNK_ENTRIES", 5 if in_chunks else 10**6)
        filled = fill_up(nodes.completed(kept.copy()), nodes, min_size)
    assert [set(np.flatnonzero(row).tolist()) for row in filled] == expected
