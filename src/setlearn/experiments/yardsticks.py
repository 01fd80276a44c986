"""Answers that need no scorer: what any system should beat, and what none can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import TypeAlias

import numpy as np

from setlearn.experiments.samples import Samples, Split

__all__ = ["YARDSTICKS", "Yardstick", "best_constant_set"]

Yardstick: TypeAlias = Callable[[Split], list[frozenset[str]]]

MOST_CANDIDATES = 16
"""Labels that may be in the constant set, the most frequent ones: all their subsets are tried."""


def best_constant_set(train: Samples) -> frozenset[str]:
    """The one set with the best mean F1 on the training part."""
    counts = Counter(chain(*train.sets))
    labels = sorted(counts, key=lambda label: (-counts[label], label))[:MOST_CANDIDATES]
    right = np.array([[label in elements for label in labels] for elements in train.sets], float)
    true_size = np.array([len(elements) for elements in train.sets])
    subsets = (np.arange(2 ** len(labels))[:, None] >> np.arange(len(labels))) & 1
    f1 = np.empty(len(subsets))
    for first in range(0, len(subsets), 1024):  # (1024, n) at a time
        part = subsets[first : first + 1024]
        whole = part.sum(axis=1, keepdims=True) + true_size
        share = np.divide(2 * (part @ right.T), whole, out=np.ones(whole.shape), where=whole > 0)
        f1[first : first + 1024] = share.mean(axis=1)
    best = subsets[int(f1.argmax())]
    return frozenset(label for label, there in zip(labels, best, strict=True) if there)


def _constant(split: Split) -> list[frozenset[str]]:
    return [best_constant_set(split.train)] * len(split.test)


def _everything(split: Split) -> list[frozenset[str]]:
    return [frozenset().union(*split.train.sets)] * len(split.test)


def _all_digits(split: Split) -> list[frozenset[str]]:
    return [frozenset(x) for x in split.test.X]


def _perfect(split: Split) -> list[frozenset[str]]:
    return split.test.sets


def _middle_of_the_string(split: Split) -> list[frozenset[str]]:
    return [frozenset([x[10:][3:6]]) for x in split.test.X]


YARDSTICKS: dict[str, Yardstick] = {
    "best constant set": _constant,
    "every label": _everything,
    "all digits of the input": _all_digits,
    "a perfect answer": _perfect,
    "the substring a[3:6]": _middle_of_the_string,
}
