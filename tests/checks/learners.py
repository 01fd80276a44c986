"""Checks that every label learner must pass, whether it is in the package or outside it."""

from inspect import isclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

import setlearn.learners
from setlearn import SetClassifier

__all__ = ["CHECKS", "exported_learners"]

N, LABELS = 60, 3
X = np.random.default_rng(0).normal(size=(N, 4)).round(3)
Y = X[:, :LABELS] > [-0.5, 0.0, 0.5]


def exported_learners():
    """One learner of each class that setlearn.learners exports, with short training."""
    exported = [getattr(setlearn.learners, name) for name in setlearn.learners.__all__]
    return [_quick(kind()) for kind in exported if isclass(kind)]


def _quick(learner):
    parameters = learner.get_params()
    if "training" in parameters:
        learner.set_params(training__max_steps=40, training__learning_rate=0.02)
    if "n_trees" in parameters:
        learner.set_params(n_trees=20)
    if "random_state" in parameters:
        learner.set_params(random_state=0)
    return learner


def check_returns_one_probability_per_label(learner):
    fitted = clone(learner)
    assert fitted.fit(X, Y) is fitted
    P = fitted.predict_proba(X)
    assert isinstance(P, np.ndarray)
    assert P.shape == (N, LABELS)
    assert ((P > 0) & (P < 1)).all()
    assert np.array_equal(fitted.predict(X), P > 0.5)
    assert np.array_equal(fitted.classes_, np.arange(LABELS))
    assert np.mean((P > 0.5) == Y) > 0.7, "it must learn something"


def check_learns_one_class_per_row(learner):
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    fitted = clone(learner).fit(X, y)
    P = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == ["high", "low", "mid"]
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert np.array_equal(fitted.predict(X), fitted.classes_[P.argmax(axis=1)])


def check_is_deterministic_with_a_random_state(learner):
    state = np.random.get_state()[1].copy()
    first, second = (clone(learner).fit(X, Y).predict_proba(X) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(np.random.get_state()[1], state), "the global generator was used"


def check_other_rows_in_a_batch_change_nothing(learner):
    fitted = clone(learner).fit(X, Y)
    together = fitted.predict_proba(X)
    alone = np.concatenate([fitted.predict_proba(X[[row]]) for row in range(N)])
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-12)
    order = np.random.default_rng(1).permutation(N)
    np.testing.assert_allclose(fitted.predict_proba(X[order]), together[order], rtol=0, atol=1e-12)


def check_fit_and_predict_leave_their_arguments_alone(learner):
    inputs, targets, weights = X.copy(), Y.copy(), np.full(N, 2.0)
    parameters = repr(learner)
    clone(learner).fit(inputs, targets, sample_weight=weights).predict_proba(inputs)
    assert np.array_equal(inputs, X)
    assert np.array_equal(targets, Y)
    assert (weights == 2).all()
    assert repr(learner) == parameters


def check_prediction_sets_no_attribute(learner):
    fitted = clone(learner).fit(X, Y)
    before = list(vars(fitted))
    fitted.predict_proba(X)
    fitted.predict(X)
    assert list(vars(fitted)) == before


def check_clone_is_unfitted_and_equal(learner):
    fitted = clone(learner).fit(X, Y)
    assert repr(clone(fitted)) == repr(learner)
    with pytest.raises(NotFittedError):
        clone(fitted).predict_proba(X)


def check_is_not_fitted_at_first(learner):
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError, match="fit"):
            getattr(clone(learner), method)(X)


def check_sample_weights_count(learner):
    alternating = np.tile([[True, False], [False, True]], (N // 2, 1))
    weight = np.where(alternating[:, 0], 5.0, 1.0)
    # Inputs that do not matter, but are not constant either.
    inputs = np.random.default_rng(2).normal(size=(N, 2))
    P = clone(learner).fit(inputs, alternating, sample_weight=weight).predict_proba(inputs)
    assert P[:, 0].mean() > P[:, 1].mean()
    unweighted = clone(learner).fit(X, Y).predict_proba(X)
    ones = clone(learner).fit(X, Y, sample_weight=np.ones(N)).predict_proba(X)
    np.testing.assert_allclose(ones, unweighted, atol=1e-9)


def check_constant_labels_are_learned(learner):
    targets = np.column_stack([Y[:, 0], np.ones(N, dtype=bool), np.zeros(N, dtype=bool)])
    P = clone(learner).fit(X, targets).predict_proba(X)
    assert ((P > 0) & (P < 1)).all()
    assert (P[:, 1] > P[:, 2]).all()
    assert np.median(P[:, 1]) > 0.6
    assert np.median(P[:, 2]) < 0.4


def check_a_single_label_can_be_predicted(learner):
    sets = [{"a"} if right else set() for right in Y[:, 0]]
    model = SetClassifier(clone(learner), cv=2, random_state=0).fit(X, sets)
    assert model.score(X, sets) > 0.7


def check_works_in_a_set_classifier(learner):
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in Y]
    model = SetClassifier(clone(learner), cv=2, random_state=0).fit(X, sets)
    assert model.score(X, sets) > 0.5
    assert all(s <= set(range(LABELS)) for s in model.predict(X))


def check_sparse_inputs(learner):
    inputs = np.where(np.abs(X) > 0.3, X, 0.0)
    if not get_tags(learner).input_tags.sparse:
        with pytest.raises((TypeError, ValueError)):
            clone(learner).fit(sparse.csr_array(inputs), Y)
        return
    fitted = clone(learner).fit(sparse.csr_array(inputs), Y)
    P = fitted.predict_proba(sparse.csr_array(inputs))
    assert P.shape == Y.shape
    assert ((P > 0) & (P < 1)).all()
    for container in (np.asarray, sparse.csc_array, sparse.csr_matrix):
        np.testing.assert_allclose(fitted.predict_proba(container(inputs)), P, atol=1e-9)
    on_dense = clone(learner).fit(inputs, Y)
    np.testing.assert_allclose(
        on_dense.predict_proba(sparse.csr_array(inputs)), on_dense.predict_proba(inputs), atol=1e-9
    )


def check_texts(learner):
    if not get_tags(learner).input_tags.string:
        return
    texts = ["".join("ab"[int(right)] for right in row) for row in Y]
    P = clone(learner).fit(texts, Y).predict_proba([*texts, "", "zz"])
    assert P.shape == (N + 2, LABELS)
    assert ((P > 0) & (P < 1)).all()


def check_mistakes_are_value_errors(learner):
    fitted = clone(learner).fit(X, Y)
    allows_nan = get_tags(learner).input_tags.allow_nan
    unusable = X.copy()
    unusable[3, 1] = np.inf if allows_nan else np.nan
    for inputs, targets in [(X, Y[:-1]), (unusable, Y), (X[:0], Y[:0]), (X, None)]:
        with pytest.raises(ValueError):  # noqa: PT011  # each learner words it
            clone(learner).fit(inputs, targets)
    for inputs in (X[:, :2], unusable):
        with pytest.raises(ValueError):  # noqa: PT011  # each learner words it
            fitted.predict_proba(inputs)


def check_a_network_of_its_own_can_be_made_anew(learner):
    if not hasattr(learner, "new_network"):
        return
    fitted = clone(learner).fit(X, Y)
    expected = fitted.predict_proba(X)
    weights = fitted.network_.state_dict()
    fitted.network_ = fitted.new_network().double().eval()
    fitted.network_.load_state_dict(weights)
    assert np.array_equal(fitted.predict_proba(X), expected)


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
