"""How one set of sequences was built: the tree of prefixes as it grew."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from setlearn.estimators.trace_table import answer_lines, table_lines
from setlearn.generate import GrownLevel, Watch
from setlearn.ordering import canonical_rank
from setlearn.rules.base import Rule
from setlearn.rules.steps import best_first
from setlearn.trie import END
from setlearn.vocabulary import StandIns, Vocabulary

__all__ = ["Branch", "Growth", "SequenceTrace"]

MOST_REJECTED = 10
"""How many of the rejected choices a trace holds at each prefix: the most probable ones."""

NO_ROOM = "cut off at a limit: the set is full of more probable sequences"

Status = Literal["kept", "known", "followed", "rejected", "truncated"]


@dataclass(slots=True, eq=False)
class Branch:
    """One choice at one prefix, and what grew below it.

    ``status`` is "kept", "known" (given from the start), "followed" (explored, but nothing below
    is in the set), "rejected" (``reason`` says why), or "truncated" (accepted, but cut off at a
    limit). A kept end symbol closes the prefix. Of the choices that were rejected below it,
    ``below`` holds the 10 most probable ones, and ``n_more`` says how many others there were.
    ``path`` is the probability of the prefix with this choice, and ``sequence`` their spelling, if
    it was followed or is an end.
    """

    choice: str
    probability: float
    status: Status
    is_end: bool = False
    reason: str = ""
    below: list[Branch] = field(default_factory=list)
    n_more: int = 0
    sequence: str = ""
    path: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "choice": self.choice,
            "probability": self.probability,
            "status": self.status,
            "reason": self.reason,
            "end": self.is_end,
            "below": [branch.to_dict() for branch in self.below],
            "more": self.n_more,
        }


@dataclass(frozen=True, slots=True, eq=False)
class SequenceTrace:
    """The tree of one sample as it grew. Print it, or use ``to_dict`` for JSON.

    Attributes
    ----------
    branches : list of Branch
        The choices at the root, best first, each with the branches below it. Of those that
        were rejected, the 10 most probable ones are listed.
    n_more : int
        How many more choices were rejected at the root.
    result : frozenset
        The predicted set, with the known elements.
    truncated : bool
        Whether a limit cut something off.
    """

    branches: list[Branch]
    n_more: int
    result: frozenset[Hashable]
    truncated: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for ``json.dumps``."""
        return {
            "branches": [branch.to_dict() for branch in self.branches],
            "more": self.n_more,
            "result": sorted(map(_spelled, self.result)),
            "truncated": self.truncated,
        }

    def __str__(self) -> str:
        names = sorted(map(_spelled, self.result))
        lines = [*answer_lines(names, self.branches), "", *table_lines(self.branches, self.n_more)]
        if self.truncated:
            lines += ["", "cut off at a limit: raise max_length, max_size or max_nodes for more"]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """How the set of one sample grew, and what is needed to say why.

    Parameters
    ----------
    watch : Watch
    rule : Rule
        The rule that decided.
    vocabulary : Vocabulary
    stand_ins : tuple of tokens
        The tokens behind the stand-ins of the input.
    """

    watch: Watch
    rule: Rule
    vocabulary: Vocabulary
    stand_ins: StandIns

    def trace(self, result: frozenset[Hashable], truncated: bool) -> SequenceTrace:
        """Turn the levels into a tree.

        Parameters
        ----------
        result : frozenset
            The predicted set, with the known elements.
        truncated : bool
            Whether a limit cut something off.

        Returns
        -------
        SequenceTrace
        """
        levels = self.watch.levels
        points = [self._points(level) for level in levels]
        self._explain_ends(points, result)
        for level, above, below in zip(levels, points, points[1:], strict=False):
            for point, parent, token in zip(below, level.parent, level.token, strict=True):
                branch = above[parent].branches[int(token)]
                branch.sequence = point.prefix
                branch.below, branch.n_more = point.best_first(), point.n_more
        [root] = points[0]
        branches = root.best_first()
        for branch in branches:
            _mark_followed(branch, truncated)
        return SequenceTrace(branches, root.n_more, result, truncated)

    def _points(self, level: GrownLevel) -> list[_ChoicePoint]:
        """The choices of each prefix of a level that a trace shows."""
        points, rejected = [], []
        for row in range(len(level.nodes)):
            node, kept = level.nodes[row : row + 1], level.kept[row]
            known = node.known_mask()[0]
            refused = ~(kept | known)
            if node.available is not None:
                refused &= node.available[0]
            nearest = best_first(node.probabilities[0], refused)
            shown = [*np.flatnonzero(kept | known).tolist(), *nearest[:MOST_REJECTED]]
            goes_on = set(level.token[level.parent == row].tolist())
            prefix = self.vocabulary.decode(level.prefix[row].tolist(), self.stand_ins)
            branches = {}
            for choice in shown:
                name = self.vocabulary.name(choice, self.stand_ins)
                branch = Branch(name, float(node.probabilities[0, choice]), "kept", choice == END)
                branch.sequence = _spelled(prefix) if choice == END else ""
                branch.path = float(node.membership[0, choice])
                if known[choice]:
                    branch.status = "known"
                elif not kept[choice]:
                    branch.status = "rejected"
                    rejected.append((row, choice, branch))
                elif choice != END and choice not in goes_on:
                    branch.status, branch.reason = "truncated", "cut off at a limit"
                branches[choice] = branch
            n_more = max(len(nearest) - MOST_REJECTED, 0)
            points.append(_ChoicePoint(_spelled(prefix), branches, n_more))
        self._explain_rejected(level, rejected)
        return points

    def _explain_rejected(self, level: GrownLevel, rejected: list[tuple[int, int, Branch]]) -> None:
        by_rule = []
        for row, choice, branch in rejected:
            membership = level.nodes[row : row + 1].membership[0, choice]
            if choice != END and membership < level.least[row]:
                branch.reason = (
                    f"with its prefix {branch.choice} has probability {membership:.4g}, and below "
                    f"{level.least[row]:.4g} nothing can enter the set any more"
                )
            else:
                by_rule.append((row, choice, branch))
        if by_rule:
            rows, choices, branches = zip(*by_rule, strict=True)
            names = [branch.choice for branch in branches]
            reasons = self.rule.reasons_not_followed(
                level.nodes, np.array(rows), np.array(choices), names
            )
            for branch, reason in zip(branches, reasons, strict=True):
                branch.reason = reason

    def _explain_ends(self, points: list[list[_ChoicePoint]], result: frozenset[Hashable]) -> None:
        """Reject the finished sequences that the rule did not choose or that had no room."""
        root_end = points[0][0].branches.get(END)
        if root_end is not None and root_end.status == "kept" and result:
            root_end.status = "rejected"
            root_end.reason = "an end here means an empty set, and the set is not empty"
        ends = []
        for level, of_level in zip(self.watch.levels[1:], points[1:], strict=True):
            for prefix, score, point in zip(
                level.prefix, level.nodes.membership[:, END], of_level, strict=True
            ):
                end = point.branches.get(END)
                if end is not None and end.status == "kept":
                    element = self.vocabulary.decode(prefix.tolist(), self.stand_ins)
                    ends.append((score, element, end))
        ends.sort(key=lambda entry: -entry[0])  # as the rule chose from them
        if not ends:
            return
        node = self.watch.finished
        left_out = np.flatnonzero(~self.rule.selected(node)[0, : len(ends)])
        names = [_spelled(ends[place][1]) for place in left_out]
        reasons = dict(
            zip(
                left_out.tolist(),
                self.rule.reasons_not_chosen(node, left_out, names),
                strict=True,
            )
        )
        for place, (_, element, end) in enumerate(ends):
            if element not in result:
                end.status, end.reason = "rejected", reasons.get(place, NO_ROOM)


@dataclass(frozen=True, slots=True, eq=False)
class _ChoicePoint:
    """What a trace shows of one prefix: some choices, and how many more were rejected."""

    prefix: str
    branches: dict[int, Branch]
    n_more: int

    def best_first(self) -> list[Branch]:
        return sorted(self.branches.values(), key=lambda branch: -branch.probability)


def _mark_followed(branch: Branch, truncated: bool) -> bool:
    """Mark branches that lead to no element of the set; returns whether this one leads to one."""
    leads_on = [_mark_followed(below, truncated) for below in branch.below]
    if branch.status == "truncated" and not truncated:  # it could not have changed the set
        branch.status, branch.reason = "followed", ""
    if branch.is_end or branch.status != "kept":
        return branch.status in ("kept", "known", "truncated")
    if not any(leads_on):
        branch.status = "followed"
    return any(leads_on)


def _spelled(element: Any) -> str:
    """An element for people to read; sets have no order of their own, so theirs is canonical."""
    if not isinstance(element, frozenset):
        return str(element)
    return "{" + ", ".join(map(str, sorted(element, key=canonical_rank))) + "}"
