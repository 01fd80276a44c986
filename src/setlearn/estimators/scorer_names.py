"""What gives the scores of sequences, by name: the networks, and scorers that are no networks."""

from __future__ import annotations

from typing import Any

from setlearn.errors import ParameterError
from setlearn.networks import network_named, network_names
from setlearn.scorers import AlignedTrees, AnalogyScorer, JointNgrams

__all__ = ["scorer_named", "scorer_names"]

SCORERS: dict[str, type[Any]] = {
    kind.short_name: kind for kind in (AlignedTrees, AnalogyScorer, JointNgrams)
}
"""Scorers that are trained without a network. The command line reads their names from the source:
each is the ``short_name`` of a class in `setlearn.scorers`."""


def scorer_names() -> list[str]:
    """Names that `scorer_named` knows.

    Examples
    --------
    >>> scorer_names()
    ['analogy', 'lstm', 'ngrams', 'transducer', 'transformer', 'trees']
    """
    return sorted([*SCORERS, *network_names()])


def scorer_named(name: str) -> Any:
    """The recipe of a network, or a scorer that is not yet trained, with default parameters.

    Raises
    ------
    ParameterError
        If there is nothing of that name.

    Examples
    --------
    >>> scorer_named("analogy"), scorer_named("lstm")
    (AnalogyScorer(), LSTM())
    """
    if name not in scorer_names():
        raise ParameterError(
            f"network must be one of {', '.join(scorer_names())}, a recipe or a scorer, "
            f"got {name!r}",
            advice={"network": None},
        )
    return SCORERS[name]() if name in SCORERS else network_named(name)
