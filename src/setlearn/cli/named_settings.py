"""Settings after a name on the command line: ``threshold:cut=0.4,min_size=1``."""

from __future__ import annotations

import re
from ast import literal_eval
from typing import Any

from setlearn.errors import ParameterError

__all__ = ["name_and_settings"]

CONSTANTS = {"true": "True", "false": "False", "none": "None", "null": "None"}
"""Constants as people write them in a shell, and in Python."""

SETTING = re.compile(r"""(?:\[[^]]*\]|\([^)]*\)|'[^']*'|"[^"]*"|[^,])+""")
"""A setting: all up to the next comma that is outside brackets and quotes."""


def name_and_settings(text: str, *, what: str, example: str) -> tuple[str, dict[str, Any]]:
    """Read a name, with settings after a colon.

    Parameters
    ----------
    text : str
    what : str
        What the name is of, for error messages.
    example : str
        How an option with a setting is written.

    Returns
    -------
    name : str
    settings : dict

    Raises
    ------
    ParameterError
        If a setting is not written name=value.

    Examples
    --------
    >>> name_and_settings("margin:lam=[0.1,0.2],space=log", what="rule", example="")
    ('margin', {'lam': [0.1, 0.2], 'space': 'log'})
    """
    name, _, settings = text.partition(":")
    parts = [part.strip() for part in SETTING.findall(settings) if part.strip()]
    for part in parts:
        if "=" not in part:
            raise ParameterError(
                f"a setting of a {what} is written name=value, got {part!r}; "
                f"an example is {example}"
            )
    return name, dict(_setting(part) for part in parts)


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, literal_eval(CONSTANTS.get(value, value))
    except (ValueError, SyntaxError):
        return name, value  # a word, as in space=log
