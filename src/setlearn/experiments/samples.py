"""Where the samples of an experiment come from, and how they are split."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from setlearn.datasets import leading_digits, load_benchmark, substrings
from setlearn.nodes import IntArray

__all__ = ["BenchmarkSource", "Samples", "Source", "Split", "TaskSource"]

TEST_SHARE = 0.3
"""The paper's protocol: 70 % to train on, 30 % to test."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Inputs and their true sets; elements are strings throughout."""

    X: Any  # list of str, or (n, features)
    sets: list[frozenset[str]]
    origin: str

    def __len__(self) -> int:
        return len(self.sets)

    def take(self, rows: IntArray) -> Samples:
        """The given samples alone."""
        return Samples(_safe_indexing(self.X, rows), [self.sets[i] for i in rows], self.origin)

    def digest(self) -> str:
        """A short name for these very samples, the same on every machine."""
        sha = hashlib.sha256()
        for part in _bytes_of(self.X):
            sha.update(part)
        for elements in self.sets:
            sha.update("\x1f".join(sorted(elements)).encode() + b"\x1e")
        return sha.hexdigest()[:16]

    def mean_size(self) -> float:
        """How many elements a set has on average."""
        return float(np.mean([len(elements) for elements in self.sets]))


class Source(Protocol):
    """Gives the samples of each split."""

    def load(self, split: int) -> Samples:
        """All samples, those to train on and those to test."""
        ...


@dataclass(frozen=True, slots=True)
class BenchmarkSource:
    """A data set of `load_benchmark`: the same samples for every split."""

    name: str

    def load(self, split: int) -> Samples:
        """Read the data set."""
        benchmark = load_benchmark(self.name)
        return Samples(benchmark.X, benchmark.sets(), benchmark.source)


@dataclass(frozen=True, slots=True)
class TaskSource:
    """One of the paper's tasks, drawn anew for each split, so that the error covers the draw."""

    task: Literal["leading_digits", "substrings"]
    n_samples: int = 1000

    def load(self, split: int) -> Samples:
        """Draw the samples; the split is the seed."""
        draw = {"leading_digits": leading_digits, "substrings": substrings}[self.task]
        X, sets = draw(self.n_samples, random_state=split)
        return Samples(X, sets, f"drawn by setlearn.datasets.{self.task}")


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Samples to train on and samples to test, with none in both."""

    train: Samples
    test: Samples

    @classmethod
    def draw(cls, samples: Samples, split: int, share: float) -> Split:
        """Part the samples at random; of those to train on use only a share.

        A smaller share is a part of every larger one, and all are tested on the same samples.
        """
        order = np.random.RandomState(split).permutation(len(samples))
        n_test = round(TEST_SHARE * len(samples))
        train = order[n_test:]
        n_train = max(2, round(share * len(train)))
        return cls(samples.take(train[:n_train]), samples.take(order[:n_test]))


def _bytes_of(X: Any) -> list[bytes]:
    if isinstance(X, list):
        return ["\x1f".join(X).encode()]
    parts = (X.data, X.indices, X.indptr) if isinstance(X, sparse.csr_array) else (X,)
    return [np.ascontiguousarray(part).tobytes() for part in parts]
