"""Made-up data of any size, for `benchmarks.growth`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

Data = tuple[Any, Any, Any, Any]
"""Inputs and sets to train on, and inputs and sets to test on."""

N_TEST = 1000
FEWEST_LABELS, MOST_LABELS = 3, 5
"""The sizes of the sets."""
DRAWS = 12
"""Labels that are drawn for a row, of which the first different ones count."""
TYPICAL_WORDS = 8
"""Words that are typical of a label."""
WORDS_PER_LABEL, OTHER_WORDS = 3, 10
"""Words of a row: for each of its labels, and besides."""
LEAST_VOCABULARY, VOCABULARY_PER_LABEL = 20_000, 0.5


def bags(n_rows: int) -> Data:
    """Dense counts of 50 words, and 30 topics, as scikit-learn generates them."""
    X, Y = make_multilabel_classification(
        n_rows + N_TEST, n_features=50, n_classes=30, n_labels=4, random_state=0
    )
    return X[:n_rows], Y[:n_rows], X[n_rows:], Y[n_rows:]


def bags_to_predict(n_rows: int) -> Data:
    """4,000 rows to train on, and the test rows repeated until there are so many."""
    X, Y, X_test, Y_test = bags(4000)
    rows = np.arange(n_rows) % N_TEST
    return X, Y, X_test[rows], Y_test[rows]


def words_and_labels(n_rows: int, n_labels: int, seed: int = 0) -> Data:
    """Sparse counts of words, and sets of three to five labels, both as sparse arrays.

    Frequencies of labels and of words follow Zipf's law. Some words are typical of each label, and
    frequent words are typical of many labels. A row has some typical words of each of its labels,
    and words that say nothing. No array of rows times labels is made.
    """
    rng = np.random.default_rng(seed)
    n = n_rows + N_TEST
    n_words = LEAST_VOCABULARY + int(VOCABULARY_PER_LABEL * n_labels)
    typical = _zipf(rng, n_words, (n_labels, TYPICAL_WORDS))
    row, label = _distinct(_zipf(rng, n_labels, (n, DRAWS)), rng)
    which = rng.integers(TYPICAL_WORDS, size=(len(row), WORDS_PER_LABEL))
    of_labels = np.take_along_axis(typical[label], which, axis=1)
    others = _zipf(rng, n_words, (n, OTHER_WORDS))
    rows = np.concatenate([np.repeat(row, WORDS_PER_LABEL), np.repeat(np.arange(n), OTHER_WORDS)])
    words = np.concatenate([of_labels.ravel(), others.ravel()])
    X = sparse.csr_array((np.ones(len(rows)), (rows, words)), shape=(n, n_words))
    Y = sparse.csr_array((np.ones(len(row), dtype=np.int8), (row, label)), shape=(n, n_labels))
    return X[:n_rows], Y[:n_rows], X[n_rows:], Y[n_rows:]


def _zipf(rng: np.random.Generator, n: int, shape: tuple[int, int]) -> np.ndarray:
    """Numbers below n, whose frequencies fall with their size."""
    shares = np.cumsum(1 / (10 + np.arange(n)))
    return np.searchsorted(shares, rng.random(shape) * shares[-1]).clip(max=n - 1)


def _distinct(drawn: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The first three to five different labels of each row, as pairs of a row and a label."""
    n, n_draws = drawn.shape
    is_new = np.ones(drawn.shape, dtype=bool)
    for k in range(1, n_draws):
        is_new[:, k] = (drawn[:, :k] != drawn[:, [k]]).all(axis=1)
    size = rng.integers(FEWEST_LABELS, MOST_LABELS + 1, size=(n, 1))
    row, place = np.nonzero(is_new & (np.cumsum(is_new, axis=1) <= size))
    return row, drawn[row, place]
