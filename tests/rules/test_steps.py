"""The steps that a rule shows end with the set that it keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.nodes import Nodes
from setlearn.rules import Auto, ExpectedF, Margin, RiskControl, Threshold, TopK
from tests.reference import expected_f as reference

scores = st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1, width=32)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=7),
    st.sampled_from([np.float32, np.float64]),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.integers(0, 4),
    scores,
    st.booleans(),
)
def test_all_steps_end_where_accept_does(row, dtype, level, rho, size, floor, with_known):
    P = np.array([[score for score, _ in row]], dtype)
    known = np.array([[mark for _, mark in row]]) if with_known else None
    node = Nodes.roots(P, known)
    names = [f"choice {k}" for k in range(len(row))]
    for rule in (
        Margin(level, rho=rho, min_size=size),
        Margin(level, rho=rho, space="log", min_size=size),
        Margin(level, rho=rho, min_size=size, choice_floor=floor),
        Margin(level, rho=rho, space="log", min_size=size, choice_floor=floor),
        Threshold(level, min_size=size),
        TopK(size + 1),
    ):
        steps = rule.steps(node, names)
        kept = set(np.flatnonzero(rule.accept(node)[0]).tolist())
        shown = set(steps.picks[-1].memory) if steps.picks else set(np.flatnonzero(known).tolist())
        assert shown == kept
        assert steps.reason
        new = [pick.winner for pick in steps.picks if pick.kept]
        assert len(new) == len(set(new))
        assert set(new) == kept - (set(np.flatnonzero(known[0])) if with_known else set())


def test_margin_says_that_it_filled_up():
    steps = Margin(0.0, min_size=2).steps(Nodes.roots(np.array([[0.1, 0.9, 0.3]])), list("abc"))
    assert "min_size = 2 asks for more" in steps.reason
    assert steps.picks[-1].memory == (1, 2)


@pytest.mark.parametrize("rule", [Threshold(0.9), TopK(1)], ids=str)
def test_everything_known_leaves_nothing_to_tell(rule):
    node = Nodes.roots(np.array([[0.1, 0.9]]), np.array([[True, True]]))
    assert rule.steps(node, list("ab")).picks == ()
    assert rule.steps(node, list("ab")).reason == "every choice is in the set"


class TestFigures:
    """Rules that decide at once show what they compare, and no penalties."""

    node = Nodes.roots(np.array([[0.5, 0.1, 0.9, 0.3]]))

    def steps(self, rule):
        steps = rule.steps(self.node, list("abcd"))
        assert all(pick.penalties is None for pick in steps.picks)
        return steps

    def test_threshold(self):
        steps = self.steps(Threshold(0.4))
        assert steps.columns == ("probability", "cut")
        assert [pick.winner for pick in steps.picks] == [2, 0, 3]
        assert steps.picks[1].figures == {"probability": 0.5, "cut": 0.4}

    def test_top_k(self):
        known = np.array([[False, False, True, False]])
        steps = TopK(1).steps(Nodes.roots(self.node.probabilities, known), list("abcd"))
        assert steps.columns == ("probability", "rank")
        assert [(pick.winner, pick.figures["rank"]) for pick in steps.picks] == [(0, 1), (3, 2)]

    def test_expected_f(self):
        steps = self.steps(ExpectedF(2.0))
        assert steps.columns == ("probability", "expected F2")
        kept = [pick.figures["expected F2"] for pick in steps.picks if pick.kept]
        distribution = reference.independent(self.node.probabilities[0].tolist())
        sets = [frozenset(pick.memory) for pick in steps.picks if pick.kept]
        assert kept == pytest.approx([reference.expected_f(s, distribution, 2.0) for s in sets])
        last = steps.picks[-1]
        assert not last.kept
        assert f"the expected F2 is {last.figures['expected F2']:.4g}" in steps.reason

    def test_risk_control(self):
        rule = RiskControl(0.5).fit(Nodes.roots(np.full((9, 2), 0.4)), np.ones((9, 2), bool))
        steps = self.steps(rule)
        assert steps.columns == ("membership", "cut")
        assert steps.picks[0].figures == {"membership": 0.9, "cut": 0.4}

    def test_margin_has_penalties(self):
        steps = Margin(0.5).steps(self.node, list("abcd"))
        assert steps.columns == ("score", "penalty")
        assert all(pick.penalties is not None for pick in steps.picks)
        assert steps.picks[-1].figures == {"score": 0.4, "penalty": 0.5}

    def test_the_winner_of_auto(self):
        rule = Auto([Threshold(0.4)]).fit(self.node, self.node.probabilities > 0.2)
        assert self.steps(rule).columns == ("probability", "cut")


def test_known_choices_come_first_in_the_memory():
    steps = Threshold(0.4).steps(Nodes.roots(np.array([[0.5, 0.1]])), list("ab")).after([7])
    assert [pick.memory for pick in steps.picks] == [(7, 0), (7, 0)]
    assert steps.columns == ("probability", "cut")


@pytest.mark.parametrize("lam", [5e-324, 1e-308, 0.0])
def test_a_tiny_lambda_ends_at_once(lam):
    known = np.array([[True, True, False, False]])
    node = Nodes.roots(np.array([[1.0, 0.9, 0.0, 0.0]]), known)
    rule = Margin(lam, rho=0.3)
    assert rule.accept(node).tolist() == known.tolist()
    assert set(rule.steps(node, list("abcd")).picks[-1].memory) == {0, 1}
