"""One value of one record: what it is as a number, a text, a vector, a bag or tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from setlearn.errors import DataError
from setlearn.nodes import FloatArray

__all__ = ["Cell", "as_list", "as_number", "as_text", "is_missing", "says_missing", "shown"]

MISSING_NUMBERS = {"na", "n/a", "nan", "null", "none", "-", "?"}
"""What other programs write for a number that is not there."""

TRUTH = {"true": 1.0, "false": 0.0}


def is_missing(value: object) -> bool:
    """Whether nothing is there: None, nan, or a string of blanks."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float | np.floating) and value != value)


def says_missing(value: object) -> bool:
    """Whether a value is a word such as NA, which among numbers stands for nothing."""
    return isinstance(value, str) and value.strip().lower() in MISSING_NUMBERS


def as_number(value: object) -> float | None:
    """The finite number that a value is or spells, else None; true and false are 1 and 0."""
    if isinstance(value, str):
        truth = TRUTH.get(value.strip().lower())
        if truth is not None:
            return truth
        if "_" in value:  # which Python reads as a number, and nobody else does
            return None
    elif not isinstance(value, float | int | Real | np.bool_):  # the usual ones first, for speed
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_text(value: object) -> str | None:
    """The text that a value is; for a number or a boolean, as JSON would spell it, else None."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return str(value) if isinstance(value, Real) else None


def as_list(value: object) -> list[Any] | None:
    """The values of a list, a tuple or a 1-d array, else None."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 1 else None
    return list(value) if isinstance(value, list | tuple) else None


def shown(value: object) -> str:
    """A value as messages show it, cut where it is long."""
    text = repr(value).replace("\n", " ")  # which arrays have between rows
    return text if len(text) <= 60 else f"{text[:57]}..."


class Cell(NamedTuple):
    """One value, and where it stands, for messages."""

    place: str
    column: str
    value: Any

    @property
    def missing(self) -> bool:
        """Whether nothing is there."""
        return is_missing(self.value)

    def number(self) -> float:
        """The value as a number, nan where it is missing."""
        if self.missing or says_missing(self.value):
            return math.nan
        number = as_number(self.value)
        if number is None:
            raise self.refused("is no finite number")
        return number

    def vector(self) -> FloatArray:
        """The value as a vector, with nan where a number is missing."""
        values = self.value if isinstance(self.value, np.ndarray) else as_list(self.value)
        try:
            vector = np.asarray(values, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise self.refused("is no list of numbers") from None
        if vector.ndim != 1 or np.isinf(vector).any():
            raise self.refused("is no list of finite numbers")
        return vector

    def check(self, kind: str) -> None:
        """Raise an error unless the value can be read as one of this kind, or is missing."""
        if self.missing:
            return
        if kind == "number":
            self.number()
        elif kind == "vector":
            self.vector()
        elif kind == "bag":
            self.bag()
        elif kind == "tokens":
            self.tokens()
        else:
            self.text()

    def text(self) -> str:
        """The value as a text."""
        text = as_text(self.value)
        if text is None:
            raise self.refused("is no text")
        return text

    def tokens(self) -> list[str]:
        """The value as a list of tokens; a text is split at its spaces."""
        if isinstance(self.value, str):
            return self.value.split()
        values = as_list(self.value)
        tokens = None if values is None else [as_text(value) for value in values]
        if tokens is None or None in tokens:
            raise self.refused("is no list of texts")
        return tokens  # type: ignore[return-value]  # None has just been ruled out

    def bag(self) -> Mapping[str, float]:
        """The value as weights by name, without those that are 0 or missing."""
        if not isinstance(self.value, Mapping):
            raise self.refused("is no object with a number for each name")
        weights = {str(name): self._weight(name, value) for name, value in self.value.items()}
        return {name: weight for name, weight in weights.items() if weight}

    def refused(self, why: str) -> DataError:
        """The error that says where the value stands, and why it cannot be read."""
        return DataError(
            f"{self.place}: column {self.column!r} holds {shown(self.value)}, which {why}; "
            "correct the value, leave it empty, or give the column another kind"
        )

    def _weight(self, name: object, value: object) -> float:
        number = as_number(value)
        if number is None and is_missing(value):
            return 0.0
        if number is None:
            raise DataError(
                f"{self.place}: {name!r} in column {self.column!r} has the value {shown(value)}, "
                "which is no finite number; correct it or leave it out"
            )
        return number
