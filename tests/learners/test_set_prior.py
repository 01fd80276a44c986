"""How often each whole set was seen."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit

from setlearn import SetClassifier
from setlearn.learners.set_mixture import SetMixture
from setlearn.learners.set_prior import MOST_EXAMPLES, SHARE, SetPrior
from setlearn.rules import Auto, MostProbable

Y = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [1, 0, 1]], dtype=bool)
FREQUENCIES = Y.mean(axis=0)
ONES = np.ones((len(Y), 1))
EVEN = np.full((len(Y), 3), 0.5)


def relative(weights):
    """Each row of weights, as shares of its largest."""
    weights = weights.toarray()
    return weights / weights.max(axis=1, keepdims=True)


def fitted(Y, weight, frequencies):
    prior = SetPrior()
    prior.fit_held_out(Y, weight, frequencies, np.arange(0), np.empty((0, Y.shape[1])))
    return prior


def literal_weight(wanted, sets, counts):
    same = (sets == wanted).all(axis=1)
    odds = np.exp(logit(FREQUENCIES[wanted]).sum())
    return counts[same].sum() / odds**SHARE


def test_weights_are_counts_without_a_part_of_the_labels_frequencies():
    examples = fitted(Y, ONES, FREQUENCIES).examples(EVEN[:1])
    sets = examples.sets.toarray()
    expected = np.array([literal_weight(wanted, Y, np.ones(len(Y))) for wanted in sets])
    assert len(sets) == 3
    np.testing.assert_allclose(relative(examples.weights)[0], expected / expected.max())


def test_rows_that_are_held_out_do_not_count_themselves():
    rows = np.arange(len(Y))
    examples = SetPrior().fit_held_out(Y, ONES, FREQUENCIES, rows, EVEN)
    for row, weights in enumerate(relative(examples.weights)):
        others = np.delete(np.arange(len(Y)), row)
        expected = np.array(
            [literal_weight(s, Y[others], np.ones(len(others))) for s in examples.sets.toarray()]
        )
        np.testing.assert_allclose(weights, expected / expected.max())


def test_rows_count_by_their_weight_and_not_if_entries_are_unknown():
    weight = np.array([[1, 1, 1], [1, 0, 1], [2, 2, 2], [1, 1, 1], [1, 1, 1], [0, 0, 0]], float)
    examples = fitted(Y, weight, FREQUENCIES).examples(EVEN[:1])
    sets = examples.sets.toarray()
    assert sets.tolist() == [[False, False, True], [True, True, False]]
    counts = np.array([1, 0, 2, 1, 1, 0], dtype=float)
    expected = np.array([literal_weight(wanted, Y, counts) for wanted in sets])
    np.testing.assert_allclose(relative(examples.weights)[0], expected / expected.max())


def test_without_complete_rows_there_are_no_examples():
    weight = np.tile([1.0, 0.0, 1.0], (len(Y), 1))
    examples = fitted(Y, weight, FREQUENCIES).examples(EVEN)
    assert examples.weights.shape == (len(Y), 0)


def test_only_the_most_probable_of_many_sets_are_kept():
    rng = np.random.default_rng(0)
    many = rng.random((300, 12)) < 0.4
    prior = fitted(many, np.ones((300, 1)), many.mean(axis=0))
    probabilities = rng.uniform(0.05, 0.95, size=(4, 12))
    examples = prior.examples(probabilities)
    kept = np.diff(examples.weights.indptr)
    assert (kept == MOST_EXAMPLES).all()
    scores = prior.log_weights_ + logit(probabilities) @ prior.sets_.T
    for row, score in enumerate(scores):
        best = np.sort(np.argsort(-score)[:MOST_EXAMPLES])
        assert examples.weights[[row]].indices.tolist() == best.tolist()


def test_examples_have_the_known_labels():
    rng = np.random.default_rng(0)
    many = rng.random((400, 12)) < 0.4
    prior = fitted(many, np.ones((400, 1)), many.mean(axis=0))
    known = np.zeros((3, 12), dtype=bool)
    known[0, [2, 5, 7]] = known[1, :] = True
    examples = prior.examples(np.full((3, 12), 0.2), known)
    weights, sets = examples.weights.toarray(), examples.sets.toarray()
    assert sets[weights[0] > 0][:, [2, 5, 7]].all()
    assert (weights[0] > 0).sum() == min(MOST_EXAMPLES, sets[:, [2, 5, 7]].all(axis=1).sum())
    assert not weights[1].any()  # no training set has all labels
    assert (weights[2] > 0).sum() == MOST_EXAMPLES


@pytest.fixture(scope="module")
def words():
    """Rows of words, and labels of which always exactly two occur together."""
    rng = np.random.default_rng(0)
    topic = rng.integers(3, size=240)
    X = (rng.random((240, 40)) < 0.1 + 0.25 * (np.arange(40) % 3 == topic[:, None])) * 1.0
    return sparse.csr_array(X), np.repeat(np.eye(3, dtype=int), 2, axis=1)[topic]


def test_rules_for_whole_sets_work_with_sparse_inputs(words):
    X, pairs = words
    model = SetClassifier(rule=MostProbable(joint=True), random_state=0, verbose=False)
    predicted = model.fit(X, pairs).predict(X)
    assert {tuple(row) for row in predicted.tolist()} <= {tuple(row) for row in pairs.tolist()}
    auto = SetClassifier(rule=Auto(metric="exact"), random_state=0, verbose=False).fit(X, pairs)
    assert "MostProbable(joint=True)" in auto.rule_scores_


def test_blocks_of_rows_do_not_change_examples(words, monkeypatch):
    X, pairs = words
    mixture = SetMixture(random_state=0).fit(X, pairs)
    whole = mixture.examples(X).weights.toarray()
    monkeypatch.setattr("setlearn.learners.set_prior.CHUNK_ENTRIES", 10)
    np.testing.assert_array_equal(mixture.examples(X).weights.toarray(), whole)
