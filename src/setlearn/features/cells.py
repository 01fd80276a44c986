"""One value of one record, and the kinds of values that a column can hold."""

from __future__ import annotations

import math
import re
from calendar import isleap
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from setlearn.errors import DataError
from setlearn.missing_values import is_missing
from setlearn.nodes import FloatArray

__all__ = [
    "KINDS",
    "LEADING_ZERO",
    "Cell",
    "Kind",
    "as_date",
    "as_list",
    "as_number",
    "as_text",
    "guess_kind",
    "is_missing_word",
    "short_repr",
]

Kind: TypeAlias = Literal[
    "number", "category", "text", "date", "vector", "bag", "tokens", "ignored", "candidates"
]
"""How a column is read. A column of the kind "ignored" is not read."""

KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "candidates")
"""The kinds that users may give to columns; lists of candidates are named in another way."""

MISSING_WORDS = {"na", "n/a", "nan", "null", "none", "-", "?"}
"""Words that other programs write for a missing number."""

BOOLEAN_WORDS = {"true": 1.0, "false": 0.0}

FEW_CATEGORIES, MOST_CATEGORIES = 30, 500
LEAST_USE_OF_FEW, LEAST_USE = 5, 10
"""How often each category comes on average: with few of them, and with more."""
LONGEST_CATEGORY = 40
"""A column with longer texts is a text, even if the texts repeat."""

ISO_DATE = re.compile(
    r"\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?)?(Z|[+-]\d\d:?\d\d)?\s*$"
)
"""Dates as other programs write them; fewer digits might be anything."""

DOTTED_DATE = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\.(\d{4})(?=[T ]|\s*$)")
"""A day, a month and a year with dots between, as in much of Europe, at the start of a date."""

SPANS = {"Interval", "Period"}
"""Values of pandas that are categories: ranges of numbers as of ``pd.cut``, months and so on."""

LEADING_ZERO = re.compile(r"\s*0\d+\s*$")
"""Postcodes and similar codes, which would lose their leading zero as numbers."""


def is_missing_word(value: object) -> bool:
    """Whether a value is a word such as NA, which marks a missing number."""
    return isinstance(value, str) and value.strip().lower() in MISSING_WORDS


def as_number(value: object) -> float | None:
    """Convert a value or its spelling to a finite number, else None; true and false are 1 and 0."""
    if isinstance(value, str):
        boolean = BOOLEAN_WORDS.get(value.strip().lower())
        if boolean is not None:
            return boolean
        if "_" in value:  # only Python reads 1_000 as a number
            return None
    elif not isinstance(value, float | int | Real | np.bool_ | Decimal):  # the common ones first
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_date(value: object) -> datetime | None:
    """Convert a date, a time stamp or its spelling to a time in UTC, else None.

    A date is spelled 2024-05-31 or 31.05.2024. A time without a zone counts as UTC, a date as its
    first second.
    """
    if isinstance(value, str):
        dotted = DOTTED_DATE.match(value)
        if dotted:
            day, month, year = dotted.groups()
            value = f"{year}-{month:0>2}-{day:0>2}{value[dotted.end() :]}"
        if not ISO_DATE.match(value):
            return None
        try:
            value = datetime.fromisoformat(value.strip().replace(",", "."))
        except ValueError:  # such as the 31st of February
            return None
    elif isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # in the first or the last hours of the calendar
        return None


def as_text(value: object) -> str | None:
    """Return a text as it is, a number or a boolean as JSON spells it, else None.

    Whole numbers are spelled alike: pandas makes 1.0 of a 1 if another value is missing.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    is_span = type(value).__name__ in SPANS  # pandas may not be installed
    return str(value) if is_span or isinstance(value, Real | Decimal) else None


def as_list(value: object) -> list[Any] | None:
    """Return the values of a list, a tuple or a 1-d array, else None."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 1 else None
    return list(value) if isinstance(value, list | tuple) else None


def short_repr(value: object) -> str:
    """Show a value in a message, cut off if it is long."""
    text = repr(value).replace("\n", " ")  # arrays have line breaks between rows
    return text if len(text) <= 60 else f"{text[:57]}..."


