"""The training loop: fit → epoch → step, with early stopping and resumable checkpoints."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Required, TypedDict, cast

import torch
from torch import Tensor, nn

from setlearn.errors import DataError, ParameterError
from setlearn.networks.checkpoint import (
    CHECKPOINT_FORMAT,
    CHECKPOINT_NAME,
    Weights,
    check_same_run,
    copies,
    read_checkpoint,
    with_prefix,
    without_prefix,
    write_checkpoint,
)
from setlearn.networks.optimizers import PlainAdam, PlainAdamW
from setlearn.networks.replicas import Replicas, replicas_here
from setlearn.networks.runtime import CPU, rng_states, seeded, set_rng_states
from setlearn.networks.training_settings import LEAST_TO_JUDGE, TrainingPlan
from setlearn.parameter_checks import check_count
from setlearn.progress import Advance, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


__all__ = ["MOST_EVALUATING", "Epoch", "Trainer"]

SAVE_EVERY = 100
"""Steps between checkpoints: a crash costs some seconds of work."""

ENDING = 0.1
"""The share of its steps with which a schedule is ended before its time."""

RISEN, FOR_A_WHILE = 1.25, 12
"""By which factor the held-out loss has risen, and since how many evaluations there was no better
score, if training samples are only learned by heart. Some tasks are understood all at once, long
after the loss began to rise."""

LEAST_EVALUATIONS = 16
"""Evaluations before that. A history should show how a training went."""

MOST_EVALUATING = 0.2
"""The share of a time limit that evaluations may take."""

LENGTH = ("max_steps", "max_seconds", "evaluate_every", "patience", "enough")
"""What may change when a run is resumed. A schedule is stretched: the learning rate goes on with
that of the longer schedule at the same step."""


class Epoch(TypedDict, total=False):
    """What is recorded of one epoch; the figures of held-out samples for sets of sequences only.

    ``judged`` is how many samples the figures called held-out are of, the same in all epochs of a
    training. If no samples are held out, ``held_out_seen`` is True: they are training samples.
    ``out_of_time`` is True for the last epoch of a training that a time limit has ended.
    """

    epoch: Required[int]
    step: Required[int]
    loss: Required[float]
    held_out: Required[float | None]
    seconds: Required[float]
    held_out_f1: float
    held_out_loss: float
    judged: int
    held_out_seen: bool
    out_of_time: bool


class Trainer:
    """Trains one network: fit → epoch → step.

    An epoch is the training between two evaluations. All randomness comes from ``seed``: the order
    of the rows in each pass from its number, and dropout from torch's global generator, which is
    restored.
    The network ends in eval mode. At a constant learning rate and with ``evaluate``, it has the
    weights with the best held-out score; a schedule leaves the best weights last.

    Parameters
    ----------
    network : torch.nn.Module
        Trained in place, on its own device.
    loss : callable
        Takes the indices of rows, a tensor (batch,) on the CPU, and returns their mean loss.
    n_rows : int
        The number of rows to train on.
    plan : TrainingPlan
        How to train.
    seed : int
        Determines all randomness.
    evaluate : callable, optional
        Returns a score on held-out data, higher is better. It is called in eval mode and without
        gradients. A dict has the score as "held_out", and other numbers to record. Without it,
        training runs to ``plan.max_steps``.
    parts : callable, optional
        Takes the rows of a step, and returns them in parts that are small enough for the memory.
        Their gradients are added up, each by its share of the rows.
    weight : callable, optional
        Takes rows and returns how many terms their loss is the mean of. With it the training is
        shared by the replicas of `setlearn.networks.replicas.trained_together`, if there are
        some; without it each of them trains on all rows.
    verbose : bool or int, optional
        Whether to show how far the training is, as in `setlearn.progress.progress`.
    description : str
        The text before it.
    checkpoint : Path, optional
        A folder for one file, which is replaced every 100 steps and after each evaluation. An
        interrupted run that is started again with the same arguments continues from there and
        ends with the same weights. It may also be given more steps or time than before.
    facts : mapping, optional
        What else must be equal to resume from a checkpoint, such as a digest of the data.

    Examples
    --------
    >>> from torch import nn
    >>> x = torch.linspace(-1, 1, 50)[:, None]
    >>> with seeded(0):
    ...     line = nn.Linear(1, 1)
    >>> def loss(rows):
    ...     return nn.functional.mse_loss(line(x[rows]), 3 * x[rows])
    >>> plan = TrainingPlan(learning_rate=0.1, max_steps=200)
    >>> history = Trainer(line, loss, 50, plan, seed=0).fit()
    >>> history[-1]["step"], round(line.weight.item(), 2)
    (200, 3.0)
    """

    def __init__(
        self,
        network: nn.Module,
        loss: Callable[[Tensor], Tensor],
        n_rows: int,
        plan: TrainingPlan,
        *,
        seed: int,
        evaluate: Callable[[], float | dict[str, float]] | None = None,
        parts: Callable[[Tensor], Sequence[Tensor]] | None = None,
        weight: Callable[[Tensor], float] | None = None,
        verbose: int | None = None,
        description: str = "training",
        checkpoint: Path | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        check_count("n_rows", n_rows)
        self.network = network
        self.loss = loss
        self.n_rows = int(n_rows)
        self.plan = plan
        self.seed = int(seed)
        self.evaluate = evaluate
        self.parts = parts
        self.weight = len if weight is None else weight
        self.verbose = verbose
        self.description = description
        self.checkpoint = checkpoint
        self.facts = dict(facts or {})
        self.history: list[Epoch] = []
        self._replicas = Replicas() if weight is None else replicas_here()
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._device = next((p.device for p in network.parameters()), CPU)
        self._optimizer = _optimizer(self._parameters, plan)
        self._batches: list[Tensor] = []  # of this pass over the rows
        self._step_count = 0
        self._seconds_before = 0.0  # of the runs that a checkpoint continues
        self._started = self._replicas.now()
        self._evaluated_for = 0.0  # seconds
        self._best_score = -math.inf
        self._best_weights: Weights = {}
        self._stale = 0  # evaluations since the best one
        self._ending: tuple[int, float] | None = None  # the step and the share where it began
        self._losses: list[float] = []  # of the steps of this epoch

    def fit(self) -> list[Epoch]:
        """Train to the end, starting from the checkpoint if there is one; return the history."""
        with seeded(self.seed, self._device):
            # The time that is left is not the same in all processes.
            self.plan = self._replicas.by_first(lambda: self.plan)
            self._replicas.begin(self.network, self._identity())
            self._resume()
            self._started = self._replicas.now()
            steps_left = self.plan.max_steps - self._step_count
            seconds_left = self.plan.max_seconds - self._seconds_before
            verbose = self.verbose if self._replicas.is_first else False
            with progress(
                self.description, steps_left, verbose=verbose, max_seconds=seconds_left
            ) as advance:
                while not self._is_finished():
                    self.history.append(self._epoch(advance))
                    self._end_if_due()
                    self._save()
        if self._best_weights:
            self.network.load_state_dict(self._best_weights)
        self.network.eval()
        return self.history

    def _is_finished(self) -> bool:
        stops_early = self.plan.schedule == "constant" and self._stale >= self.plan.patience
        return self._share_done() >= 1 or stops_early

    def _end_if_due(self) -> None:
        """Begin the end of a schedule if held-out figures show that more steps are of no use."""
        enough, is_early = self.plan.enough, len(self.history) < LEAST_EVALUATIONS
        if enough is None or self._ending or self.plan.schedule != "one-cycle" or is_early:
            return
        if self.history[-1].get("judged", LEAST_TO_JUDGE) < LEAST_TO_JUDGE:
            return
        is_solved = all((epoch["held_out"] or 0) >= enough for epoch in self.history[-2:])
        losses = [epoch["held_out_loss"] for epoch in self.history]
        has_risen = min(losses[-3:]) > RISEN * min(losses)
        if is_solved or (has_risen and self._stale >= FOR_A_WHILE):
            self._ending = self._step_count, self._share_done()

    def _share_done(self) -> float:
        """How much of the training is done."""
        share = self._share_used()
        if self._ending is None:
            return share
        step, before = self._ending
        ended = (self._step_count - step) / (ENDING * self.plan.max_steps)
        return max(share, before + (1 - before) * ended)

    def _share_used(self) -> float:
        """How much was used of the steps or of the time, whichever is more."""
        return max(self._step_count / self.plan.max_steps, self._seconds() / self.plan.max_seconds)

    def _seconds(self) -> float:
        """How long the training has taken so far."""
        return self._seconds_before + self._replicas.now() - self._started

    def _epoch(self, advance: Advance) -> Epoch:
        started = self._seconds()
        progress_text = _progress_text(self.history[-1]) if self.history else ""
        self.network.train()
        while True:
            self._losses.append(self._step(self._rows()))
            advance(remark=progress_text)
            if self._ends_epoch():
                break
            if self._step_count % SAVE_EVERY == 0:
                self._save()
        before = self._seconds()
        figures = self._evaluate()
        self._evaluated_for += self._seconds() - before
        losses, self._losses = self._losses, []
        epoch = {
            "epoch": len(self.history) + 1,
            "step": self._step_count,
            "loss": math.fsum(losses) / len(losses),
            "held_out": None,
            **figures,
            "seconds": self._seconds() - started,
        }
        if self._seconds() >= self.plan.max_seconds:
            epoch["out_of_time"] = True
        return cast(Epoch, epoch)

    def _ends_epoch(self) -> bool:
        """Whether it is time to evaluate: after so many steps, or so much of a schedule."""
        plan = self.plan
        if self._share_done() >= 1 or len(self._losses) >= plan.steps_per_epoch(self.n_rows):
            return True
        # A schedule that time limits is evaluated as often as one that steps limit, if that leaves
        # enough time for training; if not, less often.
        due = (len(self.history) + 1) * plan.evaluate_every / plan.max_steps
        is_due = plan.schedule == "one-cycle" and self._share_used() >= due
        return is_due and self._evaluated_for <= MOST_EVALUATING * self._seconds()

    def _rows(self) -> Tensor:
        """The rows of the next step. Each pass sees all rows once, in an order of its own."""
        size = self.plan.batch_size
        number, place = divmod(self._step_count, -(-self.n_rows // size))
        if place == 0 or not self._batches:
            generator = torch.Generator().manual_seed(self.seed + number)
            order = torch.randperm(self.n_rows, generator=generator)
            self._batches = list(torch.split(order, size))
        return self._batches[place]

    def _step(self, rows: Tensor) -> float:
        self._optimizer.zero_grad()
        self._replicas.seed_step(self.seed, self._step_count)
        value = 0.0
        for part in [rows] if self.parts is None else self.parts(rows):
            share = self._replicas.share(part)
            if len(share) == 0:
                continue
            of_part = self.weight(share) / self.weight(part)
            loss = self.loss(share) * (of_part * len(part) / len(rows))
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            value += float(loss.detach())
        value = self._replicas.add_up(self._parameters, value)
        norm = nn.utils.clip_grad_norm_(self._parameters, self.plan.clip)
        # Checked before the weights change, so that they stay finite if this is caught.
        if not (math.isfinite(value) and math.isfinite(float(norm))):
            raise DataError(
                f"the loss is {value:.4g} with a gradient of norm {float(norm):.4g} at step "
                f"{self._step_count + 1}; check the inputs for extreme values, or lower "
                f"learning_rate (now {self.plan.learning_rate:g})"
            )
        for group in self._optimizer.param_groups:
            group["lr"] = self.plan.rate_at(self._share_done())
        self._optimizer.step()
        self._step_count += 1
        return value

    def _evaluate(self) -> dict[str, float]:
        """Evaluate, and keep the weights if they are the best so far."""
        if self.evaluate is None:
            return {}
        self.network.eval()
        with torch.no_grad():
            result = self._replicas.by_first(self.evaluate)
        figures = result if isinstance(result, dict) else {"held_out": float(result)}
        score = figures["held_out"]
        if not math.isfinite(score):
            raise DataError(
                f"the held-out score is {score} after step {self._step_count}; check the inputs "
                f"for extreme values, or lower learning_rate (now {self.plan.learning_rate:g})"
            )
        if score > self._best_score:
            self._best_score, self._stale = score, 0
            if self.plan.schedule == "constant":
                self._best_weights = copies(self.network.state_dict())
        else:
            self._stale += 1
        return figures

    def _identity(self) -> dict[str, Any]:
        """What must be equal in two runs for them to end with the same weights."""
        shapes = {
            f"shape of {name}": list(weight.shape)
            for name, weight in self.network.state_dict().items()
        }
        run = {"seed": self.seed, "n_rows": self.n_rows, "held_out": self.evaluate is not None}
        return {**asdict(self.plan), **run, **self.facts, **shapes}

    def _save(self) -> None:
        if self.checkpoint is not None:
            self._replicas.by_first(partial(self._write, self.checkpoint))

    def _write(self, checkpoint: Path) -> None:
        state = self._optimizer.state_dict()["state"]
        tensors = {
            **with_prefix("network", self.network.state_dict()),
            **with_prefix("best", self._best_weights),
            **with_prefix("rng", rng_states(self._device)),
        }
        for index, moments in state.items():
            tensors |= with_prefix(f"optimizer/{index}", moments)
        about = {
            "format": CHECKPOINT_FORMAT,
            "run": self._identity(),
            "history": self.history,
            "step": self._step_count,
            "seconds": self._seconds(),
            "losses": self._losses,
            "best_score": self._best_score,
            "stale": self._stale,
            "ending": self._ending,
        }
        write_checkpoint(checkpoint, tensors, about)

    def _resume(self) -> None:
        if self.checkpoint is None:
            return
        state = self._replicas.by_first(partial(_state_in, self.checkpoint))
        if state is None:
            return
        tensors, about = state
        check_same_run(self.checkpoint, about["run"], self._identity(), LENGTH)
        if about["step"] > self.plan.max_steps:
            raise ParameterError(
                f"the checkpoint in {self.checkpoint} has {about['step']} steps already, but "
                f"max_steps is {self.plan.max_steps}; raise it, or use another folder",
                advice={"max_steps": None, "checkpoint": None},
            )
        self.network.load_state_dict(without_prefix("network", tensors))
        self._best_weights = without_prefix("best", tensors)
        self._best_score, self._stale = about["best_score"], about["stale"]
        self._ending = None if about["ending"] is None else tuple(about["ending"])
        self.history = about["history"]
        self._step_count, self._losses = about["step"], about["losses"]
        self._seconds_before = about["seconds"]
        self._load_optimizer(without_prefix("optimizer", tensors))
        set_rng_states(without_prefix("rng", tensors), self._device)

    def _load_optimizer(self, tensors: Weights) -> None:
        moments: dict[int, Weights] = {}
        for name, tensor in tensors.items():
            index, key = name.split("/")
            moments.setdefault(int(index), {})[key] = tensor
        # The hyper-parameters come from the plan, only the moments from the file.
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": moments})


def _state_in(checkpoint: Path) -> tuple[Weights, dict[str, Any]] | None:
    """The state of an interrupted training, if there is one."""
    return read_checkpoint(checkpoint) if (checkpoint / CHECKPOINT_NAME).exists() else None


def _progress_text(epoch: Epoch) -> str:
    """The figures of an epoch, for the progress bar.

    >>> _progress_text({"loss": 0.25, "held_out_f1": 0.5, "held_out_seen": False})
    'loss 0.2500, held-out F1 0.500'
    """
    f1 = epoch.get("held_out_f1")
    name = "F1" if epoch.get("held_out_seen") else "held-out F1"
    return f"loss {epoch['loss']:.4f}" + ("" if f1 is None else f", {name} {f1:.3f}")


def _optimizer(parameters: list[nn.Parameter], plan: TrainingPlan) -> torch.optim.Optimizer:
    """Adam, or AdamW with weight decay."""
    if plan.weight_decay == 0:
        return PlainAdam(parameters, lr=plan.learning_rate)
    return PlainAdamW(parameters, lr=plan.learning_rate, weight_decay=plan.weight_decay, fused=True)
