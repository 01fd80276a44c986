"""The default learner and its parts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from setlearn.errors import ParameterError
from setlearn.learners import set_mixture as mixture_module
from setlearn.learners.linear_labels import LinearLabels
from setlearn.learners.ridge_labels import LandmarkLabels, SparseRidgeLabels
from setlearn.learners.set_mixture import SetMixture
from tests.estimators.data import tagged

X, Y = tagged(120)


@parametrize_with_checks(
    [SetMixture(10, random_state=0)],
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": "scalers and trees are not weighted"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_gaps_are_read():
    """Without the gaps it knows more, but with them it still beats the frequencies."""
    gaps = X.copy()
    gaps[np.random.RandomState(0).rand(*X.shape) < 0.2] = np.nan
    gaps[:, -1] = np.nan  # nothing at all is known of this feature
    learner = SetMixture(30, random_state=0).fit(gaps[:80], Y[:80])
    right = np.mean((learner.predict_proba(gaps[80:]) > 0.5) == Y[80:])
    usual = np.mean((Y[:80].mean(axis=0) > 0.5) == Y[80:])
    assert right > usual
    whole = SetMixture(30, random_state=0).fit(X[:80], Y[:80])
    assert np.isfinite(whole.predict_proba(gaps)).all()


def test_gaps_in_sparse_inputs_are_refused():
    gaps = sparse.csr_array([[0.0, np.nan], [1.0, 0.0]])
    with pytest.raises(ValueError, match="contains NaN"):
        SetMixture().fit(gaps, [[1, 0], [0, 1]])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_it_learns_labels(container):
    learner = SetMixture(30, random_state=0).fit(container(X[:80]), Y[:80])
    P = learner.predict_proba(container(X[80:]))
    assert ((P > 0) & (P < 1)).all()
    assert np.mean((P > 0.5) == Y[80:]) > 0.8
    assert (learner.predict(container(X[80:])) == (P > 0.5)).all()
    examples = learner.examples(container(X[80:]))
    assert examples.weights.shape == (40, examples.sets.shape[0])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (X, LandmarkLabels),
        (sparse.csr_array(X), SparseRidgeLabels),
        (sparse.csr_array(np.hstack([X] * 30)), LinearLabels),
    ],
    ids=["dense", "few features", "many features"],
)
def test_the_smooth_part_suits_many_rows(rows, expected, monkeypatch):
    monkeypatch.setattr(mixture_module, "LARGEST_SYSTEM", 50)
    monkeypatch.setattr(mixture_module, "LEAST_WEIGHT", 0)
    learner = SetMixture(10, random_state=0).fit(rows, Y)
    assert isinstance(learner.sparse_ if sparse.issparse(rows) else learner.smooth_, expected)
    assert np.mean(learner.predict(rows) == Y) > 0.8


@pytest.mark.parametrize(
    ("rows", "n_held_out"),
    [(X, 120), (sparse.csr_array(X), 120), (sparse.csr_array(np.hstack([X] * 40)), 24)],
    ids=["kernel and forest", "ridge", "logistic"],
)
def test_held_out_scores_come_with_the_same_model(rows, n_held_out, monkeypatch):
    monkeypatch.setattr(mixture_module, "LARGEST_SYSTEM", 119 if n_held_out == 24 else 5000)
    learner = SetMixture(30, random_state=0)
    held_out = learner.fit_held_out(rows, Y)
    alone = SetMixture(30, random_state=0).fit(rows, Y)
    assert (learner.predict_proba(rows) == alone.predict_proba(rows)).all()
    assert len(set(held_out.rows.tolist())) == len(held_out.rows) == n_held_out
    assert held_out.examples.weights.shape[0] == n_held_out
    # Less sure of rows that it has not seen, but better than the frequencies.
    right = np.where(Y[held_out.rows], held_out.probabilities, 1 - held_out.probabilities)
    seen = learner.predict_proba(rows)[held_out.rows]
    seen = np.where(Y[held_out.rows], seen, 1 - seen)
    usual = np.where(Y, Y.mean(axis=0), 1 - Y.mean(axis=0))
    assert np.log(usual).mean() < np.log(right).mean() < np.log(seen).mean()


def test_what_cannot_be_learned_gets_its_frequency():
    """Noise, and hardly any rows: the scores still tell frequent labels from rare ones."""
    rng = np.random.default_rng(0)
    noise, right = rng.normal(size=(12, 3)), np.tile([1, 0, 0], (12, 1))
    right[0], right[1:4, 1] = [0, 0, 1], 1
    P = SetMixture(20, random_state=0).fit(noise, right).predict_proba(rng.normal(size=(50, 3)))
    means = P.mean(axis=0)
    assert means[0] > means[1] > means[2]


def test_a_label_that_no_row_knows_is_improbable():
    unknown = Y.astype(float)
    unknown[:, 2] = np.nan
    P = SetMixture(10, random_state=0).fit(X, unknown).predict_proba(X)
    assert np.isfinite(P).all()
    assert (P[:, 2] < 0.6).all()


def test_not_all_of_many_rows_are_held_out(monkeypatch):
    monkeypatch.setattr("setlearn.learners.held_out.MOST_HELD_OUT", 40)
    held_out = SetMixture(10, random_state=0).fit_held_out(X, Y)
    assert held_out.probabilities.shape == (40, 4)
    assert held_out.examples.weights.shape[0] == 40


def test_rows_without_weight_are_not_held_out():
    weight = np.r_[np.ones(80), np.zeros(40)]
    held_out = SetMixture(10, random_state=0).fit_held_out(X, Y, sample_weight=weight)
    assert sorted(held_out.rows) == list(range(80))


def test_rows_without_weight_are_as_good_as_absent():
    weight = np.r_[np.ones(80), np.zeros(40)]
    weighted = SetMixture(10, random_state=0).fit(X, Y, sample_weight=weight)
    alone = SetMixture(10, random_state=0).fit(X[:80], Y[:80])
    assert (weighted.predict_proba(X) == alone.predict_proba(X)).all()


def test_a_model_that_adds_nothing_is_not_kept(monkeypatch):
    """Whether two features have the same sign is no linear function of them."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    same = np.column_stack([rows[:, 0] * rows[:, 1] > 0, rows[:, 1] * rows[:, 2] > 0])
    lean = SetMixture(30, random_state=0).fit(rows[:300], same[:300])
    assert lean.linear_ is None
    assert lean.boosted_ is not None
    assert np.mean(lean.predict(rows[300:]) == same[300:]) > 0.8
    monkeypatch.setattr(mixture_module, "LEAST_WEIGHT", 0)
    whole = SetMixture(30, random_state=0).fit(rows[:300], same[:300])
    assert whole.linear_ is not None
    assert lean.predict_proba(rows[300:]) == pytest.approx(
        whole.predict_proba(rows[300:]), abs=0.05
    )


