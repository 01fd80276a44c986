"""``setlearn fit --continue MODEL``: goes on with the training of a saved model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setlearn.cli.fit_options import PlanningOptions
from setlearn.cli.model_options import TRAINING, LabelOptions, LearningOptions, SequenceOptions
from setlearn.cli.options import flag
from setlearn.errors import DataError, ParameterError

if TYPE_CHECKING:
    from setlearn.files import Row
    from setlearn.records import RecordPlan

__all__ = ["check_continued", "model_to_continue"]


def check_continued(
    planning: PlanningOptions, labels: LabelOptions, sequences: SequenceOptions
) -> None:
    """Check that no option was given which the model to continue decides.

    Parameters
    ----------
    planning : PlanningOptions
    labels : LabelOptions
    sequences : SequenceOptions

    Raises
    ------
    ParameterError
    """
    labels.check_unused("sequences")
    for options in (planning, sequences):
        for field in fields(options):
            if field.name not in TRAINING and getattr(options, field.name) != field.default:
                raise ParameterError(
                    f"{flag(field.name)} is decided by the model whose training is continued; "
                    "leave it out, or fit a new model"
                )


def model_to_continue(
    path: Path,
    records: Sequence[Row],
    learning: LearningOptions,
    sequences: SequenceOptions,
    *,
    verbose: int,
) -> tuple[RecordPlan, Any]:
    """Load a model whose training goes on with the next fit.

    Parameters
    ----------
    path : Path
        The folder of the model.
    records : sequence of Row
        The data. A model that was saved from Python has no columns; they are chosen by the first.
    learning : LearningOptions
    sequences : SequenceOptions
        Its options of training replace those of the model.
    verbose : int
        How to show progress, as in `setlearn.progress.progress`.

    Returns
    -------
    plan : RecordPlan
        How the model reads rows.
    model : SequenceSetGenerator
        The fitted model, with ``warm_start``.

    Raises
    ------
    DataError
        If there are no records.
    ParameterError
        If it is a model whose training cannot be continued.
    """
    from setlearn.cli.named_rules import rule_named
    from setlearn.persistence import load
    from setlearn.records import plan_to_continue, record_model_for

    if not records:
        raise DataError("there are 0 records to learn from; pass at least one")
    loaded, notes = record_model_for(load(path), records[0])
    model = loaded.model
    if not model.keeps_checkpoints:
        raise ParameterError(
            f"--continue is for models whose training can be continued, but {path} holds "
            f"{model!r:.60}, which is not trained in steps; fit a new model"
        )
    given = {name: getattr(sequences, name) for name in TRAINING}
    settings = {f"training__{name}": value for name, value in given.items() if value is not None}
    if learning.rule is not None:
        settings["rule"] = rule_named(learning.rule)
    model.set_params(warm_start=True, training__verbose=verbose, **settings)  # type: ignore[attr-defined]  # sklearn has no types
    return plan_to_continue(loaded, [f"continues {path}", *notes]), model
