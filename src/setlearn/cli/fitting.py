"""The work of ``setlearn fit``: hold out, train, judge, save."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setlearn.cli.console import say
from setlearn.cli.fit_options import Keeping
from setlearn.cli.reports import Evaluation, evaluate_sets, shown_input
from setlearn.errors import ModelError, ParameterError
from setlearn.files import Row
from setlearn.files.plain_values import plain
from setlearn.records import RecordModel, RecordPlan

__all__ = ["Fitted", "Job", "fit_and_save"]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """All that a fit needs to know."""

    plan: RecordPlan
    records: Sequence[Row]
    model: Any
    keeping: Keeping
    seed: int
    quiet: bool


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What came of it."""

    out: Path
    task: str
    n_trained: int
    rule: str
    notes: Sequence[str]
    evaluation: Evaluation | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "model": str(self.out),
            "task": self.task,
            "rows": self.n_trained,
            "rule": self.rule,
            "guesses": list(self.notes),
            "validation": None if self.evaluation is None else self.evaluation.to_dict(),
        }

    def __str__(self) -> str:
        head = f"model: {self.out} ({self.task}, from {self.n_trained} rows, rule {self.rule})"
        if self.evaluation is None:
            return head
        return f"{head}\n\nrows held out\n{self.evaluation.report}"


def fit_and_save(job: Job, data: str, notes: Sequence[str]) -> Fitted:
    """Train on all rows or most of them, and save the model with what is known of it."""
    from setlearn.persistence import check_can_save, check_place

    # Before hours of training.
    check_place(job.keeping.out)
    check_can_save(job.model)
    train, held_out = _split(job)
    checkpoint = _checkpoint(job)
    if checkpoint is not None:
        job.model.set_params(training__checkpoint=checkpoint)
    about: dict[str, Any] = {
        # Looked at before hours of training, after which the file may have gone.
        "data": {"file": Path(data).name, "rows": len(train), **_digest(data)},
        "guesses": list(notes),
    }
    try:
        model = job.plan.fit(train, job.model)
        evaluation = _judge(model, held_out) if held_out else None
        _save(model, job.keeping.out, about | _learned(job, model, train, evaluation))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_go_on(checkpoint)) from None
    if checkpoint is not None:
        _remove(checkpoint)
    return Fitted(job.keeping.out, model.task, len(train), repr(model.rule_), notes, evaluation)


def _save(model: RecordModel, out: Path, about: dict[str, Any]) -> None:
    """Save the model; if that fails, keep it in a rescue folder and say how to get it back."""
    from setlearn.persistence import rescue_model, save

    try:
        save(model, out, about=about)
    except ModelError as error:
        try:
            file = rescue_model(model, out)
        except Exception:  # a pickle may fail in any way, and the first error matters more
            raise error from None
        raise ModelError(
            f"{error}. The fitted model is not lost: it is in {file}. In Python, "
            f"joblib.load({str(file)!r}) gives it back; setlearn.save(model, folder) then saves "
            "it once the cause is removed. Open such files only if you made them yourself"
        ) from error


def _learned(
    job: Job, model: RecordModel, train: Sequence[Row], evaluation: Evaluation | None
) -> dict[str, Any]:
    """What a model can tell of itself after training."""
    told: dict[str, Any] = {}
    if evaluation is not None:
        figures = {k: v for k, v in evaluation.report.to_dict().items() if v is not None}
        told["figures"] = {"on": "rows held out from training", **figures}
    if job.keeping.examples:
        told["examples"] = [_example(model, row) for row in train[: job.keeping.examples]]
    return told


def _split(job: Job) -> tuple[Sequence[Row], Sequence[Row]]:
    from setlearn.datasets import random_split, stratified_split

    if not job.keeping.validation:
        return job.records, ()
    if job.plan.task == "labels":
        sets = [job.plan.targets.read(row) for row in job.records]
        rows = stratified_split(sets, job.keeping.validation, random_state=job.seed)
    else:
        rows = random_split(len(job.records), job.keeping.validation, random_state=job.seed)
    train, held_out = ([job.records[row] for row in part] for part in rows)
    return train, held_out


def _judge(model: RecordModel, rows: Sequence[Row]) -> Evaluation:
    places = [(row.place, shown_input(model, row)) for row in rows]
    return evaluate_sets(model, places, model.true_sets(rows), model.predict(rows), n_worst=10)


def _checkpoint(job: Job) -> Path | None:
    """The folder for the state of training, if the model can keep one."""
    from setlearn.networks.checkpoint import CHECKPOINT_NAME

    keeping = job.keeping
    if job.plan.task == "labels":
        if keeping.resume or keeping.checkpoint is not None:
            raise ParameterError(
                "--resume and --checkpoint are for sequences; label models are fitted in one go"
            )
        return None
    folder = keeping.checkpoint or keeping.out.with_name(f"{keeping.out.name}.checkpoint")
    if (folder / CHECKPOINT_NAME).exists() and not keeping.resume:
        raise ParameterError(
            f"{folder} holds a fit that was interrupted; add --resume to go on with it, or delete "
            "the folder to start anew"
        )
    if keeping.resume and not (folder / CHECKPOINT_NAME).exists():
        # No error: who runs it again until it ends may have been stopped before the first one.
        say([f"{folder} holds no checkpoint: training starts at the beginning"], quiet=job.quiet)
    return folder


def _how_to_go_on(checkpoint: Path | None) -> str:
    from setlearn.networks.checkpoint import CHECKPOINT_NAME

    if checkpoint is None or not (checkpoint / CHECKPOINT_NAME).exists():
        return "interrupted; nothing was written, the same command starts anew"
    return (
        f"interrupted; {checkpoint} keeps the training so far: the same command with --resume "
        "goes on from there"
    )


def _remove(checkpoint: Path) -> None:
    from setlearn.networks.checkpoint import CHECKPOINT_NAME

    (checkpoint / CHECKPOINT_NAME).unlink(missing_ok=True)
    if checkpoint.is_dir() and not any(checkpoint.iterdir()):
        checkpoint.rmdir()


def _digest(data: str) -> dict[str, str]:
    """The SHA-256 of the file as it is, so that people can tell which one it was."""
    if not Path(data).is_file():  # what came through a pipe cannot be read twice
        return {}
    with open(data, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _example(model: RecordModel, row: Row) -> Any:
    names = [column.name for column in model.reader.columns]
    return plain({name: row.record.get(name) for name in names})
