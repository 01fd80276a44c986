"""Margin against the literal Algorithm 1 and a brute-force λ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.nodes import Nodes
from setlearn.rules import Margin
from tests.reference import labels as reference

# Coarse grids make ties frequent; fine floats make rounding matter.
coarse = st.integers(0, 8).map(lambda k: k / 8)
fine = st.floats(0, 1, width=32)


@st.composite
def scored_points(draw, dtype=np.float64):
    grid = draw(st.sampled_from([coarse, fine]))
    n_choices = draw(st.integers(1, 8))
    rows = draw(
        st.lists(st.lists(grid, min_size=n_choices, max_size=n_choices), min_size=1, max_size=4)
    )
    lam = draw(grid)
    masks = draw(
        st.lists(
            st.lists(st.booleans(), min_size=n_choices, max_size=n_choices),
            min_size=len(rows),
            max_size=len(rows),
        )
    )
    return np.array(rows, dtype=dtype), float(lam), np.array(masks)


def memory_of(row):
    return set(np.flatnonzero(row).tolist())


@settings(max_examples=600, deadline=None)
@given(scored_points())
def test_accept_is_algorithm_1(case):
    P, lam, _ = case
    kept = Margin(lam).accept(Nodes.roots(P))
    assert [memory_of(row) for row in kept] == [reference.algorithm_1(p, lam) for p in P]


@settings(max_examples=600, deadline=None)
@given(scored_points())
def test_accept_is_algorithm_1_with_known_elements(case):
    P, lam, known = case
    kept = Margin(lam).accept(Nodes.roots(P, known))
    expected = [reference.algorithm_1(p, lam, memory_of(k)) for p, k in zip(P, known, strict=True)]
    assert [memory_of(row) for row in kept] == expected


@settings(max_examples=600, deadline=None)
@given(scored_points(), st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.99]), st.booleans())
def test_accept_is_the_robust_loop(case, rho, with_known):
    P, lam, known = case
    known = known if with_known else np.zeros_like(known)
    kept = Margin(lam, rho=rho).accept(Nodes.roots(P, known))
    expected = [
        reference.algorithm_1_robust(p, lam, rho, memory_of(k))
        for p, k in zip(P, known, strict=True)
    ]
    assert [memory_of(row) for row in kept] == expected


@settings(max_examples=500, deadline=None)
@given(scored_points(dtype=np.float32), st.sampled_from([0.0, 0.5]))
def test_float32_scores_are_compared_as_float32(case, rho):
    P, lam, _ = case
    kept = Margin(lam, rho=rho).accept(Nodes.roots(P))
    expected = [reference.algorithm_1_robust(p, np.float32(lam), rho) for p in P]
    assert [memory_of(row) for row in kept] == expected


@settings(max_examples=500, deadline=None)
@given(scored_points(), st.sampled_from([0.0, 0.3, 0.8]), st.booleans())
def test_the_steps_end_where_accept_does(case, rho, with_known):
    P, lam, known = case
    nodes = Nodes.roots(P[:1], known[:1] if with_known else None)
    rule = Margin(lam, rho=rho)
    steps = rule.steps(nodes, [str(k) for k in range(P.shape[1])])
    assert set(steps.picks[-1].memory) == memory_of(rule.accept(nodes)[0])
    assert "repeats" in steps.reason


@settings(max_examples=200, deadline=None)
@given(scored_points())
def test_log_space_compares_ratios(case):
    P, lam, _ = case
    P = np.maximum(P, 1e-6)
    kept = Margin(3 * lam, space="log").accept(Nodes.roots(P))
    assert [memory_of(r) for r in kept] == [reference.algorithm_1(np.log(p), 3 * lam) for p in P]


@settings(max_examples=200, deadline=None)
@given(scored_points(), st.sampled_from([0.5, 10.0, 1000.0]))
def test_lambda_is_the_brute_force_minimiser(case, multiplier):
    P, _, positive = case
    rule = Margin(multiplier=multiplier, min_size=1).fit(Nodes.roots(P), positive)
    brute, feasible = reference.brute_force_lambda(P, positive, multiplier, grid=401)
    cost = reference.printed_objective(rule.lam_, P, positive)
    brute_cost = reference.printed_objective(brute, P, positive)
    if not rule.feasible_:
        cost += multiplier * reference.violations(rule.lam_, P, positive)
        brute_cost += multiplier * reference.violations(brute, P, positive)
        assert not feasible
    else:
        assert reference.violations(rule.lam_, P, positive) <= 1e-9
    if feasible or not rule.feasible_:  # a feasible interval may lie between two grid points
        assert cost <= brute_cost + 1e-6
    assert rule.objective_ == pytest.approx(cost, abs=1e-6)


def test_a_feasible_lambda_makes_no_training_error():
    rng = np.random.default_rng(0)
    positive = rng.random((50, 6)) < 0.5
    positive[:, 0] = True
    P = np.where(
        positive, rng.uniform(0.7, 0.9, positive.shape), rng.uniform(0, 0.4, positive.shape)
    )
    rule = Margin().fit(Nodes.roots(P), positive)
    assert rule.feasible_
    assert rule.interval_[0] <= rule.lam_ <= rule.interval_[1]
    assert (rule.accept(Nodes.roots(P)) == positive).all()


def test_a_lambda_on_the_lower_bound_keeps_the_lowest_right_choice():
    # The first point alone sets the lower bound, and the mean lies far below it.
    P = np.array([[0.9, 0.3, 0.0]] + [[0.9, 0.85, 0.2]] * 50)
    positive = np.array([[True, True, False]] + [[True, True, False]] * 50)
    rule = Margin().fit(Nodes.roots(P), positive)
    assert rule.feasible_
    assert (rule.accept(Nodes.roots(P)) == positive).all()


def test_sparse_masks_learn_the_same():
    rng = np.random.default_rng(1)
    P, positive = rng.random((40, 9)), rng.random((40, 9)) < 0.3
    dense = Margin().fit(Nodes.roots(P), positive)
    thin = Margin().fit(Nodes.roots(P), sparse.csr_array(positive))
    assert (dense.lam_, dense.floor_, dense.objective_) == (thin.lam_, thin.floor_, thin.objective_)


def test_one_lambda_a_position_and_the_last_one_beyond():
    rng = np.random.default_rng(2)
    P, positive = rng.random((60, 5)), rng.random((60, 5)) < 0.4
    positive[:, 0] = True
    depth = np.arange(60) % 3
    rule = Margin().fit(Nodes(np.arange(60), depth, P), positive)
    assert rule.lam_.shape == rule.feasible_.shape == (3,)
    for position in range(3):
        alone = Margin().fit(Nodes.roots(P[depth == position]), positive[depth == position])
        assert rule.lam_[position] == alone.lam_
    deep = Nodes(np.arange(4), np.full(4, 9), P[:4])
    assert (rule.accept(deep) == Margin(rule.lam_[-1]).accept(Nodes.roots(P[:4]))).all()


def test_empty_training_sets_teach_a_floor():
    P = np.array([[0.1, 0.05], [0.12, 0.1], [0.9, 0.2], [0.8, 0.7]])
    positive = np.array([[False, False], [False, False], [True, False], [True, True]])
    rule = Margin().fit(Nodes.roots(P), positive)
    assert rule.min_size_ == 0
    assert 0.12 < rule.floor_ < 0.8
    assert rule.accept(Nodes.roots(P)).sum(axis=1).tolist()[:2] == [0, 0]
    assert "floor" in rule.steps(Nodes.roots(P[:1]), ["a", "b"]).reason
    assert Margin(min_size=1).fit(Nodes.roots(P), positive).accept(Nodes.roots(P)).any(axis=1).all()


def test_min_size_fills_up_with_the_best():
    kept = Margin(0.0, min_size=2).accept(Nodes.roots(np.array([[0.1, 0.5, 0.4]])))
    assert kept.tolist() == [[False, True, True]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": -0.1}, "lam must be finite and lie in"),
        ({"lam": 1.5}, "lam must be finite and lie in"),
        ({"lam": float("nan")}, "lam must be finite"),
        ({"lam": "much"}, "lam must be a number"),
        ({"lam": []}, "lam must be a number"),
        ({"rho": 1.0}, r"rho must lie in \[0, 1\), got 1.0"),
        ({"rho": -0.5}, "rho must lie in"),
        ({"rho": float("nan")}, "rho must lie in"),
        ({"space": "odds"}, "space must be one of"),
        ({"multiplier": 0}, "multiplier must be a positive number"),
        ({"min_size": -1}, "min_size must be"),
    ],
)
def test_bad_parameters(parameters, message):
    nodes = Nodes.roots(np.array([[0.5, 0.5]]))
    with pytest.raises(ParameterError, match=message):
        Margin(**parameters).fit(nodes, np.array([[True, False]]))


def test_too_few_lambdas_for_the_positions():
    nodes = Nodes(np.zeros(2, int), np.array([0, 4]), np.full((2, 2), 0.5))
    with pytest.raises(ParameterError, match="lam has 3 values but the sequences have 5 positions"):
        Margin([0.1, 0.2, 0.3]).fit(nodes, np.array([[True, False]] * 2))


def test_bad_data():
    nodes = Nodes.roots(np.array([[0.5, 0.5]]))
    with pytest.raises(DataError, match="positive has shape"):
        Margin().fit(nodes, np.array([[True]]))
    with pytest.raises(DataError, match="no choice points"):
        Margin().fit(Nodes.roots(np.empty((0, 2))), np.empty((0, 2), bool))
    with pytest.raises(NotFittedError, match="not fitted"):
        Margin().accept(nodes)
    with pytest.raises(DataError, match="known has shape"):
        Nodes.roots(np.array([[0.5, 0.5]]), np.array([[True]]))
    with pytest.raises(DataError, match="must be a matrix"):
        Nodes.roots(np.array([0.5, 0.5]))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["probability", "log"]), st.sampled_from([64, 32]))
def test_a_feasible_lambda_makes_no_training_error_even_on_its_bound(seed, space, bits):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0.02, 0.3)
    P = np.array([[0.7, low, 1e-4]] + [[0.8, 1e-4, 1e-4]] * 6, dtype=f"float{bits}")
    positive = np.array([[True, True, False]] + [[True, False, False]] * 6)
    rule = Margin(space=space).fit(Nodes.roots(P), positive)
    if rule.feasible_:
        assert (rule.accept(Nodes.roots(P)) == positive).all()


@settings(max_examples=300, deadline=None)
@given(scored_points())
def test_an_infeasible_lambda_on_a_lower_bound_keeps_what_sets_it(case):
    P, _, positive = case
    rule = Margin(min_size=1).fit(Nodes.roots(P), positive)
    kept = rule.accept(Nodes.roots(P))
    for p, row, right in zip(P, kept, positive, strict=True):
        if right.any() and p.max() - p[right].min() <= rule.lam_ and rule.lam_ > 0:
            assert row[right].all()


def test_a_given_lambda_is_judged_as_it_is():
    P, positive = np.array([[0.9, 0.5, 0.1]]), np.array([[True, True, False]])
    rule = Margin(0.1).fit(Nodes.roots(P), positive)
    assert (rule.lam_, rule.feasible_) == (0.1, False)
    expected = (0.9 - 0.3 - 0.1) ** 2 + 1000 * (0.4 - 0.1)
    assert rule.objective_ == pytest.approx(expected)
    assert Margin(0.6).fit(Nodes.roots(P), positive).feasible_


class TestAdjusted:
    """What the sliders of the playground do: another λ or ρ, without a new fit."""

    P = np.array([[0.9, 0.5, 0.1], [0.2, 0.1, 0.1], [0.7, 0.6, 0.1]])
    right = np.array([[True, True, False], [False, False, False], [True, True, False]])

    def test_lam_and_rho(self):
        nodes = Nodes.roots(self.P)
        rule = Margin().fit(nodes, self.right)
        other = rule.adjusted(lam=0.0, rho=0.3)
        assert (other.lam, other.lam_, other.rho) == (0.0, 0.0, 0.3)
        assert other.min_size_ == rule.min_size_
        assert other.floor_ == rule.floor_
        expected = Margin(0.0, rho=0.3).fit(nodes, self.right).accept(nodes)
        assert (other.accept(nodes) == expected).all()
        assert rule.lam is None
        assert (other.adjusted(lam=0.0).accept(nodes) == expected).all()

    def test_a_min_size_above_0_overrides_the_floor(self):
        nodes = Nodes.roots(self.P)
        rule = Margin().fit(nodes, self.right)
        assert not rule.accept(nodes)[1].any()
        assert rule.adjusted(min_size=1).accept(nodes)[1].any()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"space": "log"}, "space='log' needs a new fit"),
            ({"multiplier": 5.0}, "multiplier=5.0 needs a new fit"),
            ({"lam": 2.0}, "lam must be"),
            ({"rho": 1}, "rho must"),
            ({"k": 2}, "Margin has no parameter 'k'; it has"),
        ],
    )
    def test_what_it_refuses(self, change, message):
        rule = Margin().fit(Nodes.roots(self.P), self.right)
        with pytest.raises(ParameterError, match=message):
            rule.adjusted(**change)

    def test_what_was_given_cannot_be_learned_without_a_fit(self):
        rule = Margin(0.3).fit(Nodes.roots(self.P), self.right)
        with pytest.raises(ParameterError, match="lam=None needs a new fit"):
            rule.adjusted(lam=None)
