"""A cell: one table on one split. It trains each scorer once and answers under every rule."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from sklearn.base import BaseEstimator

from setlearn.experiments.measures import examples, gap_histograms, learned, measured
from setlearn.experiments.recipes import Answer, Recipe, Trained
from setlearn.experiments.samples import Samples, Split
from setlearn.experiments.table import Table
from setlearn.experiments.yardsticks import YARDSTICKS
from setlearn.rules import Margin

__all__ = ["CODE_VERSION", "Cell", "pair_name", "run_cell", "versions"]

CODE_VERSION = 2
"""Raise it when a change to the library changes what a cell finds: all are then done again."""

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")


def versions() -> dict[str, str]:
    """The versions that may change a figure."""
    return {name: version(name) for name in LIBRARIES}


def pair_name(scorer: str, rule: str) -> str:
    """What the answers of a scorer under a rule are filed under."""
    return f"{scorer} · {rule}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One table on one split; with a share below 1, its curve's system on fewer samples."""

    table: Table
    split: int
    share: float = 1.0

    @property
    def name(self) -> str:
        """How people call it."""
        whole = f"{self.table.name} split {self.split}"
        return whole if self.share == 1 else f"{whole} with {self.share:.4g} of the samples"

    def pairs(self) -> list[tuple[str, str]]:
        """The scorers and rules to answer under."""
        if self.share == 1:
            return self.table.pairs()
        system = self.table.system(self.table.curve)
        return [(system.scorer, system.rule)]

    def yardsticks(self) -> tuple[str, ...]:
        """The yardsticks to measure."""
        return self.table.yardsticks if self.share == 1 else ()

    @property
    def is_traced(self) -> bool:
        """Whether examples are traced: once a table is enough."""
        return self.split == 0 and self.share == 1

    def key(self, samples: Samples) -> str:
        """A hash of everything that decides what the cell finds."""
        settings = json.dumps(self.settings(samples), sort_keys=True)
        return hashlib.sha256(settings.encode()).hexdigest()[:20]

    def settings(self, samples: Samples) -> dict[str, Any]:
        """Everything that decides what the cell finds, in plain values."""
        pairs = self.pairs()
        return {
            "code": CODE_VERSION,
            "versions": versions(),
            "data": samples.digest(),
            "table": self.table.name,
            "split": self.split,
            "share": self.share,
            "of_sequences": self.table.of_sequences,
            "scorers": {s: _recipe_settings(self.table.scorers[s]) for s, _ in pairs},
            "rules": {rule: _settings(self.table.rules[rule]) for _, rule in pairs},
            "pairs": [pair_name(*pair) for pair in pairs],
            "yardsticks": list(self.yardsticks()),
            "traced": self.table.traced if self.is_traced else "",
        }


def run_cell(cell: Cell) -> dict[str, Any]:
    """Train, answer and measure: all that the report needs of a cell, ready for JSON."""
    wall, cpu = time.perf_counter(), time.process_time()
    samples = cell.table.source.load(cell.split)
    split = Split.draw(samples, cell.split, cell.share)
    scorers: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    traced: list[dict[str, Any]] = []
    for scorer in dict.fromkeys(scorer for scorer, _ in cell.pairs()):
        started = time.perf_counter()
        trained = cell.table.scorers[scorer].train(split.train, seed=cell.split)
        seconds = time.perf_counter() - started
        scorers[scorer] = {"fit_seconds": seconds, "history": trained.history, "gaps": []}
        for _, rule in (pair for pair in cell.pairs() if pair[0] == scorer):
            answer = trained.answer(cell.table.rules[rule], split.test)
            answers[pair_name(scorer, rule)] = _measured_answer(cell.table, split.test, answer)
            if rule == "Margin":
                scorers[scorer]["gaps"] = _gaps(trained, answer)
            if cell.is_traced and _is_traced(cell.table, scorer, rule):
                traced = examples(trained, answer, split.test)
    return {
        "table": cell.table.name,
        "split": cell.split,
        "share": cell.share,
        "origin": samples.origin,
        "n_train": len(split.train),
        "n_test": len(split.test),
        "true": measured(split.test, split.test.sets, of_sequences=False)["sizes"],
        "scorers": scorers,
        "answers": answers,
        "yardsticks": {
            name: measured(
                split.test, YARDSTICKS[name](split), of_sequences=cell.table.of_sequences
            )
            for name in cell.yardsticks()
        },
        "examples": traced,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": _peak_mb(),
    }


def _measured_answer(table: Table, test: Samples, answer: Answer) -> dict[str, Any]:
    return {
        **measured(test, answer.sets, of_sequences=table.of_sequences),
        "learned": learned(answer.rule),
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
        "n_truncated": answer.n_truncated,
    }


def _gaps(trained: Trained, answer: Answer) -> list[dict[str, Any]]:
    assert isinstance(answer.rule, Margin)
    return gap_histograms(trained, answer.rule)


def _is_traced(table: Table, scorer: str, rule: str) -> bool:
    system = table.system(table.traced)
    return (scorer, rule) == (system.scorer, system.rule)


def _recipe_settings(recipe: Recipe) -> dict[str, Any]:
    told = {"folds": getattr(recipe, "cv", None), "model": _settings(recipe.model)}
    return told | ({"examples": True} if getattr(recipe, "with_examples", False) else {})


def _settings(estimator: BaseEstimator) -> dict[str, Any]:
    """Class and parameters, in plain values that are the same in every process."""
    shown: dict[str, Any] = {"class": type(estimator).__name__}
    for name, value in estimator.get_params(deep=False).items():
        shown[name] = _plain(value)
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, BaseEstimator):
        return _settings(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"  # an address would differ in each run
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _peak_mb() -> float | None:
    """The most memory that this process ever had, where the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / (2**20 if sys.platform == "darwin" else 2**10))  # bytes on macOS