class Cell(NamedTuple):
    """One value, with its place and column for error messages."""

    place: str
    column: str
    value: Any

    @property
    def missing(self) -> bool:
        """Whether there is no value."""
        return is_missing(self.value)

    def number(self) -> float:
        """Read the value as a number; nan if it is missing."""
        if self.missing or is_missing_word(self.value):
            return math.nan
        number = as_number(self.value)
        if number is None:
            raise self.error("is not a finite number")
        return number

    def vector(self) -> FloatArray:
        """Read the value as a vector, with nan for each missing number."""
        values = self.value if isinstance(self.value, np.ndarray) else as_list(self.value)
        try:
            vector = np.asarray(values, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise self.error("is not a list of numbers") from None
        if vector.ndim != 1 or np.isinf(vector).any():
            raise self.error("is not a list of finite numbers")
        return vector

    def time(self) -> FloatArray:
        """Read the value as a date: its time in years, and where in the year, week and day it is.

        Returns
        -------
        array of shape (7,)
            Years since 2000, then points on three circles; nan everywhere if it is missing.
        """
        if self.missing or is_missing_word(self.value):
            return np.full(7, math.nan)
        moment = as_date(self.value)
        if moment is None:
            raise self.error("is not a date such as 2024-05-31, 2024-05-31 14:30 or 31.05.2024")
        day = (moment.hour * 60 + moment.minute) / 1440 + moment.second / 86400
        year = (moment.timetuple().tm_yday - 1 + day) / (365 + isleap(moment.year))
        turns = 2 * math.pi * np.array([year, (moment.weekday() + day) / 7, day])
        return np.concatenate([[moment.year - 2000 + year], np.cos(turns), np.sin(turns)])

    def check(self, kind: str) -> None:
        """Raise a DataError if the value is there and cannot be read as this kind."""
        if not self.missing:
            readers = {
                "number": self.number,
                "date": self.time,
                "vector": self.vector,
                "bag": self.bag,
                "tokens": self.tokens,
            }
            readers.get(kind, self.text)()

    def text(self) -> str:
        """Read the value as a text."""
        text = as_text(self.value)
        if text is None:
            raise self.error("is not a text")
        return text

    def text_or_empty(self) -> str:
        """Read the value as a text; "" if it is missing."""
        return "" if self.missing else self.text()

    def tokens(self) -> list[str]:
        """Read the value as a list of tokens; a text is split at spaces."""
        if isinstance(self.value, str):
            return self.value.split()
        values = as_list(self.value)
        tokens = None if values is None else [as_text(value) for value in values]
        if tokens is None or None in tokens:
            raise self.error("is not a list of texts")
        return tokens  # type: ignore[return-value]  # None has just been ruled out

    def bag(self) -> Mapping[str, float]:
        """Read the value as weights by name, without those that are 0 or missing."""
        if not isinstance(self.value, Mapping):
            raise self.error("is not an object with a number for each name")
        weights = {str(name): self._weight(name, value) for name, value in self.value.items()}
        return {name: weight for name, weight in weights.items() if weight}

    def error(self, problem: str) -> DataError:
        """Make the error that says where the value is and why it cannot be read."""
        return DataError(
            f"{self.place}: column {self.column!r} holds {short_repr(self.value)}, which "
            f"{problem}; correct the value, leave it empty, or set another kind for the column",
            advice={"kinds": None},
            without_values=f"column {self.column!r} holds a value which {problem}",
        )

    def _weight(self, name: object, value: object) -> float:
        number = as_number(value)
        if number is None and is_missing(value):
            return 0.0
        if number is None:
            raise DataError(
                f"{self.place}: {name!r} in column {self.column!r} has the value "
                f"{short_repr(value)}, which is not a finite number; correct it or leave it out"
            )
        return number


def guess_kind(values: Sequence[Any]) -> Kind | None:
    """Guess the kind of a column from its values, none of them missing.

    Examples
    --------
    >>> guess_kind([1, 2.5]), guess_kind(["red"] * 5), guess_kind([["a", "b"], ["c"]])
    ('number', 'category', 'tokens')
    """
    if _are_numbers(values):
        return "number"
    present = [value for value in values if not is_missing_word(value)]
    if present and _all(present, lambda value: as_date(value) is not None):
        return "date"
    if _all(values, lambda value: as_text(value) is not None):
        return "category" if _are_categories(values) else "text"
    if _all(values, _is_vector) and len({len(value) for value in values}) == 1:
        return "vector"
    if _all(values, _is_token_list):
        return "tokens"
    return "bag" if _all(values, _is_bag) else None


def _all(values: Sequence[Any], holds: Callable[[Any], bool]) -> bool:
    return all(map(holds, values))


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether these are numbers, some of them perhaps missing, and none a code such as 01234."""
    present = [value for value in values if not is_missing_word(value)]
    if not _all(present, lambda value: _is_number(value) and not _is_code(value)):
        return False
    # With only one distinct number, words such as "n/a" carry the information: a category.
    return len(present) == len(values) or len(set(map(as_number, present))) > 1


def _is_number(value: Any) -> bool:
    """Whether it is a number; infinity is one too, which is refused when it is read."""
    return as_number(value) is not None or (isinstance(value, float) and math.isinf(value))


def _is_code(value: Any) -> bool:
    return isinstance(value, str) and LEADING_ZERO.match(value) is not None


def _are_categories(values: Sequence[Any]) -> bool:
    texts = {as_text(value) or "" for value in values}
    least_use = LEAST_USE_OF_FEW if len(texts) <= FEW_CATEGORIES else LEAST_USE
    few = len(texts) <= MOST_CATEGORIES and len(texts) * least_use <= len(values)
    return few and max(map(len, texts)) <= LONGEST_CATEGORY


def _is_vector(value: Any) -> bool:
    if isinstance(value, np.ndarray):  # its type says it for all numbers at once
        return value.ndim == 1 and value.dtype.kind in "biuf"
    numbers = as_list(value)
    return numbers is not None and all(
        number is None or (not isinstance(number, str) and as_number(number) is not None)
        for number in numbers
    )


def _is_token_list(value: Any) -> bool:
    tokens = as_list(value)
    return tokens is not None and all(as_text(token) is not None for token in tokens)


def _is_bag(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        weight is None or as_number(weight) is not None for weight in value.values()
    )
