"""The sigmoid network: a scikit-learn classifier for indicators, and for plain classes."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import setlearn.learners
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.learners import SigmoidNetwork
from setlearn.networks import Training


def quick(**changes):
    """A small network; parameters of the training are passed on to it."""
    names = Training().get_params()
    training = {"max_steps": 200, **{k: v for k, v in changes.items() if k in names}}
    others = {k: v for k, v in changes.items() if k not in names}
    options = {"hidden": (16,), "random_state": 0, **others}
    return SigmoidNetwork(training=Training(**training), **options)


@pytest.fixture(scope="module")
def quadrants():
    """Two features; a label for each being positive, and one that is no linear function."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[:, 1] = 1000 * X[:, 1] + 5000  # far from standard, which must not matter
    up = X[:, 1] > 5000
    return X, np.column_stack([X[:, 0] > 0, up, (X[:, 0] > 0) ^ up])


@pytest.fixture(scope="module")
def fitted(quadrants):
    X, Y = quadrants
    return quick(hidden=(32,), learning_rate=1e-2, max_steps=500).fit(X, Y)


def stochastic_checks(estimator):
    reason = "a weight of 2 is not drawn into batches as a row that is there twice is"
    names = ("on_dense_data", "on_sparse_data")
    return {f"check_sample_weight_equivalence_{name}": reason for name in names}


