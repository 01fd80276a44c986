"""Ridge regression for labels, and what it says of rows that are left out."""

import numpy as np
import pytest
from scipy import sparse

from setlearn.learners import ridge_labels as ridge_module
from setlearn.learners.platt import Platt
from setlearn.learners.ridge_labels import (
    KernelLabels,
    LandmarkLabels,
    SparseRidgeLabels,
    _solve_kernel,
)
from tests.estimators.data import tagged

X, Y = tagged(120)
RIGHT = Y.astype(bool)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, 120)
WEIGHT /= WEIGHT.mean()
TARGETS = np.where(RIGHT, 1.0, -1.0)


def test_left_out_decisions_are_those_of_fits_without_the_row():
    kernel = np.exp(-np.abs(X[:20, None] - X[None, :20]).sum(axis=2))
    targets, weight = TARGETS[:20], WEIGHT[:20]
    _, left_out = _solve_kernel(kernel, targets, 0.3, weight)
    for row in range(20):
        others = np.arange(20) != row
        dual, _ = _solve_kernel(
            kernel[np.ix_(others, others)], targets[others], 0.3, weight[others]
        )
        np.testing.assert_allclose(kernel[row, others] @ dual, left_out[row], rtol=1e-8)


@pytest.mark.parametrize("kind", [LandmarkLabels, SparseRidgeLabels])
def test_so_are_those_of_the_primal_problem(kind, monkeypatch):
    monkeypatch.setattr(ridge_module, "LANDMARKS", 15)
    monkeypatch.setattr(ridge_module, "CHUNK_ENTRIES", 400)  # several chunks
    rows = sparse.csr_array(X) if kind is SparseRidgeLabels else X
    model = kind().fit(rows, RIGHT, WEIGHT)
    n_features = len(model.coefficients_)
    penalty = np.eye(n_features)
    if kind is LandmarkLabels:
        assert n_features == 15
        penalty = model.similarity_.kernel(model.similarity_.compare(), model.width_)
        penalty += ridge_module.JITTER * np.eye(15)
    left_out = model._solve_primal(rows, penalty, TARGETS, WEIGHT)
    whole = model.coefficients_.copy()
    features = np.asarray(sparse.csr_array(model._features(rows)).todense())
    for row in range(0, 120, 7):
        others = np.arange(120) != row
        weighted = features[others].T * WEIGHT[others]
        alone = np.linalg.solve(
            weighted @ features[others] + model.ridge_ * penalty, weighted @ TARGETS[others]
        )
        np.testing.assert_allclose(features[row] @ alone, left_out[row], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        whole,
        np.linalg.solve(
            (features.T * WEIGHT) @ features + model.ridge_ * penalty,
            (features.T * WEIGHT) @ TARGETS,
        ),
        rtol=1e-6,
    )


def test_few_sparse_features_answer_as_the_kernel_does():
    rows = sparse.csr_array(X)
    kernel = KernelLabels().fit(rows, RIGHT, WEIGHT)
    primal = SparseRidgeLabels().fit(rows, RIGHT, WEIGHT)
    np.testing.assert_allclose(primal.predict_proba(rows), kernel.predict_proba(rows), rtol=1e-6)


def test_all_rows_as_landmarks_answer_as_the_kernel_does():
    kernel = KernelLabels().fit(X, RIGHT, WEIGHT)
    landmarks = LandmarkLabels().fit(X, RIGHT, WEIGHT)
    assert len(landmarks.coefficients_) == 120
    np.testing.assert_allclose(landmarks.predict_proba(X), kernel.predict_proba(X), atol=1e-3)


def test_held_out_probabilities_are_calibrated_on_other_rows():
    rows = np.arange(0, 120, 2)
    held_out = KernelLabels().fit_held_out(X, RIGHT, WEIGHT, rows)
    model = KernelLabels().fit(X, RIGHT, WEIGHT)
    decisions = model._fit_decisions(X, RIGHT, WEIGHT)[rows]
    first = np.arange(60) % 3 == 0
    curves = Platt.fit(decisions[~first], RIGHT[rows][~first], WEIGHT[rows][~first])
    np.testing.assert_allclose(held_out[first], curves(decisions[first]))
