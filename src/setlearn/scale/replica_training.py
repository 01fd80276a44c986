"""Trains the network of an estimator by several workers of Ray Train, and gets one model back."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from copy import copy
from dataclasses import dataclass
from functools import partial
from io import StringIO, TextIOBase
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from setlearn.errors import (
    ClusterError,
    LostReplicaError,
    SetlearnError,
    SetlearnWarning,
    warn_user,
)
from setlearn.networks import Training
from setlearn.persistence import check_can_save, load, save
from setlearn.scale.runtime import folder_that_is_removed

__all__ = ["fit_by_replicas"]

MOST_RESTARTS = 3
"""How often the workers are started again after one of them was lost."""

SECONDS_BETWEEN_LINES = 0.3
SECONDS_BETWEEN_CHECKS = 2.0


def fit_by_replicas(ray: Any, estimator: Any, X: Any, y: Any, workers: int) -> Any:
    """Fit an estimator in several workers, which train copies of one network.

    Parameters
    ----------
    ray : module
        Ready for use.
    estimator : SequenceSetGenerator
    X, y
        As for its ``fit``.
    workers : int

    Returns
    -------
    SequenceSetGenerator
        A fitted copy.

    Raises
    ------
    ClusterError
        If the cluster is too small, or workers were lost again and again.
    SetlearnError
        What ``fit`` raises.
    """
    check_can_save(estimator)
    n_cores = int(ray.cluster_resources().get("CPU", 0))
    if n_cores < workers:
        raise ClusterError(
            f"there are {workers} workers to start, but the Ray cluster has {n_cores} cores; "
            "ask for fewer workers"
        )
    training = Training() if estimator.training is None else estimator.training
    on_gpus = training.device.startswith(("auto", "cuda")) and (
        ray.cluster_resources().get("GPU", 0) >= workers
    )
    with folder_that_is_removed() as folder:
        # Without a checkpoint a worker that is lost would cost the whole training.
        checkpoint = Path(training.checkpoint or Path(folder) / "checkpoint").absolute()
        messages = ray.remote(num_cpus=0)(_Messages).remote()
        work = partial(
            _fit_replica,
            ray.put((_prepared(estimator, training, checkpoint), X, y)),
            messages,
        )
        try:
            answer = _with_messages(
                ray, messages, partial(_run, work, workers, folder, on_gpus=on_gpus)
            )
        finally:
            ray.kill(messages)  # workers that still run, after Ctrl-C, end without it
        fitted = answer.model()
    fitted.set_params(random_state=estimator.random_state, training=estimator.training)
    return fitted


def _prepared(estimator: Any, training: Training, checkpoint: Path) -> Any:
    """The estimator as the workers fit it: all of them with the same seed and checkpoint."""
    seed = estimator.random_state
    if not isinstance(seed, Integral) and training.checkpoint is None:
        seed = int(check_random_state(seed).randint(2**31 - 1))
    # Workers have no terminal; what they write is shown in ours.
    verbose = training.verbose_by_default
    if verbose == 1:
        verbose = 2 if sys.stderr is not None and sys.stderr.isatty() else 0
    fresh = copy(estimator) if estimator.warm_start else clone(estimator)
    training = clone(training).set_params(checkpoint=checkpoint, verbose=verbose)
    return fresh.set_params(random_state=seed, training=training)


def _run(work: Callable[[], Any], workers: int, folder: str, *, on_gpus: bool) -> _Answer:
    """Let Ray Train do the work in all workers, and start them again if one is lost."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchConfig, TorchTrainer

    trainer = TorchTrainer(
        work,
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=on_gpus),
        # What is decided together is sent by the CPU also where networks are on GPUs.
        torch_config=TorchConfig("cpu:gloo,cuda:nccl" if on_gpus else "gloo"),
        run_config=RunConfig(
            storage_path=folder, failure_config=FailureConfig(max_failures=MOST_RESTARTS)
        ),
    )
    try:
        result: Any = trainer.fit()
    except TrainingFailedError as error:
        raise ClusterError(_why_failed(error)) from error
    answer: _Answer = result.return_value
    return answer


