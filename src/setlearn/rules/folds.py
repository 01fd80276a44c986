"""Parting choice points so that those of one sample stay together."""

from __future__ import annotations

import numpy as np

from setlearn.nodes import IntArray

__all__ = ["sample_folds"]

FOLDS = 3


def sample_folds(sample: IntArray, rng: np.random.RandomState) -> list[tuple[IntArray, IntArray]]:
    """Choice points to learn from and to judge on, three times; one sample alone is both.

    Examples
    --------
    >>> sample = np.array([7, 7, 8, 9])
    >>> for learn, judge in sample_folds(sample, np.random.RandomState(0)):
    ...     print(sample[learn], sample[judge])
    [7 7 8] [9]
    [7 7 9] [8]
    [8 9] [7 7]
    """
    samples, which = np.unique(sample, return_inverse=True)
    everything = np.arange(len(sample))
    if len(samples) < 2:
        return [(everything, everything)]
    # Not scikit-learn's KFold: importing it takes longer than everything else here.
    fold = np.empty(len(samples), dtype=np.intp)
    fold[rng.permutation(len(samples))] = np.arange(len(samples)) % FOLDS
    held_out = [fold[which] == k for k in range(min(FOLDS, len(samples)))]
    return [(everything[~held], everything[held]) for held in held_out]
