"""Lists and sets that other programs have written into a cell as texts."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from setlearn.errors import DataError
from setlearn.strict_json import StrictJsonError, parse_strict_json

__all__ = ["written_list"]

LONGEST = 100_000
"""Longer texts are not read as Python: its parser needs much memory for each character."""

QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
NUMBER = r"[-+]?\d[\d.e+-]*"
NUMPY_LIST = re.compile(
    rf"\[\s*(?:{QUOTED}(?:\s+{QUOTED})*|{NUMBER}(?:\s+{NUMBER})+)\s*\]", re.DOTALL
)
"""NumPy writes no commas."""

NUMPY_SCALAR = re.compile(rf"\bnp\.\w+\(({QUOTED}|{NUMBER}|True|False)\)")

SETS = re.compile(r"(?:frozen)?set\((.*)\)", re.DOTALL)


def written_list(text: str, where: str) -> list[Any] | None:
    """Read a text that is a list or a set in JSON or as Python, pandas and NumPy write it.

    Parameters
    ----------
    text : str
    where : str
        How error messages name the text.

    Returns
    -------
    list or None
        None if it is another text, such as "[draft]".

    Raises
    ------
    DataError
        If it is a list in JSON with NaN, numbers beyond a float, repeated keys, or too many levels.

    Examples
    --------
    >>> written_list('["sun", "sea"]', "tags"), written_list("['sun', 'sea']", "tags")
    (['sun', 'sea'], ['sun', 'sea'])
    >>> written_list("['sun' 'sea']", "tags"), written_list("[draft]", "tags")
    (['sun', 'sea'], None)
    """
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        try:
            value: list[Any] = parse_strict_json(text, allow_surrogates=True)
            return value
        except StrictJsonError as error:
            if error.position is None:
                problem = f"{where} is a list that cannot be read: {error}; correct it"
                raise DataError(problem) from None
    return _python_list(text)


def _python_list(text: str) -> list[Any] | None:
    """The elements of a list, tuple or set as Python writes it; None if it is none."""
    inner = SETS.fullmatch(text)
    if inner is not None:
        text = inner[1].strip() or "[]"
    if len(text) > LONGEST or text[:1] + text[-1:] not in ("[]", "()", "{}"):
        return None
    text = NUMPY_SCALAR.sub(r"\1", text)
    if NUMPY_LIST.fullmatch(text):
        text = f"[{', '.join(re.findall(rf'{QUOTED}|{NUMBER}', text))}]"
    if re.search(r"Q\s*Q", re.sub(QUOTED, "Q", text)):  # which Python would join to one text
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes, which texts may well have
            value = ast.literal_eval(text)
    except (TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return list(value) if isinstance(value, list | tuple | set) else None
