"""Chosen candidates as users write them, and the choice points that rules are fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone

from setlearn.candidate_lists import CandidateLists, as_candidate
from setlearn.errors import KindError
from setlearn.estimators.argument_checks import check_same_length
from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes
from setlearn.rules import Rule
from setlearn.scorers.selection import padded, selection_nodes
from setlearn.set_reading import read_samples, read_set

__all__ = [
    "Points",
    "RuleSamples",
    "chosen_points",
    "chosen_rows",
    "chosen_sets",
    "drawn_samples",
]

MOST_ROWS, MOST_SCORES = 1_000_000, 20_000_000

Points: TypeAlias = tuple[Nodes, BoolArray]
"""Scored choice points, and the right choices at each."""


class RuleSamples(NamedTuple):
    """What rules are fitted on: whole sets and, if something can be known, what is left of them."""

    whole: Points
    rest: Points | None

    def rule_of_rest(self, rule: Rule) -> Rule:
        """A rule for the other candidates of sets that are partly known, like this fitted one."""
        if self.rest is None or not rule.needs_fit:
            return rule
        fitted: Rule = clone(rule).fit(*self.rest)
        return fitted


def chosen_sets(sets: Any, name: str) -> list[frozenset[Any]]:
    """Read sets of candidates.

    Parameters
    ----------
    sets : iterable of sets or lists
    name : str
        What the sets are called in messages.

    Returns
    -------
    list of frozenset
    """
    return [
        read_set([as_candidate(element) for element in sample], f"sample {number} of {name}")
        for number, sample in enumerate(read_samples(sets, name))
    ]


def chosen_rows(lists: CandidateLists, y: Any) -> BoolArray:
    """Find which candidates are in the sets of y.

    Parameters
    ----------
    lists : CandidateLists
    y : iterable of sets

    Returns
    -------
    array of bool, (n_rows,)
    """
    if isinstance(y, Iterator):
        y = list(y)  # it is looked at twice
    sets = chosen_sets(y, "y")
    check_same_length(len(lists), len(sets))
    if lists.matrix is not None:
        _refuse_relevances(y, lists)
    mask, _ = lists.mask(sets, "y")
    return mask


def chosen_points(
    lists: CandidateLists,
    scores: FloatArray,
    right: BoolArray,
    known: BoolArray | None = None,
) -> Points:
    """Turn samples into choice points; with known candidates, only those that have some.

    Parameters
    ----------
    lists : CandidateLists
    scores : array of shape (n_rows,)
    right : array of bool of shape (n_rows,)
    known : array of bool of shape (n_rows,), optional

    Returns
    -------
    nodes : Nodes
    positive : array of bool of shape (nodes, longest list)
    """
    nodes = selection_nodes(lists, scores, known)
    positive: BoolArray = padded(lists, right if known is None else right & ~known)
    if known is None:
        return nodes, positive
    samples = np.flatnonzero(np.bincount(lists.sample, known, len(lists)) > 0)
    return nodes[samples], positive[samples]


def drawn_samples(lists: CandidateLists, rng: np.random.RandomState) -> IntArray:
    """Draw samples to fit on, if all of them would be too many.

    They have a million candidates at most, and 20 million scores if all lists were as long as the
    longest of them. Very long lists are left out if that makes room for more samples.

    Parameters
    ----------
    lists : CandidateLists
    rng : RandomState

    Returns
    -------
    array of int, ascending
    """
    lengths = np.sort(lists.sizes)
    usable = np.minimum(np.arange(1, len(lists) + 1), MOST_SCORES // np.maximum(lengths, 1))
    longest = lengths[len(usable) - 1 - int(np.argmax(usable[::-1]))]  # the longest of the best
    order = rng.permutation(len(lists))
    order = order[lists.sizes[order] <= longest][: max(2, usable.max())]
    fits = np.cumsum(lists.sizes[order]) <= MOST_ROWS
    return np.sort(order[: max(2, int(fits.sum()))])


def _refuse_relevances(y: Any, lists: CandidateLists) -> None:
    """Raise for one number per row, which would be read as the numbers of rows."""
    samples = [
        (k, list(values))
        for k, values in enumerate(y)
        if not isinstance(values, set | frozenset) and len(values)
    ]
    repeated = [k for k, values in samples if len(set(values)) < len(values)]
    is_flags = bool(samples) and all(
        len(values) == lists.sizes[k] and set(values) <= {0, 1} for k, values in samples
    )
    if repeated or is_flags:
        sample = repeated[0] if repeated else samples[0][0]
        raise KindError(
            f"sample {sample} of y looks like one relevance per row; pass the set of chosen rows "
            "instead, such as set(np.flatnonzero(relevance > 0))"
        )
