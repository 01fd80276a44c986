"""What `Margin` learns: λ by the paper's max-margin objective, solved exactly, and a floor.

For each choice point, λ should lie between the gap from the top score P down to the lowest right
choice and the gap down to the highest wrong one, best in the middle::

    minimise Σ_i (P_i - P̂_i - λ)²   with   P_i - L⁺_min,i ≤ λ ≤ P_i - L⁻_max,i   for all i

On real data the intervals rarely have a common point. Then the constraints enter as the paper's
Lagrangian has them, each violation multiplied by a large number. That is a convex, piecewise
quadratic function of one variable, and its minimum is found by sorting its breakpoints.

The floor is not in the paper: a choice point whose best score is below it gets the empty set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setlearn.nodes import BoolArray, FloatArray, Mask

__all__ = ["Gaps", "MaxMargin", "best_floor", "evaluate", "past_ties", "solve"]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The bounds on λ from each choice point: ``lower``, ``upper``, and the best ``target``.

    A point without wrong choices has no upper bound (inf) and no target (nan). A point without
    right choices gives no bounds and is left out.
    """

    lower: FloatArray
    upper: FloatArray
    target: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, positive: BoolArray) -> Gaps:
        """Measure the gaps below the top score of each row.

        Parameters
        ----------
        scores : array of shape (n, V)
            -inf for padding.
        positive : bool array of shape (n, V)
            The right choices.

        Returns
        -------
        Gaps
        """
        answerable = positive.any(axis=1)
        scores, positive = scores[answerable].astype(np.float64), positive[answerable]
        top = scores.max(axis=1, initial=-np.inf)
        lowest_right = np.where(positive, scores, np.inf).min(axis=1, initial=np.inf)
        highest_wrong = np.where(positive, -np.inf, scores).max(axis=1, initial=-np.inf)
        middle = np.where(np.isfinite(highest_wrong), (lowest_right + highest_wrong) / 2, np.nan)
        return cls(top - lowest_right, top - highest_wrong, top - middle)

    @classmethod
    def join(cls, parts: list[Gaps]) -> Gaps:
        """Join the gaps of several chunks."""
        lower, upper, target = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("lower", "upper", "target")
        )
        return cls(lower, upper, target)

    def __getitem__(self, rows: BoolArray) -> Gaps:
        return Gaps(self.lower[rows], self.upper[rows], self.target[rows])


@dataclass(frozen=True, slots=True)
class MaxMargin:
    """A λ, whether it satisfies every constraint, and its objective."""

    lam: float
    feasible: bool
    objective: float
    interval: tuple[float, float]  # empty (first > second) where not feasible


def solve(gaps: Gaps, multiplier: float) -> MaxMargin:
    """Find the λ with the least objective: constrained if that is possible, else penalised.

    Parameters
    ----------
    gaps : Gaps
    multiplier : float
        The cost of a violated constraint.

    Returns
    -------
    MaxMargin
    """
    target = gaps.target[np.isfinite(gaps.target)]
    upper = gaps.upper[np.isfinite(gaps.upper)]
    lowest, highest = _interval(gaps)
    if lowest > highest:
        return evaluate(gaps, _least_penalised(gaps.lower, upper, target, multiplier), multiplier)
    mean = target.mean() if len(target) else lowest
    return evaluate(gaps, float(np.clip(mean, lowest, highest)), multiplier)


def evaluate(gaps: Gaps, lam: float, multiplier: float) -> MaxMargin:
    """Check a given λ against every constraint, and compute its objective.

    Parameters
    ----------
    gaps : Gaps
    lam : float
    multiplier : float
        The cost of a violated constraint.

    Returns
    -------
    MaxMargin
    """
    target = gaps.target[np.isfinite(gaps.target)]
    upper = gaps.upper[np.isfinite(gaps.upper)]
    lowest, highest = _interval(gaps)
    violations = np.maximum(gaps.lower - lam, 0).sum() + np.maximum(lam - upper, 0).sum()
    objective = ((target - lam) ** 2).sum() + multiplier * violations
    return MaxMargin(lam, bool(lowest <= lam <= highest), float(objective), (lowest, highest))


def past_ties(lam: float, gaps: Gaps, slack: float, largest: float) -> float:
    """Raise a λ that equals some lower bound slightly, because a tie would stop the process.

    A λ of 0 stays: then the best choice is kept anyway, and choices that tie with it are not.

    Parameters
    ----------
    lam : float
    gaps : Gaps
    slack : float
        Relative to the larger of λ and ``largest``.
    largest : float
        The largest absolute score.

    Returns
    -------
    float
    """
    return lam if lam == 0 or lam not in gaps.lower else lam + slack * max(lam, largest)


def best_floor(top_scores: FloatArray, positive: Mask) -> float:
    """The cut on the top score that separates empty from non-empty training sets best.

    Parameters
    ----------
    top_scores : array of shape (n,)
        The best score of each choice point; -inf if it has no choices, which is left out.
    positive : mask of shape (n, V)
        The right choices.

    Returns
    -------
    float
        A choice point whose top score is at or below it gets the empty set. -inf if predicting
        the empty set never helps.
    """
    empty = np.asarray(positive.sum(axis=1)).ravel() == 0
    has_choices = top_scores > -np.inf
    top_scores, empty = top_scores[has_choices], empty[has_choices]
    if len(top_scores) == 0:
        return -np.inf
    order = np.argsort(top_scores, kind="stable")
    scores, empty = top_scores[order], empty[order]
    # The net number of samples corrected by calling the k + 1 lowest empty.
    gain = np.cumsum(np.where(empty, 1, -1))
    ends_tie = np.append(scores[1:] > scores[:-1], True)
    gain = np.where(ends_tie, gain, -1)
    best = int(np.argmax(gain))
    if gain[best] <= 0:
        return -np.inf
    if best + 1 == len(scores):
        return float(scores[best])
    return float((scores[best] + scores[best + 1]) / 2)


def _interval(gaps: Gaps) -> tuple[float, float]:
    finite = gaps.upper[np.isfinite(gaps.upper)]
    return float(gaps.lower.max(initial=0.0)), float(finite.min(initial=np.inf))


def _least_penalised(
    lower: FloatArray, upper: FloatArray, target: FloatArray, multiplier: float
) -> float:
    """Follow the slope 2·m·λ - 2·Σtarget + multiplier·(#upper below λ - #lower above λ) to zero."""
    lower, upper = np.sort(lower), np.sort(upper)
    breakpoints = np.unique(np.concatenate([lower, upper]))

    def pull(at: FloatArray, side_of_upper: str, side_of_lower: str) -> FloatArray:
        passed = np.searchsorted(upper, at, side=side_of_upper)  # type: ignore[call-overload]
        ahead = len(lower) - np.searchsorted(lower, at, side=side_of_lower)  # type: ignore[call-overload]
        return np.asarray(multiplier * (passed - ahead), dtype=np.float64)

    quadratic = 2 * len(target) * breakpoints - 2 * target.sum()
    after = quadratic + pull(breakpoints, "right", "right")
    # The slope rises monotonically, so the minimum lies at or just before the first breakpoint
    # after which it is no longer negative; the sum of squares may also push it past the last.
    first = int(np.argmax(after >= 0)) if (after >= 0).any() else len(breakpoints)
    if first == len(breakpoints):
        return float((2 * target.sum() - multiplier * len(upper)) / (2 * len(target)))
    before = pull(breakpoints[first : first + 1], "left", "left")[0]
    if quadratic[first] + before <= 0:
        return float(breakpoints[first])
    return float((2 * target.sum() - before) / (2 * len(target)))
