"""``setlearn predict``: the set of each row of a file."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setlearn.cli.options import (
    Data,
    Model,
    ModelOptions,
    OtherRule,
    Out,
    OutputOptions,
    RayOptions,
    ReadingOptions,
    Scores,
    Top,
)

if TYPE_CHECKING:
    from setlearn.scale.prediction import PredictedFiles

__all__ = ["predict"]


def predict(
    model: Model,
    data: Data,
    out: Out = "-",
    scores: Scores = False,
    top: Top = None,
    rule: OtherRule = None,
    with_input: Annotated[
        bool, typer.Option("--with-input", help="Repeat the row before its answer.")
    ] = False,
    *,
    reading: ReadingOptions,
    loading: ModelOptions,
    output: OutputOptions,
    processes: RayOptions,
) -> None:
    """Predict the set of each row, in the order of the rows.

    Rows are read and answered in batches, so that memory does not grow with the file. With --ray,
    DATA may also be a folder or a quoted pattern such as 'logs/*.jsonl', and --out a folder, with
    a slash at its end, that gets the answers in parts. If such a command is interrupted, the same
    command goes on where it stopped.
    """
    from setlearn.cli.answers import report_answers, write_answers
    from setlearn.cli.model_loading import model_for_rows
    from setlearn.cli.named_rules import fit_free_rule_named
    from setlearn.records.answers import PredictionForm

    processes.check()
    form = PredictionForm(scores, top, with_input, reading.skip_bad)
    if processes.ray is None:
        with reading.open(data) as rows:
            loaded = model_for_rows(model, loading, rows, output, rule=rule)
            write_answers(form.records(loaded, rows), rows, out, output)
        return

    from setlearn.cli.console import print_notes
    from setlearn.cli.interrupts import stopped_by_signals
    from setlearn.scale import BatchPredictor
    from setlearn.scale.prediction import input_files, predict_files

    with stopped_by_signals(), _folder_of_parts(out) as folder, _interrupts_explained(out):
        predicted = predict_files(
            BatchPredictor(
                model,
                rule=None if rule is None else fit_free_rule_named(rule),
                inputs=loading.inputs,
                trusted=loading.trusted or (),
            ),
            form,
            input_files(data),
            folder,
            address=processes.address,
            workers=processes.n_workers,
            reading=reading.how,
            start_over=not _is_folder(out),
            say=lambda note: print_notes([note], quiet=output.quiet),
            verbose=not output.quiet,
        )
        if _is_folder(out):
            report_answers({"out": out, "n_answers": predicted.n_answers}, predicted, output)
        else:
            write_answers(_answers(predicted), predicted, out, output)


def _is_folder(out: str) -> bool:
    return out.endswith("/") or Path(out).is_dir()


@contextmanager
def _folder_of_parts(out: str) -> Iterator[Path]:
    """Where to write parts: the folder itself, or one that is removed when the file is written."""
    from setlearn.files.formats import STANDARD_STREAM

    if _is_folder(out):
        yield Path(out)
    elif out == STANDARD_STREAM:
        with tempfile.TemporaryDirectory(prefix="setlearn-answers-") as temporary:
            yield Path(temporary)
    else:
        file = Path(out)
        folder = file.with_name(f".{file.name}.parts")
        yield folder
        shutil.rmtree(folder)  # not after an error: the same command goes on with it


@contextmanager
def _interrupts_explained(out: str) -> Iterator[None]:
    """Say at Ctrl-C that nothing is lost, if it is not."""
    from setlearn.files.formats import STANDARD_STREAM

    try:
        yield
    except KeyboardInterrupt:
        if out == STANDARD_STREAM:
            raise
        message = "interrupted; the same command goes on where it stopped"
        raise KeyboardInterrupt(message) from None


def _answers(predicted: PredictedFiles) -> Iterator[dict[str, Any]]:
    for part in predicted.parts:
        with part.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)
