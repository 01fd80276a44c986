"""Chosen candidates as users write them, and the choice points that rules are fitted on."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone

from setlearn.candidate_lists import CandidateLists
from setlearn.errors import KindError
from setlearn.estimators.argument_checks import check_same_length
from setlearn.nodes import BoolArray, FloatArray, IntArray, Nodes
from setlearn.rules import Rule
from setlearn.scorers.selection import padded, selection_nodes
from setlearn.set_reading import read_samples, read_set

__all__ = ["Points", "RuleSamples", "chosen_points", "chosen_rows", "chosen_sets"]

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
    """Read sets of candidates: lists of tokens become tuples, and NumPy's numbers plain ones.

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
        read_set([_element(element) for element in sample], f"sample {number} of {name}")
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
    samples: IntArray,
    known: BoolArray | None = None,
) -> Points:
    """Turn some samples into choice points; with known candidates, only those that have some.

    Parameters
    ----------
    lists : CandidateLists
    scores : array of shape (n_rows,)
    right : array of bool of shape (n_rows,)
    samples : array of int
    known : array of bool of shape (n_rows,), optional

    Returns
    -------
    nodes : Nodes
    positive : array of bool of shape (nodes, longest list)
    """
    nodes = selection_nodes(lists, scores, known)
    positive: BoolArray = padded(lists, right if known is None else right & ~known)
    if known is not None:
        samples = samples[np.bincount(lists.sample, known, len(lists))[samples] > 0]
    return nodes[samples], positive[samples]


def _element(element: Any) -> Any:
    if isinstance(element, np.generic):
        return element.item()
    return tuple(element) if isinstance(element, list) else element


def _refuse_relevances(y: Any, lists: CandidateLists) -> None:
    """Raise for one 0 or 1 per row, which would be read as the numbers of two rows."""
    for sample, (values, size) in enumerate(zip(y, lists.sizes, strict=True)):
        is_set = isinstance(values, set | frozenset)
        if not is_set and len(values) == size > 2 and set(values) <= {0, 1}:
            raise KindError(
                f"sample {sample} of y holds {size} values that are 0 or 1, one per row; pass the "
                "set of chosen rows instead, such as set(np.flatnonzero(values))"
            )
