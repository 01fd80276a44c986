"""Prediction of many rows by worker processes, on this machine or on a cluster."""

from __future__ import annotations

import glob
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from setlearn.errors import (
    ClusterError,
    DataError,
    ParameterError,
    SetlearnError,
    warn_user,
)
from setlearn.files import FORMATS, open_rows
from setlearn.files.formats import STANDARD_STREAM, suffix_of
from setlearn.parameter_checks import check_count
from setlearn.progress import progress
from setlearn.records.answers import PredictionForm
from setlearn.rules import Rule
from setlearn.scale.batch_predictor import BatchPredictor
from setlearn.scale.parts import AnswerFolder, Part, PartOutcome, answer_part
from setlearn.scale.runtime import ray_session

__all__ = ["PredictedFiles", "input_files", "predict", "predict_files"]

MOST_RETRIES = 3
"""How often a part is tried again after the process that answered it has died."""

N_SHOWN = 3
"""How many parts that failed are named in an error."""


@dataclass(frozen=True)
class PredictedFiles:
    """The answers for files.

    Attributes
    ----------
    parts : list of Path
        JSON lines, in the order of the files and their rows.
    n_answers : int
        The number of rows with an answer.
    n_bad : int
        The number of rows that were left out.
    bad : list of str
        Descriptions of the first ten of them.
    name : str
        The name of the file, or how many there are.
    """

    parts: list[Path]
    n_answers: int
    n_bad: int
    bad: list[str]
    name: str


def predict(
    model: Any,
    data: Any,
    out: str | Path | None = None,
    *,
    address: str | None = None,
    workers: int = 2,
    scores: bool = False,
    top: int | None = None,
    rule: Rule | None = None,
    inputs: Iterable[str] | None = None,
    with_input: bool = False,
    skip_bad: bool = False,
    batch_size: int = 1024,
    ordered: bool = False,
    rows_per_part: int = 2000,
    reading: Mapping[str, Any] | None = None,
    trusted: Iterable[str] = (),
) -> Any:
    """Predict the sets of many rows with several worker processes, by Ray.

    Of files, the answers are written to a folder, one file of JSON lines per part of the input. If
    the call is interrupted, the same call goes on where it stopped; it recognises a model by its
    folder, so pass that rather than a loaded model. JSON lines and Parquet files are split among
    the workers. A file of any other format, or a compressed one, is read by one of them.

    Of a Ray Dataset, a Dataset with another column is returned. Nothing is computed until its rows
    are used.

    Parameters
    ----------
    model : str, Path or fitted predictor
        The folder of a model, or a fitted model.
    data : str, Path, sequence of these, or ray.data.Dataset
        Files of any format that `setlearn.files` reads, folders with such files, or patterns such
        as "logs/*.jsonl". All machines of a cluster must see them under the same paths.
    out : str or Path, optional
        The folder for the answers, if the data are files. It must be shared in the same way.
    address : str, optional
        The address of a running Ray cluster, or "auto". By default this process's Ray is used, or a
        local one that ends with the call.
    workers : int, default=2
        How many processes predict at the same time, with one core each.
    scores : bool, default=False
        Give the score of each element too, best first.
    top : int, optional
        Give this number of the best elements, whether the rule keeps them or not, with scores.
    rule : Rule, optional
        Another rule that needs no fit. By default the rule of the model.
    inputs : sequence of names, optional
        For models without columns: the columns to predict from.
    with_input : bool, default=False
        Repeat the row before its answer. Rows of a Dataset are always kept.
    skip_bad : bool, default=False
        Leave out bad rows of files, and count them. Otherwise a part with a bad row fails.
    batch_size : int, default=1024
        The rows of a Dataset that are predicted at once.
    ordered : bool, default=False
        Whether the rows of a Dataset stay in order. Answers for files always do.
    rows_per_part : int, default=2000
        How many rows of a file belong to one part. A part is redone as a whole.
    reading : mapping, optional
        How to read files: arguments of `setlearn.files.open_rows`, such as ``{"format": "jsonl"}``.
    trusted : sequence of str, default=()
        As for `setlearn.load`.

    Returns
    -------
    PredictedFiles or ray.data.Dataset

    Raises
    ------
    DataError
        If a part cannot be read or answered. It is raised after all others have been answered.
    ParameterError
        If Ray is not installed, or the folder holds other things.
    ClusterError
        If the cluster does not answer, or its workers cannot be used.
    ModelError
        If the model cannot be loaded.

    Examples
    --------
    >>> from setlearn import scale
    >>> scale.predict("tagger", "photos.csv", "answers")  # doctest: +SKIP
    PredictedFiles(parts=[PosixPath('answers/part-00000-00000.jsonl')], n_answers=90, ...)
    """
    for name, count in (
        ("workers", workers),
        ("batch_size", batch_size),
        ("rows_per_part", rows_per_part),
    ):
        check_count(name, count)
    predictor = BatchPredictor(
        model, scores=scores, top=top, rule=rule, inputs=inputs, trusted=trusted
    )
    if hasattr(data, "map_batches"):
        if out is not None:
            raise ParameterError(
                "the predictions of a Dataset are not written; leave out= out, and call a method "
                "of the result such as write_parquet"
            )
        return _predicted_dataset(predictor, data, workers, batch_size, ordered=ordered)
    if out is None:
        raise ParameterError("predictions of files are written to a folder; pass it as out=")
    return predict_files(
        predictor,
        replace(predictor.form, with_input=with_input, skip_bad=skip_bad),
        input_files(data),
        Path(out),
        address=address,
        workers=workers,
        rows_per_part=rows_per_part,
        reading=dict(reading or {}),
    )


