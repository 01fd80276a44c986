"""The steps by which a rule explains its decision at one choice point, and how to show them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from setlearn.nodes import BoolArray, FloatArray

__all__ = ["LabelTrace", "Pick", "Steps", "best_first", "short_name"]

SHOWN_LABELS, LONGEST_NAME, LONGEST_MEMORY = 20, 60, 100


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """One step: the scores, the winner, and the memory Z after it.

    A winner that is not ``kept`` is the one at which the process stopped or, with the robust
    stop of `Margin`, a repeat that only raised its own counter.
    """

    scores: FloatArray  # (V,) after the penalties, if there are any
    penalties: FloatArray | None  # (V,) what the memory costs each choice; None: no such process
    winner: int
    kept: bool
    memory: tuple[int, ...]
    figures: Mapping[str, float] = field(default_factory=dict)  # what decided on the winner


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """All steps at one choice point, and why they ended.

    ``columns`` are the names of the figures that every pick has, in the order to show them.
    """

    picks: tuple[Pick, ...]
    reason: str
    columns: tuple[str, ...] = ()

    def after(self, known: Sequence[int]) -> Steps:
        """The same steps with these choices in the memory from the start."""
        picks = [replace(pick, memory=(*known, *pick.memory)) for pick in self.picks]
        return replace(self, picks=tuple(picks))


@dataclass(frozen=True, slots=True, eq=False)
class LabelTrace:
    """How the set of one sample was built, step by step.

    Print it for tables of the picks and the scores; ``to_dict`` is ready for JSON.

    Attributes
    ----------
    labels : list
        The labels that the scores and penalties of each step belong to, in order.
    result : frozenset
        The predicted set, with the known elements.
    known : frozenset
        The labels that were in the memory from the start.
    steps : tuple of Pick
        At each step the penalised ``scores``, the ``penalties``, the ``winner`` (an index into
        ``labels``), whether it was ``kept``, and the ``memory`` after it.
    reason : str
        Why the process stopped.
    columns : tuple of str
        The names of the figures of every step, in the order to show them.
    kind : str
        What the labels are called.
    """

    labels: list[Hashable]
    result: frozenset[Hashable]
    known: frozenset[Hashable]
    steps: tuple[Pick, ...]
    reason: str
    columns: tuple[str, ...] = ()
    kind: str = "label"

    @classmethod
    def of(
        cls,
        labels: Sequence[Hashable],
        steps: Steps,
        result: frozenset[Hashable],
        known: frozenset[Hashable],
        kind: str = "label",
    ) -> LabelTrace:
        """Put the names of labels to a rule's steps.

        Parameters
        ----------
        labels : sequence
            The labels in the order of the scores.
        steps : Steps
            What the rule did, with labels as indices.
        result : frozenset
            The predicted labels, the known ones included.
        known : frozenset
        kind : str, default="label"
            What the labels are called.

        Returns
        -------
        LabelTrace
        """
        return cls(list(labels), result, known, steps.picks, steps.reason, steps.columns, kind)

    @property
    def truncated(self) -> bool:
        """Sets of labels are never cut off."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for ``json.dumps``."""
        return {
            "kind": self.kind,
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
                parts.append(f"… and {hidden} more {self.kind}s with lower scores")
        return "\n\n".join(parts)

    def _picks(self) -> list[list[str]]:
        rows = [["step", "winner", *self.columns, "", "memory Z"]]
        for number, pick in enumerate(self.steps, 1):
            rows.append(
                [
                    str(number),
                    self._name(pick.winner),
                    *(_figure(pick.figures[column]) for column in self.columns),
                    "kept"
                    if pick.kept
                    else "not new"
                    if pick.winner in pick.memory
                    else "not kept",
                    self._memory(pick),
                ]
            )
        return rows

    def _scores(self) -> list[list[str]]:
        start, penalties = self.steps[0].scores, self.steps[0].penalties
        if penalties is None:  # the scores are the same at every step
            order = np.argsort(-start, kind="stable")[:SHOWN_LABELS]
            return [[self.kind, "score"]] + [[self._name(k), f"{start[k]:.4f}"] for k in order]
        order = np.argsort(-(start + penalties), kind="stable")[:SHOWN_LABELS]
        rows = [["score - penalty", *(f"step {n}" for n in range(1, len(self.steps) + 1))]]
        for label in order:
            cells = [
                f"{pick.scores[label]:.4f}{'*' if pick.winner == label else ' '}"
                for pick in self.steps
            ]
            rows.append([self._name(label), *cells])
        return rows

    def _memory(self, pick: Pick) -> str:
        """The memory after a step; where its elements are long, only how many there are."""
        text = "{" + ", ".join(self._name(k) for k in pick.memory) + "}"
        return text if len(text) <= LONGEST_MEMORY else f"{len(pick.memory)} {self.kind}s"

    def _name(self, choice: int) -> str:
        return short_name(self.labels[choice])


def best_first(scores: FloatArray, among: BoolArray) -> list[int]:
    """The choices in a mask, by falling score; ties keep their order.

    Parameters
    ----------
    scores : array, shape (V,)
    among : array of bool, shape (V,)
        The choices to list.

    Returns
    -------
    list of int
        Indices into ``scores``.
    """
    order = np.argsort(-scores, kind="stable")
    return [int(choice) for choice in order[among[order]]]


def short_name(label: Hashable) -> str:
    """How a label or a candidate is called in tables and sentences; long texts are cut off."""
    text = str(label)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _table(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _plain(label: Hashable) -> Any:
    if isinstance(label, float) and not isfinite(label):
        return str(label)  # JSON has no infinity
    if isinstance(label, tuple):
        return [_plain(token) for token in label]
    return label if label is None or isinstance(label, str | int | float | bool) else str(label)