def _why_failed(error: Exception) -> str:
    failures = getattr(error, "worker_failures", {})
    causes = {rank: e for rank, e in failures.items() if not isinstance(e, LostReplicaError)}
    rank, cause = next(iter((causes or failures or {0: error}).items()))
    return (
        f"the training failed {MOST_RESTARTS + 1} times, at last in worker {rank} "
        f"({type(cause).__name__}: {cause!s:.300}); remove the cause, such as too little memory "
        "for so many workers, and fit again: a training with a checkpoint goes on from there"
    )


def _with_messages(ray: Any, messages: Any, work: Callable[[], _Answer]) -> _Answer:
    """Do some work, and show here what the first worker writes meanwhile.

    The work is done in a thread: Ray Train would change for good how the main thread is stopped.
    """
    results: list[_Answer | BaseException] = []

    def record() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=record, name="setlearn training", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(SECONDS_BETWEEN_LINES)
        text = ray.get(messages.take.remote())
        if text and sys.stderr is not None:
            sys.stderr.write(text)
    [result] = results
    if isinstance(result, BaseException):
        raise result
    return result


class _Messages:
    """An actor that keeps what the first worker has written until it is shown."""

    def __init__(self) -> None:
        self.text = StringIO()

    def add(self, text: str) -> None:
        self.text.write(text)

    def take(self) -> str:
        text, self.text = self.text.getvalue(), StringIO()
        return text

    def answer(self) -> None:
        """Show that the caller is there."""


class _Stderr(TextIOBase):
    """Sends what is written to the actor."""

    def __init__(self, messages: Any) -> None:
        self.messages = messages

    def write(self, text: str) -> int:
        self.messages.add.remote(text)
        return len(text)


@dataclass(frozen=True)
class _Answer:
    """What the first worker returns: the files of a saved model and warnings, or an error."""

    files: dict[str, bytes]
    warnings: tuple[Warning, ...] = ()
    error: SetlearnError | None = None

    def model(self) -> Any:
        """The model, loaded here; warn of what the worker was warned of."""
        for warning in self.warnings:
            warn_user(warning)
        if self.error is not None:
            raise self.error
        with TemporaryDirectory() as folder:
            for name, content in self.files.items():
                (Path(folder) / name).write_bytes(content)
            return load(folder)


def _fit_replica(data: Any, messages: Any) -> _Answer | None:
    """What each worker does: the whole fit, with a share of each batch of the training."""
    import ray
    from ray.train import get_context

    from setlearn.networks.replicas import trained_together

    try:
        ray.get(messages.answer.remote())
    except ray.exceptions.RayActorError:  # nobody wants a model any more
        return None
    threading.Thread(target=_end_with_caller, args=(ray, messages), daemon=True).start()
    is_first = get_context().get_world_rank() == 0
    estimator, X, y = ray.get(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            shown = _Stderr(messages) if is_first else StringIO()
            with redirect_stderr(shown), trained_together():
                estimator.fit(X, y)
        except LostReplicaError:
            raise  # the workers are started again
        except SetlearnError as error:
            return _Answer({}, _own(caught), error)
    if not is_first:
        return None
    with TemporaryDirectory() as folder:
        save(estimator, folder)
        files = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    return _Answer(files, _own(caught))


def _end_with_caller(ray: Any, messages: Any) -> None:
    """End this worker if the caller was interrupted: a Ray of its own goes on after that."""
    while True:
        time.sleep(SECONDS_BETWEEN_CHECKS)
        try:
            ray.get(messages.answer.remote())
        except ray.exceptions.RayActorError:
            os._exit(1)


def _own(caught: list[warnings.WarningMessage]) -> tuple[Warning, ...]:
    """The warnings that are for the user."""
    messages = [warning.message for warning in caught]
    return tuple(m for m in messages if isinstance(m, SetlearnWarning | FutureWarning))
