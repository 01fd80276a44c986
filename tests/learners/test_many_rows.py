"""What the default learner does differently for many rows, with the limits set low."""

import numpy as np
import pytest
from scipy import sparse

from setlearn.learners import (
    boosted_labels,
    kernel_choice,
    logistic_labels,
    set_forest,
    set_prior,
    similarity,
)
from setlearn.learners import held_out as held_out_module
from setlearn.learners import ridge_labels as ridge_module
from setlearn.learners import set_mixture as mixture_module
from setlearn.learners.boosted_labels import BoostedLabels, Boosting
from setlearn.learners.kernel_choice import KernelChoice
from setlearn.learners.linear_labels import LinearLabels
from setlearn.learners.log_loss import log_loss
from setlearn.learners.logistic_labels import LogisticLabels
from setlearn.learners.ridge_labels import KernelLabels, LandmarkLabels, SparseRidgeLabels
from setlearn.learners.row_draws import drawn_rows
from setlearn.learners.set_forest import SetForest
from setlearn.learners.set_mixture import SetMixture
from setlearn.learners.set_prior import SetPrior

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 5))
Y = np.column_stack([X[:, 0] > X[:, 1], X[:, 2] > 0.5, X[:, 3] + X[:, 4] > 0])
NOISE = RNG.random(Y.shape) < 0.5
ONES = np.ones((N, 1))
ROWS = np.arange(0, N, 5)


@pytest.fixture
def many(monkeypatch):
    """So many rows that those held out are left out at once."""
    monkeypatch.setattr(held_out_module, "MANY_ROWS", N)
    monkeypatch.setattr(ridge_module, "LANDMARKS", 50)


def held_out(model, right):
    rows = sparse.csr_array(X) if isinstance(model, SparseRidgeLabels) else X
    return model.fit_held_out(rows, right, ONES, ROWS)


@pytest.mark.parametrize(
    "model",
    [BoostedLabels(0), LogisticLabels(), KernelLabels(), LandmarkLabels(), SparseRidgeLabels()],
    ids=lambda model: type(model).__name__,
)
def test_held_out_rows_are_answered_by_models_that_have_not_seen_them(model, many, monkeypatch):
    if isinstance(model, LogisticLabels):
        monkeypatch.setattr(logistic_labels, "ROWS_TO_CHOOSE_ON", 300)
    answer = held_out(model, NOISE)
    assert answer.shape == (len(ROWS), 3)
    assert log_loss(answer, NOISE[ROWS], ONES[ROWS]) > 0.67  # no better than chance
    answer = held_out(model, Y)
    assert log_loss(answer, Y[ROWS], ONES[ROWS]) < 0.4
    rows = sparse.csr_array(X) if isinstance(model, SparseRidgeLabels) else X
    assert np.mean((model.predict_proba(rows) > 0.5) == Y) > 0.9


def test_each_tree_of_a_forest_is_grown_on_some_of_many_rows(monkeypatch):
    whole = SetForest(20, 0).fit(X, Y, ONES)
    monkeypatch.setattr(set_forest, "ROWS_FOR_TREE", 200)
    forest = SetForest(20, 0)
    answer, _ = forest.fit_held_out(X, NOISE, ONES, ROWS)
    assert log_loss(answer, NOISE[ROWS], ONES[ROWS]) > 0.67
    assert forest.trees_.n_nodes < whole.trees_.n_nodes / 2
    assert (forest._fit(X, Y, ONES).sum(axis=0) == 150).all()
    answer, _ = forest.fit_held_out(X, Y, ONES, ROWS)
    assert np.mean((answer > 0.5) == Y[ROWS]) > 0.85


