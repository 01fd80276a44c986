"""Ridge regression for labels, and what it says of rows that are left out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from setlearn.learners import ridge_labels as ridge_module
from setlearn.learners.kernel_choice import CentredTargets
from setlearn.learners.platt import Platt
from setlearn.learners.ridge_labels import (
    KernelLabels,
    LandmarkLabels,
    SparseRidgeLabels,
)
from setlearn.learners.row_draws import drawn_folds
from tests.estimators.data import tagged

X, Y = tagged(120)
RIGHT = Y.astype(bool)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, 120)
WEIGHT /= WEIGHT.mean()
ROWS = np.arange(120)
TARGETS = CentredTargets.of(RIGHT, WEIGHT[:, None])


def fitted(model, rows):
    model.fit_held_out(rows, RIGHT, WEIGHT[:, None], ROWS)
    return model


@pytest.mark.parametrize("kind", [LandmarkLabels, SparseRidgeLabels])
def test_so_are_those_of_the_primal_problem(kind, monkeypatch):
    monkeypatch.setattr(ridge_module, "LANDMARKS", 15)
    monkeypatch.setattr(ridge_module, "CHUNK_ENTRIES", 400)  # several chunks
    rows = sparse.csr_array(X) if kind is SparseRidgeLabels else X
    model = fitted(kind(), rows)
    n_features = len(model.coefficients_)
    penalty = np.eye(n_features)
    if kind is LandmarkLabels:
        assert n_features == 15
        penalty = model.similarity_.kernel(model.similarity_.compare(), model.width_)
        penalty += ridge_module.JITTER * np.eye(15)
    left_out = model._solve_primal(rows, penalty, TARGETS, ROWS)
    whole = model.coefficients_.copy()
    features = np.asarray(sparse.csr_array(model._features(rows)).todense())
    for row in range(0, 120, 7):
        others = np.arange(120) != row
        weighted = features[others].T * WEIGHT[others]
        alone = np.linalg.solve(
            weighted @ features[others] + model.ridge_ * penalty, weighted @ TARGETS.values[others]
        )
        np.testing.assert_allclose(features[row] @ alone, left_out[row], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        whole,
        np.linalg.solve(
            (features.T * WEIGHT) @ features + model.ridge_ * penalty,
            (features.T * WEIGHT) @ TARGETS.values,
        ),
        rtol=1e-6,
    )


def test_few_sparse_features_answer_as_the_kernel_does():
    rows = sparse.csr_array(X)
    kernel = fitted(KernelLabels(), rows)
    primal = fitted(SparseRidgeLabels(), rows)
    np.testing.assert_allclose(primal.predict_proba(rows), kernel.predict_proba(rows), rtol=1e-6)


def test_all_rows_as_landmarks_answer_as_the_kernel_does():
    kernel = fitted(KernelLabels(), X)
    landmarks = fitted(LandmarkLabels(), X)
    assert len(landmarks.coefficients_) == 120
    np.testing.assert_allclose(landmarks.predict_proba(X), kernel.predict_proba(X), atol=1e-3)


def test_held_out_probabilities_are_calibrated_on_other_rows():
    rows = np.arange(0, 120, 2)
    held_out = KernelLabels().fit_held_out(X, RIGHT, WEIGHT[:, None], rows)
    model = fitted(KernelLabels(), X)
    decisions = model._fit_decisions(X, RIGHT, WEIGHT[:, None], rows)
    first = drawn_folds(60, 3) == 0
    curves = Platt.fit(decisions[~first], RIGHT[rows][~first], WEIGHT[rows][~first, None])
    np.testing.assert_allclose(held_out[first], curves(decisions[first]))


@pytest.mark.parametrize("kind", [KernelLabels, LandmarkLabels, SparseRidgeLabels])
def test_left_out_rows_do_not_find_their_labels_in_unknown_entries(kind):
    """Labels are noise, so nobody who has not seen a row can know more than chance."""
    rng = np.random.default_rng(0)
    rows, right = rng.normal(size=(300, 10)), rng.random((300, 8)) < 0.5
    weight = (rng.random((300, 8)) < 0.2).astype(float)
    weight[~weight.any(axis=1), 0] = 1
    model = kind()
    left_out = model._fit_decisions(
        sparse.csr_array(rows) if kind is SparseRidgeLabels else rows, right, weight, np.arange(300)
    )
    known = weight > 0
    scores = [roc_auc_score(right[k, j], left_out[k, j]) for j, k in enumerate(known.T)]
    assert 0.3 < np.mean(scores) < 0.6
    # What the unknown entries hold does not matter.
    other = CentredTargets.of(np.where(known, right, ~right), weight)
    assert (other.values == CentredTargets.of(right, weight).values).all()
