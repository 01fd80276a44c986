"""A generator from what users give as ``random_state``."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from setlearn.errors import ParameterError

__all__ = ["RandomState", "random_generator"]

RandomState = int | np.random.RandomState | None


def random_generator(random_state: RandomState) -> np.random.RandomState:
    """The generator itself, or one with that seed; a fresh one for None, never the global one."""
    if random_state is None:
        return np.random.RandomState()
    try:
        generator: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"random_state must be a seed, a numpy RandomState or None, got {random_state!r}; "
            "give a whole number for the same result every time"
        ) from None
    return generator
