"""Padding is as if it were not there: property tests for the rules that need no network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.errors import DataError
from setlearn.nodes import Nodes
from setlearn.rules import ExpectedF, LambdaCNN, Margin, RiskControl, Threshold, TopK
from tests.checks.rule_cases import padded

scores = st.integers(0, 4).map(lambda k: k / 4) | st.floats(0, 1, width=32)
entries = st.tuples(scores, st.booleans(), st.booleans(), st.integers(0, 3).map(bool))
tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(entries, min_size=width, max_size=width), min_size=1, max_size=5
    )
)
RULES = [
    *(Margin(), Margin(0.3), Margin(space="log"), Margin(rho=0.5), Margin(min_size=3)),
    *(Margin(0.0, min_size=1), Margin(rho=0.5, space="log", min_size=0)),
    *(Threshold(), Threshold("tuned"), Threshold("tuned", min_size=2), Threshold(0.0)),
    *(TopK(1), TopK(3), ExpectedF(), ExpectedF(2.0, min_size=2), RiskControl(0.01)),
    RiskControl(precision=0.1),
]


@pytest.mark.filterwarnings("ignore:a precision of 0.1 .* cannot be guaranteed")
@settings(max_examples=200, deadline=None)
@given(tables, st.sampled_from(RULES), st.integers(0, 100), st.integers(1, 4), st.booleans())
def test_padding_changes_nothing(rows, rule, seed, extra, with_known):
    """Some entries are padding from the start; then more columns of padding are added."""
    table = np.array(rows)
    available = table[:, :, 3] > 0
    P = np.where(available, table[:, :, 0], 0)
    known = (table[:, :, 1] > 0) & available
    right = (table[:, :, 2] > 0) & available
    nodes = Nodes.roots(P, known if with_known else None, available)
    wide, columns = padded(nodes, seed, extra)
    wide_right = np.zeros(wide.probabilities.shape, bool)
    wide_right[:, columns] = right
    narrow_fit = rule.__class__(**rule.get_params()).fit(nodes, right)
    wide_fit = rule.__class__(**rule.get_params()).fit(wide, wide_right)
    kept = narrow_fit.accept(nodes)
    assert not kept[~available].any()
    for fitted in (narrow_fit, wide_fit):
        assert (fitted.accept(wide)[:, columns] == kept).all()
        assert (fitted.accept(nodes) == kept).all()
    for row in range(len(P)):  # as if the choices that are not available did not exist
        there = available[row]
        alone = Nodes.roots(P[row : row + 1, there], known[row : row + 1, there])
        if there.any() and with_known:
            assert (narrow_fit.accept(alone)[0] == kept[row, there]).all()


def test_every_learned_number_is_the_same():
    rng = np.random.default_rng(0)
    nodes = Nodes.roots(rng.uniform(size=(80, 4)))
    right = rng.uniform(size=(80, 4)) < nodes.probabilities
    wide, columns = padded(nodes)
    wide_right = np.zeros(wide.probabilities.shape, bool)
    wide_right[:, columns] = right
    for rule in RULES:
        narrow_fit = vars(rule.fit(nodes, right)).copy()
        wide_fit = vars(rule.fit(wide, wide_right))
        assert narrow_fit.keys() == wide_fit.keys()
        for name, value in narrow_fit.items():
            if name.endswith("_"):
                np.testing.assert_array_equal(value, wide_fit[name], err_msg=f"{rule} {name}")


def test_a_convolution_needs_the_same_choices_everywhere():
    nodes = Nodes.roots(np.full((20, 3), 0.5))
    wide, _ = padded(nodes)
    with pytest.raises(DataError, match="not available; use LambdaSet"):
        LambdaCNN().fit(wide, wide.available)
    rule = LambdaCNN(random_state=0).set_params(training__max_steps=1)
    rule.fit(nodes, np.ones((20, 3), bool))
    with pytest.raises(DataError, match="not available; use LambdaSet"):
        rule.accept(wide)
    everything = Nodes.roots(nodes.probabilities, available=np.ones((20, 3), bool))
    assert (rule.accept(everything) == rule.accept(nodes)).all()
