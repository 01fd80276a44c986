"""The story of one label set: what was picked, at what score, and why it ended there."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from setlearn.rules.steps import Pick, Steps

__all__ = ["LabelTrace"]

SHOWN_LABELS = 20


@dataclass(frozen=True, slots=True, eq=False)
class LabelTrace:
    """Each step of the sequential process for one sample.

    ``print`` it for two tables, the picks and the scores; ``to_dict`` is ready for JSON.

    Attributes
    ----------
    labels : list
        The labels that the scores and penalties of each step belong to, in order.
    result : frozenset
        The set in the end.
    known : frozenset
        The labels that were in the memory from the start.
    steps : tuple of Pick
        At each step the penalised ``scores``, the ``penalties``, the ``winner`` (an index into
        ``labels``), whether it was ``kept``, and the ``memory`` after it.
    reason : str
        Why the process stopped.
    """

    labels: list[Hashable]
    result: frozenset[Hashable]
    known: frozenset[Hashable]
    steps: tuple[Pick, ...]
    reason: str
    columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        labels: Sequence[Hashable],
        walk: Steps,
        result: frozenset[Hashable],
        known: frozenset[Hashable],
    ) -> LabelTrace:
        """Put names to a rule's walk."""
        return cls(list(labels), result, known, walk.picks, walk.reason, walk.columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for ``json.dumps``."""
        return {
            "labels": [_plain(label) for label in self.labels],
            "known": [_plain(label) for label in self.labels if label in self.known],
            "steps": [
                {
                    "step": number,
                    "scores": [float(score) for score in pick.scores],
                    "penalties": None
                    if pick.penalties is None
                    else [float(penalty) for penalty in pick.penalties],
                    "figures": dict(pick.figures),
                    "winner": _plain(self.labels[pick.winner]),
                    "kept": pick.kept,
                    "memory": [_plain(self.labels[k]) for k in pick.memory],
                }
                for number, pick in enumerate(self.steps, 1)
            ],
            "result": [_plain(label) for label in self.labels if label in self.result],
            "reason": self.reason,
        }

    def __str__(self) -> str:
        parts = [_table(self._picks()), f"stopped: {self.reason}"]
        if self.steps:
            parts.append(_table(self._scores()))
            hidden = len(self.labels) - SHOWN_LABELS
            if hidden > 0:
                parts.append(f"… and {hidden} more labels with lower scores")
        return "\n\n".join(parts)

    def _picks(self) -> list[list[str]]:
        rows = [["step", "winner", *self.columns, "", "memory Z"]]
        for number, pick in enumerate(self.steps, 1):
            rows.append(
                [
                    str(number),
                    str(self.labels[pick.winner]),
                    *(f"{pick.figures[column]:.4f}" for column in self.columns),
                    "kept"
                    if pick.kept
                    else "not new"
                    if pick.winner in pick.memory
                    else "not kept",
                    "{" + ", ".join(str(self.labels[k]) for k in pick.memory) + "}",
                ]
            )
        return rows

    def _scores(self) -> list[list[str]]:
        start = self.steps[0].scores
        if self.steps[0].penalties is not None:
            start = start + self.steps[0].penalties
        order = np.argsort(-start, kind="stable")[:SHOWN_LABELS]
        title = "score" if self.steps[0].penalties is None else "score - penalty"
        rows = [[title, *(f"step {n}" for n in range(1, len(self.steps) + 1))]]
        for label in order:
            cells = [
                f"{pick.scores[label]:.4f}{'*' if pick.winner == label else ' '}"
                for pick in self.steps
            ]
            rows.append([str(self.labels[label]), *cells])
        return rows


def _table(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def _plain(label: Hashable) -> Any:
    if isinstance(label, float) and not isfinite(label):
        return str(label)  # JSON has no infinity
    return label if label is None or isinstance(label, str | int | float | bool) else str(label)
