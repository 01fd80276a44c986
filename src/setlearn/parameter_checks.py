"""Checks of parameters and inputs that many classes have."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from setlearn.errors import ParameterError

__all__ = ["check_count", "check_counts", "check_inner_share", "check_number", "check_share"]


def check_count(name: str, value: object) -> None:
    """Raise unless the value is a whole number of at least 1.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : object

    Raises
    ------
    ParameterError
        If it is anything else.
    """
    if not _is_count(value):
        raise _wrong(name, f"must be a whole number of at least 1, got {value!r}")


def check_counts(name: str, values: object) -> None:
    """Raise unless the values are whole numbers of at least 1; there may be none.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    values : object

    Raises
    ------
    ParameterError
        If they are anything else.
    """
    if not isinstance(values, Iterable) or not all(map(_is_count, values)):
        raise _wrong(name, f"must be whole numbers of at least 1, such as (128,), got {values!r}")


def check_share(name: str, value: object) -> None:
    """Raise unless the value is a number in [0, 1).

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : object

    Raises
    ------
    ParameterError
        If it is anything else.
    """
    if not _is_number(value) or not 0 <= float(value) < 1:  # type: ignore[arg-type]  # a number
        raise _wrong(name, f"must be a number in [0, 1), got {value!r}")


def check_inner_share(name: str, value: object, why: str) -> None:
    """Raise unless the value is a number between 0 and 1, both excluded.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : object
    why : str
        Why 1 is not possible.

    Raises
    ------
    ParameterError
        If it is anything else.
    """
    if not _is_number(value) or not 0 < float(value) < 1:  # type: ignore[arg-type]  # a number
        raise _wrong(name, f"must lie between 0 and 1, both excluded, got {value!r}; {why}")


def check_number(name: str, value: object) -> None:
    """Raise unless the value is a number.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : object

    Raises
    ------
    ParameterError
        If it is anything else.
    """
    if not _is_number(value):
        raise _wrong(name, f"must be a number, got {value!r}")


def _wrong(name: str, problem: str) -> ParameterError:
    return ParameterError(f"{name} {problem}", advice=dict.fromkeys([name]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_whole and bool(value >= 1)  # type: ignore[operator]  # a number by now
