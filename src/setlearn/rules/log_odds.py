"""Probabilities on the scale on which evidence adds up."""

from __future__ import annotations

import numpy as np

from setlearn.nodes import FloatArray

__all__ = ["log_odds"]

LARGEST_LOGIT = 12.0
"""How strongly one score can speak: odds of e^12, about 160,000, to one. A learner that is
certain, and wrong, must not rule out everything that is right."""


def log_odds(probabilities: FloatArray) -> FloatArray:
    """Turn probabilities into logits, clipped to ±12.

    Examples
    --------
    >>> import numpy as np
    >>> log_odds(np.array([0.0, 0.5, 1.0]))
    array([-12.,   0.,  12.])
    """
    p = probabilities.astype(np.float64)
    with np.errstate(divide="ignore"):
        logits: FloatArray = np.log(p) - np.log1p(-p)
    return np.clip(logits, -LARGEST_LOGIT, LARGEST_LOGIT)
