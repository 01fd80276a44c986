"""What kind of column it is, told by its values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from setlearn.records.cells import as_list, as_number, as_text, says_missing

__all__ = ["KINDS", "Kind", "guess_kind", "is_constant"]

Kind: TypeAlias = Literal["number", "category", "text", "vector", "bag", "tokens", "ignored"]
"""How a column is read; "ignored" ones are not."""

KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_CATEGORIES = 30
MOST_CATEGORIES_PER_ROW = 0.2
LONGEST_CATEGORY = 40
"""Longer texts say something even where they repeat."""
LEADING_ZERO = re.compile(r"\s*0\d+\s*$")
"""A number has none, but postcodes and the like have, which would lose it."""


def guess_kind(values: Sequence[Any]) -> Kind | None:
    """The kind that all these values have, none of them missing; None where none fits."""
    if _are_numbers(values):
        return "number"
    if _all(values, lambda value: as_text(value) is not None):
        return "category" if _repeat(values) else "text"
    if _all(values, _is_vector) and len({len(value) for value in values}) == 1:
        return "vector"
    if _all(values, _is_token_list):
        return "tokens"
    return "bag" if _all(values, _is_bag) else None


def is_constant(values: Sequence[Any]) -> bool:
    """Whether all values are the same one."""
    plain = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return all(value == plain[0] for value in plain)


def _all(values: Sequence[Any], holds: Callable[[Any], bool]) -> bool:
    return all(map(holds, values))


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether these are numbers, some of them perhaps missing, and none a code such as 01234."""
    present = [value for value in values if not says_missing(value)]
    if not _all(present, lambda value: as_number(value) is not None and not _is_code(value)):
        return False
    # Beside a single number, a word such as "n/a" is all that a column tells.
    return len(present) == len(values) or len(set(map(as_number, present))) > 1


def _is_code(value: Any) -> bool:
    return isinstance(value, str) and LEADING_ZERO.match(value) is not None


def _repeat(values: Sequence[Any]) -> bool:
    texts = {as_text(value) or "" for value in values}
    few = len(texts) <= min(MOST_CATEGORIES, MOST_CATEGORIES_PER_ROW * len(values))
    return few and max(map(len, texts)) <= LONGEST_CATEGORY


def _is_vector(value: Any) -> bool:
    if isinstance(value, np.ndarray):  # each number of a long one need not be looked at
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
