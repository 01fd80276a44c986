"""Logistic regression for all labels at once."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from setlearn.learners import logistic_labels
from setlearn.learners.log_loss import log_loss
from setlearn.learners.logistic_labels import LogisticLabels, _best_penalty, _minimised, _rotated

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
Y = RNG.random((200, 3)) < expit(X @ RNG.normal(size=(5, 3)) * 2 - [0, 1, 2])
ONES = np.ones((200, 1))
ROWS = np.arange(200)


def test_it_is_the_regression_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(logistic_labels, "TOLERANCE", 1e-12)
    weight = RNG.uniform(0.2, 2, (200, 1))
    coefficients = _minimised(X, Y, weight, 0.05)
    for k in range(3):
        alone = LogisticRegression(C=1 / (0.05 * 200), tol=1e-8)
        alone.fit(X, Y[:, k], sample_weight=weight.ravel() / weight.mean())
        np.testing.assert_allclose(coefficients[:-1, k], alone.coef_[0], atol=1e-3)
        np.testing.assert_allclose(coefficients[-1, k], alone.intercept_, atol=1e-3)


def test_unknown_entries_have_no_influence(monkeypatch):
    monkeypatch.setattr(logistic_labels, "TOLERANCE", 1e-12)
    weight = np.ones(Y.shape)
    weight[:80, 1] = 0
    coefficients = _minimised(X, Y, weight, 0.05)
    alone = _minimised(X[80:], Y[80:], ONES[80:], 0.05)
    np.testing.assert_allclose(coefficients[:, 1], alone[:, 1], atol=1e-4)
    whole = _minimised(X, Y, ONES, 0.05)
    np.testing.assert_allclose(coefficients[:, 0], whole[:, 0], atol=1e-4)


def test_held_out_rows_are_answered_by_models_that_have_not_seen_them():
    model = LogisticLabels()
    held_out = model.fit_held_out(X, Y, ONES, ROWS[::3])
    assert held_out.shape == (67, 3)
    changed = Y.copy()
    changed[3] = ~changed[3]
    again = LogisticLabels().fit_held_out(X, changed, ONES, ROWS[::3])
    same_settings = model.penalty_, model.ranker_ is None
    other = LogisticLabels()
    other.fit_held_out(X, changed, ONES, ROWS)
    assert same_settings == (other.penalty_, other.ranker_ is None)
    assert (held_out[1] == again[1]).all()  # row 3 itself
    assert (held_out != again).any()


def test_more_rows_than_settings_are_chosen_on(monkeypatch):
    monkeypatch.setattr(logistic_labels, "ROWS_TO_CHOOSE_ON", 100)
    model = LogisticLabels()
    held_out = model.fit_held_out(X, Y, ONES, ROWS)
    frequency = np.broadcast_to(Y.mean(axis=0), Y.shape)
    assert log_loss(model.predict_proba(X), Y, ONES) < log_loss(held_out, Y, ONES)
    assert log_loss(held_out, Y, ONES) < 0.9 * log_loss(frequency, Y, ONES)


def test_ranks_are_used_for_skewed_features():
    skewed = np.exp(3 * X)
    model = LogisticLabels()
    model.fit_held_out(skewed, Y, ONES, ROWS)
    assert model.ranker_ is not None
    assert len(model.coefficients_) == 11
    plain = LogisticLabels()
    plain.fit_held_out(X, Y, ONES, ROWS)
    assert plain.ranker_ is None


def test_more_features_than_rows_give_the_same_answers():
    wide = StandardScaler().fit_transform(RNG.normal(size=(40, 100)))
    rotated = _rotated(wide)
    assert rotated.shape == (40, 40)
    np.testing.assert_allclose(rotated @ rotated.T, wide @ wide.T, atol=1e-8)
    first, second = (_best_penalty(rows, Y[:40], ONES[:40]) for rows in (wide, rotated))
    assert first[1] == second[1]
    np.testing.assert_allclose(first[2], second[2], atol=2e-2)
    assert (_rotated(X) == X).all()


@pytest.mark.parametrize("n", [1, 2, 4])
def test_few_rows(n):
    held_out = LogisticLabels().fit_held_out(X[:n], Y[:n], ONES[:n], ROWS[:n])
    assert ((held_out > 0) & (held_out < 1)).all()


def test_a_row_is_scored_alike_alone_and_among_others():
    model = LogisticLabels()
    model.fit_held_out(np.exp(3 * X), Y, ONES, ROWS)
    rows = np.exp(3 * X[:50])
    alone = np.vstack([model.predict_proba(row[None]) for row in rows])
    assert (model.predict_proba(rows) == alone).all()
