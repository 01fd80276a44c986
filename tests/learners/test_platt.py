"""The curves that turn decision values into probabilities."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from setlearn.learners.platt import STEEPEST, Platt, cross_fitted
from setlearn.learners.row_draws import drawn_folds


def test_the_curves_are_those_of_logistic_regression():
    rng = np.random.default_rng(0)
    decisions = rng.normal(loc=[0.5, -1], size=(4000, 2))
    right = rng.random((4000, 2)) < expit(decisions * [2, 0.7] + [0.3, -1])
    found = Platt.fit(decisions, right, np.ones((4000, 1)))(decisions)
    for k in range(2):
        model = LogisticRegression(C=1e6).fit(decisions[:, [k]], right[:, k])
        expected = model.predict_proba(decisions[:, [k]])[:, 1]
        np.testing.assert_allclose(found[:, k], expected, atol=5e-3)


def test_a_label_that_is_told_apart_perfectly_is_not_certain():
    decisions = np.r_[-np.ones(20), np.ones(20)][:, None]
    P = Platt.fit(decisions, decisions > 0, np.ones((40, 1)))(decisions)
    assert ((P > 0.01) & (P < 0.99)).all()
    against = Platt.fit(-decisions, decisions > 0, np.ones((40, 1)))(decisions)
    np.testing.assert_allclose(against, 0.5, atol=1e-3)  # never turned around


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 60), st.sampled_from([1e-3, 0.1, 1.0, 30.0]))
def test_the_loss_is_as_small_as_any_optimiser_finds_it(seed, n, scale):
    rng = np.random.default_rng(seed)
    decisions = scale * rng.standard_t(2, size=(n, 3))  # far outliers
    right = rng.random((n, 3)) < expit(decisions / scale)
    weight = rng.uniform(0.1, 3, n)
    curves = Platt.fit(decisions, right, weight[:, None])
    weight = weight / weight.mean()
    for k in range(3):
        n_right = weight @ right[:, k]
        n_wrong = weight.sum() - n_right
        target = np.where(right[:, k], (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))

        def loss(parameters, k=k, target=target):
            logits = parameters[0] * decisions[:, k] / scale + parameters[1]
            return weight @ (np.logaddexp(0, logits) - target * logits)

        best = minimize(
            loss, [0.1, 0.0], bounds=[(0, STEEPEST * scale), (None, None)], method="L-BFGS-B"
        ).fun
        assert loss([curves.slope[k] * scale, curves.intercept[k]]) <= best + 1e-2


def test_equal_decisions_give_the_frequency():
    right = np.arange(40) < 10
    P = Platt.fit(np.ones((40, 1)), right[:, None], np.ones((40, 1)))(np.ones((1, 1)))
    np.testing.assert_allclose(P, (10 + 1) / (40 + 2), atol=0.02)


def test_no_row_is_calibrated_on_itself():
    rng = np.random.default_rng(0)
    decisions, right = rng.normal(size=(30, 1)), rng.random((30, 1)) < 0.5
    before = cross_fitted(decisions, right, np.ones((30, 1)))
    right[4] = ~right[4]
    after = cross_fitted(decisions, right, np.ones((30, 1)))
    assert before[4] == after[4]
    other = drawn_folds(30, 3) != drawn_folds(30, 3)[4]
    assert (before[other] != after[other]).all()
    assert np.isfinite(cross_fitted(decisions[:2], right[:2], np.ones((2, 1)))).all()


def test_unknown_entries_change_nothing():
    rng = np.random.default_rng(0)
    decisions, right = rng.normal(size=(60, 2)), rng.random((60, 2)) < 0.4
    weight = np.ones((60, 2))
    weight[:20, 1] = 0
    curves = Platt.fit(decisions, right, weight)
    alone = Platt.fit(decisions[20:, 1:], right[20:, 1:], np.ones((40, 1)))
    np.testing.assert_allclose(
        [curves.slope[1], curves.intercept[1]], np.r_[alone.slope, alone.intercept], rtol=1e-6
    )
    whole = Platt.fit(decisions[:, :1], right[:, :1], np.ones((60, 1)))
    np.testing.assert_allclose(curves.slope[0], whole.slope[0], rtol=1e-6)
