"""The learner for very many labels, and the two sources that list them."""

from copy import copy

import numpy as np
import pytest
from scipy import sparse

from setlearn.errors import DataError, ModelError
from setlearn.learners import ManyLabels
from setlearn.learners.label_evidence import LabelEvidence
from setlearn.learners.label_tree import LabelTree, best_of_rows
from setlearn.learners.near_rows import RIDGE, NearRows
from setlearn.learners.similarity import unit_rows
from setlearn.sparse_entries import entries_in, with_entries


def problem(n=300, n_labels=150, n_words=200, seed=0):
    """Words of labels: three of their own, and some noise."""
    rng = np.random.default_rng(seed)
    owned = rng.integers(0, n_words, size=(n_labels, 3))
    Y = np.zeros((n, n_labels), dtype=bool)
    X = np.zeros((n, n_words))
    for row in range(n):
        labels = rng.choice(n_labels, rng.integers(1, 4), replace=False)
        Y[row, labels] = True
        np.add.at(X[row], owned[labels].ravel(), 1)
        X[row, rng.integers(0, n_words, 3)] += 1
    return sparse.csr_array(X), sparse.csr_array(Y)


X, Y = problem()
ROWS = unit_rows(X).astype(np.float32)
ONES = np.ones(X.shape[0])


@pytest.fixture(scope="module")
def tree():
    counts = np.asarray(Y.sum(axis=0)).ravel()
    return LabelTree().fit(ROWS, Y.astype(float), ONES, np.flatnonzero(counts), seed=0)


@pytest.fixture(scope="module")
def model():
    return ManyLabels(random_state=0).fit(X[:250], Y[:250])


class TestLabelTree:
    def test_each_label_is_one_leaf(self, tree):
        leaves = tree.label_[tree.label_ >= 0]
        seen = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel())
        assert sorted(leaves) == seen.tolist()
        assert (np.diff(tree.first_child_) >= 0).all()
        assert tree.first_child_[-1] == len(tree.label_)

    def test_scores_are_products_over_the_branches(self, tree, monkeypatch):
        # With a beam that follows everything, the literal product for each label.
        monkeypatch.setattr("setlearn.learners.label_tree.BEAM", 1000)
        scores = tree.scores(ROWS[:5], most=1000).toarray()
        parent = np.repeat(np.arange(len(tree.label_)), np.diff(tree.first_child_))
        dense = ROWS[:5].toarray()
        for leaf in np.flatnonzero(tree.label_ >= 0):
            expected = np.ones(5)
            node = leaf
            while node:
                above = parent[node - 1]  # all nodes but the root are children, in order
                block = slice(tree.first_row_[above], tree.first_row_[above + 1])
                weights = tree.coefficients_[block].toarray()[:, node - tree.first_child_[above]]
                features = tree.feature_[block]
                margin = dense[:, features[:-1]] @ weights[:-1] + tree.intercept_[node]
                expected *= np.exp(-(np.maximum(0, 1 - margin) ** 2))
                node = above
            np.testing.assert_allclose(scores[:, tree.label_[leaf]], expected, rtol=1e-4)

    def test_the_best_are_listed_and_a_beam_loses_little(self, tree, monkeypatch):
        narrow = tree.scores(ROWS, most=5)
        assert (np.diff(narrow.indptr) == 5).all()
        monkeypatch.setattr("setlearn.learners.label_tree.BEAM", 1000)
        wide = tree.scores(ROWS, most=5)
        assert entries_in(narrow, wide).mean() > 0.8
        best = tree.scores(ROWS, most=1000).toarray().max(axis=1)
        np.testing.assert_allclose(wide.toarray().max(axis=1), best)

    def test_training_rows_get_their_labels(self, tree):
        best = tree.scores(ROWS, most=1)
        assert entries_in(best, Y).mean() > 0.9

    def test_a_forged_tree_that_leads_back_is_refused(self, tree):
        forged = copy(tree)
        forged.first_child_ = np.zeros_like(tree.first_child_)
        with pytest.raises(ModelError, match="leads back"):
            forged.scores(ROWS[:1], most=5)

    def test_labels_that_nothing_tells_apart(self):
        # 300 labels that all rows have: k-means finds one cluster, and all branches are "yes".
        rows = unit_rows(np.ones((4, 3))).astype(np.float32)
        everything = sparse.csr_array(np.ones((4, 300)))
        tree = LabelTree().fit(rows, everything, np.ones(4), np.arange(300), seed=0)
        assert (tree.scores(rows, most=300).toarray() > 0.99).sum() >= 4 * 100


