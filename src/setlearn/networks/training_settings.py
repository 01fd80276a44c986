"""How to train a network: one value, shared by all classes that train. Needs no torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from setlearn.errors import ParameterError
from setlearn.nodes import IntArray
from setlearn.parameter_checks import check_count, check_number, check_share
from setlearn.savable import savable

__all__ = [
    "LEAST_TO_JUDGE",
    "MIN_HELD_OUT",
    "Schedule",
    "Training",
    "TrainingPlan",
    "TrainsNetwork",
    "hold_out",
]

Schedule = Literal["constant", "one-cycle"]

WARM_UP = 0.15
"""The share of a one-cycle schedule in which the learning rate rises."""

MIN_HELD_OUT = 8
"""With fewer held-out groups than this, the held-out score is mostly chance."""

LEAST_TO_JUDGE = 100
"""Held-out samples that show that more steps are of no use, at least."""


@savable(skipped=("checkpoint",))  # which is a matter of one training run
class Training(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """How to train a network. What is left at None is set to what suits the network.

    Parameters
    ----------
    batch_size : int, optional
        Samples per step.
    learning_rate : float, optional
        The learning rate of Adam; under a schedule, the highest one.
    weight_decay : float, optional
        Above 0, AdamW is used instead of Adam.
    clip : float, optional
        The largest norm of the gradient; ``math.inf`` turns clipping off.
    max_steps : int, optional
        The number of steps after which training ends at the latest.
    max_seconds : float, optional
        The time after which training ends at the latest. A schedule fits into it.
    evaluate_every : int, optional
        The number of steps between evaluations. If training may stop early, it is rounded up to
        whole passes over the samples.
    patience : int, optional
        Evaluations without improvement before training stops. Not used by "one-cycle".
    schedule : {"constant", "one-cycle"}, optional
        With "one-cycle" the learning rate rises, then falls to almost zero at the end.
    validation : float in [0, 1), optional
        The share of the samples that is held out, to stop early and to fit a rule.
    device : str, default="auto"
        "auto" uses CUDA or MPS where available.
    checkpoint : str or Path, optional
        A folder for the state of training. An interrupted fit continues from there.
    verbose : bool or int, optional
        Whether to show how far the training is, on stderr: with True in a terminal only, with 2
        also elsewhere, as plain lines. By default only `SequenceSetGenerator`, whose training
        takes longest, does so, in a terminal.

    Examples
    --------
    >>> from setlearn.networks import Training
    >>> Training(max_steps=100).set_params(learning_rate=0.01)
    Training(learning_rate=0.01, max_steps=100)
    """

    def __init__(
        self,
        *,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        clip: float | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        evaluate_every: int | None = None,
        patience: int | None = None,
        schedule: Schedule | None = None,
        validation: float | None = None,
        device: str = "auto",
        checkpoint: str | Path | None = None,
        verbose: int | None = None,
    ) -> None:
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.clip = clip
        self.max_steps = max_steps
        self.max_seconds = max_seconds
        self.evaluate_every = evaluate_every
        self.patience = patience
        self.schedule = schedule
        self.validation = validation
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def verbose_by_default(self) -> int:
        """``verbose`` for a training that is shown if nothing else is said."""
        return True if self.verbose is None else self.verbose

    def plan(self, suited: Mapping[str, Any]) -> TrainingPlan:
        """Fill in what is None.

        Parameters
        ----------
        suited : mapping
            What suits the network, by the names of the parameters.

        Returns
        -------
        TrainingPlan
            What neither this value nor ``suited`` gives has the default of `TrainingPlan`.

        Raises
        ------
        ParameterError
            If a number is out of range.
        """
        names = TrainingPlan.__dataclass_fields__.keys() & self.get_params(deep=False).keys()
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        suits = {name: value for name, value in suited.items() if name != "validation"}
        return TrainingPlan(**{**suits, **given})

    def held_out_share(self, suited: Mapping[str, Any]) -> float:
        """The share of the samples to hold out.

        Parameters
        ----------
        suited : mapping
            What suits the network; its "validation" is used if ``validation`` is None.

        Returns
        -------
        float
            0 if neither this value nor ``suited`` gives it.

        Raises
        ------
        ParameterError
            If it is out of range.
        """
        share = suited.get("validation", 0.0) if self.validation is None else self.validation
        check_share("validation", share)
        return float(share)


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """A training with every number known. The parameters are those of `Training`.

    ``enough`` is a held-out score. If it is given, a "one-cycle" training may end early: when two
    evaluations in a row reach it, or when the loss has risen and the score was no better for a
    while. The last tenth of the steps follows at once, in which the learning rate falls as usual.
    Evaluations of fewer than 100 samples ("judged") do not count.

    Examples
    --------
    >>> TrainingPlan(batch_size=15).learning_rate
    0.001
    >>> TrainingPlan(batch_size=0)
    Traceback (most recent call last):
    ...
    setlearn.errors.ParameterError: batch_size must be a whole number of at least 1, got 0
    """

    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    clip: float = 1.0
    max_steps: int = 4000
    max_seconds: float = math.inf
    evaluate_every: int = 50
    patience: int = 10
    schedule: Schedule = "constant"
    enough: float | None = None

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_steps", "evaluate_every", "patience"):
            check_count(name, getattr(self, name))
        for name in ("learning_rate", "weight_decay", "max_seconds", "clip"):
            check_number(name, getattr(self, name))
        if not 0 < self.learning_rate < math.inf:
            raise ParameterError(
                f"learning_rate must be above 0, got {self.learning_rate!r}",
                advice={"learning_rate": None},
            )
        if not self.max_seconds > 0:
            raise ParameterError(
                f"max_seconds must be above 0, got {self.max_seconds!r}",
                advice={"max_seconds": None},
            )
        if not 0 <= self.weight_decay < math.inf:
            raise ParameterError(f"weight_decay must be 0 or more, got {self.weight_decay!r}")
        if not self.clip > 0:
            raise ParameterError(
                f"clip must be above 0, got {self.clip!r}; math.inf turns clipping off"
            )
        if self.schedule not in ("constant", "one-cycle"):
            raise ParameterError(
                f'schedule must be "constant" or "one-cycle", got {self.schedule!r}'
            )

    def rate_at(self, share: float) -> float:
        """The learning rate after a share of the training, from 0 to 1.

        >>> plan = TrainingPlan(learning_rate=1.0, schedule="one-cycle")
        >>> [round(plan.rate_at(share), 2) for share in (0, 0.15, 0.5, 0.99)]
        [0.04, 1.0, 0.64, 0.0]
        """
        if self.schedule == "constant":
            return self.learning_rate
        if share < WARM_UP:
            low, height = 1 / 25, share / WARM_UP
        else:
            low, height = 1e-4, max(1 - share, 0.0) / (1 - WARM_UP)
        # Half a cosine, from low to 1 as the height goes from 0 to 1.
        return self.learning_rate * (low + (1 - low) * (1 - math.cos(math.pi * height)) / 2)

    def steps_for(self, passes: int, n_rows: int) -> int:
        """The number of steps in a number of passes over all rows.

        Parameters
        ----------
        passes, n_rows : int

        Returns
        -------
        int
        """
        return passes * math.ceil(n_rows / self.batch_size)

    def steps_per_epoch(self, n_rows: int) -> int:
        """The number of steps between two evaluations.

        A training that may stop early is evaluated only at the end of a pass over all rows.
        """
        if self.schedule == "one-cycle":
            return self.evaluate_every
        steps_per_pass = self.steps_for(1, n_rows)
        return steps_per_pass * math.ceil(self.evaluate_every / steps_per_pass)


class TrainsNetwork:
    """A mixin for estimators that train a network and have a parameter ``training``."""

    training: Training | None
    suited_training: ClassVar[Mapping[str, Any]] = {}
    """What suits the network, by the names of the parameters of `Training`."""

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether ``training.checkpoint`` is supported; if not, it is refused."""
        return False

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; ``training__max_steps`` and the like work also if training is None.

        Parameters
        ----------
        **parameters : dict
            Parameters of the estimator, or of parts of it as ``part__parameter``.

        Returns
        -------
        self
        """
        nested = any(name.startswith("training__") for name in parameters)
        if nested and parameters.get("training", self.training) is None:
            parameters = {**parameters, "training": Training()}
        super().set_params(**parameters)  # type: ignore[misc]  # of scikit-learn's BaseEstimator
        return self

    def _training(self) -> Training:
        """The training that was asked for, checked for its type."""
        training = Training() if self.training is None else self.training
        if not isinstance(training, Training):
            raise ParameterError(
                f"training must be a setlearn.networks.Training or None, got {training!r}; "
                "write for instance Training(max_steps=500)"
            )
        if training.device not in ("auto", "cpu"):
            from setlearn.networks.runtime import pick_device  # which needs torch

            pick_device(training.device)
        if training.checkpoint is not None and not self.keeps_checkpoints:
            raise ParameterError(
                f"{type(self).__name__} does not write checkpoints, but training.checkpoint is "
                f"{str(training.checkpoint)!r}; leave it at None"
            )
        return training

    def _training_plan(self) -> TrainingPlan:
        return self._training().plan(self.suited_training)


def hold_out(
    groups: IntArray, fraction: float, rng: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    """Split rows into a training part and a held-out part, with no group in both.

    Parameters
    ----------
    groups : array of shape (n_rows,)
        The group of each row, such as its sample.
    fraction : float in [0, 1)
        The share of the groups to hold out.
    rng : RandomState

    Returns
    -------
    train, held_out : arrays of int
        Row numbers. If fewer than 8 groups would be held out, none are.

    Raises
    ------
    ParameterError
        If the fraction is out of range.
    """
    check_share("validation", fraction)
    distinct = np.unique(groups)
    n_held = round(fraction * len(distinct))
    if n_held < MIN_HELD_OUT:
        return np.arange(len(groups)), np.arange(0)
    is_held = np.isin(groups, rng.permutation(distinct)[:n_held])
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)