def predict_files(
    predictor: BatchPredictor,
    form: PredictionForm,
    files: Sequence[Path],
    out: Path,
    *,
    address: str | None,
    workers: int,
    reading: Mapping[str, Any],
    rows_per_part: int = 2000,
    start_over: bool = False,
    say: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> PredictedFiles:
    """Write the predictions for files to a folder, with several worker processes.

    Parameters
    ----------
    predictor : BatchPredictor
    form : PredictionForm
    files : sequence of Path
    out, address, workers, rows_per_part, reading
        As for `predict`.
    start_over : bool, default=False
        Whether to delete what another call has left in the folder, instead of raising an error.
    say : callable, optional
        Gets lines for people: which columns are read, and what is done already.
    verbose : bool, default=False
        Whether to show progress in a terminal.

    Returns
    -------
    PredictedFiles

    Raises
    ------
    DataError, ParameterError, ClusterError, ModelError
        As for `predict`.
    """
    notes = _choose_columns(predictor, files, form, reading)
    settings = {**predictor.settings(), **asdict(form)}
    folder = AnswerFolder(out, files, settings, reading, rows_per_part, start_over=start_over)
    for note in (*notes, *folder.notes):
        if say is not None:
            say(note)
    failures: list[tuple[Part, SetlearnError]] = []
    if unfinished := folder.unfinished():
        with (
            ray_session(address, workers=workers) as ray,
            progress("predicting", len(unfinished), verbose=verbose) as advance,
        ):
            shared = ray.put(predictor)
            answered = _outcomes(ray, (shared, form, reading), unfinished, str(out), workers)
            for part, outcome in answered:
                advance()
                for warning in outcome.warnings:
                    warn_user(warning)
                if outcome.error is not None:
                    failures.append((part, outcome.error))
    report = folder.finish()
    if failures:
        raise _summary(failures, len(folder.parts))
    parts = [out / part.name for part in folder.parts]
    name = files[0].name if len(files) == 1 else f"{len(files)} files"
    return PredictedFiles(parts, report.n_answers, report.n_bad, report.bad, name)


def input_files(data: str | Path | Sequence[str | Path]) -> list[Path]:
    """List files to read, which may be given as folders or patterns too.

    Parameters
    ----------
    data : str, Path or sequence of these
        Of a folder, the files of a known format are taken, but none that are hidden or whose name
        starts with an underscore.

    Returns
    -------
    list of Path
        Those of a folder or a pattern by name.

    Raises
    ------
    DataError
        If there is no such file, or it is standard input.
    """
    files: list[Path] = []
    for given in [data] if isinstance(data, str | Path) else data:
        if str(given) == STANDARD_STREAM:
            raise DataError(
                "standard input can be read by one process only; write it to a file, and name that"
            )
        path = Path(given)
        if path.is_dir():
            found = sorted(file for file in path.iterdir() if _is_data(file))
            what = "holds no file of a known format"
        else:
            found = [path] if path.exists() else sorted(map(Path, glob.glob(str(given))))
            what = "matches no file" if glob.has_magic(str(given)) else "does not exist"
        if not found:
            raise DataError(f"{given} {what}; check the path")
        files += found
    return files


def _is_data(path: Path) -> bool:
    known = {suffix for each in FORMATS.values() for suffix in each.suffixes}
    return path.is_file() and not path.name.startswith((".", "_")) and suffix_of(path) in known


def _choose_columns(
    predictor: BatchPredictor,
    files: Sequence[Path],
    form: PredictionForm,
    reading: Mapping[str, Any],
) -> list[str]:
    """Choose the columns by the first row that can be read, as if the files were one."""
    for file in files:
        try:
            with open_rows(file, skip_bad=form.skip_bad, **reading) as rows:
                row = rows.first()
        except DataError:  # a worker says what is wrong
            continue
        return [*rows.notes, *predictor.choose_columns(row)]
    return []


def _outcomes(
    ray: Any,
    how: tuple[Any, PredictionForm, Mapping[str, Any]],
    parts: Sequence[Part],
    folder: str,
    workers: int,
) -> Iterator[tuple[Part, PartOutcome]]:
    """Have as many parts answered at a time as there are workers; yield each when it has ended."""
    answer = ray.remote(answer_part).options(num_cpus=1, max_retries=MOST_RETRIES)
    waiting = deque(parts)
    running: dict[Any, Part] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            part = waiting.popleft()
            running[answer.remote(*how, part, folder)] = part
        [done], _ = ray.wait(list(running), num_returns=1)
        yield running.pop(done), _outcome(ray, done)


def _outcome(ray: Any, done: Any) -> PartOutcome:
    try:
        outcome: PartOutcome = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, SetlearnError):
            raise error.cause from None  # it is not about the part
        return PartOutcome(SetlearnError(f"{type(error.cause).__name__}: {error.cause}"), [])
    except ray.exceptions.RayError as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        problem = f"its process ended {1 + MOST_RETRIES} times, maybe for lack of memory ({reason})"
        return PartOutcome(ClusterError(problem), [])
    return outcome


