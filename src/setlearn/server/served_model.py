"""A model as the server uses it: it describes itself, and answers many requests in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setlearn.errors import (
    SetlearnError,
    TruncationWarning,
    UnseenTokenWarning,
    UnseenValueWarning,
)
from setlearn.features import as_rows
from setlearn.files.plain_values import plain
from setlearn.persistence import SavedModel, read_model
from setlearn.records import RecordModel, reading_x
from setlearn.rules import Margin, Rule
from setlearn.server.monitoring import write_log_line

__all__ = ["Answer", "Ask", "Refusal", "ServedModel"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as a worker gets it, and how a model answers it.

    Attributes
    ----------
    operation : method of this class
        What is asked: it takes a model and returns one entry per input.
    inputs : list
    known : list of lists, or None
        The known elements of each input.
    top : int or None
        How many elements to rank.
    margin : (float, float) or None
        λ and ρ of a margin to use instead of the rule of the model.
    """

    operation: Callable[[Ask, RecordModel], list[Any]]
    inputs: list[Any]
    known: list[list[Any]] | None = None
    top: int | None = None
    margin: tuple[float, float] | None = None

    @property
    def batch_key(self) -> tuple[Any, ...]:
        """What requests must have in common to be answered in one call."""
        return self.operation, self.top, self.margin, self.known is None

    @property
    def known_sets(self) -> list[frozenset[Any]]:
        """The known elements of each input, as sets."""
        return [
            frozenset(tuple(element) if isinstance(element, list) else element for element in known)
            for known in self.known_lists
        ]

    @property
    def known_lists(self) -> list[list[Any]]:
        """The known elements of each input; empty lists if none are given."""
        return [[] for _ in self.inputs] if self.known is None else self.known

    def predict(self, model: RecordModel) -> list[Any]:
        """The set of each input, as a list."""
        return [plain(elements) for elements in model.predict(self.inputs)]

    def rank(self, model: RecordModel) -> list[Any]:
        """The elements of each input with their scores, best first, without known ones."""
        if self.known is None:
            rankings = model.predict_ranked(self.inputs, top=self.top)
        else:
            rankings = model.complete_ranked(self.inputs, self.known_sets, top=self.top)
        return [
            [{"element": plain(element), "score": score} for element, score in ranking]
            for ranking in rankings
        ]

    def complete(self, model: RecordModel) -> list[Any]:
        """What is missing in the known set of each input, as a list."""
        return [plain(elements) for elements in model.complete(self.inputs, self.known_sets)]

    def trace(self, model: RecordModel) -> list[Any]:
        """How the set of each input is built."""
        return [
            model.trace(x, known).to_dict()
            for x, known in zip(self.inputs, self.known_sets, strict=True)
        ]


