"""Whether a training ended before the network had converged, as far as its history shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setlearn.networks.training_settings import TrainingPlan

__all__ = ["convergence_problem"]

LEAST_EVALUATIONS = 8
"""With fewer evaluations nothing can be said about a trend."""

LAST_SHARE = 4
"""The trend is that of the last quarter of the evaluations."""

LEAST_GAIN = 0.04
"""How much F1 rises in that time, if it is still clearly rising. At the end of a one-cycle schedule
it always rises a little."""

LATE_GAIN = 1 / 3
"""The share of that gain that comes in the second half of that time."""

LEAST_FALL = 0.1
"""By which share the held-out loss falls in that time."""

LEAST_STEPS = 0.5
"""A one-cycle schedule fits into the time or the steps that there are. With at least this share of
the steps that suit the data, that is no problem."""

LEAST_TO_SETTLE, SETTLED_FALL = 0.25, 0.05
"""With fewer steps it is none either, if there is at least the first share of them, and in the
second half of the evaluations the held-out loss fell by less than the second. With still fewer, a
loss that does not fall says little: some tasks are understood late, and all at once."""

RIGHT = 0.99
"""The F1 of two evaluations in a row that leave nothing to be learned."""


def convergence_problem(
    history: Sequence[Mapping[str, Any]], plan: TrainingPlan, suited_steps: int = 0
) -> str | None:
    """Say what was seen, and what to do, if a training should have been longer.

    Parameters
    ----------
    history : sequence of epochs
        With a held-out F1 and loss each.
    plan : TrainingPlan
    suited_steps : int, default=0
        The number of steps that suits the data; 0 if it is not known.

    Returns
    -------
    str or None

    Examples
    --------
    >>> history = [{"step": 7, "held_out_f1": 0.5, "held_out_loss": 1.0, "out_of_time": True}]
    >>> convergence_problem(history, TrainingPlan(max_steps=99, max_seconds=60))
    'training ended after 60 seconds, at step 7 of 99; raise max_seconds'
    """
    if not history or _is_right(history):
        return None
    return _cut_off(history, plan, suited_steps) or _still_rising(history)


def _is_right(history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last evaluations found next to no error."""
    return len(history) > 1 and all(epoch["held_out_f1"] >= RIGHT for epoch in history[-2:])


def _cut_off(
    history: Sequence[Mapping[str, Any]], plan: TrainingPlan, suited_steps: int
) -> str | None:
    """What to say if the time or the steps are too few for the data."""
    n_steps, is_one_cycle = history[-1]["step"], plan.schedule == "one-cycle"
    if history[-1].get("out_of_time"):
        enough = LEAST_STEPS * plan.max_steps if is_one_cycle else plan.max_steps
        if n_steps >= enough or (n_steps >= LEAST_TO_SETTLE * plan.max_steps and _settled(history)):
            return None
        return (
            f"training ended after {plan.max_seconds:g} seconds, at step {n_steps} of "
            f"{plan.max_steps}; raise max_seconds"
        )
    # At the end of a schedule figures hardly change, however short it is.
    is_short = is_one_cycle and plan.max_steps <= n_steps < LEAST_STEPS * suited_steps
    if not is_short or len(history) < LEAST_EVALUATIONS or _settled(history):
        return None
    middle, last, samples = history[len(history) // 2], history[-1], _judged(history)
    return (
        f"training ended after {n_steps} steps, with an F1 of {last['held_out_f1']:.3f} on "
        f"{samples} samples and a loss that was still falling ({middle['held_out_loss']:.3g} to "
        f"{last['held_out_loss']:.3g} in the second half), and about {suited_steps} steps suit so "
        "many samples; raise max_steps"
    )


def _settled(history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the second half of a training made hardly any difference."""
    if len(history) < LEAST_EVALUATIONS:
        return False
    before = min(epoch["held_out_loss"] for epoch in history[: len(history) // 2 + 1])
    return bool(history[-1]["held_out_loss"] > (1 - SETTLED_FALL) * before)


def _still_rising(history: Sequence[Mapping[str, Any]]) -> str | None:
    """What to say if the figures were still becoming better in the last quarter."""
    if len(history) < LEAST_EVALUATIONS:
        return None
    window = len(history) // LAST_SHARE
    before, between, last = history[-1 - window], history[-1 - window // 2], history[-1]
    gain = last["held_out_f1"] - before["held_out_f1"]
    goes_on = last["held_out_f1"] - between["held_out_f1"] >= LATE_GAIN * gain
    is_best = last["held_out_f1"] >= max(epoch["held_out_f1"] for epoch in history)
    falls = last["held_out_loss"] <= (1 - LEAST_FALL) * before["held_out_loss"]
    if not (is_best and goes_on and gain >= LEAST_GAIN and falls):
        return None
    return (
        f"the F1 on {_judged(history)} samples was still rising ({before['held_out_f1']:.3f} to "
        f"{last['held_out_f1']:.3f}) and their loss falling ({before['held_out_loss']:.3g} to "
        f"{last['held_out_loss']:.3g}) when training ended after {last['step']} steps; raise "
        "max_steps"
    )


def _judged(history: Sequence[Mapping[str, Any]]) -> str:
    """Which samples the figures are of."""
    return "training" if history[-1].get("held_out_seen") else "held-out"