class TestNearRows:
    def test_decisions_are_those_of_ridge_regression_on_all_rows_if_these_are_few(self):
        rows, labels = ROWS[:50], Y[:50]
        votes = NearRows().fit(rows, labels).votes(ROWS[50:60], most=1000)
        dense, new = rows.toarray().astype(float), ROWS[50:60].toarray().astype(float)
        for row in range(10):
            similar = dense @ new[row]
            near = np.flatnonzero(similar > 0)
            kernel = dense[near] @ dense[near].T + RIDGE * np.eye(len(near))
            expected = np.linalg.solve(kernel, similar[near]) @ labels.toarray()[near]
            mine = votes.row == row
            np.testing.assert_allclose(votes.decision[mine], expected[votes.label[mine]], atol=1e-5)
            named = labels.toarray()[near].any(axis=0)
            assert votes.label[mine].tolist() == np.flatnonzero(named).tolist()
            for label, total, nearest in zip(
                votes.label[mine], votes.total[mine], votes.nearest[mine], strict=True
            ):
                has_label = labels.toarray()[near, label]
                assert total == pytest.approx(similar[near][has_label].sum(), rel=1e-4)
                assert nearest == pytest.approx(similar[near][has_label].max(), rel=1e-4)

    def test_rows_without_similar_ones_get_no_votes(self):
        near = NearRows().fit(ROWS, Y)
        votes = near.votes(sparse.csr_array((2, ROWS.shape[1]), dtype=np.float32), most=5)
        assert len(votes.row) == 0

    def test_blocks_change_nothing(self, monkeypatch):
        near = NearRows().fit(ROWS, Y)
        together = near.votes(ROWS[:40], most=7)
        monkeypatch.setattr("setlearn.learners.near_rows.BLOCK_ENTRIES", 1)
        for one, other in zip(together, near.votes(ROWS[:40], most=7), strict=True):
            assert np.array_equal(one, other)


