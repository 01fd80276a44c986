"""The multi-label baseline: keep every choice above one cut."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, dense_mask
from setlearn.rules.base import (
    Rule,
    check_min_size,
    check_positive,
    fill_up,
    learned_min_size,
)
from setlearn.savable import savable

__all__ = ["Threshold", "best_cut", "check_cut"]

MOST_CUTS = 65_536
"""How many cuts are tried at the most; up to that many different scores the search is exact."""


@savable()
class Threshold(Rule):
    """Keep every choice whose probability exceeds a cut.

    Parameters
    ----------
    cut : float in [0, 1] or "tuned", default=0.5
        "tuned" picks the cut with the best mean F1 on the data that the rule is fitted on.
    min_size : int, default=0
        Keep at least this many, the best ones; None: 1 unless some training sets were empty.

    Attributes
    ----------
    cut_ : float
    min_size_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import Threshold
    >>> nodes = Nodes.roots(np.array([[0.4, 0.1, 0.3], [0.1, 0.6, 0.2]]))
    >>> right = np.array([[True, False, True], [False, True, False]])
    >>> round(Threshold("tuned").fit(nodes, right).cut_, 3)
    0.25
    """

    def __init__(self, cut: float | Literal["tuned"] = 0.5, *, min_size: int | None = 0) -> None:
        self.cut = cut
        self.min_size = min_size

    @property
    def needs_fit(self) -> bool:
        """Whether anything is left open."""
        return self.cut == "tuned" or self.min_size is None

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Tune the cut, if that is asked for."""
        self.check_parameters()
        check_positive(nodes, positive)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        self.cut_ = (
            best_cut(nodes, positive, self.min_size_) if self.cut == "tuned" else float(self.cut)
        )
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what lies above the cut."""
        kept = nodes.probabilities > self._cut_now()
        if nodes.known is not None:
            kept |= nodes.known
        return fill_up(kept, nodes, getattr(self, "min_size_", self.min_size or 0))

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say how far under the cut the choice is."""
        score = node.probabilities[0, choice]
        return f"{name} at {score:.4g} does not exceed the cut {self._cut_now():.4g}"

    def _cut_now(self) -> float:
        self.check_parameters()
        if self.cut != "tuned":
            return float(self.cut)
        self._check_fitted("cut_")
        return self.cut_

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless the cut is a probability or "tuned", and the least size a count."""
        check_cut(self.cut)
        check_min_size(self.min_size)


def check_cut(cut: object) -> None:
    """Raise unless the cut is a probability or "tuned"."""
    number = isinstance(cut, int | float | np.number) and not isinstance(cut, bool)
    if cut != "tuned" and not (number and 0 <= cut <= 1):  # type: ignore[operator]
        raise ParameterError(f'cut must lie in [0, 1] or be "tuned", got {cut!r}')


def best_cut(nodes: Nodes, positive: Mask, min_size: int) -> float:
    """The cut with the best mean F1 over the choice points.

    Lowering the cut lets each point's choices in one by one, and each changes that point's F1 by
    a known amount. Summing these amounts over all points in the order of the scores gives the
    mean F1 of every cut at once.
    """
    cuts = _candidate_cuts(nodes)
    gain = np.zeros(len(cuts) + 1)
    for rows in nodes.row_chunks():
        scores, deltas = _f1_gains(nodes.probabilities[rows], dense_mask(positive, rows), min_size)
        # A choice is kept under every cut below its score: the first len(below) candidates.
        below = np.searchsorted(cuts, scores.ravel(), side="left")
        gain += np.bincount(below, weights=deltas.ravel(), minlength=len(cuts) + 1)
    # Total F1 at cuts[i] sums the gains of all choices with more than i cuts below them.
    total = np.cumsum(gain[::-1])[::-1][1:]
    return float(cuts[int(np.argmax(total))])


def _candidate_cuts(nodes: Nodes) -> FloatArray:
    scores = nodes.probabilities.ravel()
    if len(scores) > 4 * MOST_CUTS:
        scores = scores[:: len(scores) // (4 * MOST_CUTS)]
    distinct = np.unique(scores)
    if len(distinct) > MOST_CUTS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, MOST_CUTS).astype(np.intp)]
    # In the scores' own precision, in which they are compared; no number lies between some pairs.
    middle = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
    between = np.where(middle < distinct[1:], middle, distinct[:-1])
    return np.concatenate([[0.0], between.astype(np.float64), [1.0]])


def _f1_gains(
    probabilities: FloatArray, positive: BoolArray, min_size: int
) -> tuple[FloatArray, FloatArray]:
    """Each choice's score, best first, and what letting it in adds to its point's F1; (n, V)."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    scores = np.take_along_axis(probabilities, order, axis=1).astype(np.float64)
    scores[:, :min_size] = np.inf  # these are in whatever the cut
    right = np.take_along_axis(positive, order, axis=1)
    size = np.arange(1, scores.shape[1] + 1)
    truth = positive.sum(axis=1, keepdims=True)
    f1 = 2 * np.cumsum(right, axis=1) / (size + truth)
    before = np.concatenate([truth == 0, f1[:, :-1]], axis=1)  # an empty answer to an empty set: 1
    return scores, f1 - before
