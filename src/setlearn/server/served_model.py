"""A model as the server uses it: what it is, and answers to many requests in one call."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from setlearn.errors import SetlearnError
from setlearn.files.plain_values import plain
from setlearn.persistence import SavedModel, read_model
from setlearn.records import RecordModel, reading_x
from setlearn.rules import Margin

__all__ = ["Ask", "Refusal", "ServedModel"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, as a worker gets it: what to do with which inputs."""

    operation: str
    inputs: list[Any]
    known: list[list[Any]] | None = None
    top: int | None = None
    rule: tuple[float, float] | None = None

    @property
    def manner(self) -> tuple[Any, ...]:
        """What requests must have in common to be answered in one call."""
        return self.operation, self.top, self.rule


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request cannot be answered; nothing of the input is repeated."""

    message: str


class ServedModel:
    """Answers requests, many at a time."""

    def __init__(self, saved: SavedModel) -> None:
        self.saved = saved
        bare = not isinstance(saved.model, RecordModel)
        self.model: RecordModel = reading_x(saved.model) if bare else saved.model

    @classmethod
    def load(cls, path: Path, trusted: Sequence[str]) -> ServedModel:
        """Read the model from its folder."""
        return cls(read_model(path, trusted=trusted))

    def describe(self) -> dict[str, Any]:
        """What GET /v1/model tells, but for the name."""
        inner = self.model.model
        lam = getattr(inner.rule_, "lam_", None)
        return {
            "task": self.model.task,
            "rule": repr(inner.rule_),
            "lam": None if lam is None else np.asarray(lam).tolist(),
            "classes": plain(inner.classes_.tolist()) if hasattr(inner, "classes_") else None,
            "reads": self._reads(),
            "examples": self.saved.about.get("examples", []),
            "facts": dict(self.saved.facts),
            "about": {k: v for k, v in self.saved.about.items() if k != "examples"},
            "card": self.saved.card,
        }

    def answer(self, asks: Sequence[Ask]) -> list[Any]:
        """One answer or `Refusal` for each request; all have the same manner.

        They are answered in one call. Only where that fails is each of them tried alone, so that
        one bad request does not spoil the others.
        """
        try:
            return self._together(asks)
        except Exception:
            return [self._alone(ask) for ask in asks]

    def _alone(self, ask: Ask) -> Any:
        try:
            return self._together([ask])[0]
        except SetlearnError:
            return Refusal(self._advice(ask))
        except Exception as error:  # a learner may stumble over an input in any way
            # Told to whoever runs the server, for it may be ours to mend; without the message,
            # which may hold some of the input.
            told = {"worker": "failed", "operation": ask.operation, "with": type(error).__name__}
            print(json.dumps(told), file=sys.stderr, flush=True)  # noqa: T201  # the log
            return Refusal(self._advice(ask))

    def _together(self, asks: Sequence[Ask]) -> list[Any]:
        inputs = [one for ask in asks for one in ask.inputs]
        known = [one for ask in asks for one in (ask.known or [[] for _ in range(len(ask.inputs))])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cut-off sets, which traces tell of
            answers = OPERATIONS[asks[0].operation](self, asks[0], inputs, known)
        ends = np.cumsum([len(ask.inputs) for ask in asks])
        return [answers[end - len(ask.inputs) : end] for ask, end in zip(asks, ends, strict=True)]

    def _predict(self, ask: Ask, inputs: list[Any], known: list[Any]) -> list[Any]:
        return [plain(one) for one in self.model.predict(inputs)]

    def _rank(self, ask: Ask, inputs: list[Any], known: list[Any]) -> list[Any]:
        ranked = self.model.predict_ranked(inputs, top=ask.top)
        return [[{"element": plain(e), "score": score} for e, score in one] for one in ranked]

    def _complete(self, ask: Ask, inputs: list[Any], known: list[Any]) -> list[Any]:
        sets = [self._known(one) for one in known]
        return [plain(one) for one in self.model.complete(inputs, sets)]

    def _trace(self, ask: Ask, inputs: list[Any], known: list[Any]) -> list[Any]:
        model = self.model if ask.rule is None else self._with_rule(*ask.rule)
        return [
            model.trace(one, self._known(given)).to_dict()
            for one, given in zip(inputs, known, strict=True)
        ]

    def _with_rule(self, lam: float, rho: float) -> RecordModel:
        """The model with another λ and ρ; what else its margin has learned stays."""
        estimator = copy(self.model.model)
        rule = estimator.rule_
        if isinstance(rule, Margin):
            changed = copy(rule).set_params(lam=lam, rho=rho)
        else:
            changed = Margin(lam, rho=rho, min_size=1)
        estimator.rule_, estimator.completion_ = changed, None
        return replace(self.model, model=estimator)

    def _known(self, elements: list[Any]) -> frozenset[Any]:
        return frozenset(tuple(one) if isinstance(one, list) else one for one in elements)

    def _reads(self) -> list[dict[str, str]]:
        return [{"name": c.name, "kind": c.kind} for c in self.model.reader.columns]

    def _advice(self, ask: Ask) -> str:
        columns = ", ".join(f"{one['name']} ({one['kind']})" for one in self._reads())
        advice = f"the model reads {columns}: send one record, or one value, for each input"
        if ask.known is not None:
            advice += (
                "; known elements must be ones that it knows, one list for each input "
                "(GET /v1/model lists its labels)"
            )
        if ask.top is not None:
            advice += "; top is for labels only"
        return f"an input or a known element does not fit the model; {advice}"


OPERATIONS: dict[str, Callable[[ServedModel, Ask, list[Any], list[Any]], list[Any]]] = {
    "predict": ServedModel._predict,
    "rank": ServedModel._rank,
    "complete": ServedModel._complete,
    "trace": ServedModel._trace,
}
