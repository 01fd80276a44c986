"""What a cell writes down of an answer: every metric, set sizes, and what the plots need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from setlearn.experiments.recipes import Answer, Trained
from setlearn.experiments.samples import Samples
from setlearn.metrics import mean_f1, set_report
from setlearn.nodes import Mask, Nodes, dense_mask
from setlearn.rules import Margin, Rule
from setlearn.rules.max_margin import Gaps

__all__ = ["examples", "gap_histograms", "learned", "measured"]

MOST_SIZE = 20
"""Larger sets are counted together in a histogram of sizes."""

N_BINS = 40
N_EXAMPLES = 10
MOST_TRACE_LINES = 40


def measured(
    test: Samples, predicted: list[frozenset[str]], *, of_sequences: bool
) -> dict[str, Any]:
    """All metrics of ``setlearn.metrics``, and how often each set size was predicted."""
    return {
        "metrics": set_report(test.sets, predicted, sequences=of_sequences).to_dict(),
        "sizes": _histogram(predicted),
    }


def _histogram(sets: list[frozenset[str]]) -> list[int]:
    """How many sets have 0, 1, 2, … elements."""
    sizes = np.array([min(len(elements), MOST_SIZE) for elements in sets], dtype=np.intp)
    return [int(n) for n in np.bincount(sizes, minlength=MOST_SIZE + 1)]


def learned(rule: Rule) -> dict[str, Any]:
    """What a rule found out, of that which can be told in a few numbers."""
    names = ("lam_", "interval_", "feasible_", "cut_", "k_", "min_size_")
    found = {name: getattr(rule, name) for name in names if hasattr(rule, name)}
    return {name: _plain(value) for name, value in found.items()}


def gap_histograms(trained: Trained, rule: Margin) -> list[dict[str, Any]]:
    """The distribution of P - P̂ at each depth that the rule learned a λ for.

    P̂ is the middle between the lowest right and the highest wrong score, so that P - P̂ is the λ
    that a choice point would like best.
    """
    nodes, positive = trained.rule_nodes
    lam, interval = np.atleast_1d(rule.lam_), np.atleast_2d(rule.interval_)
    return [
        {
            "depth": depth,
            "lam": float(lam[depth]),
            "interval": _plain(interval[depth]),
            "counts": _gap_counts(nodes, positive, depth),
        }
        for depth in range(len(lam))
    ]


def _gap_counts(nodes: Nodes, positive: Mask, depth: int) -> list[int]:
    rows = np.flatnonzero(nodes.depth == depth)
    gaps = Gaps.of(nodes.probabilities[rows], dense_mask(positive[rows], slice(None)))
    wanted = gaps.target[np.isfinite(gaps.target)]
    counts, _ = np.histogram(np.clip(wanted, 0, 1), bins=N_BINS, range=(0, 1))
    return [int(n) for n in counts]


def examples(trained: Trained, answer: Answer, test: Samples) -> list[dict[str, Any]]:
    """Ten traced answers: right ones and wrong ones, half and half where there are enough."""
    pairs = zip(test.sets, answer.sets, strict=True)
    right = [row for row, (true, predicted) in enumerate(pairs) if true == predicted]
    wrong = sorted(set(range(len(test))) - set(right))
    half = N_EXAMPLES // 2
    n_right = min(len(right), max(half, N_EXAMPLES - len(wrong)))
    rows = right[:n_right] + wrong[: N_EXAMPLES - n_right]
    return [
        {
            "input": test.X[row] if isinstance(test.X, list) else f"test sample {row}",
            "true": sorted(test.sets[row]),
            "predicted": sorted(answer.sets[row]),
            "f1": mean_f1([test.sets[row]], [answer.sets[row]]),
            "trace": _shortened(trained.trace(answer, test, row)),
        }
        for row in rows
    ]


def _shortened(text: str) -> str:
    lines = text.splitlines()
    hidden = len(lines) - MOST_TRACE_LINES
    if hidden <= 0:
        return text
    # The end tells the result, so it stays.
    return "\n".join([*lines[: MOST_TRACE_LINES - 2], f"… {hidden + 1} more lines", lines[-1]])


def _plain(value: Any) -> Any:
    """Python numbers and lists, with None for what JSON does not know."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, Iterable):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
