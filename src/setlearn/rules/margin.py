"""SSG and SSG-S: keep what scores within λ of the best choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, FloatArray, Mask, Nodes, check_positive, dense_mask
from setlearn.rules.base import Rule
from setlearn.rules.choice_floor import above_floor, learned_choice_floor
from setlearn.rules.margin_process import until_repeats, within_margin
from setlearn.rules.max_margin import Gaps, best_floor, evaluate, past_ties, solve
from setlearn.rules.min_size import check_min_size, fill_up, learned_min_size
from setlearn.rules.steps import Pick, Steps, best_first
from setlearn.savable import savable

__all__ = ["Margin"]

SPACES = ("probability", "log")

LEAST_PROBABILITY = 1e-10
"""On the log scale, lower probabilities count as this one: log 0 would be -inf."""

LARGEST = -math.log(LEAST_PROBABILITY)
"""The largest absolute score on either scale: scores round to multiples of its last bit."""


@savable(infinite=("interval_", "objective_"))
class Margin(Rule):
    """Sequential Set Generation: pick the best choice, penalise it by λ, pick again.

    The process stops when a choice is picked again. The loop has a closed form, which is what
    runs: a choice is kept if its score is less than λ below the best one. With ``rho`` the
    process stops only when more than a share ρ of the memory has been repeated.

    Parameters
    ----------
    lam : float or sequence of floats, optional
        Fixes λ: one number, or one per position of a sequence. By default it is learned by the
        paper's max-margin objective, one for each depth of the training nodes.
    rho : float in [0, 1), default=0
        The robust stop: continue until the repeats outnumber ρ times the memory.
    space : {"probability", "log"}, default="probability"
        The scale on which λ is subtracted.
    multiplier : float, default=1000
        The cost of a violated constraint where no λ satisfies all of them (the paper's λ₊, λ₋).
    min_size : int, optional
        Keep at least this many. 0 also learns a floor: a choice point whose best score is
        below it gets the empty set. By default as many as the smallest training set has, but 1
        at most if there are fewer than 100.
    choice_floor : float in [0, 1], optional
        A choice beyond the best ``min_size`` ones is kept only if its probability exceeds this. 0
        is the paper's rule. By default it is learned together with λ, for labels: where all
        scores are low, λ alone would keep nearly all of them.

    Attributes
    ----------
    lam_ : float, or array with one value per position
    feasible_ : bool (or array)
        Whether one λ satisfies the constraints of every choice point.
    objective_ : float (or array)
        The objective at λ: the sum of squares, with the penalties where it is not feasible.
    interval_ : array (2,) (or one row per position)
        The bounds that the constraints put on λ; empty (first above second) if not feasible.
    min_size_ : int
    floor_ : float
        A choice point whose best score is below it gets the empty set; -inf if ``min_size_`` is
        above 0.
    choice_floor_ : float
        The one with the best mean F1, if it helps clearly. Otherwise half the probability of the
        lowest right choice that λ keeps. 0 for sequences at each prefix, and if λ is given.

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

    adjustable: ClassVar[tuple[str, ...]] = ("choice_floor", "lam", "min_size", "rho")

    def __init__(
        self,
        lam: float | Sequence[float] | None = None,
        *,
        rho: float = 0.0,
        space: Literal["probability", "log"] = "probability",
        multiplier: float = 1000.0,
        min_size: int | None = None,
        choice_floor: float | None = None,
    ) -> None:
        self.lam = lam
        self.rho = rho
        self.space = space
        self.multiplier = multiplier
        self.min_size = min_size
        self.choice_floor = choice_floor

    @property
    def needs_fit(self) -> bool:
        """Whether λ, or the floor for empty sets, has to be learned."""
        return self.lam is None or not self.min_size

    @property
    def is_monotone(self) -> bool:
        """Always."""
        return True

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn λ and the floors.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V), the right choices

        Returns
        -------
        self
        """
        check_positive(nodes, positive)
        self.check_parameters(n_positions=int(nodes.depth.max()) + 1)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        self.floor_ = (
            best_floor(self._top_scores(nodes), positive) if not self.min_size_ else -np.inf
        )
        self._solve_each_depth(nodes, positive)
        self.choice_floor_ = self._chosen_choice_floor(nodes, positive)
        return self

    def _chosen_choice_floor(self, nodes: Nodes, positive: Mask) -> float:
        if self.choice_floor is not None:
            return float(self.choice_floor)
        if self.lam is not None or nodes.depth.max() > 0:
            return 0.0
        return learned_choice_floor(nodes, positive, self.min_size_, self._kept_by_margin)

    def accept(self, nodes: Nodes) -> BoolArray:
        """Run the process at every choice point at once."""
        if not self.needs_fit:
            self.check_parameters()
        kept, floor = self._kept_by_margin(nodes), self._choice_floor_now()
        return above_floor(kept, nodes, floor, self._min_size_now()) if floor > 0 else kept

    def _kept_by_margin(self, nodes: Nodes) -> BoolArray:
        """What is kept if no choice needs to exceed a floor of its own."""
        lam, min_size, floor = self._lam_at(nodes), self._min_size_now(), self._floor_now()
        if self.rho == 0 and self.space == "probability" and nodes.available is None:
            kept = within_margin(nodes.probabilities, nodes.known, lam)
        else:
            kept = np.empty(nodes.probabilities.shape, dtype=bool)
            for rows in nodes.row_chunks():
                part = nodes[rows]
                process = partial(until_repeats, rho=self.rho) if self.rho else within_margin
                kept[rows] = process(part.masked(self._scores(part)), part.known, lam[rows])
        if np.isfinite(floor):
            kept[self._under_floor(nodes, floor)] = False
        return fill_up(kept, nodes, min_size) if min_size > 1 else nodes.completed(kept)

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """Run the paper's loop to the letter: penalise, pick, remember, stop at a repeat.

        The picks carry penalties. Their figures are the winner's score and penalty.
        """
        scores, lam, floor = self._scores(node)[0], self._lam_at(node)[0], self._floor_now()
        min_size = self._min_size_now()
        choosable = node.masked(scores[None])[0]  # -inf for padding, which is never picked
        if not np.isfinite(choosable).any():
            return Steps((), "there are no choices")
        if self._under_floor(node, floor)[0]:
            return Steps((), f"the best score {choosable.max():.4g} is below the floor {floor:.4g}")
        known = node.known_mask()[0]
        counts = known.astype(scores.dtype)  # so that penalties round as they do in ``accept``
        memory = tuple(np.flatnonzero(known).tolist())
        repeats, picks = 0, []
        while True:
            penalties = counts * lam
            # Ties go to the memory: only a strictly better choice is new.
            winner = int(np.lexsort((-counts, penalties - choosable))[0])
            new = counts[winner] == 0
            if new and len(memory) >= min_size and self._under_choice_floor(node, winner):
                picks.append(_pick(scores - penalties, penalties, winner, False, memory))
                reason = self._floor_reason(node, winner, names[winner])
                return Steps(tuple(picks), reason, ("score", "penalty"))
            counts[winner] += 1
            memory += (winner,) if new else ()
            repeats += not new
            picks.append(_pick(scores - penalties, penalties, winner, bool(new), memory))
            if repeats > self.rho * len(memory):
                reason = self._why_stopped(names[winner], repeats, len(memory))
                steps = Steps(tuple(picks), reason, ("score", "penalty"))
                return self._filled_up(steps, node, scores)

    def _filled_up(self, steps: Steps, node: Nodes, scores: FloatArray) -> Steps:
        """Continue with the best of the others if fewer than ``min_size`` were kept."""
        last, min_size = steps.picks[-1], self._min_size_now()
        others = np.ones(len(scores), bool) if node.available is None else node.available[0].copy()
        others[list(last.memory)] = False
        n_missing = max(0, min_size - len(last.memory))
        missing = best_first(node.probabilities[0], others)[:n_missing]
        if not missing:
            return steps
        memory, picks = last.memory, list(steps.picks)
        for winner in missing:
            memory += (winner,)
            picks.append(_pick(scores, np.zeros_like(scores), winner, True, memory))
        reason = f"{steps.reason}; min_size = {min_size} asks for more"
        return replace(steps, picks=tuple(picks), reason=reason)

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the choice's score with the best one less λ, and with the floor."""
        scores, lam = node.masked(self._scores(node))[0], self._lam_at(node)[0]
        top = scores.max()
        if scores[choice] > top - lam and self._under_choice_floor(node, choice):
            return self._floor_reason(node, choice, name)
        return (
            f"{name} at {scores[choice]:.4g} does not exceed {top - lam:.4g}, "
            f"the best score {top:.4g} - λ {lam:.4g}"
        )

    def _under_choice_floor(self, node: Nodes, choice: int) -> bool:
        return bool(node.probabilities[0, choice] <= self._choice_floor_now() > 0)

    def _floor_reason(self, node: Nodes, choice: int, name: str) -> str:
        probability, floor = node.probabilities[0, choice], self._choice_floor_now()
        return f"{name} with probability {probability:.4g} is below the floor {floor:.4g}"

    def facts(self) -> dict[str, Any]:
        """What was learned; the floor of choices only if there is one."""
        facts = super().facts()
        floor = facts.pop("floor", 0.0)
        return {**facts, "floor": floor} if floor else facts

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
        scores = self._scores(Nodes(nodes.sample, nodes.depth, top[:, None]))[:, 0]
        return scores if nodes.available is None else np.where(nodes.n_available, scores, -np.inf)

    def _under_floor(self, nodes: Nodes, floor: float) -> BoolArray:
        under: BoolArray = self._top_scores(nodes) <= floor
        # Where elements are known, the set is not empty.
        return under if nodes.known is None else under & ~nodes.known.any(axis=1)

    def _solve_each_depth(self, nodes: Nodes, positive: Mask) -> None:
        parts, depths = [], []
        for rows in nodes.row_chunks():
            part, mask = nodes[rows], dense_mask(positive, rows)
            if part.available is not None:
                mask = mask & part.available  # no λ would keep what is not listed
            parts.append(Gaps.of(part.masked(self._scores(part)), mask))
            depths.append(part.depth[mask.any(axis=1)])
        gaps, depth = Gaps.join(parts), np.concatenate(depths)
        positions = [gaps[depth == position] for position in range(int(nodes.depth.max()) + 1)]
        if self.lam is None:
            solutions = [solve(part, self.multiplier) for part in positions]
            slack = 4 * float(np.finfo(nodes.probabilities.dtype).eps)
            solved = zip(solutions, positions, strict=True)
            lam = [past_ties(solution.lam, part, slack, LARGEST) for solution, part in solved]
        else:
            given = np.atleast_1d(np.asarray(self.lam, dtype=np.float64))
            lam = [float(given[min(k, len(given) - 1)]) for k in range(len(positions))]
            pairs = zip(positions, lam, strict=True)
            solutions = [evaluate(part, value, self.multiplier) for part, value in pairs]
        self.lam_ = _per_position(lam)
        self.feasible_ = _per_position([solution.feasible for solution in solutions])
        self.objective_ = _per_position([solution.objective for solution in solutions])
        self.interval_ = _per_position([np.array(solution.interval) for solution in solutions])

    def _lam_at(self, nodes: Nodes) -> FloatArray:
        """λ of each choice point, (n,); points deeper than any in training use the last λ."""
        if self.lam is None:
            self._check_fitted("lam_")
            lam = np.atleast_1d(self.lam_)
        else:
            lam = np.atleast_1d(np.asarray(self.lam, dtype=np.float64))
        at: FloatArray = lam[np.minimum(nodes.depth, len(lam) - 1)]
        return at.astype(nodes.probabilities.dtype)

    def _min_size_now(self) -> int:
        return int(getattr(self, "min_size_", 1 if self.min_size is None else self.min_size))

    def _floor_now(self) -> float:
        return -np.inf if self._min_size_now() else getattr(self, "floor_", -np.inf)

    def _choice_floor_now(self) -> float:
        return float(getattr(self, "choice_floor_", self.choice_floor or 0.0))

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless λ, ρ and the others are in range."""
        if self.space not in SPACES:
            raise ParameterError(f"space must be one of {SPACES}, got {self.space!r}")
        if not (isinstance(self.rho, Real) and 0 <= self.rho < 1):
            raise ParameterError(
                f"rho must lie in [0, 1), got {self.rho!r}; 0 stops at the first repeat"
            )
        if not (isinstance(self.multiplier, Real) and 0 < self.multiplier < np.inf):
            raise ParameterError(f"multiplier must be a positive number, got {self.multiplier!r}")
        check_min_size(self.min_size)
        if self.choice_floor is not None and not (
            isinstance(self.choice_floor, Real) and 0 <= self.choice_floor <= 1
        ):
            raise ParameterError(
                f"choice_floor must be None (learned) or lie in [0, 1], got {self.choice_floor!r}"
            )
        if self.lam is not None:
            _check_lam(self.lam, self.space, n_positions)


def _pick(
    scores: FloatArray, penalties: FloatArray, winner: int, kept: bool, memory: tuple[int, ...]
) -> Pick:
    figures = {"score": float(scores[winner]), "penalty": float(penalties[winner])}
    return Pick(scores, penalties, winner, kept, memory, figures)


def _per_position(values: list[Any]) -> Any:
    """An array for sequences; for labels, which have one position, the value itself."""
    return np.array(values) if len(values) > 1 else values[0]


def _check_lam(given: ArrayLike, space: str, n_positions: int) -> None:
    try:
        lam = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"lam must be a number or one number per position, got {given!r}"
        ) from error
    if lam.ndim > 1 or lam.size == 0:
        raise ParameterError(
            f"lam must be a number or one number per position, got shape {lam.shape}"
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
