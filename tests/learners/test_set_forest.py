"""Trees whose leaves keep whole sets, and their compact form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import ExtraTreeRegressor

from setlearn.learners.packed_trees import PackedTrees
from setlearn.learners.set_forest import MOST_EXAMPLES, SHARE, SetForest
from tests.estimators.data import tagged

X, Y = tagged(120)
ONES = np.ones((120, 1))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 4))
def test_packed_trees_find_the_same_leaves(seed, with_gaps, n_trees):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3)).astype(np.float32).round(1)  # ties with the thresholds
    if with_gaps:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    fitted = [
        ExtraTreeRegressor(random_state=seed + k).fit(rows[:40], rng.normal(size=(40, 2)))
        for k in range(n_trees)
    ]
    packed = PackedTrees.join([PackedTrees.of(model.tree_) for model in fitted])
    roots = np.cumsum([0, *(model.tree_.node_count for model in fitted)])
    expected = np.column_stack([model.apply(rows) for model in fitted]) + roots[:-1]
    assert (packed.leaves(rows) == expected).all()
    assert packed.n_nodes == roots[-1]


def test_a_cycle_in_a_damaged_file_ends():
    tree = PackedTrees.of(ExtraTreeRegressor(random_state=0).fit(X, Y[:, 0]).tree_)
    tree.right[tree.right > 0] = 1
    tree.leaves(X.astype(np.float32))


def test_held_out_rows_are_answered_by_trees_that_have_not_seen_them():
    forest, rows = SetForest(40, 0), np.arange(0, 120, 3)
    held_out, of_sets = forest.fit_held_out(X, Y.astype(bool), ONES, rows)
    # The same forest again, tree by tree.
    rng = np.random.RandomState(0)
    n_used = round(SHARE * 120)
    total, count = np.zeros((120, 4)), np.zeros((120, 1))
    for _ in range(40):
        used = np.zeros(120, dtype=bool)
        used[rng.permutation(120)[:n_used]] = True
        tree = ExtraTreeRegressor(max_features="sqrt", random_state=rng.randint(2**31 - 1))
        tree.fit(X.astype(np.float32), Y.astype(float), sample_weight=used.astype(float))
        leaves = tree.apply(X.astype(np.float32))
        for row in np.flatnonzero(~used):
            total[row] += Y[used & (leaves == leaves[row])].mean(axis=0)
            count[row] += 1
    expected = (40 * total / count + Y.mean(axis=0)) / 41
    np.testing.assert_allclose(held_out, expected[rows], atol=1e-6)
    assert of_sets.shape == (40, len(np.unique(Y, axis=0)))
    np.testing.assert_allclose(of_sets.sum(axis=1), 1, atol=1e-6)


def test_two_rows_can_be_held_out():
    held_out, _ = SetForest(5, 0).fit_held_out(X[:2], Y[:2].astype(bool), ONES[:2], np.arange(2))
    assert ((held_out > 0) & (held_out < 1)).all()


def test_examples_say_what_labels_by_themselves_do_not():
    """Times the odds of the forest's own marginals they are its distribution over sets."""
    forest = SetForest(20, 0).fit(X, Y.astype(bool), ONES)
    marginals, of_sets = forest.predict_sets(X[:10])
    assert (marginals == forest.predict_proba(X[:10])).all()
    examples = forest.examples(of_sets, marginals)
    assert examples.sets.shape == (len(np.unique(Y, axis=0)), 4)
    odds = marginals / (1 - marginals)
    weights = examples.weights.toarray()
    for row in range(10):
        joint = weights[row] * np.prod(odds[row] ** examples.sets.toarray(), axis=1)
        joint /= joint.sum()
        np.testing.assert_allclose(joint, forest._weights(X[[row]]).toarray()[0], atol=1e-7)


def test_examples_are_bounded():
    rng = np.random.default_rng(0)
    many = rng.random((600, 12)) < 0.5
    forest = SetForest(5, 0, min_leaf=300).fit(rng.random((600, 2)), many, np.ones((600, 1)))
    _, of_sets = forest.predict_sets(rng.random((3, 2)))
    assert (np.diff(of_sets.indptr) == MOST_EXAMPLES).all()


def test_unknown_entries_do_not_count_for_their_label():
    """Whatever is guessed for them, and the other labels of the row count."""
    weight = np.ones(Y.shape)
    weight[::2, 1] = 0
    guesses = [np.where(weight > 0, Y, guess).astype(bool) for guess in (0, 1)]
    first, second = (SetForest(30, 0, min_leaf=120).fit(X, guess, weight) for guess in guesses)
    np.testing.assert_allclose(first.frequency_[1], Y[1::2, 1].mean())
    # Trees of one leaf: the probabilities are frequencies, among the known entries of each tree.
    P = first.predict_proba(X)
    np.testing.assert_allclose(P, second.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(P[0, 1], Y[1::2, 1].mean(), atol=0.02)
    np.testing.assert_allclose(P[0, 0], Y[:, 0].mean(), atol=0.02)


def test_more_labels_than_trees_are_grown_on():
    wide = np.tile(Y, (1, 10)).astype(bool)
    P = SetForest(20, 0).fit(X, wide, ONES).predict_proba(X)
    assert P.shape == (120, 40)
    assert np.mean((P > 0.5) == wide) > 0.9


def test_values_that_trees_cannot_compare_are_refused():
    forest = SetForest(5, 0).fit(X, Y.astype(bool), ONES)
    with pytest.raises(ValueError, match="as large as"):
        forest.predict_proba(np.full((1, X.shape[1]), 1e300))