@parametrize_with_checks(
    [quick(max_steps=50, learning_rate=1e-2)], expected_failed_checks=stochastic_checks
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestLearning:
    def test_it_learns_what_is_not_linear(self, fitted, quadrants):
        X, Y = quadrants
        assert (fitted.predict(X) == Y).mean() > 0.95

    def test_predict_cuts_the_probabilities_at_one_half(self, fitted, quadrants):
        probabilities = fitted.predict_proba(quadrants[0])
        assert probabilities.shape == (400, 3)
        assert np.array_equal(fitted.predict(quadrants[0]), probabilities > 0.5)

    def test_probabilities_are_calibrated_on_pure_chance(self):
        Y = np.random.default_rng(0).random((600, 2)) < [0.2, 0.7]
        probabilities = quick().fit(np.ones((600, 1)), Y).predict_proba(np.ones((1, 1)))
        assert probabilities == pytest.approx(Y.mean(axis=0, keepdims=True), abs=0.1)

    def test_plain_classes(self):
        X = np.random.default_rng(0).normal(size=(300, 2))
        y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
        model = quick(learning_rate=1e-2).fit(X, y)
        assert list(model.classes_) == ["high", "low", "mid"]
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
        assert model.score(X, y) > 0.9

    def test_weights_decide_between_contradicting_rows(self):
        X = np.zeros((200, 1))
        Y = np.tile([[True], [False]], (100, 1))
        weight = np.where(Y.ravel(), 9.0, 1.0)
        model = quick(learning_rate=1e-2, max_steps=400).fit(X, Y, sample_weight=weight)
        assert model.predict_proba(X[:1])[0, 0] == pytest.approx(0.9, abs=0.05)

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_tiny_data_are_all_trained_on(self, n):
        X, Y = np.eye(n), np.eye(n, dtype=bool)
        model = quick(learning_rate=1e-2, max_steps=4000).fit(X, Y)
        assert model.history_[-1]["held_out"] is None
        assert model.history_[-1]["step"] == 500
        if n > 1:  # a single row is a constant, and standardises to zero
            assert np.array_equal(model.predict(X), Y)

    def test_constant_features_and_constant_labels_do_no_harm(self, quadrants):
        X, Y = quadrants
        X = np.column_stack([X, np.full(len(X), 7.0)])
        Y = np.column_stack([Y, np.ones(len(X)), np.zeros(len(X))])
        answer = quick().fit(X, Y).predict(X)
        assert answer[:, 3].all()
        assert not answer[:, 4].any()

    def test_history(self, fitted):
        assert fitted.history_[0]["held_out"] < fitted.history_[-1]["held_out"] < 0


class TestSparse:
    def test_sparse_and_dense_targets_are_the_same(self, quadrants):
        X, Y = quadrants
        dense = quick().fit(X, Y).predict_proba(X)
        for container in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
            assert np.array_equal(quick().fit(X, container(Y)).predict_proba(X), dense)

    def test_a_model_fitted_on_sparse_inputs_answers_dense_ones_the_same(self):
        X = sparse.random_array((200, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
        Y = X[:, :3].toarray() > 0
        model = quick(learning_rate=1e-2, max_steps=500).fit(X, Y)
        assert (model.mean_ == 0).all()
        assert (model.predict(X) == Y).mean() > 0.95
        assert np.array_equal(model.predict_proba(X), model.predict_proba(X.toarray()))

    def test_a_large_sparse_input_is_never_dense_as_a_whole(self):
        wide = sparse.random_array((3000, 200_000), density=1e-5, rng=np.random.default_rng(0))
        model = quick(hidden=(), max_steps=2, batch_size=8)
        assert model.fit(wide, np.eye(3000, 2)).predict(wide[:5]).shape == (5, 2)


class TestRepeatability:
    def test_same_random_state_same_answer(self, quadrants):
        X, Y = quadrants
        first = quick().fit(X, Y).predict_proba(X)
        torch.rand(3)
        assert np.array_equal(quick().fit(X, Y).predict_proba(X), first)
        assert not np.array_equal(quick(random_state=1).fit(X, Y).predict_proba(X), first)

    def test_the_number_of_threads_does_not_change_the_sets(self, quadrants):
        X, Y = quadrants
        before = torch.get_num_threads()
        answers = []
        try:
            for n_threads in (1, 2):
                torch.set_num_threads(n_threads)
                answers.append(quick(hidden=(256,), max_steps=60).fit(X, Y).predict(X))
                assert torch.get_num_threads() == n_threads
        finally:
            torch.set_num_threads(before)
        assert np.array_equal(*answers)

    def test_batching_does_not_change_the_answer(self, fitted, quadrants, monkeypatch):
        X = quadrants[0]
        whole = fitted.predict_proba(X)
        monkeypatch.setattr("setlearn.learners.sigmoid_network.BLOCK_ENTRIES", 14)
        assert fitted.predict_proba(X) == pytest.approx(whole, abs=1e-14)

    def test_global_randomness_is_left_alone(self, quadrants):
        before = torch.get_rng_state()
        quick().fit(*quadrants)
        assert torch.equal(torch.get_rng_state(), before)

    def test_clone_and_joblib(self, fitted, quadrants):
        X = quadrants[0]
        assert repr(clone(fitted)) == repr(fitted)
        file = io.BytesIO()
        joblib.dump(fitted, file)
        file.seek(0)
        assert np.array_equal(joblib.load(file).predict_proba(X), fitted.predict_proba(X))


class TestErrors:
    @pytest.mark.parametrize(
        "X",
        [[[1.0, np.nan]] * 4, [[1.0, np.inf]] * 4, [[1.0], [1.0, 2.0], [1.0], [2.0]], [1.0] * 4],
        ids=["nan", "inf", "ragged", "flat"],
    )
    def test_inputs_that_cannot_be_used(self, X):
        with pytest.raises(DataError, match="X cannot be used"):
            quick().fit(X, np.eye(4))

    @pytest.mark.parametrize(
        "Y", [np.eye(3), np.full((4, 2), 2), np.empty((4, 0)), np.linspace(0, 1, 4)]
    )
    def test_targets_that_cannot_be_used(self, Y):
        with pytest.raises(DataError, match="Y cannot be used"):
            quick().fit(np.eye(4), Y)

    @pytest.mark.parametrize("weight", [[0] * 4, [-1, 1, 1, 1], [1, 2]])
    def test_weights_that_cannot_be_used(self, weight):
        with pytest.raises(DataError, match="sample_weight"):
            quick().fit(np.eye(4), np.eye(4), sample_weight=weight)

    @pytest.mark.parametrize(
        "change",
        [
            {"hidden": (0,)},
            {"hidden": (1.5,)},
            {"dropout": 1.0},
            {"batch_size": 0},
            {"learning_rate": -1},
            {"validation": 1.0},
            {"device": "cuda:99"},
        ],
    )
    def test_parameters_out_of_range(self, change):
        with pytest.raises(ParameterError, match=next(iter(change))):
            quick(**change).fit(np.eye(4), np.eye(4))

    def test_another_number_of_features(self, fitted):
        with pytest.raises(DataError, match="3 features"):
            fitted.predict(np.eye(3))

    def test_before_fit(self):
        with pytest.raises(NotFittedError, match="call fit"):
            quick().predict(np.eye(3))


def test_importing_the_package_does_not_import_torch():
    source = Path(setlearn.learners.__file__).parents[2]
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import setlearn.learners as n; "
        "n.SigmoidNetwork(); assert 'torch' not in sys.modules; "
        "assert dir(n).count('SigmoidNetwork') == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Sigmoid'"):
        setlearn.learners.Sigmoid  # noqa: B018
