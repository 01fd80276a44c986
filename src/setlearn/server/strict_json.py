"""JSON as the standard has it: no NaN, no numbers beyond a float, no halves of characters.

Keys that come twice, which the standard leaves open, are refused too.
"""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["NotJsonError", "parse_strictly"]

DEEPEST = 32


class NotJsonError(ValueError):
    """The text is not JSON, or holds what no model reads; says why without repeating it."""


def parse_strictly(content: bytes) -> Any:
    """The value of a JSON text in UTF-8."""
    try:
        value = json.loads(
            content.decode(), parse_constant=_refuse, object_pairs_hook=_without_repeats
        )
    except UnicodeDecodeError:
        raise NotJsonError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(f"it is broken at character {error.pos}") from None
    except NotJsonError:
        raise
    except (ValueError, RecursionError):  # of numbers with thousands of digits, among others
        raise NotJsonError("it holds a number or a nesting that is too large") from None
    _check(value)
    return value


def _refuse(name: str) -> None:
    raise NotJsonError("NaN and Infinity are not JSON; leave such values out, or fill them")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotJsonError("an object names the same key twice; name each once")
    return found


def _check(value: Any) -> None:
    waiting = [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > DEEPEST:
            raise NotJsonError(f"it is nested more than {DEEPEST} deep")
        if isinstance(part, str):
            _check_text(part)
        elif isinstance(part, float) and not math.isfinite(part):
            raise NotJsonError("it holds a number that is too large; numbers go to about 1.8e308")
        elif isinstance(part, int) and abs(part) > 2**63:
            raise NotJsonError("it holds a whole number of more than 64 bits")
        elif isinstance(part, list):
            waiting += [(one, depth + 1) for one in part]
        elif isinstance(part, dict):
            waiting += [(one, depth + 1) for pair in part.items() for one in pair]


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJsonError("it holds half of a character (a lone surrogate)") from None
