"""The default learner and its parts."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from setlearn.learners import set_mixture as mixture_module
from setlearn.learners.kernel_ridge import Platt, _solve
from setlearn.learners.set_forest import MOST_EXAMPLES, SetForest
from setlearn.learners.set_mixture import LinearLabels, SetMixture
from tests.estimators.data import tagged

X, Y = tagged(120)
ONES = np.ones(120)


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
    assert hasattr(learner, "examples") == (container is np.asarray)


def test_many_rows_get_a_linear_part(monkeypatch):
    monkeypatch.setattr(mixture_module, "MOST_KERNEL_ROWS", 50)
    for rows in (X, sparse.csr_array(X)):
        learner = SetMixture(10, random_state=0).fit(rows, Y)
        assert isinstance(learner.smooth_, LinearLabels)
        assert np.mean(learner.predict(rows) == Y) > 0.8


def test_rows_without_weight_are_as_good_as_absent():
    weight = np.r_[np.ones(80), np.zeros(40)]
    weighted = SetMixture(10, random_state=0).fit(X, Y, sample_weight=weight)
    alone = SetMixture(10, random_state=0).fit(X[:80], Y[:80])
    assert (weighted.predict_proba(X) == alone.predict_proba(X)).all()


def test_left_out_decisions_are_those_of_fits_without_the_row():
    kernel = np.exp(-np.abs(X[:20, None] - X[None, :20]).sum(axis=2))
    targets = np.where(Y[:20], 1.0, -1.0)
    _, left_out = _solve(kernel, targets, 0.3, np.ones(20))
    for row in range(20):
        others = np.arange(20) != row
        dual, _ = _solve(kernel[np.ix_(others, others)], targets[others], 0.3, np.ones(19))
        np.testing.assert_allclose(kernel[row, others] @ dual, left_out[row], rtol=1e-8)


def test_the_curves_are_those_of_logistic_regression():
    rng = np.random.default_rng(0)
    decisions = rng.normal(loc=[0.5, -1], size=(4000, 2))
    right = rng.random((4000, 2)) < expit(decisions * [2, 0.7] + [0.3, -1])
    found = Platt.fit(decisions, right, np.ones(4000))(decisions)
    for k in range(2):
        model = LogisticRegression(C=1e6).fit(decisions[:, [k]], right[:, k])
        expected = model.predict_proba(decisions[:, [k]])[:, 1]
        np.testing.assert_allclose(found[:, k], expected, atol=5e-3)


def test_a_label_that_is_told_apart_perfectly_is_not_certain():
    decisions = np.r_[-np.ones(20), np.ones(20)][:, None]
    P = Platt.fit(decisions, decisions > 0, np.ones(40))(decisions)
    assert ((P > 0.01) & (P < 0.99)).all()
    against = Platt.fit(-decisions, decisions > 0, np.ones(40))(decisions)
    np.testing.assert_allclose(against, 0.5, atol=1e-3)  # never turned around


def test_examples_say_what_labels_by_themselves_do_not():
    """Times the odds of the forest's own marginals they are its distribution over sets."""
    forest = SetForest(20, 0).fit(X, Y.astype(bool), ONES)
    examples = forest.examples(X[:10])
    assert examples.sets.shape == (len(np.unique(Y, axis=0)), 4)
    odds = forest.predict_proba(X[:10])
    odds = odds / (1 - odds)
    weights = examples.weights.toarray()
    for row in range(10):
        joint = weights[row] * np.prod(odds[row] ** examples.sets.toarray(), axis=1)
        joint /= joint.sum()
        np.testing.assert_allclose(joint, forest._weights(X[[row]]).toarray()[0], atol=1e-12)


def test_examples_are_bounded():
    rng = np.random.default_rng(0)
    many = rng.random((600, 12)) < 0.5
    forest = SetForest(5, 0, min_leaf=300).fit(rng.random((600, 2)), many, np.ones(600))
    per_row = np.diff(forest.examples(rng.random((3, 2))).weights.indptr)
    assert (per_row == MOST_EXAMPLES).all()


def test_more_labels_than_trees_are_grown_on():
    wide = np.tile(Y, (1, 10)).astype(bool)
    P = SetForest(20, 0).fit(X, wide, ONES).predict_proba(X)
    assert P.shape == (120, 40)
    assert np.mean((P > 0.5) == wide) > 0.95
