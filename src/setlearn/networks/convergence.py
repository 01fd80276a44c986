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
"""A one-cycle schedule fits into the time that there is. With at least this share of its steps,
that is no problem."""


def convergence_problem(history: Sequence[Mapping[str, Any]], plan: TrainingPlan) -> str | None:
    """Say what was seen, and what to do, if a training should have been longer.

    Parameters
    ----------
    history : sequence of epochs
        With a held-out F1 and loss each.
    plan : TrainingPlan

    Returns
    -------
    str or None

    Examples
    --------
    >>> history = [{"step": 7, "held_out_f1": 0.5, "held_out_loss": 1.0, "out_of_time": True}]
    >>> convergence_problem(history, TrainingPlan(max_steps=99, max_seconds=60))
    'training ended after 60 seconds, at step 7 of 99; raise max_seconds'
    """
    if not history:
        return None
    last = history[-1]
    n_steps = last["step"]
    enough = LEAST_STEPS * plan.max_steps if plan.schedule == "one-cycle" else plan.max_steps
    if n_steps < enough and last.get("out_of_time"):
        return (
            f"training ended after {plan.max_seconds:.0f} seconds, at step {n_steps} of "
            f"{plan.max_steps}; raise max_seconds"
        )
    if len(history) < LEAST_EVALUATIONS:
        return None
    window = len(history) // LAST_SHARE
    before, between = history[-1 - window], history[-1 - window // 2]
    gain = last["held_out_f1"] - before["held_out_f1"]
    goes_on = last["held_out_f1"] - between["held_out_f1"] >= LATE_GAIN * gain
    is_best = last["held_out_f1"] >= max(epoch["held_out_f1"] for epoch in history)
    falls = last["held_out_loss"] <= (1 - LEAST_FALL) * before["held_out_loss"]
    if not (is_best and goes_on and gain >= LEAST_GAIN and falls):
        return None
    return (
        f"held-out F1 was still rising ({before['held_out_f1']:.3f} to {last['held_out_f1']:.3f}) "
        f"and held-out loss falling ({before['held_out_loss']:.3g} to {last['held_out_loss']:.3g}) "
        f"when training ended after {n_steps} steps; raise max_steps"
    )
