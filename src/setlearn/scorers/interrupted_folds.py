"""What is left of a fit that is interrupted during its folds: all that are done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from setlearn.errors import InterruptedFitWarning, warn_user
from setlearn.progress import Advance

__all__ = ["Interruption", "keep_finished_folds", "until_interrupted"]

LEAST_FOLDS = 2
"""Folds that must be done; the scores of one alone come from a single model."""

T = TypeVar("T")


@dataclass
class Interruption:
    """What happened to the fits in a block of `keep_finished_folds`.

    ``warning`` is None unless a fit was interrupted and went on with the folds that were done.
    """

    warning: InterruptedFitWarning | None = None


_allowed: ContextVar[Interruption | None] = ContextVar("allowed", default=None)


@contextmanager
def keep_finished_folds() -> Iterator[Interruption]:
    """Let an interrupted fit of labels go on with the folds that are done.

    Without it, Ctrl-C in `SetClassifier.fit` raises KeyboardInterrupt, as it does everywhere. In
    the block the first interrupt skips the folds that are left instead, if the learner is fitted on
    all samples and at least two folds are done. The rule is then fitted on the scores of these
    folds, with an `InterruptedFitWarning`. Another interrupt ends the fit.

    Yields
    ------
    Interruption

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [{"low"}, {"low"}, {"high"}, {"high"}]
    >>> with keep_finished_folds() as interruption:
    ...     model = SetClassifier(cv=2, random_state=0).fit(X, Y)
    >>> print(interruption.warning)
    None
    """
    interruption = Interruption()
    token = _allowed.set(interruption)
    try:
        yield interruption
    finally:
        _allowed.reset(token)


def until_interrupted(results: Iterable[T], n_folds: int, advance: Advance) -> list[T]:
    """Collect the result of the fit on all samples, and those of the folds, one by one.

    Parameters
    ----------
    results : iterable
        That of the fit on all samples comes first.
    n_folds : int
    advance : Advance
        Called after each.

    Returns
    -------
    list
        Shorter than asked for if the fit was interrupted, and `keep_finished_folds` allows it.

    Raises
    ------
    KeyboardInterrupt
        If the fit was interrupted, and nothing allows to go on.
    """
    finished: list[T] = []
    try:
        for result in results:
            finished.append(result)
            advance()
    except KeyboardInterrupt:
        interruption, n_finished = _allowed.get(), len(finished) - 1
        if interruption is None or interruption.warning or n_finished < LEAST_FOLDS:
            raise
        interruption.warning = InterruptedFitWarning(n_finished, n_folds)
        warn_user(interruption.warning)
    return finished
