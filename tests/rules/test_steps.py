"""The story that a rule tells ends with the set that it keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.nodes import Nodes
from setlearn.rules import Margin, Threshold, TopK

scores = st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1, width=32)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=7),
    st.sampled_from([np.float32, np.float64]),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.integers(0, 4),
    st.booleans(),
)
def test_every_walk_ends_where_accept_does(row, dtype, level, rho, size, with_known):
    P = np.array([[score for score, _ in row]], dtype)
    known = np.array([[mark for _, mark in row]]) if with_known else None
    node = Nodes.roots(P, known)
    names = [f"choice {k}" for k in range(len(row))]
    for rule in (
        Margin(level, rho=rho, min_size=size),
        Margin(level, rho=rho, space="log", min_size=size),
        Threshold(level, min_size=size),
        TopK(size + 1),
    ):
        walk = rule.steps(node, names)
        kept = set(np.flatnonzero(rule.accept(node)[0]).tolist())
        told = set(walk.picks[-1].memory) if walk.picks else set(np.flatnonzero(known).tolist())
        assert told == kept
        assert walk.reason
        new = [pick.winner for pick in walk.picks if pick.kept]
        assert len(new) == len(set(new))
        assert set(new) == kept - (set(np.flatnonzero(known[0])) if with_known else set())


def test_margin_says_that_it_filled_up():
    walk = Margin(0.0, min_size=2).steps(Nodes.roots(np.array([[0.1, 0.9, 0.3]])), list("abc"))
    assert "min_size = 2 asks for more" in walk.reason
    assert walk.picks[-1].memory == (1, 2)


@pytest.mark.parametrize("rule", [Threshold(0.9), TopK(1)], ids=str)
def test_everything_known_leaves_nothing_to_tell(rule):
    node = Nodes.roots(np.array([[0.1, 0.9]]), np.array([[True, True]]))
    assert rule.steps(node, list("ab")).picks == ()
    assert rule.steps(node, list("ab")).reason == "every choice is in the set"
