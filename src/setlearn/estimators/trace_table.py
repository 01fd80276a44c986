"""The tree of a set of sequences as a text: the answer, then a table of its choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setlearn.estimators.sequence_trace import Branch

__all__ = ["answer_lines", "table_lines"]

SHOWN_REJECTED, NEAR = 3, 0.1
"""How many rejected choices of a prefix are printed at most: the most probable one, and others with
at least this share of the probability of the best choice."""

VISIBLE = 5e-5
"""A smaller probability is printed as 0."""


def answer_lines(names: list[str], branches: list[Branch]) -> list[str]:
    """Write down the sequences of a set with their probabilities, best first.

    Parameters
    ----------
    names : list of str
        The sequences as they are spelled, in ascending order.
    branches : list of Branch
        The tree that they were found in.

    Returns
    -------
    list of str
    """
    if not names:
        return ["the set is empty"]
    ends = {end.sequence: end for end in _ends(branches) if end.status in ("kept", "known")}
    names = sorted(names, key=lambda name: -ends[name].path if name in ends else 1.0)
    width = max(map(len, names))
    lines = [f"{len(names)} sequence" + "s" * (len(names) > 1)]
    for name in names:
        # Of a known sequence the tree may hold nothing.
        figure = f"{ends[name].path:.4f}" if name in ends else " " * 6
        is_known = name not in ends or ends[name].status == "known"
        lines.append(f"  {name:{width}}  {figure}{'  known' * is_known}".rstrip())
    return lines


def _ends(branches: list[Branch]) -> Iterator[Branch]:
    """All finished sequences of a tree."""
    for branch in branches:
        if branch.is_end:
            yield branch
        yield from _ends(branch.below)


def table_lines(branches: list[Branch], n_more: int) -> list[str]:
    """Write down what was decided at each prefix, level by level, in columns.

    "score" is what the rule looked at, "path" the probability of the prefix with the choice. If
    they are equal everywhere, there is one column for both.

    Parameters
    ----------
    branches : list of Branch
        The choices at the root.
    n_more : int
        How many more were rejected there.

    Returns
    -------
    list of str
    """
    rows = [("prefix", "choice", "score", "path", "")]
    points = [("(root)", branches, n_more)]
    while points:
        rows += [row for point in points for row in _rows(*point)]
        points = [
            (branch.sequence, branch.below, branch.n_more)
            for _, choices, _ in points
            for branch in choices
            if branch.below and branch.status != "followed"
        ]
    if all(score == path for _, _, score, path, _ in rows[1:]):  # no need to say it twice
        rows = [(prefix, choice, score, "", remark) for prefix, choice, score, _, remark in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width
        ).rstrip()
        for row in rows
    ]


def _rows(prefix: str, branches: list[Branch], n_more: int) -> list[tuple[str, str, str, str, str]]:
    """The rows of the table for one prefix."""
    chosen = [branch for branch in branches if branch.status not in ("followed", "rejected")]
    others = [branch for branch in branches if branch.status in ("followed", "rejected")]
    best = max((branch.probability for branch in branches), default=0.0)
    least = max(NEAR * best, VISIBLE)
    near = [branch for branch in others[1:SHOWN_REJECTED] if branch.probability >= least]
    nearest = [one for one in others[:1] if one.probability >= VISIBLE or not chosen]
    shown = [*chosen, *nearest, *near]
    hidden = [branch for branch in others if branch not in shown]
    n_visible = sum(branch.probability >= VISIBLE for branch in hidden)
    if all(branch.probability >= VISIBLE for branch in hidden if not branch.is_end):
        n_visible += n_more  # which a trace does not hold; they may be nearly as probable
    rows = []
    for branch in shown:
        reason = _dead_end(branch) if branch.status == "followed" else branch.reason
        remark = f"{branch.status}: {reason}" if reason else branch.status
        if n_visible and branch is shown[-1]:
            remark += f" ({n_visible} more not kept)"
        figures = f"{branch.probability:.4f}", f"{branch.path:.4f}"
        rows.append((prefix, branch.choice, *figures, remark))
        prefix = ""  # once is enough
    return rows


def _dead_end(branch: Branch) -> str:
    """Why the most probable way on from a branch leads to nothing."""
    if not branch.below:
        return ""
    best = branch.below[0]
    if best.status == "followed":
        return _dead_end(best)
    return f"after {branch.sequence}, {best.reason}" if best.reason else ""