def test_targets_may_be_sparse():
    dense, thin = (SetMixture(5, random_state=0).fit(X, y) for y in (Y, sparse.csr_array(Y)))
    assert (dense.predict_proba(X) == thin.predict_proba(X)).all()


@pytest.mark.parametrize("n_trees", [0, -1, 2.5, "many"])
def test_a_wrong_number_of_trees(n_trees):
    with pytest.raises(ParameterError, match=f"n_trees must be.*got {n_trees!r}"):
        SetMixture(n_trees).fit(X, Y)


def test_labels_that_take_turns_are_learned():
    """Whatever the order of the rows, no part of a fit may be without some label."""
    turns = np.arange(300)[:, None] % 3 == np.arange(3)
    words = sparse.csr_array(np.hstack([turns, np.arange(300)[:, None] % 7 == np.arange(7)]) * 1.0)
    held_out = SetMixture(random_state=0).fit_held_out(words, turns)
    assert (held_out.probabilities[turns[held_out.rows]] > 0.9).all()
    assert (held_out.probabilities[~turns[held_out.rows]] < 0.1).all()


def numbers_beside_words(n):
    """One label is a matter of words, one of the signs of two numbers, one of both."""
    rng = np.random.default_rng(0)
    numbers, words = rng.uniform(-1, 1, size=(n, 2)), rng.random((n, 60)) < 0.1
    by_word, by_signs = words[:, :3].any(axis=1), numbers.prod(axis=1) > 0
    rows = sparse.csr_array(np.hstack([words, numbers]))
    return rows, np.column_stack([by_word, by_signs, by_word & (numbers[:, 0] > 0)])