def _summary(failures: Sequence[tuple[Part, SetlearnError]], n_parts: int) -> DataError:
    """One error for all parts that failed."""
    lines = [_description(part, error) for part, error in failures[:N_SHOWN]]
    if len(failures) > N_SHOWN:
        lines.append(f"and {len(failures) - N_SHOWN} more")
    return DataError(
        f"{len(failures)} of {n_parts} parts could not be answered: {'; '.join(lines)}. Correct "
        "these and call again: what is answered is kept",
        advice=failures[0][1].advice,
    )


def _description(part: Part, error: SetlearnError) -> str:
    """The error, with the file if it does not name it."""
    problem = str(error)
    return problem if Path(part.path).name in problem else f"{part.path}: {problem}"


def _predicted_dataset(
    predictor: BatchPredictor, dataset: Any, workers: int, batch_size: int, *, ordered: bool
) -> Any:
    import ray

    with ray_session():  # the one of the Dataset, whose workers are checked
        if ordered:
            dataset.context.execution_options.preserve_order = True
        return dataset.map_batches(
            _DatasetWorker,
            fn_constructor_args=(ray.put(predictor),),
            compute=ray.data.ActorPoolStrategy(size=workers),
            batch_format="pyarrow",
            batch_size=batch_size,
            num_cpus=1,
        )


class _DatasetWorker:
    """Predicts batches of a Dataset in a process of its own."""

    def __init__(self, predictor: Any) -> None:
        import ray

        self.predictor = ray.get(predictor) if isinstance(predictor, ray.ObjectRef) else predictor

    def __call__(self, batch: Any) -> Any:
        return self.predictor(batch)