class TestManyLabels:
    def test_it_finds_labels_of_new_rows(self, model):
        listed = model.predict_listed(X[250:])
        best = best_of_rows(listed.tocoo().row, listed.data, 1)
        column = listed.indices[best]
        assert Y[250:].toarray()[np.arange(50), column].mean() > 0.6
        assert (listed.data > 0).all()
        assert (listed.data < 1).all()

    def test_probabilities_of_held_out_rows_are_calibrated(self):
        held_out = ManyLabels(random_state=0).fit_held_out(X, Y)
        assert held_out.rows.tolist() == list(range(300))
        right = entries_in(held_out.probabilities, Y)
        assert held_out.probabilities.data.sum() == pytest.approx(right.sum(), rel=0.1)

    @pytest.mark.parametrize(("pairs", "n_rows"), [(400_000, 300), (20_000, 225), (5000, 50)])
    def test_as_many_rows_are_held_out_as_are_needed(self, monkeypatch, pairs, n_rows):
        monkeypatch.setattr("setlearn.learners.many_labels.HELD_OUT_PAIRS", pairs)
        held_out = ManyLabels(random_state=0).fit_held_out(X, Y)
        assert len(held_out.rows) == held_out.probabilities.shape[0] == n_rows

    def test_a_row_alone_gets_the_same_bits(self, model):
        together = model.predict_listed(X[:20])
        for row in range(20):
            alone = model.predict_listed(X[[row]])
            part = together[[row]]
            assert np.array_equal(alone.indices, part.indices)
            assert np.array_equal(alone.data, part.data)

    def test_the_same_seed_gives_the_same_model(self, model):
        again = ManyLabels(random_state=0).fit(X[:250], Y[:250])
        assert abs(again.predict_listed(X[250:]) - model.predict_listed(X[250:])).max() == 0

    def test_fewer_are_listed_if_asked_for(self):
        few = ManyLabels(n_listed=3, random_state=0).fit(X, Y).predict_listed(X)
        assert 1 <= np.diff(few.indptr).max() <= 6

    def test_values_that_are_no_counts_may_have_any_size(self):
        scaled = X @ sparse.diags_array(np.geomspace(1e-3, 1e3, X.shape[1]) + 0.5)
        listed = ManyLabels(random_state=0).fit(scaled, Y).predict_listed(scaled)
        best = best_of_rows(listed.tocoo().row, listed.data, 1)
        assert Y.toarray()[np.arange(300), listed.indices[best]].mean() > 0.6

    def test_gaps_in_dense_rows_count_as_the_mean(self):
        dense = X.toarray()
        model = ManyLabels(random_state=0).fit(dense, Y)
        gaps, mean = dense.copy(), dense.copy()
        gaps[0, :5], mean[0, :5] = np.nan, dense[:, :5].mean(axis=0)
        np.testing.assert_allclose(
            model.predict_proba(gaps[:1]), model.predict_proba(mean[:1]), atol=1e-6
        )
        with pytest.raises(ValueError, match="NaN"):
            model.predict_listed(sparse.csr_array(gaps[:1]))

    def test_bad_inputs_are_named(self, model):
        with pytest.raises(ValueError, match="NaN"):  # fitted on sparse rows
            model.predict_listed(np.full((1, X.shape[1]), np.nan))
        with pytest.raises(DataError, match=r"1 sample\(s\) have a weight above 0"):
            ManyLabels().fit(X, Y, sample_weight=np.eye(1, 300)[0])
        for wrong in (np.nan, 2.0, -1.0):
            with pytest.raises(DataError, match="0 and 1 only"):
                ManyLabels().fit(X, sparse.csr_array(np.where(Y.toarray(), wrong, 0.0)))

    def test_one_sample_with_very_many_labels_costs_little(self):
        some = sparse.lil_array((60, 20_000), dtype=bool)
        some[np.arange(60), np.arange(60) % 7] = True
        some[0, :15_000] = True
        evidence = LabelEvidence().fit(ROWS[:60], sparse.csr_array(some), ONES[:60], seed=0)
        assert evidence.together_.nnz == 0

    def test_two_rows_are_enough_and_one_is_not(self):
        model = ManyLabels().fit(X[:2], Y[:2])
        assert model.predict_listed(X[:2]).shape == (2, 150)
        with pytest.raises(ValueError, match="minimum of 2"):
            ManyLabels().fit(X[:1], Y[:1])

    def test_labels_that_no_row_has_and_rows_without_labels(self):
        some = Y.toarray()
        some[:, 40:] = False
        some[:100] = False
        model = ManyLabels(random_state=0).fit(X, sparse.csr_array(some))
        listed = model.predict_listed(X)
        assert listed.indices.max() < 40
        nothing = ManyLabels(random_state=0).fit(X[:30], np.zeros((30, 4), dtype=int))
        assert nothing.predict_proba(X[:2]).max() < 0.01


def test_evidence_has_a_pair_once_and_says_what_each_source_says():
    evidence = LabelEvidence().fit(ROWS, Y.astype(float), ONES, seed=0)
    pairs = evidence.collect(ROWS[:30], most=10)
    keys = pairs.row * 150 + pairs.label
    assert (np.diff(keys) > 0).all()
    assert pairs.features.shape == (len(keys), 10)
    scores = evidence.tree_.scores(ROWS[:30], most=10)
    assert np.isin(scores.tocoo().row * 150 + scores.indices, keys).all()
    listed = np.isnan(pairs.features[:, 0])
    assert listed.any()
    assert not listed.all()


def test_entries_of_sparse_matrices():
    rng = np.random.default_rng(0)
    for _ in range(50):
        first, second = (rng.random((2, 4, 6)) < 0.4).astype(float)
        a, b = sparse.csr_array(first), sparse.csr_array(second)
        both = with_entries(a, b)
        assert np.array_equal(both.toarray(), first)
        present = np.zeros(first.shape, dtype=bool)
        present[both.tocoo().row, both.indices] = True
        assert np.array_equal(present, (first + second) > 0)
        assert entries_in(a, b).tolist() == (second[first > 0] > 0).tolist()
