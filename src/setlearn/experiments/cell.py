"""A cell: one table on one split. It fits each scorer once and predicts under every rule."""

from __future__ import annotations

import hashlib
import json
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from setlearn.errors import TruncationWarning
from setlearn.estimators.base import SetPredictor
from setlearn.experiments.samples import Samples, Split
from setlearn.experiments.systems import YARDSTICKS
from setlearn.experiments.table import Table
from setlearn.metrics import mean_f1, set_report
from setlearn.nodes import Mask, Nodes, dense_mask
from setlearn.rules import Rule
from setlearn.rules.max_margin import Gaps

__all__ = ["CODE_VERSION", "ExperimentCell", "pair_name", "run_cell", "versions"]

CODE_VERSION = 4
"""Raise it when a change to the library changes results: all cells are then run again."""

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")

MOST_SIZE = 20
"""Larger sets are counted together in a histogram of sizes."""

N_BINS = 40
N_EXAMPLES = 10
MOST_TRACE_LINES = 40


def versions() -> dict[str, str]:
    """The versions of libraries that may change a figure."""
    return {name: version(name) for name in LIBRARIES}


def pair_name(scorer: str, rule: str) -> str:
    """The key of a scorer under a rule in the results of a cell.

    Parameters
    ----------
    scorer, rule : str
        Names in the table.

    Returns
    -------
    str
    """
    return f"{scorer} · {rule}"


@dataclass(frozen=True, slots=True)
class ExperimentCell:
    """One table on one split.

    Parameters
    ----------
    table : Table
    split : int
        The seed of everything random in the cell.
    share : float, default=1
        Below 1, only the system of the table's curve is run, on this share of the training
        samples.
    """

    table: Table
    split: int
    share: float = 1.0

    @property
    def name(self) -> str:
        """The name in messages."""
        name = f"{self.table.name} split {self.split}"
        return name if self.share == 1 else f"{name} with {self.share:.4g} of the samples"

    def rules_by_scorer(self) -> dict[str, list[str]]:
        """The scorers to fit, and the rules to predict under with each of them."""
        pairs = self.table.pairs()
        if self.share < 1:
            system = self.table.system(self.table.curve)
            pairs = [(system.scorer, system.rule)]
        rules: dict[str, list[str]] = {}
        for scorer, rule in pairs:
            rules.setdefault(scorer, []).append(rule)
        return rules

    def yardsticks(self) -> tuple[str, ...]:
        """The yardsticks to measure."""
        return self.table.yardsticks if self.share == 1 else ()

    @property
    def traced_pair(self) -> tuple[str, str] | None:
        """The scorer and rule whose predictions are traced; one cell per table is enough."""
        if self.split != 0 or self.share < 1:
            return None
        system = self.table.system(self.table.traced)
        return system.scorer, system.rule

    def key(self, samples: Samples) -> str:
        """A hash of everything that decides the results."""
        settings = json.dumps(self.settings(samples), sort_keys=True)
        return hashlib.sha256(settings.encode()).hexdigest()[:20]

    def settings(self, samples: Samples) -> dict[str, Any]:
        """Everything that decides the results, in plain values."""
        rules = self.rules_by_scorer()
        used = dict.fromkeys(rule for names in rules.values() for rule in names)
        return {
            "code": CODE_VERSION,
            "versions": versions(),
            "data": samples.digest(),
            "table": self.table.name,
            "split": self.split,
            "share": self.share,
            "of_sequences": self.table.of_sequences,
            "scorers": {name: _plain_setting(self.table.scorers[name]) for name in rules},
            "rules": {name: _plain_setting(self.table.rules[name]) for name in used},
            "pairs": rules,
            "yardsticks": list(self.yardsticks()),
            "traced": self.traced_pair,
        }


