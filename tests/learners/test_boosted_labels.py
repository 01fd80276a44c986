"""Boosted trees for all labels at once."""

import numpy as np
import pytest
from scipy.special import expit

from setlearn.learners import boosted_labels
from setlearn.learners.boosted_labels import BoostedLabels, Boosting
from setlearn.learners.log_loss import log_loss

RNG = np.random.default_rng(0)
X = RNG.random((400, 6))
Y = np.column_stack([(X[:, 0] > 0.4) & (X[:, 1] < 0.6), X[:, 2] > 0.7, X[:, 0] > X[:, 3]])
ONES = np.ones((400, 1))
ROWS = np.arange(400)


def fitted(right=Y, weight=ONES, inputs=X):
    model = BoostedLabels(0)
    return model, model.fit_held_out(inputs, right, weight, np.arange(len(right)))


def test_it_learns_boxes():
    model, held_out = fitted()
    assert log_loss(held_out, Y, ONES) < 0.25
    new = RNG.random((300, 6))
    right = np.column_stack(
        [(new[:, 0] > 0.4) & (new[:, 1] < 0.6), new[:, 2] > 0.7, new[:, 0] > new[:, 3]]
    )
    assert np.mean((model.predict_proba(new) > 0.5) == right) > 0.93


def test_the_trees_add_up_to_what_training_has_seen():
    boosting = Boosting(X.astype(np.float32), Y, np.ones(Y.shape), 4, np.random.RandomState(0))
    boosting.add_trees(20)
    sums = boosted_labels._sums(*boosting.latest(20), X.astype(np.float32))
    np.testing.assert_allclose(sums + boosting.start, boosting.logits, atol=1e-5)
    before = log_loss(expit(np.tile(boosting.start, (400, 1))), Y, ONES)
    assert log_loss(expit(boosting.logits), Y, ONES) < 0.5 * before


def test_held_out_rows_are_new_to_the_trees():
    """Labels are noise, so the answers for rows that were not seen are no better than chance."""
    noise = RNG.random((400, 3)) < 0.5
    model, held_out = fitted(noise)
    assert log_loss(held_out, noise, ONES) > 0.68
    assert len(model.trees_.first) - 1 == boosted_labels.BLOCK  # more did not help


def test_unknown_entries_do_not_count():
    weight = np.ones(Y.shape)
    weight[:300, 1] = 0
    first, _ = fitted(Y, weight)
    second, _ = fitted(np.where(weight > 0, Y, ~Y), weight)
    assert (first.predict_proba(X) == second.predict_proba(X)).all()


def test_more_labels_than_a_tree_is_grown_for():
    model, held_out = fitted(np.tile(Y, (1, 5)))
    assert held_out.shape == (400, 15)
    assert np.mean((model.predict_proba(X) > 0.5) == np.tile(Y, (1, 5))) > 0.9


def test_gaps_are_read():
    gaps = X.copy()
    gaps[RNG.random(X.shape) < 0.2] = np.nan
    model, _ = fitted(inputs=gaps)
    assert np.isfinite(model.predict_proba(gaps)).all()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows(n):
    model, held_out = fitted(Y[:n], ONES[:n], X[:n])
    assert ((held_out > 0) & (held_out < 1)).all()
    assert model.predict_proba(X).shape == (400, 3)


def test_a_row_is_scored_alike_alone_and_among_others():
    model, _ = fitted()
    alone = np.vstack([model.predict_proba(row[None]) for row in X[:40]])
    assert (model.predict_proba(X[:40]) == alone).all()


def test_very_many_labels_get_fewer_trees(monkeypatch):
    many, _ = fitted()
    monkeypatch.setattr(boosted_labels, "MOST_VALUES", 1)
    few, _ = fitted()
    assert len(few.trees_.first) - 1 == boosted_labels.BLOCK < len(many.trees_.first) - 1


def test_trees_that_will_not_come_near_another_model_are_not_grown():
    many, _ = fitted()
    few = BoostedLabels(0)
    held_out = few.fit_held_out(X, Y, ONES, ROWS, rival=1e-4)
    assert len(few.trees_.first) < len(many.trees_.first)
    assert log_loss(held_out, Y, ONES) < 0.4


def test_trees_are_deeper_where_three_features_act_together():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(1500, 8))
    products = inputs[:, [0, 1, 2]].prod(axis=1), inputs[:, [3, 4, 5]].prod(axis=1)
    deep, _ = fitted(np.column_stack(products) > 0.2, np.ones((1500, 1)), inputs)
    flat, _ = fitted()
    full = 2 ** (boosted_labels.DEPTH + 1) - 1  # nodes of a tree of the usual depth
    assert np.diff(deep.trees_.first).max() > full
    assert np.diff(flat.trees_.first).max() <= full
