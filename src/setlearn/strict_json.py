"""JSON as the standard has it: no NaN, no number beyond a float, no lone surrogate.

Keys that occur twice in an object, which the standard leaves open, are refused too.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

__all__ = ["StrictJsonError", "parse_strict_json"]


class StrictJsonError(ValueError):
    """The text is not strict JSON. The message says why, and repeats nothing of the text.

    Parameters
    ----------
    reason : str
        What is wrong, as a clause such as "it is not UTF-8".
    position : int, optional
        The character where reading stopped, counted from 0.
    line : int, optional
        Its line, counted from 1.
    column : int, optional
        Its place in the line, counted from 1.
    """

    def __init__(
        self,
        reason: str,
        *,
        position: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.position = position
        self.line = line
        self.column = column


def parse_strict_json(
    content: bytes | str,
    *,
    max_depth: int = 200,
    allow_surrogates: bool = False,
    integer_bits: int | None = None,
) -> Any:
    """The value of a JSON text.

    Parameters
    ----------
    content : bytes or str
        The text; bytes must be UTF-8.
    max_depth : int, default=200
        How many lists and objects may be nested in each other.
    allow_surrogates : bool, default=False
        Whether halves of characters (lone surrogates, written as escapes) are allowed. No UTF-8
        text can hold them, but Python's strings can.
    integer_bits : int, optional
        How many bits a whole number may have, sign included, such as 64. By default only Python's
        own limit of some thousand digits applies.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Raises
    ------
    StrictJsonError
        If the text is something else, with ``position``, ``line`` and ``column`` where known.

    Examples
    --------
    >>> parse_strict_json(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse_strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    setlearn.strict_json.StrictJsonError: an object has the same key twice
    """
    try:
        text = content.decode() if isinstance(content, bytes) else content
    except UnicodeDecodeError as error:
        raise StrictJsonError("it is not UTF-8", position=error.start) from None
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        raise StrictJsonError(
            f"it is broken at character {error.pos}",
            position=error.pos,
            line=error.lineno,
            column=error.colno,
        ) from None
    except StrictJsonError:
        raise
    except ValueError:  # Python's limit on the digits of a whole number
        raise StrictJsonError("it holds a number that is too large") from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    _check(value, max_depth, allow_surrogates, integer_bits)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise StrictJsonError("NaN and Infinity are not JSON; leave such values out, or write null")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise StrictJsonError("it holds a number that is too large; the largest is about 1.8e308")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise StrictJsonError("an object has the same key twice")
    return keys


def _check(value: Any, max_depth: int, allow_surrogates: bool, integer_bits: int | None) -> None:
    waiting = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, str):
            if not allow_surrogates:
                _check_text(part)
        elif isinstance(part, int):
            if integer_bits is not None and (~part if part < 0 else part) >> (integer_bits - 1):
                raise StrictJsonError(f"it holds a whole number of more than {integer_bits} bits")
        elif isinstance(part, list | dict):
            if depth >= max_depth:
                raise _too_deep(max_depth)
            waiting += [(inner, depth + 1) for inner in part]  # of an object, its keys
            if isinstance(part, dict):
                waiting += [(inner, depth + 1) for inner in part.values()]


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StrictJsonError("it contains a lone surrogate") from None


def _too_deep(max_depth: int) -> StrictJsonError:
    return StrictJsonError(f"lists and objects are nested more than {max_depth} deep")