def test_only_frequent_sets_are_kept_of_many(monkeypatch):
    monkeypatch.setattr(set_prior, "MOST_SETS", 2)
    right = np.array([[1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 1]], dtype=bool)
    prior, even = SetPrior(), np.full((6, 2), 0.5)
    examples = prior.fit_held_out(right, np.ones((6, 1)), even[0], np.arange(6), even)
    assert prior.sets_.toarray().tolist() == [[False, True], [True, True]]
    weights = examples.weights.toarray()
    weights /= weights.sum(axis=1, keepdims=True)
    # As if each row had been left out: its own set has one row less.
    expected = [[2 / 5, 3 / 5], [1 / 4, 3 / 4], [1 / 4, 3 / 4], *[[1 / 2, 1 / 2]] * 3]
    np.testing.assert_allclose(weights, expected)


def test_kernels_keep_some_of_many_rows(monkeypatch):
    monkeypatch.setattr(kernel_choice, "MOST_ROWS", 100)
    assert KernelChoice.of(X, Y, ONES).similarity.n_rows == 100
    model = LandmarkLabels()
    assert log_loss(held_out(model, Y), Y[ROWS], ONES[ROWS]) < 0.4
    assert len(model.coefficients_) == 100


def test_a_logistic_regression_learns_from_some_of_many_rows(monkeypatch):
    monkeypatch.setattr(logistic_labels, "MOST_ENTRIES", 1500)
    monkeypatch.setattr(logistic_labels, "LEAST_ROWS", 100)
    inputs = X.copy()
    unused = np.setdiff1d(np.arange(N), [*drawn_rows(N, 300), *ROWS])
    inputs[unused] = np.nan  # they are not read
    model = LogisticLabels()
    answer = model.fit_held_out(inputs, Y, ONES, ROWS)
    assert log_loss(answer, Y[ROWS], ONES[ROWS]) < 0.3


def test_ranks_of_many_rows_are_those_of_each(monkeypatch):
    ranker = similarity.new_ranker(X)
    together = similarity.standardised_ranks(X, ranker)
    monkeypatch.setattr(similarity, "RANKED_ROWS", 7)
    assert (similarity.standardised_ranks(X, ranker) == together).all()


@pytest.mark.parametrize("kind", ["dense", "words", "words and numbers"])
def test_chunks_of_rows_are_scored_as_all_rows_together(kind, monkeypatch):
    rows = X[:200] if kind == "dense" else np.abs(X[:200]).round() * (X[:200] > 0)
    if kind != "dense":
        rows = sparse.csr_array(rows)
    dense_features = [0] if kind == "words and numbers" else None
    learner = SetMixture(10, dense_features=dense_features, random_state=0).fit(rows, Y[:200])
    together, examples = learner.predict_with_examples(rows)
    monkeypatch.setattr(mixture_module, "CHUNK_SCORES", 1)
    monkeypatch.setattr(mixture_module, "LEAST_ROWS", 7)
    parts, of_parts = learner.predict_with_examples(rows)
    assert (parts == together).all()
    assert (learner.predict_proba(rows) == together).all()
    assert (of_parts.sets != examples.sets).nnz == 0
    assert (of_parts.weights != examples.weights).nnz == 0


@pytest.mark.parametrize(("share", "n_grown_on"), [(0.5, 300), (0.01, 50)])
def test_boosted_trees_are_grown_on_a_share_of_many_rows(share, n_grown_on, monkeypatch):
    monkeypatch.setattr(boosted_labels, "MOST_ROWS", 50)
    monkeypatch.setattr(boosted_labels, "SHARE_OF_MANY", share)
    boosting = Boosting(X.astype(np.float32), Y, np.ones(Y.shape), 4, np.random.RandomState(0))
    assert boosting._grown(Y - boosting.start).n_node_samples[0] == n_grown_on


def test_support_vector_machines_read_long_indices():
    words = sparse.csr_array(X.clip(min=0))
    model, other = LinearLabels(), LinearLabels()
    model.fit_held_out(words, Y, ONES, ROWS)
    words.indices, words.indptr = words.indices.astype(np.int64), words.indptr.astype(np.int64)
    other.fit_held_out(words, Y, ONES, ROWS)
    assert (other.predict_proba(words) == model.predict_proba(words)).all()
