"""Kernels that suit the data, and rows that are left out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor

from setlearn.learners import kernel_choice
from setlearn.learners.kernel_choice import CentredTargets, KernelChoice, solve_kernel
from setlearn.learners.similarity import CityBlock, Cosine
from tests.estimators.data import tagged

X, Y = tagged(120)
RIGHT = Y.astype(bool)
ONES = np.ones((120, 1))


def few_useful(n=300, n_features=60):
    """Two of many features decide."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, n_features))
    return rows, np.column_stack([rows[:, 0] * rows[:, 1] > 0, rows[:, 0] > 0.3])


def test_left_out_decisions_are_those_of_fits_without_the_row():
    kernel = np.exp(-np.abs(X[:20, None] - X[None, :20]).sum(axis=2))
    weight = np.random.default_rng(0).uniform(0.5, 2, (20, 1))
    targets = CentredTargets.of(RIGHT[:20], weight)
    _, left_out = solve_kernel(kernel, targets, 0.3)
    for row in range(20):
        others = np.arange(20) != row
        part = CentredTargets(targets.values[others], targets.mean, targets.weight[others])
        dual, _ = solve_kernel(kernel[np.ix_(others, others)], part, 0.3)
        np.testing.assert_allclose(kernel[row, others] @ dual, left_out[row], rtol=1e-8)


def test_targets_are_centred_by_what_is_known():
    weight = np.ones(Y.shape)
    weight[:50, 2] = 0
    targets = CentredTargets.of(RIGHT, weight)
    np.testing.assert_allclose(targets.mean[2], 2 * Y[50:, 2].mean() - 1)
    np.testing.assert_allclose(targets.mean[0], 2 * Y[:, 0].mean() - 1)
    assert (targets.values[:50, 2] == 0).all()
    assert (targets.values[50:, 2] != 0).all()


def test_features_that_do_not_matter_hardly_count():
    rows, right = few_useful()
    choice = KernelChoice.of(rows, right, np.ones((300, 1)))
    relevance = choice.similarity.relevance
    assert relevance[:2].min() > 2 * relevance[2:].max()
    assert relevance.max() == 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_noise_gets_no_relevance(seed):
    """Importances of noise look good on the rows that they come from, but not on others."""
    rng = np.random.default_rng(seed)
    rows, right = rng.normal(size=(300, 30)), rng.random((300, 3)) < 0.5
    assert KernelChoice.of(rows, right, np.ones((300, 1))).similarity.relevance is None


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows(n):
    choice = KernelChoice.of(X[:n], RIGHT[:n], ONES[:n])
    assert isinstance(choice.similarity, CityBlock)
    assert choice.width in CityBlock.widths


def test_constant_features_have_no_importance():
    constant = np.ones((40, 3))
    importances = kernel_choice._importances(constant, RIGHT[:40], ONES[:40], np.arange(40))
    assert (importances == 1).all()


def test_sparse_rows_are_compared_by_their_cosines():
    choice = KernelChoice.of(sparse.csr_array(X), RIGHT, ONES)
    assert isinstance(choice.similarity, Cosine)


def test_importances_that_rounding_makes_negative_count_as_none(monkeypatch):
    class Rounded(ExtraTreesRegressor):
        @property
        def feature_importances_(self):
            return np.where(np.arange(X.shape[1]) == 0, -1e-19, super().feature_importances_)

    monkeypatch.setattr(kernel_choice, "ExtraTreesRegressor", Rounded)
    importances = kernel_choice._importances(X, RIGHT, ONES, np.arange(len(X)))
    assert importances.min() == importances[0] == 0
