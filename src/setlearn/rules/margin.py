"""SSG and SSG-S: keep what scores within λ of the best choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from setlearn.errors import DataError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, dense_mask
from setlearn.rules.base import (
    Rule,
    best_first,
    check_min_size,
    check_positive,
    fill_up,
    learned_min_size,
)
from setlearn.rules.floor import best_floor
from setlearn.rules.max_margin import Gaps, judge, solve
from setlearn.rules.steps import Pick, Steps
from setlearn.savable import savable

__all__ = ["Margin"]

SPACES = ("probability", "log")

LEAST_PROBABILITY = 1e-10
"""Less counts as this much on the log scale, where a zero would outweigh all other scores."""


@savable(infinite=("interval_", "objective_"))
class Margin(Rule):
    """Sequential Set Generation: pick the best choice, penalise it by λ, pick again.

    The process stops when a pick repeats itself. The literal loop has a closed form, and that is
    what runs: a choice is kept if its score lies less than λ below the best one. With ``rho``
    the process stops only when more than a share ρ of the memory has been repeated.

    Parameters
    ----------
    lam : float or sequence of floats, optional
        Fixes λ: one number, or one a position of a sequence. By default it is learned by the
        paper's max-margin objective, one for each depth that the training nodes have.
    rho : float in [0, 1), default=0
        The robust stop: go on until the repeats outnumber ρ times the memory.
    space : {"probability", "log"}, default="probability"
        The scale on which λ is subtracted.
    multiplier : float, default=1000
        What a violated constraint costs where no λ satisfies all of them (the paper's λ₊, λ₋).
    min_size : int, optional
        Keep at least this many. 0 also learns a floor: a choice point whose best score lies
        under it gets the empty set. By default 0 if some training sets were empty, else 1.

    Attributes
    ----------
    lam_ : float, or array with one value a position
    feasible_ : bool (or array)
        Whether one λ satisfies the constraints of every choice point.
    objective_ : float (or array)
        The objective at λ: the sum of squares, with the penalties where it is not feasible.
    interval_ : array (2,) (or one row a position)
        The bounds that the constraints put on λ; empty (first above second) if not feasible.
    min_size_ : int
    floor_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import Margin
    >>> nodes = Nodes.roots(np.array([[0.5, 0.4, 0.1], [0.05, 0.9, 0.05]]))
    >>> right = np.array([[True, True, False], [False, True, False]])
    >>> rule = Margin().fit(nodes, right)
    >>> round(rule.lam_, 4), rule.feasible_
    (0.3375, True)
    >>> rule.accept(nodes)
    array([[ True,  True, False],
           [False,  True, False]])
    """

    def __init__(
        self,
        lam: float | Sequence[float] | None = None,
        *,
        rho: float = 0.0,
        space: Literal["probability", "log"] = "probability",
        multiplier: float = 1000.0,
        min_size: int | None = None,
    ) -> None:
        self.lam = lam
        self.rho = rho
        self.space = space
        self.multiplier = multiplier
        self.min_size = min_size

    @property
    def needs_fit(self) -> bool:
        """Whether λ, or what to do where sets may be empty, is left open."""
        return self.lam is None or not self.min_size

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn λ from choice points and the mask of their right choices."""
        check_positive(nodes, positive)
        self.check_parameters(n_positions=int(nodes.depth.max()) + 1)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        self.floor_ = (
            best_floor(self._top_scores(nodes), positive) if not self.min_size_ else -np.inf
        )
        self._solve_each_depth(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Run the process at every choice point at once."""
        self.check_parameters()
        lam, min_size = self._lam_at(nodes), self._min_size_now()
        floor = getattr(self, "floor_", -np.inf)
        if self.rho == 0 and self.space == "probability":
            kept = _within_margin(nodes.probabilities, nodes.known, lam)
        else:
            kept = np.empty(nodes.probabilities.shape, dtype=bool)
            for rows in nodes.row_chunks():
                part = nodes[rows]
                process = _within_margin if self.rho == 0 else self._until_repeats
                kept[rows] = process(self._scores(part), part.known, lam[rows])
        if np.isfinite(floor):
            kept[self._under_floor(nodes, floor)] = False
        return fill_up(kept, nodes, min_size) if min_size > 1 else kept

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """The paper's loop to the letter: penalise, pick, remember, stop at a repeat."""
        scores, lam = self._scores(node)[0], self._lam_at(node)[0]
        floor = getattr(self, "floor_", -np.inf)
        if self._under_floor(node, floor)[0]:
            return Steps((), f"the best score {scores.max():.4g} lies under the floor {floor:.4g}")
        known = np.zeros(len(scores), bool) if node.known is None else node.known[0]
        counts = known.astype(scores.dtype)  # so that penalties round as they do in ``accept``
        memory = tuple(np.flatnonzero(known).tolist())
        repeats, picks = 0, []
        while True:
            penalties = counts * lam
            penalised = scores - penalties
            # Ties go to the memory: only a strictly better choice is new.
            winner = int(np.lexsort((-counts, -penalised))[0])
            new = counts[winner] == 0
            counts[winner] += 1
            memory += (winner,) if new else ()
            repeats += not new
            picks.append(Pick(penalised, penalties, winner, bool(new), memory))
            if repeats > self.rho * len(memory):
                reason = self._why_stopped(names[winner], repeats, len(memory))
                return self._filled_up(Steps(tuple(picks), reason), node.probabilities[0], scores)

    def _filled_up(self, walk: Steps, probabilities: FloatArray, scores: FloatArray) -> Steps:
        """Go on with the best of the others where the process ended short of ``min_size``."""
        last, min_size = walk.picks[-1], self._min_size_now()
        others = np.ones(len(scores), bool)
        others[list(last.memory)] = False
        missing = best_first(probabilities, others)[: max(0, min_size - len(last.memory))]
        if not missing:
            return walk
        memory, picks = last.memory, list(walk.picks)
        for winner in missing:
            memory += (winner,)
            picks.append(Pick(scores, np.zeros_like(scores), winner, True, memory))
        return Steps(tuple(picks), f"{walk.reason}; min_size = {min_size} asks for more")

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say how the choice stands to the bar."""
        scores, lam = self._scores(node)[0], self._lam_at(node)[0]
        top = scores.max()
        return (
            f"{name} at {scores[choice]:.4g} does not exceed {top - lam:.4g}, "
            f"the best score {top:.4g} - λ {lam:.4g}"
        )

    def _why_stopped(self, name: str, repeats: int, size: int) -> str:
        if self.rho == 0:
            return f"{name} repeats: even after its penalty no new choice beats it"
        return (
            f"{name} repeats: {repeats} repeat(s) exceed ρ·|Z| = {self.rho:g}·{size} "
            f"= {self.rho * size:.3g}"
        )

    def _scores(self, nodes: Nodes) -> FloatArray:
        if self.space == "probability":
            return nodes.probabilities
        return np.log(np.maximum(nodes.probabilities, LEAST_PROBABILITY))

    def _top_scores(self, nodes: Nodes) -> FloatArray:
        top = nodes.probabilities.max(axis=1)
        return self._scores(Nodes(nodes.sample, nodes.depth, top[:, None]))[:, 0]

    def _under_floor(self, nodes: Nodes, floor: float) -> BoolArray:
        under: BoolArray = self._top_scores(nodes) <= floor
        # Somebody who names known elements has said that the set is not empty.
        return under if nodes.known is None else under & ~nodes.known.any(axis=1)

    def _until_repeats(
        self, scores: FloatArray, known: BoolArray | None, lam: FloatArray
    ) -> BoolArray:
        return _until_repeats(scores, known, lam, self.rho)

    def _solve_each_depth(self, nodes: Nodes, positive: Mask) -> None:
        parts, depths = [], []
        for rows in nodes.row_chunks():
            mask = dense_mask(positive, rows)
            parts.append(Gaps.of(self._scores(nodes[rows]), mask))
            depths.append(nodes.depth[rows][mask.any(axis=1)])
        gaps, depth = Gaps.join(parts), np.concatenate(depths)
        positions = [gaps[depth == position] for position in range(int(nodes.depth.max()) + 1)]
        if self.lam is None:
            found = [solve(part, self.multiplier) for part in positions]
            eps = float(np.finfo(nodes.probabilities.dtype).eps)
            pairs = zip(found, positions, strict=True)
            lam = [_past_ties(one.lam, part.lower, eps) for one, part in pairs]
        else:
            given = np.atleast_1d(np.asarray(self.lam, dtype=np.float64))
            lam = [float(given[min(k, len(given) - 1)]) for k in range(len(positions))]
            judged = zip(positions, lam, strict=True)
            found = [judge(part, value, self.multiplier) for part, value in judged]
        self.lam_ = _one_a_position(lam)
        self.feasible_ = _one_a_position([one.feasible for one in found])
        self.objective_ = _one_a_position([one.objective for one in found])
        self.interval_ = _one_a_position([np.array(one.interval) for one in found])

    def _lam_at(self, nodes: Nodes) -> FloatArray:
        """λ of each choice point, (n,); deeper than any seen in training, the last one."""
        if self.lam is None:
            self._check_fitted("lam_")
            lam = np.atleast_1d(self.lam_)
        else:
            lam = np.atleast_1d(np.asarray(self.lam, dtype=np.float64))
        at: FloatArray = lam[np.minimum(nodes.depth, len(lam) - 1)]
        return at.astype(nodes.probabilities.dtype)

    def _min_size_now(self) -> int:
        least: int = getattr(self, "min_size_", 1 if self.min_size is None else self.min_size)
        return least

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless λ, ρ and the others lie in their ranges."""
        if self.space not in SPACES:
            raise ParameterError(f"space must be one of {SPACES}, got {self.space!r}")
        if not (isinstance(self.rho, Real) and 0 <= self.rho < 1):
            raise ParameterError(
                f"rho must lie in [0, 1), got {self.rho!r}; 0 stops at the first repeat"
            )
        if not (isinstance(self.multiplier, Real) and 0 < self.multiplier < np.inf):
            raise ParameterError(f"multiplier must be a positive number, got {self.multiplier!r}")
        check_min_size(self.min_size)
        if self.lam is not None:
            _check_lam(self.lam, self.space, n_positions)


def _one_a_position(values: list[Any]) -> Any:
    """An array for sequences; for labels, which have one position, the value itself."""
    return np.array(values) if len(values) > 1 else values[0]


def _past_ties(lam: float, lower: FloatArray, eps: float) -> float:
    """A tie stops the process, so a λ on some lower bound must pass it by a hair.

    Above 0, that is: the best choice is kept anyhow, and ties with it are no better.
    """
    if lam == 0 or lam not in lower:
        return lam
    return lam + 4 * eps * max(lam, -math.log(LEAST_PROBABILITY))


def _check_lam(given: ArrayLike, space: str, n_positions: int) -> None:
    try:
        lam = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"lam must be a number or one number a position, got {given!r}"
        ) from error
    if lam.ndim > 1 or lam.size == 0:
        raise ParameterError(
            f"lam must be a number or one number a position, got shape {lam.shape}"
        )
    if lam.ndim == 1 and len(lam) < n_positions:
        raise ParameterError(
            f"lam has {len(lam)} values but the sequences have {n_positions} positions; "
            "pass one per position or a single float"
        )
    most = 1.0 if space == "probability" else np.inf
    if not (np.isfinite(lam).all() and (lam >= 0).all() and (lam <= most).all()):
        raise ParameterError(
            f"lam must be finite and lie in [0, {most:g}] in {space} space, got {given!r}; "
            "0 keeps the best choice alone, larger values keep more"
        )


def _within_margin(scores: FloatArray, known: BoolArray | None, lam: FloatArray) -> BoolArray:
    """Algorithm 1 in closed form: after the first pick the bar is always the top score - λ."""
    if scores.shape[1] == 0:
        raise DataError("there are no choices to keep; the vocabulary is empty")
    top = scores.max(axis=1)
    bar = top - lam
    kept: BoolArray = scores > bar[:, None]
    # Where λ vanishes nothing is strictly above the bar, but the first pick is always kept,
    # unless a known choice ties with it: ties go to the memory.
    flat = np.flatnonzero(bar >= top)
    if len(flat):
        first = scores[flat].argmax(axis=1)
        if known is not None:
            beaten = (known[flat] & (scores[flat] == top[flat, None])).any(axis=1)
            flat, first = flat[~beaten], first[~beaten]
        kept[flat, first] = True
    return kept if known is None else kept | known


def _until_repeats(
    scores: FloatArray, known: BoolArray | None, lam: FloatArray, rho: float
) -> BoolArray:
    """The robust stop, for all rows together: one turn of the loop a new element, not a pick.

    Picks come in the order of the descending merge of P(y) - m·λ. So before a new choice enters,
    each stored one has been repeated as often as it stays at or above that choice's score.
    """
    kept = np.zeros(scores.shape, bool) if known is None else known.copy()
    new_first = np.argsort(np.where(kept, np.inf, -scores), axis=1, kind="stable")
    running = np.flatnonzero(~kept.all(axis=1))
    for turn in range(scores.shape[1]):
        candidate = new_first[running, turn]
        stored, score = kept[running], scores[running, candidate]
        repeats = _repeats_before(scores[running], score, lam[running])
        n_repeats = np.where(stored, repeats, 0).sum(axis=1)
        goes_on = (n_repeats <= rho * stored.sum(axis=1)) & ~stored[
            np.arange(len(running)), candidate
        ]
        running, candidate = running[goes_on], candidate[goes_on]
        if len(running) == 0:
            break
        kept[running, candidate] = True
    return kept


def _repeats_before(scores: FloatArray, score: FloatArray, lam: FloatArray) -> FloatArray:
    """How many m ≥ 1 there are with P(y) - m·λ ≥ ``score``, in the very floats of the loop.

    Counts beyond the number of choices may be too low: any of them ends the process.
    """
    lam, score = lam[:, None], score[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        count = np.floor((scores - score) / lam)
        # The division may round across a tie; the products that the loop compares decide. Where
        # λ is too small for the floats to show, they go on being tied.
        count = np.maximum(count - (scores - count * lam < score), 0)
        most = scores.shape[1]
        while (more := (count < most) & (scores - (count + 1) * lam >= score)).any():
            count += more
    never_ends = (lam == 0) & (scores >= score)
    return np.where(never_ends, np.inf, np.where(lam == 0, 0, count))
