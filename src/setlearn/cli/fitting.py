"""The work of ``setlearn fit``: choose usable rows, hold some out, train, evaluate, save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import clear_frames
from typing import Any

from setlearn.cli.console import counted, print_notes
from setlearn.cli.fit_options import SavingOptions
from setlearn.cli.interrupts import stopped_by_signals
from setlearn.cli.reports import Evaluation, evaluate_sets, short_input
from setlearn.cli.training_data import describe_training_data
from setlearn.errors import DataError, ModelError, ParameterError, SetlearnError
from setlearn.files import Row, Rows
from setlearn.files.plain_values import plain
from setlearn.records import RecordModel, RecordPlan, TargetReader, guess_targets
from setlearn.scorers.interrupted_folds import keep_finished_folds

__all__ = ["Fitted", "fit_and_save", "rows_with_inputs", "rows_with_sets", "save_or_rescue"]

LabelledRows = tuple[Sequence[Row], Sequence[Row]]


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The outcome of a fit."""

    out: Path
    task: str
    n_rows: int
    rule: str
    scorers: Sequence[str]
    notes: Sequence[str]
    evaluation: Evaluation | None
    interrupted: str | None
    """How much was done when the fit was interrupted, if it was."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "model": str(self.out),
            "task": self.task,
            "rows": self.n_rows,
            "rule": self.rule,
            "scorers": list(self.scorers),
            "guesses": list(self.notes),
            "validation": None if self.evaluation is None else self.evaluation.to_dict(),
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        rows = counted(self.n_rows, "row")
        head = f"model: {self.out} ({self.task}, from {rows}, rule {self.rule})"
        if self.scorers:
            head += f"\nscored by: {', '.join(self.scorers)}"
        if self.evaluation is None:
            return head
        return f"{head}\n\nrows held out\n{self.evaluation.report}"


def fit_and_save(
    plan: RecordPlan,
    records: Sequence[Row],
    model: Any,
    saving: SavingOptions,
    *,
    data: str = "-",
    notes: Sequence[str] = (),
    seed: int = 0,
    quiet: bool = False,
    fitted_by: Callable[[Any, Any, Any], Any] | None = None,
) -> Fitted:
    """Fit a model, evaluate it on held-out rows if there are any, and save it.

    Parameters
    ----------
    plan : RecordPlan
    records : sequence of Row
    model : SetClassifier or SequenceSetGenerator
        The model, not yet fitted.
    saving : SavingOptions
    data : str, default="-"
        The path of the data file; the model keeps its name and digest.
    notes : sequence of str, optional
        What was guessed; the model keeps it.
    seed : int, default=0
        The seed for holding rows out.
    quiet : bool, default=False
        Print no notes.
    fitted_by : callable, optional
        As for `RecordPlan.fit`.

    Returns
    -------
    Fitted

    Raises
    ------
    KeyboardInterrupt
        If the fit was interrupted; the message says what is left of it.
    ModelError
        If the model cannot be saved. Most reasons are found before training starts.
    ModelError or DataError
        If the model cannot be evaluated; it is saved, but without figures.
    """
    from setlearn.persistence import check_can_save, check_place

    check_place(saving.out)
    check_can_save(model)
    if saving.out.is_dir() and any(saving.out.iterdir()):
        print_notes([f"{saving.out}: the model in this folder will be replaced"], quiet=quiet)
    checkpoint = _checkpoint(saving, model, quiet)
    train, held_out = _split(plan, records, model, saving.validation, seed)
    if checkpoint is not None:
        model.set_params(training__checkpoint=checkpoint)
    about: dict[str, Any] = {
        # Read before training, because the file may be gone afterwards.
        "data": describe_training_data(data, len(train)),
        "guesses": list(notes),
    }
    if saving.examples:
        about["examples"] = [_example(plan, row) for row in train[: saving.examples]]
    try:
        with stopped_by_signals():
            with keep_finished_folds() as interruption:
                fitted = plan.fit(train, model, fitted_by=fitted_by)
            if interruption.warning is not None:
                about["interrupted"] = interruption.warning.moment
            evaluation = _evaluate_and_save(fitted, held_out, saving.out, about)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_interrupted_message(checkpoint)) from None
    if checkpoint is not None:
        _remove(checkpoint)
    return Fitted(
        saving.out,
        fitted.task,
        len(train),
        repr(fitted.rule_),
        _scorers(fitted.facts()),
        notes,
        evaluation,
        about.get("interrupted"),
    )


def save_or_rescue(model: RecordModel, out: Path, about: dict[str, Any]) -> None:
    """Save a model; if that fails, keep it in a rescue folder.

    Parameters
    ----------
    model : RecordModel
    out : Path
        The folder for the model.
    about : dict
        What is known about the model.

    Raises
    ------
    ModelError
        If the model cannot be saved; it says where the model is instead.
    """
    from setlearn.persistence import rescue_model, save

    try:
        save(model, out, about=about)
    except Exception as error:  # whatever it is, the training must not be lost
        clear_frames(error.__traceback__)  # memory may be what is missing
        try:
            file = rescue_model(model, out)
        except Exception:  # a pickle may fail in any way, and the first error matters more
            raise error from error.__cause__
        problem = _described(error, "the model cannot be saved: ")
        raise ModelError(
            f"{problem}. The fitted model is not lost: it is in {file}. In Python, "
            f"joblib.load({str(file)!r}) loads it; setlearn.save(model, folder) then saves it "
            "once the cause is removed. Load such files only if you made them yourself"
        ) from error


def rows_with_sets(
    rows: Rows, records: Sequence[Row], target: str | Sequence[str] | None
) -> list[Row]:
    """Leave out records whose sets cannot be read.

    Parameters
    ----------
    rows : Rows
        Counts the records that are left out.
    records : sequence of Row
    target : name, pattern, list of these, or None
        The target columns.

    Returns
    -------
    list of Row

    Raises
    ------
    DataError
        If none is left.
    """
    reader = _first_reader(records, target)
    if reader is None:
        return list(records)  # the plan will say what is wrong with all of them

    def problem(row: Row) -> str | None:
        try:
            reader.read(row)
        except DataError as error:
            return str(error)
        return None

    return _without_problems(rows, records, problem)


def rows_with_inputs(rows: Rows, records: Sequence[Row], plan: RecordPlan) -> list[Row]:
    """Leave out records whose inputs cannot be read as planned.

    Parameters
    ----------
    rows : Rows
        Counts the records that are left out.
    records : sequence of Row
    plan : RecordPlan

    Returns
    -------
    list of Row

    Raises
    ------
    DataError
        If none is left.
    """
    return _without_problems(rows, records, plan.problem_with)


def _without_problems(
    rows: Rows, records: Sequence[Row], problem_with: Callable[[Row], str | None]
) -> list[Row]:
    usable = []
    for row in records:
        problem = problem_with(row)
        if problem is None:
            usable.append(row)
        else:
            rows.leave_out(problem)
    if not usable:
        raise DataError(
            f"{rows.name} has no usable rows: {counted(rows.n_bad, 'row')} left out, the first "
            f"because of {rows.bad[0]}; correct them, or change how they are read",
            advice={"target": None, "separator": None, "kinds": None},
        )
    return usable


def _first_reader(
    records: Sequence[Row], target: str | Sequence[str] | None
) -> TargetReader | None:
    for row in records:
        try:
            return guess_targets([row], target, task="labels")[0]
        except DataError:
            continue
    return None


def _split(
    plan: RecordPlan, records: Sequence[Row], model: Any, share: float, seed: int
) -> LabelledRows:
    """Divide records into those to train on and those held out."""
    if not share:
        return records, ()
    from setlearn.datasets import random_split, stratified_split

    if model.elements_recur:
        sets = [plan.targets.read(row) for row in records]
        numbers = stratified_split(sets, share, random_state=seed)
    else:
        numbers = random_split(len(records), share, random_state=seed)
    train, held_out = ([records[number] for number in part] for part in numbers)
    return train, held_out


def _evaluate_and_save(
    model: RecordModel, held_out: Sequence[Row], out: Path, about: dict[str, Any]
) -> Evaluation | None:
    """Save a model with its figures; without them if it cannot be evaluated."""
    if not held_out:
        save_or_rescue(model, out, about)
        return None
    try:
        evaluation = _evaluate(model, held_out)
        figures = {k: v for k, v in evaluation.report.to_dict().items() if v is not None}
    except Exception as error:
        save_or_rescue(model, out, about)
        kind = DataError if isinstance(error, DataError) else ModelError
        raise kind(
            f"the model is saved in {out}, but without figures, because it could not be evaluated "
            f"on the rows held out: {_described(error)}"
        ) from error
    about["figures"] = {"on": "rows held out from training", **figures}
    save_or_rescue(model, out, about)
    return evaluation


def _evaluate(model: RecordModel, rows: Sequence[Row]) -> Evaluation:
    places = [(row.place, short_input(model, row)) for row in rows]
    return evaluate_sets(model, places, model.true_sets(rows), model.predict(rows), n_worst=10)


def _described(error: Exception, prefix: str = "") -> str:
    """Return the message of an error; one that is not from setlearn gets a prefix and its type."""
    if isinstance(error, SetlearnError):
        return str(error)
    return f"{prefix}{type(error).__name__}: {error}".removesuffix(": ")


def _scorers(facts: Mapping[str, Any]) -> list[str]:
    """What scores sequences, with the weights of a mixture; nothing for labels.

    >>> _scorers({"mixture": [{"scorer": "AnalogyScorer", "weight in the mixture": 0.5}]})
    ['AnalogyScorer (weight 0.5)']
    """
    parts = [
        f"{name} (weight {part['weight in the mixture']:.2g})"
        for part in facts.get("mixture", ())
        for name in _names(part)
    ]
    return parts or _names(facts)


def _names(facts: Mapping[str, Any]) -> list[str]:
    return [facts[name] for name in ("scorer", "network") if name in facts]


def _checkpoint(saving: SavingOptions, model: Any, quiet: bool) -> Path | None:
    """Return the folder for the state of training, after checking what is in it.

    None if the model keeps no such state.
    """
    if not model.keeps_checkpoints:
        for option, given in (("checkpoint", saving.checkpoint), ("resume", saving.resume)):
            if given:
                raise ParameterError(
                    f"--{option} is for models whose training can be resumed, but that of "
                    f"{model!r:.60} cannot; leave it out"
                )
        return None
    folder = saving.checkpoint or saving.out.with_name(f"{saving.out.name}.checkpoint")
    if _checkpoint_files(folder) and not saving.resume:
        raise ParameterError(
            f"{folder} holds a fit that was interrupted; add --resume to continue it, or delete "
            "the folder to start again"
        )
    if saving.resume and not _checkpoint_files(folder):
        # No error: the fit may have been interrupted before its first checkpoint.
        print_notes(
            [f"{folder} holds no checkpoint: training starts at the beginning"], quiet=quiet
        )
    return folder


def _checkpoint_files(folder: Path) -> list[Path]:
    """The states of training in a folder: for several networks, in folders of their own."""
    # Imports torch, which only models that keep checkpoints need.
    from setlearn.networks.checkpoint import CHECKPOINT_NAME

    # Nothing else below the folder is ours.
    return [*folder.glob(CHECKPOINT_NAME), *sorted(folder.glob(f"part-*/{CHECKPOINT_NAME}"))]


def _interrupted_message(checkpoint: Path | None) -> str:
    if checkpoint is None or not _checkpoint_files(checkpoint):
        return "interrupted; nothing was saved, and the same command starts again"
    return (
        f"interrupted; {checkpoint} holds the training so far: add --resume to the same command "
        "to continue"
    )


def _remove(checkpoint: Path) -> None:
    for file in _checkpoint_files(checkpoint):
        file.unlink()
        if file.parent != checkpoint and not any(file.parent.iterdir()):
            file.parent.rmdir()
    if checkpoint.is_dir() and not any(checkpoint.iterdir()):
        checkpoint.rmdir()


def _example(plan: RecordPlan, row: Row) -> Any:
    return plain({column.name: row.record.get(column.name) for column in plan.inputs})
