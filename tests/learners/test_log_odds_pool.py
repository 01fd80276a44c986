"""Pooled log-odds, against logistic regression and against what is known of the scorers."""

import numpy as np
import pytest
from scipy.special import expit, logit

from setlearn.learners.log_odds_pool import LogOddsPool, useful_pool


def drawn(n, weights, intercept, seed):
    rng = np.random.RandomState(seed)
    scores = rng.uniform(0.02, 0.98, (len(weights), n))
    right = rng.rand(n) < expit(np.array(weights) @ logit(scores) + intercept)
    return scores, right


def log_loss(probability, right):
    return -np.log(np.where(right, probability, 1 - probability)).mean()


@pytest.mark.parametrize("seed", range(3))
def test_weights_that_the_answers_follow_are_found(seed):
    weights = [1.5, 0.5, 0.0]
    pool = LogOddsPool(3).fit(*drawn(20_000, weights, -1.0, seed))
    np.testing.assert_allclose(pool.weights, weights, atol=0.1)
    assert abs(pool.intercept + 1.0) < 0.1


@pytest.mark.parametrize("seed", range(5))
def test_the_pool_is_no_worse_than_any_single_scorer(seed):
    scores, right = drawn(3000, [0.8, 0.6], 0.3, seed)
    pool = LogOddsPool(2).fit(scores, right)
    fresh, truth = drawn(3000, [0.8, 0.6], 0.3, seed + 100)
    best = min(log_loss(one, truth) for one in fresh)
    assert log_loss(pool.pooled(fresh), truth) < best


def test_a_scorer_that_is_always_wrong_has_no_say():
    scores, right = drawn(2000, [2.0], 0.0, 0)
    pool = LogOddsPool(2).fit(np.concatenate([scores, 1 - scores]), right)
    assert pool.weights[1] == 0


def test_what_a_scorer_does_not_list_can_still_be_right():
    rng = np.random.RandomState(0)
    right = rng.rand(2000) < 0.5
    knows = np.where(right, 0.9, 0.1)
    lists = np.where(rng.rand(2000) < 0.5, np.where(right, 0.8, 0.2), 0.0)
    pool = LogOddsPool(2).fit(np.array([knows, lists]), right)
    assert pool.pooled(np.array([[0.9], [0.0]])) > 0.8


def test_nothing_to_learn_from():
    pool = LogOddsPool(2).fit(np.array([[0.9, 0.8], [0.5, 0.4]]), np.array([True, True]))
    assert pool.weights.tolist() == [0.5, 0.5]
    assert pool.pooled(np.array([[0.9], [0.9]]))[0] == pytest.approx(0.9)


def test_few_samples_change_little():
    pool = LogOddsPool(2).fit(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([True, False]))
    assert (abs(pool.weights - 0.5) < 0.5).all()


def test_scorers_that_add_nothing_are_dropped():
    rng = np.random.default_rng(0)
    right = rng.random(600) < 0.4
    knows, helps = (np.where(right, p, 1 - p) for p in rng.beta(4, 2, size=(2, 600)))
    noise = rng.random(600)
    pool, left = useful_pool(np.array([noise, knows, helps, knows]), right)
    assert 2 in left
    assert 0 not in left
    assert len(left) == 2  # of two equal ones, one is enough
    assert pool.n_scorers == 2


def test_without_wrong_candidates_all_scorers_stay():
    _, left = useful_pool(np.array([[0.9, 0.8], [0.5, 0.4]]), np.array([True, True]))
    assert left.tolist() == [0, 1]
