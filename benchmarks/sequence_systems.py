"""The systems that the benchmark of real sequences compares, all with the same methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.sequence_data import Samples, Tokens, tokens_of_element


class DefaultGenerator:
    """``SequenceSetGenerator`` with its defaults, on texts as users have them."""

    def __init__(self, data: str, seed: int) -> None:
        from setlearn import SequenceSetGenerator

        self.data = data
        self.model = SequenceSetGenerator(random_state=seed)
        self.settings = " ".join(repr(self.model).split())

    def fit(self, train: Samples) -> DefaultGenerator:
        self.model.fit(train.texts, train.text_sets)
        return self

    def predict(self, samples: Samples) -> list[frozenset[Tokens]]:
        predicted = self.model.predict(samples.texts)
        return [frozenset(tokens_of_element(self.data, y) for y in ys) for ys in predicted]

    def top(self, samples: Samples) -> list[Tokens | None]:
        """Return the best answer of each sample, None where there is none."""
        rankings = self.model.predict_ranked(samples.texts, top=1)
        return [tokens_of_element(self.data, r[0][0]) if r else None for r in rankings]


class Yardstick:
    """A baseline of `benchmarks.yardsticks`, which reads tokens."""

    def __init__(self, model: Any) -> None:
        self.model = model
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(model).items())
        self.settings = f"{type(model).__name__}({parameters})"

    def fit(self, train: Samples) -> Yardstick:
        self.model.fit(train.X, train.Y)
        return self

    def predict(self, samples: Samples) -> list[frozenset[Tokens]]:
        return self.model.predict(samples.X)

    def top(self, samples: Samples) -> list[Tokens | None]:
        """Return the best answer of each sample."""
        return self.model.top(samples.X)


# Each module is imported by the cell that uses it, so that the memory of a cell is its own.


def suffix_rules(data: str, seed: int) -> Yardstick:
    from benchmarks.yardsticks.suffix_rules import SuffixRules

    return Yardstick(SuffixRules())


def joint_ngram(data: str, seed: int) -> Yardstick:
    from benchmarks.yardsticks.joint_ngram import JointNgram

    return Yardstick(JointNgram(random_state=seed))


def aligned_trees(data: str, seed: int) -> Yardstick:
    from benchmarks.yardsticks.aligned_trees import AlignedTrees

    return Yardstick(AlignedTrees(random_state=seed))


def one_hot_classifier(data: str, seed: int) -> Yardstick:
    from benchmarks.yardsticks.one_hot_classifier import OneHotClassifier

    return Yardstick(OneHotClassifier(random_state=seed))


def nearest_neighbours(data: str, seed: int) -> Yardstick:
    from benchmarks.yardsticks.nearest import NearestNeighbours

    return Yardstick(NearestNeighbours())


def token_analogy(data: str, seed: int) -> Yardstick:
    from benchmarks.yardsticks.token_analogy import TokenAnalogy

    return Yardstick(TokenAnalogy(random_state=seed))


@dataclass(frozen=True)
class System:
    """How a system is built for a data set and a seed, and the files that its settings are in."""

    build: Callable[[str, int], DefaultGenerator | Yardstick]
    sources: tuple[str, ...]


def yardstick_files(*names: str) -> tuple[str, ...]:
    return tuple(f"benchmarks/yardsticks/{name}.py" for name in names)


SYSTEMS = {
    "default": System(DefaultGenerator, ("src",)),
    "suffix": System(suffix_rules, yardstick_files("suffix_rules")),
    "ngram": System(joint_ngram, yardstick_files("joint_ngram", "alignment", "cut")),
    "trees": System(aligned_trees, yardstick_files("aligned_trees", "alignment", "cut")),
    "classifier": System(one_hot_classifier, ("src", *yardstick_files("one_hot_classifier"))),
    "nearest": System(nearest_neighbours, yardstick_files("nearest", "cut")),
    "analogy": System(token_analogy, yardstick_files("token_analogy", "cut")),
}

SYSTEMS_OF = {
    "cmudict_multi": ("default", "ngram", "trees"),
    "lemminflect": ("default", "suffix"),
    "lemminflect_80": ("default", "suffix"),
    "kg_umls": ("default", "classifier", "nearest", "analogy"),
    "mm_bindings_ql": ("default", "nearest"),
    "babi_qa8": ("default", "classifier", "nearest"),
    "g2p_fre": ("default", "ngram", "trees"),
    "g2p_dut": ("default", "ngram", "trees"),
    "g2p_hun": ("default", "ngram", "trees"),
    "g2p_geo": ("default", "ngram", "trees"),
    "cmudict_g014b2b": ("default", "ngram"),
}
"""The systems that make sense for each data set.

Symbolic unification solves mm_bindings_ql exactly, so it is no yardstick for learning.
"""
