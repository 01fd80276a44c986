"""The two reasoning tasks of the paper, with random samples."""

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from setlearn.datasets._random_generator import RandomState, random_generator
from setlearn.errors import ParameterError

__all__ = ["leading_digits", "substrings"]

Task: TypeAlias = tuple[list[str], list[frozenset[str]]]

N_SPANS = 5
"""The number of pairs (start, end) at the start of an input of Task 2."""


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
        The number of samples.
    length : int
        The number of digits of each number, which the paper does not state. If a number is
        shorter than its leading digit says, all its digits are used.
    random_state : int, RandomState or None
        The seed, or the random generator.

    Returns
    -------
    X : list of str
        The numbers, whose leading digits are from 1 to 9.
    Y : list of frozenset of str
        The sets of digits, one character each. No set is empty.

    Raises
    ------
    ParameterError
        If a number is below 1, or ``random_state`` cannot be used.

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
    digits[:, 0] = rng.randint(1, 10, size=n_samples)  # a number does not start with 0
    X = _join_rows(digits)
    return X, [_leading_set(x) for x in X]


def substrings(n_samples: int = 1000, *, random_state: RandomState = None) -> Task:
    """Task 2: the set of substrings that five pairs of positions select.

    An input has 20 digits. The first ten are five pairs (start, end), the last ten are a string
    ``a``. The set holds ``a[start:end]`` for each pair. Empty substrings are left out, so about
    5% of all sets are empty. The paper's example is 00490000349172105519, whose set is
    {2, 10551}.

    Parameters
    ----------
    n_samples : int
        The number of samples.
    random_state : int, RandomState or None
        The seed, or the random generator.

    Returns
    -------
    X : list of str
        Inputs of 20 digits.
    Y : list of frozenset of str
        The sets of substrings, with up to five elements.

    Raises
    ------
    ParameterError
        If ``n_samples`` is below 1, or ``random_state`` cannot be used.

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