def test_numbers_beside_words_are_read_by_trees():
    rows, right = numbers_beside_words(500)
    learner = SetMixture(30, dense_features=[60, 61], random_state=0).fit(rows[:400], right[:400])
    share = np.mean(learner.predict(rows[400:]) == right[400:], axis=0)
    assert (share > 0.85).all()  # also of the product of two numbers, which is not linear
    assert learner.examples(rows[:3]).weights.shape[0] == 3
    dense = learner.predict_proba(rows[:5].toarray())
    assert (dense == learner.predict_proba(rows[:5])).all()
    found = SetMixture(30, random_state=0).fit(rows[:400], right[:400])
    assert (found.predict_proba(rows[400:]) == learner.predict_proba(rows[400:])).all()


def test_words_that_all_texts_have_are_no_numbers():
    rows, right = numbers_beside_words(200)
    words = rows[:, :60].copy()
    words = sparse.csr_array(sparse.hstack([words, np.ones((200, 1))]))
    learner = SetMixture(10, random_state=0).fit(words, right[:, [0, 2]])
    assert learner.view_ is None
    assert learner.forest_ is None


def test_one_feature_beside_numbers_needs_no_summary():
    rng = np.random.default_rng(0)
    flag = sparse.csr_array((rng.random((150, 1)) < 0.5).astype(float))
    X = sparse.csr_array(sparse.hstack([rng.normal(size=(150, 2)), flag]))
    learner = SetMixture(10, dense_features=[0, 1], random_state=0)
    learner.fit(X, np.column_stack([X[:, [0]].toarray() > 0, flag.toarray() > 0]))
    assert learner.view_.kept.tolist() == [0, 1, 2]
    nothing = sparse.csr_array((150, 5))
    X = sparse.csr_array(sparse.hstack([X[:, [0, 1]], nothing]))
    learner = SetMixture(10, dense_features=[0, 1], random_state=0)
    assert learner.fit(X, X[:, [0, 1]].toarray() > 0).view_.directions.shape == (7, 0)


def test_each_row_beside_words_is_scored_alone():
    rows, right = numbers_beside_words(200)
    learner = SetMixture(10, dense_features=[60, 61], random_state=0).fit(rows, right)
    alone = np.vstack([learner.predict_proba(rows[[k]]) for k in range(20)])
    assert (alone == learner.predict_proba(rows[:20])).all()


def test_a_summary_of_words_alone_can_be_asked_for():
    rows, right = numbers_beside_words(200)
    words = rows[:, :60]
    learner = SetMixture(10, dense_features=[], random_state=0).fit(words, right[:, [0, 2]])
    assert learner.forest_ is not None
    assert np.mean(learner.predict(words)[:, 0] == right[:, 0]) > 0.9


@pytest.mark.parametrize("places", [[62], [-1], ["price"], [0.5]])
def test_wrong_dense_features(places):
    rows, right = numbers_beside_words(50)
    with pytest.raises(ParameterError, match=r"dense_features must be .* from 0 to 61, got \[True"):
        SetMixture(dense_features=[True] * 62).fit(rows, right)
    with pytest.raises(ParameterError, match=r"dense_features must be .* from 0 to 61, got"):
        SetMixture(5, dense_features=places).fit(rows, right)
