"""The paper's two reasoning tasks, drawn at random."""

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from setlearn.datasets._random_generator import RandomState, random_generator
from setlearn.errors import ParameterError

__all__ = ["leading_digits", "substrings"]

Task: TypeAlias = tuple[list[str], list[frozenset[str]]]

N_SPANS = 5
"""Pairs (start, end) at the head of Task 2's input; the string they cut from follows."""


def leading_digits(
    n_samples: int = 1000,
    *,
    length: int = 10,
    random_state: RandomState = None,
) -> Task:
    """Task 1: the set of the first m digits of a number whose leading digit is m.

    The paper's example is 33874, whose first 3 digits make the set {3, 8}.

    Parameters
    ----------
    n_samples : int
        How many numbers to draw.
    length : int
        How many digits each has. The paper gives none; a number shorter than its leading digit
        asks for yields all its digits.
    random_state : int, RandomState or None
        The seed, or the generator to draw from.

    Returns
    -------
    X : list of str
        Numbers, the leading digit from 1 to 9.
    Y : list of frozenset of str
        The digits to find, one character each; never empty.

    Examples
    --------
    >>> X, Y = leading_digits(3, random_state=0)
    >>> X
    ['3033793524', '4688167781', '9989430350']
    >>> [sorted(y) for y in Y]
    [['0', '3'], ['4', '6', '8'], ['0', '3', '4', '5', '8', '9']]
    """
    _check_at_least_one("n_samples", n_samples)
    _check_at_least_one("length", length)
    rng = random_generator(random_state)
    digits = rng.randint(0, 10, size=(n_samples, length))
    digits[:, 0] = rng.randint(1, 10, size=n_samples)  # a number does not begin with 0
    X = _join_rows(digits)
    return X, [_leading_set(x) for x in X]


def substrings(n_samples: int = 1000, *, random_state: RandomState = None) -> Task:
    """Task 2: the set of the substrings that five pairs of positions cut out.

    An input has 20 digits. The first ten are five pairs (start, end), the last ten a string
    ``a``; the set holds ``a[start:end]`` for each pair, counted from 0 and without the end.
    Empty substrings are no elements, so that about 5% of all sets are empty. The paper's
    example is 00490000349172105519, which yields {2, 10551}.

    Parameters
    ----------
    n_samples : int
        How many inputs to draw.
    random_state : int, RandomState or None
        The seed, or the generator to draw from.

    Returns
    -------
    X : list of str
        Inputs of 20 digits.
    Y : list of frozenset of str
        The substrings to find: none to five.

    Examples
    --------
    >>> X, Y = substrings(2, random_state=0)
    >>> X
    ['50337935247688167781', '59894303502381333701']
    >>> [sorted(y) for y in Y]
    [['78', '81', '88'], ['0', '238', '3370']]
    """
    _check_at_least_one("n_samples", n_samples)
    rng = random_generator(random_state)
    X = _join_rows(rng.randint(0, 10, size=(n_samples, 4 * N_SPANS)))
    return X, [_substring_set(x) for x in X]


def _leading_set(x: str) -> frozenset[str]:
    return frozenset(x[: int(x[0])])


def _substring_set(x: str) -> frozenset[str]:
    positions, a = [int(digit) for digit in x[: 2 * N_SPANS]], x[2 * N_SPANS :]
    spans = zip(positions[::2], positions[1::2], strict=True)
    return frozenset(a[start:end] for start, end in spans if start < end)


def _join_rows(digits: np.ndarray[Any, Any]) -> list[str]:
    return ["".join(map(str, row)) for row in digits.tolist()]


def _check_at_least_one(name: str, value: object) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ParameterError(f"{name} must be a whole number of 1 or more, got {value!r}")