class Answer(NamedTuple):
    """The answer to a request.

    Attributes
    ----------
    entries : list
        What was asked for, one entry per input.
    truncated : list of bool
        Whether a limit of the model cut the set off, one per input. A trace says this itself.
    unseen : list of bool
        Whether an input has values or tokens that training has not seen, one per input.
    """

    entries: list[Any]
    truncated: list[bool]
    unseen: list[bool]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request cannot be answered. The message repeats nothing of the input."""

    message: str


class ServedModel:
    """Answers requests, many at a time."""

    def __init__(self, saved: SavedModel) -> None:
        self.saved = saved
        self.model: RecordModel = reading_x(saved.model)

    @classmethod
    def load(cls, path: Path, trusted: Sequence[str]) -> ServedModel:
        """Read a model from its folder.

        Parameters
        ----------
        path : Path
        trusted : sequence of str
            Types that the model may contain, as in `setlearn.load`.

        Returns
        -------
        ServedModel

        Raises
        ------
        ModelError
            If there is no model, or it is damaged or not trusted.
        """
        return cls(read_model(path, trusted=trusted))

    def describe(self) -> dict[str, Any]:
        """What GET /v1/model answers, except for the name."""
        rule = self.model.rule_
        lam = rule.adjustable_values().get("lam")
        return {
            "task": self.model.task,
            "rule": repr(rule),
            "lam": None if lam is None else np.asarray(lam).tolist(),
            "lam_space": rule.get_params(deep=False).get("space"),
            "classes": plain(self.model.elements_),
            "reads": self._columns(),
            "examples": self.saved.about.get("examples", []),
            "facts": dict(self.saved.facts),
            "about": {k: v for k, v in self.saved.about.items() if k != "examples"},
            "card": self.saved.card,
        }

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Refusal]:
        """Answer requests that have the same ``batch_key``, in one call.

        If that fails, each of them is tried alone, so that a bad request does not spoil the
        others.

        Returns
        -------
        list of Answer or Refusal
            One per request.
        """
        try:
            return [*self._answer_together(asks)]
        except Exception:
            return [self._answer_alone(ask) for ask in asks]

    def _answer_together(self, asks: Sequence[Ask]) -> list[Answer]:
        batch = replace(
            asks[0],
            inputs=[x for ask in asks for x in ask.inputs],
            known=None if asks[0].known is None else [k for ask in asks for k in ask.known_lists],
        )
        model = self.model if batch.margin is None else self._under_margin(*batch.margin)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            entries = batch.operation(batch, model)
        truncated = _warned_of(caught, len(entries), TruncationWarning)
        unseen = _warned_of(caught, len(entries), UnseenTokenWarning, UnseenValueWarning)
        ends = np.cumsum([len(ask.inputs) for ask in asks])
        parts = [slice(end - len(ask.inputs), end) for ask, end in zip(asks, ends, strict=True)]
        return [Answer(entries[part], truncated[part], unseen[part]) for part in parts]

    def _answer_alone(self, ask: Ask) -> Answer | Refusal:
        try:
            if ask.margin is not None:
                self._under_margin(*ask.margin)
        except SetlearnError as error:  # says nothing about inputs, only about λ and ρ
            return Refusal(f"the model cannot use this rule: {error}; change it, or leave it out")
        try:
            return self._answer_together([ask])[0]
        except SetlearnError as error:
            return Refusal(self._advice(ask, error.without_values))
        except Exception as error:  # a learner may fail on an input in any way
            # Logged because it may be a bug; without the message, which may contain the input.
            name = ask.operation.__name__
            write_log_line({"worker": "failed", "operation": name, "with": type(error).__name__})
            return Refusal(self._advice(ask))

    def _under_margin(self, lam: float, rho: float) -> RecordModel:
        """The model under a margin with these λ and ρ.

        If its own rule has a λ and a ρ, everything else that the rule has learned stays, but for
        the floor of `Margin`: who sets λ wants to see what it keeps, as in the paper.
        """
        rule: Rule = self.model.rule_
        if {"lam", "rho"}.issubset(rule.adjustable):
            no_floor = {"choice_floor": 0.0} if "choice_floor" in rule.adjustable else {}
            rule = rule.adjusted(lam=lam, rho=rho, **no_floor)
        else:
            rule = Margin(lam, rho=rho, min_size=1)
        return self.model.with_rule(rule)

    def _columns(self) -> list[dict[str, str]]:
        return [{"name": c.name, "kind": c.kind} for c in self.model.reader.columns]

    def _advice(self, ask: Ask, otherwise: str | None = None) -> str:
        columns = ", ".join(f"{column['name']} ({column['kind']})" for column in self._columns())
        advice = f"the model reads {columns}: send one record or one value per input"
        if ask.known is not None:
            advice += (
                "; known elements must be ones that the model knows (GET /v1/model lists its "
                "labels) or candidates of their input, with one list per input"
            )
        problem = (
            self._problem(ask) or otherwise or "an input or a known element does not fit the model"
        )
        return f"{problem}; {advice}"

    def _problem(self, ask: Ask) -> str | None:
        """Say which input cannot be read and why, without its values; None if all can be read."""
        reader = self.model.reader
        for number, x in enumerate(ask.inputs):
            try:
                with warnings.catch_warnings(action="ignore"):
                    reader.read(as_rows([x], reader.columns))
            except SetlearnError as error:
                if error.without_values is not None:
                    return f"inputs[{number}]: {error.without_values}"
            except Exception:  # which the answer has had before
                return None
        return None


def _warned_of(
    caught: Sequence[warnings.WarningMessage],
    n_inputs: int,
    *kinds: type[TruncationWarning | UnseenTokenWarning | UnseenValueWarning],
) -> list[bool]:
    """Whether there was a warning of these kinds about each input."""
    messages = (each.message for each in caught)
    warned = {k for message in messages if isinstance(message, kinds) for k in message.samples}
    return [number in warned for number in range(n_inputs)]
