"""Made-up problems of ordinary kinds, for `benchmarks.label_fits`.

Each kind suits some plain learner: linear ones, trees, neighbours. The default should be near the
best of them on every kind. The kinds were used during development, with other seeds than here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Generator = np.random.Generator
Problem = tuple[np.ndarray, np.ndarray]
"""Inputs (n, features) and an indicator (n, labels)."""

TRAINING_SHARE = 0.6


def few_useful_features(rng: Generator) -> Problem:
    """4 of 200 features matter, and not in a linear way."""
    X = rng.normal(size=(900, 200))
    useful = X[:, :4]
    decisions = np.tanh(useful) @ rng.normal(size=(4, 8))
    decisions += (useful**2 - 1) @ rng.normal(size=(4, 8)) / 2
    return X, decisions + 0.3 * rng.normal(size=decisions.shape) > np.quantile(decisions, 0.7)


def binary_features(rng: Generator) -> Problem:
    """60 yes-or-no features, added up."""
    X = (rng.random((800, 60)) < 0.3).astype(float)
    decisions = X @ rng.normal(size=(60, 10))
    return X, decisions - decisions.mean(axis=0) + 0.3 * rng.logistic(size=(800, 10)) > 0.8


def rare_labels(rng: Generator) -> Problem:
    """40 features, added up, and 30 labels of which most are rare."""
    X = rng.normal(size=(1500, 40))
    decisions = X @ rng.normal(size=(40, 30)) * 3 / np.sqrt(40)
    return X, decisions + rng.logistic(size=(1500, 30)) > rng.uniform(2, 6, size=30)


def boxes(rng: Generator) -> Problem:
    """Each label is a box in two of 20 features, with 3 % of the entries wrong."""
    X, columns = rng.random((1000, 20)), []
    for _ in range(10):
        first, second = rng.choice(20, 2, replace=False)
        low, high = rng.uniform(0.3, 0.6), rng.uniform(0.4, 0.8)
        columns.append((X[:, first] > low) & (X[:, second] < high))
    return X, np.column_stack(columns) ^ (rng.random((1000, 10)) < 0.03)


def clusters(rng: Generator) -> Problem:
    """25 clusters with a set each, with 2 % of the entries wrong."""
    centres, sets = 1.5 * rng.normal(size=(25, 15)), rng.random((25, 12)) < 0.25
    cluster = rng.integers(25, size=1000)
    X = centres[cluster] + rng.normal(size=(1000, 15))
    return X, sets[cluster] ^ (rng.random((1000, 12)) < 0.02)


def skewed_features(rng: Generator) -> Problem:
    """Features with a few huge values; their logarithms, added up."""
    logarithms = rng.normal(size=(900, 30))
    decisions = logarithms @ rng.normal(size=(30, 8)) * 2 / np.sqrt(30)
    return np.exp(1.5 * logarithms), decisions + 0.5 * rng.logistic(size=(900, 8)) > 0.8


def categories(rng: Generator) -> Problem:
    """Five categories as 0/1 columns and three numbers, with one interaction."""
    sizes = (3, 5, 8, 12, 4)
    chosen = [rng.integers(size, size=900) for size in sizes]
    columns = [np.eye(size)[values] for size, values in zip(sizes, chosen, strict=True)]
    X = np.hstack([*columns, rng.normal(size=(900, 3))])
    both = ((chosen[0] == 1) & (chosen[1] > 2))[:, None]
    decisions = X @ rng.normal(size=(X.shape[1], 10)) + 3 * both * rng.normal(size=10)
    return X, decisions + 0.4 * rng.logistic(size=(900, 10)) > 1


def three_way_products(rng: Generator) -> Problem:
    """Each label is the sign of a product of three of 12 features, with noise."""
    X = rng.normal(size=(3000, 12))
    factors = [rng.choice(12, 3, replace=False) for _ in range(6)]
    decisions = np.column_stack([X[:, columns].prod(axis=1) for columns in factors])
    return X, decisions + 0.2 * rng.normal(size=decisions.shape) > 0.2


def few_rows(rng: Generator) -> Problem:
    """90 rows of 8 features, added up."""
    X = rng.normal(size=(90, 8))
    return X, X @ rng.normal(size=(8, 5)) + 0.5 * rng.logistic(size=(90, 5)) > 0.5


PROBLEMS: dict[str, Callable[[Generator], Problem]] = {
    "few useful features": few_useful_features,
    "binary features": binary_features,
    "rare labels": rare_labels,
    "boxes": boxes,
    "clusters": clusters,
    "skewed features": skewed_features,
    "categories": categories,
    "three-way products": three_way_products,
    "few rows": few_rows,
}


def problem(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs and targets to train on, and inputs and targets to test on."""
    X, Y = PROBLEMS[name](np.random.default_rng([1000 + seed, len(name)]))
    n = int(TRAINING_SHARE * len(X))
    return X[:n], Y[:n].astype(int), X[n:], Y[n:].astype(int)
