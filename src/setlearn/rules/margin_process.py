"""The paper's process at many choice points at once, without its loop over picks."""

from __future__ import annotations

import numpy as np

from setlearn.errors import DataError
from setlearn.nodes import BoolArray, FloatArray

__all__ = ["until_repeats", "within_margin"]

MOST_REPEATS = 1e15
"""More repeats are counted as this many, so that sums of them stay finite."""


def within_margin(scores: FloatArray, known: BoolArray | None, lam: FloatArray) -> BoolArray:
    """Algorithm 1 in closed form: after the first pick the bar is always the top score - λ.

    Parameters
    ----------
    scores : array of shape (n, V)
        -inf for padding.
    known : mask of shape (n, V), or None
    lam : array of shape (n,)

    Returns
    -------
    bool array of shape (n, V)

    Raises
    ------
    DataError
        If there are no choices.
    """
    if scores.shape[1] == 0:
        raise DataError("there are no choices to keep; the vocabulary is empty")
    top = scores.max(axis=1)
    bar = top - lam
    kept: BoolArray = scores > bar[:, None]
    # If λ is 0 nothing is strictly above the bar, but the first pick is always kept, unless a
    # known choice ties with it: ties go to the memory.
    flat = np.flatnonzero(bar >= top)
    if len(flat):
        first = scores[flat].argmax(axis=1)
        if known is not None:
            beaten = (known[flat] & (scores[flat] == top[flat, None])).any(axis=1)
            flat, first = flat[~beaten], first[~beaten]
        kept[flat, first] = True
    return kept if known is None else kept | known


def until_repeats(
    scores: FloatArray, known: BoolArray | None, lam: FloatArray, rho: float
) -> BoolArray:
    """The robust stop, for all rows together: one turn of the loop per new element, not per pick.

    Picks come in the order of the descending merge of P(y) - m·λ. So before a new choice enters,
    each stored one has been repeated as often as it stays at or above that choice's score.
    Padding has the score -inf, and ends the process.

    Parameters
    ----------
    scores : array of shape (n, V)
    known : mask of shape (n, V), or None
    lam : array of shape (n,)
    rho : float

    Returns
    -------
    bool array of shape (n, V)
    """
    kept = np.zeros(scores.shape, bool) if known is None else known.copy()
    new_first = np.argsort(np.where(kept, np.inf, -scores), axis=1, kind="stable")
    running = np.flatnonzero(~kept.all(axis=1))
    for turn in range(scores.shape[1]):
        candidate = new_first[running, turn]
        stored, score = kept[running], scores[running, candidate]
        repeats = _repeats_before(scores[running], score, lam[running])
        n_repeats = np.where(stored, repeats, 0).sum(axis=1)
        is_new = ~stored[np.arange(len(running)), candidate] & (score > -np.inf)
        goes_on = (n_repeats <= rho * stored.sum(axis=1)) & is_new
        running, candidate = running[goes_on], candidate[goes_on]
        if len(running) == 0:
            break
        kept[running, candidate] = True
    return kept


def _repeats_before(scores: FloatArray, score: FloatArray, lam: FloatArray) -> FloatArray:
    """The number of m ≥ 1 with P(y) - m·λ ≥ ``score``, with the same rounding as the loop.

    Counts beyond the number of choices may be too low: any of them ends the process.
    """
    lam, score = lam[:, None], score[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        count = np.minimum(np.floor((scores - score) / lam), MOST_REPEATS)
        # The division may round across a tie; the products that the loop compares decide. A λ
        # too small to change the floats leaves them tied.
        count = np.maximum(count - (scores - count * lam < score), 0)
        most = scores.shape[1]
        while (more := (count < most) & (scores - (count + 1) * lam >= score)).any():
            count += more
    never_ends = (lam == 0) & (scores >= score)
    return np.where(never_ends, np.inf, np.where(lam == 0, 0, count))
