"""Checks of the arguments that the verbs of set predictors share."""

from __future__ import annotations

from typing import Any

from setlearn.errors import DataError, ParameterError
from setlearn.parameter_checks import check_count

__all__ = ["check_both", "check_not_empty", "check_same_length", "check_top", "check_unknown"]


def check_both(X: Any, y: Any) -> None:
    """Raise unless there are inputs and sets to fit a rule on.

    Parameters
    ----------
    X : inputs or None
    y : sets or None

    Raises
    ------
    ParameterError
        If one of them is None.
    """
    if X is None or y is None:
        missing, given = ("X", "y") if X is None else ("y", "X")
        raise ParameterError(
            f"a rule is fitted on X and y, but only {given} was given; pass {missing} too"
        )


def check_unknown(unknown: object) -> None:
    """Raise unless the value says what to do with unknown elements."""
    if unknown not in ("error", "ignore"):
        raise ParameterError(f'unknown must be "error" or "ignore", got {unknown!r}')


def check_top(top: object) -> None:
    """Raise unless the value is None or a count."""
    if top is not None:
        check_count("top", top)


def check_not_empty(n_samples: int) -> None:
    """Raise if X holds no samples."""
    if n_samples == 0:
        raise DataError("X holds 0 samples; pass at least one")


def check_same_length(n_inputs: int, n_sets: int, name: str = "y") -> None:
    """Raise unless there is one set per input.

    Parameters
    ----------
    n_inputs, n_sets : int
    name : str
        What the sets are called in messages.

    Raises
    ------
    DataError
    """
    if n_inputs != n_sets:
        raise DataError(
            f"X has {n_inputs} samples but {name} has {n_sets} sets; pass one set per sample, "
            "an empty one where there is nothing"
        )
