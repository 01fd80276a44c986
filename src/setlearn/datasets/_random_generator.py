"""The random generator for the ``random_state`` that users pass."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from setlearn.errors import ParameterError

__all__ = ["RandomState", "random_generator"]

RandomState = int | np.random.RandomState | None


def random_generator(random_state: RandomState) -> np.random.RandomState:
    """Return the generator itself, or a new one with this seed; never NumPy's global one."""
    if random_state is None:
        return np.random.RandomState()
    try:
        generator: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"random_state must be a seed, a numpy RandomState or None, got {random_state!r}; "
            "pass a whole number to get the same result every time"
        ) from None
    return generator
