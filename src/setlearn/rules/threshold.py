"""The multi-label baseline: keep every choice above one cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, check_positive, dense_mask
from setlearn.rules.agreement import Metric, agreement, check_metric
from setlearn.rules.base import Rule
from setlearn.rules.label_cuts import label_cuts
from setlearn.rules.min_size import check_min_size, fill_up, learned_min_size
from setlearn.savable import savable

__all__ = ["Threshold", "best_cut", "check_cut"]

MOST_CUTS = 65_536
"""The largest number of cuts to try; up to that many different scores the search is exact."""


@savable()
class Threshold(Rule):
    """Keep every choice whose probability exceeds a cut.

    Parameters
    ----------
    cut : float in [0, 1], "tuned" or "per label", default=0.5
        "tuned" picks the best cut on the data that the rule is fitted on. "per label" picks one
        for each label, close to the tuned one if the label is rare.
    min_size : int, default=0
        Keep at least this many, the best ones. None: as many as the smallest training set has, but
        1 at most if there are fewer than 100.
    metric : {"f1", "exact", "hamming", "jaccard"}, default="f1"
        What is best: the highest mean F1, the most sets that are exactly right, the least Hamming
        distance or the highest mean Jaccard index. It does not matter if the cut is a number.

    Attributes
    ----------
    cut_ : float, or array with one value per label
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

    adjustable: ClassVar[tuple[str, ...]] = ("cut", "min_size")

    def __init__(
        self,
        cut: float | Literal["tuned", "per label"] = 0.5,
        *,
        min_size: int | None = 0,
        metric: Metric = "f1",
    ) -> None:
        self.cut = cut
        self.min_size = min_size
        self.metric = metric

    @property
    def needs_fit(self) -> bool:
        """Whether the cut or the least size has to be learned."""
        return isinstance(self.cut, str) or self.min_size is None

    @property
    def takes_padding(self) -> bool:
        """Unless there is one cut per label: then all samples must have the same labels."""
        return self.cut != "per label"

    @property
    def is_monotone(self) -> bool:
        """Always."""
        return True

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Tune the cut if it is "tuned", and learn the least size if it is None.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)
            The right choices.

        Returns
        -------
        self
        """
        self.check_parameters()
        check_positive(nodes, positive)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        self.cut_: float | FloatArray = self._chosen_cut(nodes, positive)
        return self

    def _chosen_cut(self, nodes: Nodes, positive: Mask) -> float | FloatArray:
        if not isinstance(self.cut, str):
            return float(self.cut)
        common = best_cut(nodes, positive, self.min_size_, self.metric)
        if self.cut == "tuned":
            return common
        if nodes.has_padding:
            raise DataError(
                'cut="per label" needs the same labels for every sample, but some are not '
                'available everywhere; use cut="tuned"'
            )
        return label_cuts(nodes, positive, common, self.min_size_, self.metric)

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what is above the cut."""
        cut = self._cut_now()
        if np.ndim(cut) and len(np.atleast_1d(cut)) != nodes.n_choices:
            raise DataError(
                f"this Threshold has one cut for each of {len(np.atleast_1d(cut))} labels, got "
                f"scores of {nodes.n_choices}; pass scores of the same labels, or fit it again"
            )
        kept = nodes.completed(nodes.probabilities > cut)
        return fill_up(kept, nodes, getattr(self, "min_size_", self.min_size or 0))

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The probability of the choice, and the cut."""
        return {**super().figures(node, choice, memory), "cut": self._cut_of(choice)}

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the choice's probability with the cut."""
        score = node.probabilities[0, choice]
        return f"{name} at {score:.4g} does not exceed the cut {self._cut_of(choice):.4g}"

    def facts(self) -> dict[str, Any]:
        """What was learned; of many cuts the lowest and the highest."""
        facts = super().facts()
        if isinstance(facts.get("cut"), list):
            facts["cut"] = f"{min(facts['cut']):.4g} to {max(facts['cut']):.4g}, per label"
        return facts

    def _cut_of(self, choice: int) -> float:
        cut = self._cut_now()
        return float(cut if np.ndim(cut) == 0 else np.atleast_1d(cut)[choice])

    def _cut_now(self) -> float | FloatArray:
        self.check_parameters()
        if self.needs_fit:
            self._check_fitted("cut_")
        cut: Any = getattr(self, "cut_", self.cut)
        return cast(float | FloatArray, cut)

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range."""
        if self.cut != "per label":
            check_cut(self.cut, '"tuned" or "per label"')
        check_min_size(self.min_size)
        check_metric(self.metric)


def check_cut(cut: object, words: str = '"tuned"') -> None:
    """Raise unless the cut is a probability or "tuned".

    Parameters
    ----------
    cut : object
    words : str, default='"tuned"'
        What else than a number is possible, for the message.

    Raises
    ------
    ParameterError
    """
    number = isinstance(cut, int | float | np.number) and not isinstance(cut, bool)
    if cut != "tuned" and not (number and 0 <= cut <= 1):  # type: ignore[operator]
        raise ParameterError(f"cut must lie in [0, 1] or be {words}, got {cut!r}")


def best_cut(
    nodes: Nodes,
    positive: Mask,
    min_size: int,
    metric: Metric = "f1",
    *,
    among: Callable[[Nodes], BoolArray] | None = None,
) -> float:
    """The cut with the best mean agreement over the choice points; the lowest of equals.

    Lowering the cut adds each point's choices one by one, and each changes that point's F1, or
    another metric, by a known amount. Summing these amounts over all points in the order of the
    scores gives the mean F1 of every cut at once.

    Parameters
    ----------
    nodes : Nodes
    positive : mask of shape (n, V)
        The right choices.
    min_size : int
        The number of choices that are kept whatever the cut.
    metric : {"f1", "exact", "hamming", "jaccard"}, default="f1"
    among : callable, optional
        Says which choices of some points may be kept at all, as a mask. By default all.

    Returns
    -------
    float
    """
    cuts = _candidate_cuts(nodes, among)
    gain = np.zeros(len(cuts) + 1)
    for rows in nodes.row_chunks():
        part = nodes[rows]
        keepable = None if among is None else among(part)
        scores, deltas = _gains(part, dense_mask(positive, rows), min_size, metric, keepable)
        # A choice is kept under every cut below its score: the first len(below) candidates.
        below = np.searchsorted(cuts, scores.ravel(), side="left")
        gain += np.bincount(below, weights=deltas.ravel(), minlength=len(cuts) + 1)
    # The total at cuts[i] sums the gains of all choices with more than i cuts below them.
    total = np.cumsum(gain[::-1])[::-1][1:]
    return float(cuts[int(np.argmax(total))])


def _candidate_cuts(nodes: Nodes, among: Callable[[Nodes], BoolArray] | None) -> FloatArray:
    if among is not None:
        parts = (nodes[rows] for rows in nodes.row_chunks())
        scores = np.concatenate([_thinned(part.probabilities[among(part)]) for part in parts])
    else:
        scores = nodes.probabilities.ravel()
        if nodes.available is not None:
            scores = scores[nodes.available.ravel()]
    distinct = np.unique(_thinned(scores))
    if len(distinct) > MOST_CUTS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, MOST_CUTS).astype(np.intp)]
    # In the scores' own precision, in which they are compared; some pairs have none between them.
    middle = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
    between = np.where(middle < distinct[1:], middle, distinct[:-1])
    return np.concatenate([[0.0], between.astype(np.float64), [1.0]])


def _thinned(scores: FloatArray) -> FloatArray:
    return scores[:: max(1, len(scores) // (4 * MOST_CUTS))]


def _gains(
    nodes: Nodes, positive: BoolArray, min_size: int, metric: Metric, keepable: BoolArray | None
) -> tuple[FloatArray, FloatArray]:
    """Each choice's score, best first, and what adding it does to its point's metric; (n, V)."""
    choosable = nodes.masked(nodes.probabilities)
    if keepable is not None:
        choosable = np.where(keepable, choosable, -np.inf)
    order = np.argsort(-choosable, axis=1, kind="stable")  # what cannot be kept comes last
    scores = np.take_along_axis(choosable, order, axis=1).astype(np.float64)
    never_kept = scores == -np.inf
    scores[:, :min_size] = np.inf  # these are kept whatever the cut
    n, n_choices = scores.shape
    shared = np.zeros((n, n_choices + 1), dtype=np.intp)
    np.cumsum(np.take_along_axis(positive, order, axis=1), axis=1, out=shared[:, 1:])
    values = agreement(
        metric,
        shared=shared,
        true=positive.sum(axis=1, keepdims=True),
        kept=np.arange(n_choices + 1),
        n_choices=nodes.n_available[:, None],
    )  # (n, V + 1): of the first 0, 1, ... choices
    return scores, np.where(never_kept, 0, np.diff(values, axis=1))
