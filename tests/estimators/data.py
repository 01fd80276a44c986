"""Small data that every learner can learn: a label for each feature above one half."""

import numpy as np


def tagged(n_samples=60, n_labels=4, *, seed=0, empty_sets=False):
    """Inputs in [0, 1) and an indicator; without ``empty_sets`` the largest feature always tags."""
    X = np.random.default_rng(seed).random((n_samples, n_labels))
    right = X > 0.5
    if not empty_sets:
        right[np.arange(n_samples), X.argmax(axis=1)] = True
    return X, right.astype(int)


def as_sets(indicator, labels=None):
    labels = range(indicator.shape[1]) if labels is None else labels
    return [frozenset(labels[k] for k in np.flatnonzero(row)) for row in indicator]
