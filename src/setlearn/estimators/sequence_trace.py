"""How one set of sequences was built: the tree of prefixes as it grew."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from setlearn.generate import GrownLevel
from setlearn.nodes import Nodes
from setlearn.rules.base import Rule
from setlearn.trie import END
from setlearn.vocabulary import Vocabulary

__all__ = ["Branch", "SequenceTrace", "trace_growth"]

SHOWN_REJECTED = 2
"""How many of the rejected choices a printed tree shows at each node, the nearest misses."""

Status = Literal["kept", "known", "followed", "rejected", "truncated"]


@dataclass(slots=True, eq=False)
class Branch:
    """One choice at one prefix, and what grew below it.

    ``status`` is "kept", "known" (given from the start), "followed" (explored, but nothing below
    is in the set), "rejected" (``reason`` says why), or "truncated" (accepted, but cut off at a
    bound). A kept end symbol closes the prefix.
    """

    choice: str
    probability: float
    status: Status
    reason: str = ""
    is_end: bool = False
    below: list[Branch] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "choice": self.choice,
            "probability": self.probability,
            "status": self.status,
            "reason": self.reason,
            "end": self.is_end,
            "below": [branch.to_dict() for branch in self.below],
        }


@dataclass(frozen=True, slots=True, eq=False)
class SequenceTrace:
    """The tree of one sample as it grew. Print it, or use ``to_dict`` for JSON.

    Attributes
    ----------
    branches : list of Branch
        All choices at the root, best first, each with the branches below it.
    result : frozenset
        The predicted set, with the known elements.
    truncated : bool
        Whether a bound cut something off.
    """

    branches: list[Branch]
    result: frozenset[Hashable]
    truncated: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for ``json.dumps``."""
        return {
            "branches": [branch.to_dict() for branch in self.branches],
            "result": sorted(str(element) for element in self.result),
            "truncated": self.truncated,
        }

    def __str__(self) -> str:
        lines = ["(root)", *_drawn(self.branches, "")]
        lines.append("")
        lines.append(f"{len(self.result)} sequence(s): {sorted(map(str, self.result))}")
        if self.truncated:
            lines.append("cut off at a bound: raise max_length, max_size or max_nodes for more")
        return "\n".join(lines)


def trace_growth(
    levels: list[GrownLevel],
    rule: Rule,
    vocabulary: Vocabulary,
    result: frozenset[Hashable],
    truncated: bool,
) -> SequenceTrace:
    """Turn the levels of one sample's generation into a tree.

    Parameters
    ----------
    levels : list of GrownLevel
    rule : Rule
    vocabulary : Vocabulary
    result : frozenset
    truncated : bool

    Returns
    -------
    SequenceTrace
    """
    above = [_branches(levels[0], 0, rule, vocabulary)]
    roots = above[0]
    _mark_end(roots[END], not result)  # there it would mean the empty set
    for level, below in pairwise(levels):
        current = [_branches(below, row, rule, vocabulary) for row in range(len(below.nodes))]
        for row, (parent, token) in enumerate(zip(level.parent, level.token, strict=True)):
            _mark_end(current[row][END], vocabulary.decode(below.prefix[row].tolist()) in result)
            above[parent][int(token)].below = _best_first(current[row])
        above = current
    branches = _best_first(roots)
    for branch in branches:
        _mark_followed(branch, truncated)
    return SequenceTrace(branches, result, truncated)


def _mark_end(end: Branch, is_in_result: bool) -> None:
    """Reject a finished sequence that the rule did not choose, or that exceeded ``max_size``."""
    if end.status == "kept" and not is_in_result:
        end.status = "rejected"
        end.reason = "other sequences were chosen"


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


def _branches(level: GrownLevel, row: int, rule: Rule, vocabulary: Vocabulary) -> dict[int, Branch]:
    """Every choice at one node, by its id."""
    node: Nodes = level.nodes[row : row + 1]
    goes_on = set(level.token[level.parent == row].tolist())
    branches = {}
    for choice in range(node.n_choices):
        name, probability = vocabulary.name(choice), float(node.probabilities[0, choice])
        branch = Branch(name, probability, "kept", is_end=choice == END)
        if node.known is not None and node.known[0, choice]:
            branch.status = "known"
        elif not level.kept[row, choice]:
            branch.status, branch.reason = "rejected", rule.reason_against(node, choice, name)
        elif choice != END and choice not in goes_on:
            branch.status, branch.reason = "truncated", "cut off at a bound"
        branches[choice] = branch
    return branches


def _best_first(branches: dict[int, Branch]) -> list[Branch]:
    return sorted(branches.values(), key=lambda branch: -branch.probability)


def _drawn(branches: list[Branch], margin: str) -> list[str]:
    chosen = [branch for branch in branches if branch.status not in ("followed", "rejected")]
    others = [branch for branch in branches if branch.status in ("followed", "rejected")]
    shown = chosen + others[:SHOWN_REJECTED]
    hidden = len(others) - SHOWN_REJECTED
    lines = []
    for number, branch in enumerate(shown, 1):
        last = number == len(shown) and hidden <= 0
        remark = f": {branch.reason}" if branch.reason else ""
        joint, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
        lines.append(
            f"{margin}{joint}{branch.choice}  {branch.probability:.4f} {branch.status}{remark}"
        )
        if branch.status != "followed":
            lines += _drawn(branch.below, margin + bar)
    if hidden > 0:
        lines.append(f"{margin}└─ … {hidden} more not kept")
    return lines
