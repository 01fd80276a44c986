"""Guesses how each column of a table is read, from its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setlearn.errors import DataError, ParameterError
from setlearn.features.cells import (
    KINDS,
    LEADING_ZERO,
    Kind,
    as_date,
    as_number,
    as_text,
    guess_kind,
    is_missing_word,
    short_repr,
)
from setlearn.features.columns import Column, count_columns, matching_columns, read_columns
from setlearn.files import Row
from setlearn.missing_values import is_missing

__all__ = ["AS_GIVEN", "HARMLESS", "LIKE", "guess_columns", "is_id_name", "sampled_rows"]

HARMLESS = ("always empty", "always the same")
"""Remarks on columns that cannot tell rows apart."""

AS_GIVEN = "as given"
"""The remark on columns whose kind is not guessed."""

CODES = "a different code in each row"
"""The remark on columns of ids that are recognised by their values."""

CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])\S+")
"""One word with a digit and a letter, such as SKU-10000, and unlike "12,50" or "31.12.2024"."""

SPELLINGS = {
    "numbers": re.compile(
        r"[<>~$€£]?\s*[+-]?(\d{1,3}([., ]\d{3})+|\d+)([.,]\d+)?\s*[%$€£]?",
    ),
    "dates": re.compile(
        r"(\d{4}[/.-]\d{1,2}[/.-]\d{1,2}|\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2}))\b.*"
        r"|\d{1,2}\.? [^\W\d]{3,9}\.? \d{4}\b.*|[^\W\d]{3,9}\.? \d{1,2}, \d{4}\b.*"
    ),
}
"""What spellings of numbers and dates look like that are not read as such."""

CURES = {
    "numbers": "write them all as 1234.5",
    "dates": "write them all as 2024-12-31",
}
MOST_ODD = 0.1
"""If no more values of a column look like something else, they are meant to be numbers or dates."""

LIKE = "like "
"""How remarks on such columns begin."""

FEWEST_CODES = 20
"""With fewer rows, values may well be all different by chance."""

MOST_SAMPLED = 5000
"""The number of rows, spread over the data, that guesses are made from."""


def guess_columns(
    rows: Sequence[Row],
    *,
    target_columns: Sequence[str] = (),
    given: Mapping[str, Kind] | None = None,
    inputs: Sequence[str] | None = None,
    declared: Sequence[str] = (),
    ignore_codes: bool = True,
) -> tuple[Column, ...]:
    """Decide how each column is read, from the values of up to 5000 rows.

    Parameters
    ----------
    rows : sequence of Row
    target_columns : sequence of str, optional
        Columns that are not inputs.
    given : mapping from names or patterns to kinds, optional
        Kinds that are not guessed.
    inputs : sequence of names or patterns, optional
        The only columns to read, whatever kinds are given. They are read even if they look
        useless.
    declared : sequence of str, optional
        Columns that the file itself declares as categories, whatever their values look like.
    ignore_codes : bool, default=True
        Whether to ignore columns with a different code in each row, such as "SKU-10000", if there
        are other columns to read. Sets of sequences may be made from such codes.

    Returns
    -------
    tuple of Column
        All columns but the target columns, in their order.

    Raises
    ------
    DataError
        If a column does not exist, or one of ``inputs`` cannot be read.
    ParameterError
        If an input is a target column, or a kind does not exist.

    Examples
    --------
    >>> rows = [Row("", {"id": k, "size": k / 7, "tags": []}) for k in range(9)]
    >>> [column.note for column in guess_columns(rows, target_columns=["tags"])]
    ['id: ignored (an id by its name)', 'size: number']
    """
    counts = count_columns(rows)
    kinds = _given_kinds(given or {}, counts, target_columns)
    input_columns = _input_columns(inputs, counts, target_columns) if inputs else None
    columns = []
    for name in counts:
        if name in target_columns:
            continue
        optional = counts[name] < len(rows)
        if input_columns is not None and name not in input_columns:
            columns.append(Column(name, "ignored", optional, "not among the inputs"))
        elif name in kinds:
            columns.append(Column(name, kinds[name], optional, AS_GIVEN))
        elif name in declared:
            columns.append(Column(name, "category", optional, "declared as such"))
        else:
            kind, remark = _guess(rows, name, required=input_columns is not None)
            columns.append(Column(name, kind, optional, remark))
    if not ignore_codes or input_columns is not None:
        return tuple(columns)
    coded = {c.name for c in columns if c.kind == "text" and _are_codes(rows, c)}
    if coded.issuperset(c.name for c in read_columns(columns)):  # there is nothing else to read
        return tuple(columns)
    return tuple(
        replace(c, kind="ignored", remark=CODES) if c.name in coded else c for c in columns
    )


def sampled_rows(n_rows: int) -> range:
    """Return the numbers of at most 5000 rows, evenly spread over the data."""
    return range(0, n_rows, -(-n_rows // MOST_SAMPLED) or 1)


def _given_kinds(
    given: Mapping[str, Kind], columns: Mapping[str, int], target_columns: Sequence[str]
) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for pattern, kind in given.items():
        if kind not in KINDS:
            raise ParameterError(
                f"the kind of column {pattern!r} must be one of {', '.join(KINDS)}, got {kind!r}",
                advice={"kinds": None},
            )
        kinds |= dict.fromkeys(_input_columns([pattern], columns, target_columns), kind)
    return kinds


def _input_columns(
    names: Sequence[str], columns: Mapping[str, int], target_columns: Sequence[str]
) -> list[str]:
    for name in names:
        if name in target_columns:
            raise ParameterError(
                f"column {name!r} is the target, so it cannot also be an input; leave it out"
            )
    return [name for name in matching_columns(names, columns) if name not in target_columns]


def _guess(rows: Sequence[Row], name: str, *, required: bool) -> tuple[Kind, str]:
    """Guess the kind and a remark; a ``required`` column is never ignored."""
    values = {k: rows[k].record.get(name) for k in sampled_rows(len(rows))}
    present = [value for value in values.values() if not is_missing(value)]
    reason = "" if required else _reason_to_ignore(name, values, present)
    if reason:
        return "ignored", reason
    if not present:
        raise DataError(f"column {name!r} is always empty; leave it out of the inputs")
    kind = guess_kind(present)
    if kind == "number":
        return kind, _missing_words_remark([row.record.get(name) for row in rows])
    if kind is not None:
        return kind, _remark(kind, present)
    if required:
        raise DataError(
            f"no kind of column fits all values of {name!r}, such as {short_repr(present[0])}; "
            "write them all in the same way, or leave the column out of the inputs"
        )
    return "ignored", f"no kind fits values such as {short_repr(present[0])}"


def _are_codes(rows: Sequence[Row], column: Column) -> bool:
    """Whether a column that nobody asked for has a different code in each row."""
    if column.remark == AS_GIVEN:
        return False
    values = [rows[k].record.get(column.name) for k in sampled_rows(len(rows))]
    codes = [str(value).strip() for value in values if not is_missing(value)]
    return (
        len(codes) >= FEWEST_CODES
        and all(map(CODE.fullmatch, codes))
        and len(set(codes)) == len(codes)
    )


def _remark(kind: Kind, present: Sequence[Any]) -> str:
    if kind in ("category", "text"):
        doubt = _doubt(present)
        if doubt:
            return doubt
    if kind == "category":
        return f"{len(set(map(as_text, present)))} different"
    return f"{len(present[0])} numbers" if kind == "vector" else ""


def _doubt(values: Sequence[Any]) -> str:
    """Say what a column of texts looks like, if most values are alike; "" if they are texts.

    >>> _doubt(["12,50", "3", "4,25"])
    "like numbers such as '12,50'; write them all as 1234.5"
    >>> _doubt(["3.5"] * 9 + ["unknown"])
    "like numbers, but not 'unknown'; write them all as 1234.5"
    """
    texts = [str(value).strip() for value in values if not is_missing_word(value)]
    if any(map(LEADING_ZERO.match, texts)):  # codes
        return ""
    readers = {"numbers": as_number, "dates": as_date}
    for name, spelling in SPELLINGS.items():
        is_read = [readers[name](text) is not None for text in texts]
        alike = [spelling.fullmatch(t) or read for t, read in zip(texts, is_read, strict=True)]
        others = [text for text, like in zip(texts, alike, strict=True) if not like]
        if not others and not all(is_read):
            example = next(t for t, read in zip(texts, is_read, strict=True) if not read)
            return f"{LIKE}{name} such as {short_repr(example)}; {CURES[name]}"
        if others and len(others) <= MOST_ODD * len(texts):
            return f"{LIKE}{name}, but not {short_repr(others[0])}; {CURES[name]}"
    return ""


def _missing_words_remark(values: Sequence[Any]) -> str:
    words = [value for value in values if is_missing_word(value)]
    if not words:
        return ""
    if len(words) == 1:
        return f"1 value such as {words[0]!r} is missing"
    return f"{len(words)} values such as {words[0]!r} are missing"


def is_id_name(name: object) -> bool:
    """Whether a column is called an id, such as ``id`` or ``user_id``."""
    return isinstance(name, str) and (name.lower() == "id" or name.lower().endswith("_id"))


def _reason_to_ignore(name: str, values: Mapping[int, Any], present: Sequence[Any]) -> str:
    """Say why nothing can be learned from a column; "" if something can."""
    if not present:
        return "always empty"
    if is_id_name(name):
        return "an id by its name"
    if len(values) < 2:
        return ""
    if _numbers_the_rows(values):
        return "numbers the rows"
    constant = len(present) == len(values) and _is_constant(present)
    return "always the same" if constant else ""


def _numbers_the_rows(values: Mapping[int, Any]) -> bool:
    numbers = [as_number(value) for value in values.values()]
    first = numbers[0]
    return (
        first is not None
        and first in (0, 1)
        and all(number == first + k for k, number in zip(values, numbers, strict=True))
    )


def _is_constant(values: Sequence[Any]) -> bool:
    plain = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return all(value == plain[0] for value in plain)