def run_cell(cell: ExperimentCell) -> dict[str, Any]:
    """Fit, predict and measure. The result holds all that reports need, ready for JSON."""
    wall, cpu = time.perf_counter(), time.process_time()
    table = cell.table
    samples = table.source.load(cell.split)
    split = Split.draw(samples, cell.split, cell.share)
    scorers: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    traces: list[dict[str, Any]] = []
    for scorer, rules in cell.rules_by_scorer().items():
        started = time.perf_counter()
        model: Any = clone(table.scorers[scorer]).set_params(random_state=cell.split)
        model.fit(split.train.X, split.train.sets)
        seconds = time.perf_counter() - started
        scorers[scorer] = {"fit_seconds": seconds, "history": model.history_, "gaps": []}
        for rule in rules:
            answer = _Answer.under(model, table.rules[rule], split)
            answers[pair_name(scorer, rule)] = answer.measured(table)
            if not scorers[scorer]["gaps"]:
                scorers[scorer]["gaps"] = answer.gap_histograms()
            if cell.traced_pair == (scorer, rule):
                traces = answer.traced_examples()
    return {
        "table": table.name,
        "split": cell.split,
        "share": cell.share,
        "origin": samples.origin,
        "n_train": len(split.train),
        "n_test": len(split.test),
        "true": _size_histogram(split.test.sets),
        "scorers": scorers,
        "answers": answers,
        "yardsticks": {
            name: _measured(split.test, YARDSTICKS[name](split), table)
            for name in cell.yardsticks()
        },
        "examples": traces,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": _peak_mb(),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """A fitted predictor under one rule, and what it predicts for the test samples."""

    model: SetPredictor
    rule: Any  # fitted
    rule_samples: tuple[Any, ...]
    test: Samples
    sets: list[frozenset[str]]
    n_truncated: int
    fit_seconds: float
    predict_seconds: float

    @classmethod
    def under(cls, model: Any, rule: Rule, split: Split) -> _Answer:
        """Fit the rule on the scores of a fitted model, and predict."""
        # Rules are fitted on held-out samples; a network that held none out has seen them all.
        kept = model.rule_samples_ is not None
        rule_samples = () if kept else (split.train.X, split.train.sets)
        started = time.perf_counter()
        under_rule = model.with_rule(rule, *rule_samples)
        fitted = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # counted instead
            rankings = under_rule.predict_ranked(split.test.X)
        return cls(
            model=under_rule,
            rule=under_rule.rule_,
            rule_samples=rule_samples,
            test=split.test,
            sets=[frozenset(element for element, _ in ranking) for ranking in rankings],
            n_truncated=sum(ranking.truncated for ranking in rankings),
            fit_seconds=fitted - started,
            predict_seconds=time.perf_counter() - fitted,
        )

    def measured(self, table: Table) -> dict[str, Any]:
        """All metrics, what the rule has learned, and the costs."""
        return {
            **_measured(self.test, self.sets, table),
            "learned": {name: _plain_number(fact) for name, fact in self.rule.facts().items()},
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "n_truncated": self.n_truncated,
        }

    def gap_histograms(self) -> list[dict[str, Any]]:
        """The distribution of P - P̂ at each depth that the rule has learned a λ for.

        P̂ is the middle between the lowest right and the highest wrong score, so P - P̂ is the
        best λ for a single choice point. Rules without a λ, or with one on another scale than
        that of probabilities, have no histograms.
        """
        if not hasattr(self.rule, "interval_") or getattr(self.rule, "space", "") == "log":
            return []
        nodes, positive = self.model.choice_points(*self.rule_samples)
        lam, interval = np.atleast_1d(self.rule.lam_), np.atleast_2d(self.rule.interval_)
        return [
            {
                "depth": depth,
                "lam": float(lam[depth]),
                "interval": _plain_number(interval[depth]),
                "counts": _gap_counts(nodes, positive, depth),
            }
            for depth in range(len(lam))
        ]

    def traced_examples(self) -> list[dict[str, Any]]:
        """Ten traced predictions: right and wrong ones, half of each if there are enough."""
        pairs = zip(self.test.sets, self.sets, strict=True)
        right = [row for row, (true, predicted) in enumerate(pairs) if true == predicted]
        wrong = sorted(set(range(len(self.test))) - set(right))
        half = N_EXAMPLES // 2
        n_right = min(len(right), max(half, N_EXAMPLES - len(wrong)))
        return [
            self._traced_example(row) for row in right[:n_right] + wrong[: N_EXAMPLES - n_right]
        ]

    def _traced_example(self, row: int) -> dict[str, Any]:
        x, true, predicted = self.test.X[row], self.test.sets[row], self.sets[row]
        return {
            "input": x if isinstance(x, str) else f"test sample {row}",
            "true": sorted(true),
            "predicted": sorted(predicted),
            "f1": mean_f1([true], [predicted]),
            "trace": _shortened(str(self.model.trace(x))),
        }


def _measured(test: Samples, predicted: list[frozenset[str]], table: Table) -> dict[str, Any]:
    """All metrics of ``setlearn.metrics``, and how often each set size was predicted."""
    report = set_report(test.sets, predicted, sequences=table.of_sequences)
    return {"metrics": report.to_dict(), "sizes": _size_histogram(predicted)}


def _size_histogram(sets: list[frozenset[str]]) -> list[int]:
    """How many sets have 0, 1, 2, … elements."""
    sizes = np.array([min(len(elements), MOST_SIZE) for elements in sets], dtype=np.intp)
    return [int(n) for n in np.bincount(sizes, minlength=MOST_SIZE + 1)]


def _gap_counts(nodes: Nodes, positive: Mask, depth: int) -> list[int]:
    rows = np.flatnonzero(nodes.depth == depth)
    gaps = Gaps.of(nodes.probabilities[rows], dense_mask(positive[rows], slice(None)))
    targets = gaps.target[np.isfinite(gaps.target)]
    counts, _ = np.histogram(np.clip(targets, 0, 1), bins=N_BINS, range=(0, 1))
    return [int(n) for n in counts]


def _shortened(text: str) -> str:
    lines = text.splitlines()
    n_hidden = len(lines) - MOST_TRACE_LINES
    if n_hidden <= 0:
        return text
    # For labels the last line shows the result, for sequences the first ones do.
    return "\n".join([*lines[: MOST_TRACE_LINES - 2], f"… {n_hidden + 1} more lines", lines[-1]])


def _plain_number(value: Any) -> Any:
    """Python numbers and lists, with None where JSON has no number."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, Iterable):
        return [_plain_number(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _plain_setting(value: Any) -> Any:
    """A parameter in plain values that are the same in every process."""
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False).items()
        return {"class": type(value).__name__} | {k: _plain_setting(v) for k, v in parameters}
    if isinstance(value, list | tuple):
        return [_plain_setting(entry) for entry in value]
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"  # its address would differ in each run
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _peak_mb() -> float | None:
    """The peak memory of this process, where the system reports it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / (2**20 if sys.platform == "darwin" else 2**10))  # bytes on macOS
