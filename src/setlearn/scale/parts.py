"""The folder of a large prediction: one file of answers per part of the input, and a manifest.

Which rows are in which part depends on the input and the settings alone, not on who answers them. A
part appears under its name when it is complete, so a second call finds what the first one has done.
No engine is needed here: any process may answer a part.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from setlearn import __version__
from setlearn.durable_files import sync_file, sync_folder, write_durably
from setlearn.errors import (
    ClusterError,
    DataError,
    KindError,
    ParameterError,
    SetlearnError,
    SetlearnWarning,
)
from setlearn.files import Section, open_rows, split_file, write_rows
from setlearn.records.answers import PredictionForm
from setlearn.scale.batch_predictor import BatchPredictor

__all__ = ["AnswerFolder", "Part", "PartOutcome", "PartReport", "answer_part"]

MANIFEST, FORMAT = "manifest.json", 1
REPORT = ".report.json"
"""What follows the name of a part. When its report is there, a part is finished."""

N_SHOWN = 10
"""How many bad rows are described in the report of all parts."""


class InputFile(NamedTuple):
    """A file to predict from, and what changes when it is written again."""

    path: str
    n_bytes: int
    changed_at: int

    @classmethod
    def of(cls, path: Path) -> InputFile:
        """Describe a file as it is now."""
        facts = path.stat()
        return cls(str(path), facts.st_size, facts.st_mtime_ns)


class Part(NamedTuple):
    """Some rows of a file, and the name of the file with their answers."""

    path: str
    section: Section | None
    name: str


@dataclass(frozen=True)
class PartReport:
    """How many rows of a part were answered, and what was wrong with the others."""

    n_answers: int
    n_bad: int
    bad: list[str]


class PartOutcome(NamedTuple):
    """What happened to a part: an error or none, and what the model warned of."""

    error: SetlearnError | None
    warnings: list[SetlearnWarning]


def answer_part(
    predictor: BatchPredictor,
    form: PredictionForm,
    reading: Mapping[str, Any],
    part: Part,
    folder: str,
) -> PartOutcome:
    """Answer the rows of a part, in whatever process this is called.

    Parameters
    ----------
    predictor : BatchPredictor
    form : PredictionForm
    reading : mapping
        How to read the input: arguments of `open_rows`.
    part : Part
    folder : str
        The folder of the answers, which must exist.

    Returns
    -------
    PartOutcome
        Has an error if the part cannot be read or answered.

    Raises
    ------
    ClusterError
        If the folder cannot be seen from the machine of this process.
    """
    if not os.path.isdir(folder):
        raise ClusterError(
            f"{socket.gethostname()} has no folder {folder}; choose one that all machines of the "
            "cluster share"
        )
    error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _write_answers(predictor, form, reading, part, Path(folder))
        except (DataError, KindError) as problem:
            error = problem
    messages = [each.message for each in caught]
    return PartOutcome(error, [each for each in messages if isinstance(each, SetlearnWarning)])


def _write_answers(
    predictor: BatchPredictor,
    form: PredictionForm,
    reading: Mapping[str, Any],
    part: Part,
    folder: Path,
) -> None:
    n_answers = 0

    def counted(records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        nonlocal n_answers
        for record in records:
            n_answers += 1
            yield record

    with open_rows(part.path, section=part.section, skip_bad=form.skip_bad, **reading) as rows:
        try:
            records = form.records(predictor.model_for(rows.first()), rows)
        except StopIteration:  # a section may have no rows
            records = iter(())
        write_rows(folder / part.name, counted(records))
        sync_file(folder / part.name)  # the report must not outlive it
        report = PartReport(n_answers, rows.n_bad, rows.bad)
    _write_json(folder / f"{part.name}{REPORT}", asdict(report))  # now the part is finished


class AnswerFolder:
    """The folder of a prediction, which a second call finds as the first one has left it.

    Parameters
    ----------
    path : Path
        It is created if it does not exist.
    files : sequence of Path
        The files to predict from.
    settings : mapping
        All that the answers depend on besides the files. It must be JSON.
    reading : mapping
        How to read the files: arguments of `open_rows`.
    rows_per_part : int
        How large parts of files that can be split are.
    start_over : bool, default=False
        Whether to delete what another call has left there, instead of raising an error.

    Attributes
    ----------
    parts : list of Part
        In the order of the files and their rows.
    notes : list of str
        What was found in the folder, for people to read.

    Raises
    ------
    ParameterError
        If the folder holds something else, or other predictions.
    """

    def __init__(
        self,
        path: Path,
        files: Sequence[Path],
        settings: Mapping[str, Any],
        reading: Mapping[str, Any],
        rows_per_part: int,
        *,
        start_over: bool = False,
    ) -> None:
        self.path = path
        self.notes: list[str] = []
        self._settings = {
            "setlearn": __version__,
            "rows per part": rows_per_part,
            **settings,
            **reading,
        }
        self._files = [InputFile.of(file) for file in files]
        try:
            before = self._manifest_before()
        except ParameterError:
            if not start_over:
                raise
            shutil.rmtree(path)
            before = self._manifest_before()
        self._reports = {name: PartReport(**each) for name, each in before["reports"].items()}
        self.parts = []
        for number, file in enumerate(self._files):
            parts = self._parts_before(before, number)
            if not parts:
                self._forget(number)
                parts = [
                    Part(file.path, section, f"part-{number:05d}-{count:05d}.jsonl")
                    for count, section in enumerate(_sections(file.path, rows_per_part, reading))
                ]
            self.parts += parts
        self._write_manifest()
        n_unfinished = len(self.unfinished())
        if n_unfinished < len(self.parts):
            n_finished = len(self.parts) - n_unfinished
            self.notes.append(f"{n_finished} of {len(self.parts)} parts in {path} are done already")

    def unfinished(self) -> list[Part]:
        """The parts that must still be answered."""
        return [part for part in self.parts if self._report_of(part) is None]

    def finish(self) -> PartReport:
        """Put the reports of all parts together, and remove what killed workers have left.

        Returns
        -------
        PartReport
            Of all rows. It has the first ten bad ones.
        """
        for leftover in self.path.glob(".part-*.part"):
            leftover.unlink(missing_ok=True)
        finished = {part.name: self._report_of(part) for part in self.parts}
        reports = {name: report for name, report in finished.items() if report is not None}
        if len(reports) == len(self.parts):
            self._reports = reports
            self._write_manifest()
            for name in reports:
                (self.path / f"{name}{REPORT}").unlink(missing_ok=True)
        return PartReport(
            sum(report.n_answers for report in reports.values()),
            sum(report.n_bad for report in reports.values()),
            [bad for report in reports.values() for bad in report.bad][:N_SHOWN],
        )

    def _manifest_before(self) -> dict[str, Any]:
        """The manifest of an earlier call, if it was for the same; an empty one if none was."""
        try:
            content = (self.path / MANIFEST).read_bytes()
        except FileNotFoundError:
            if self.path.is_dir() and any(self.path.iterdir()):
                raise ParameterError(
                    f"{self.path} holds other files than predictions; name a new folder"
                ) from None
            return {"files": [], "parts": [], "reports": {}}
        except OSError as error:
            raise _cannot_use(self.path, error) from error
        try:
            before: dict[str, Any] = json.loads(content)
            settings, files = before["settings"], [file["path"] for file in before["files"]]
        except (ValueError, KeyError, TypeError) as error:
            raise ParameterError(
                f"{self.path / MANIFEST} is not the manifest of predictions; name a new folder"
            ) from error
        remedy = "name another folder, or delete this one"
        for name, value in self._settings.items():
            if settings.get(name) != value:
                raise ParameterError(
                    f"{self.path} holds predictions of another call: its {name} was "
                    f"{settings.get(name)!r}, now it is {value!r}; {remedy}"
                )
        if files != [file.path for file in self._files]:
            raise ParameterError(
                f"{self.path} holds the predictions for other files ({len(files)}, the first is "
                f"{files[0]}); {remedy}"
            )
        return before

    def _parts_before(self, before: Mapping[str, Any], number: int) -> list[Part]:
        """The parts of a file that is as it was in an earlier call."""
        file = self._files[number]
        if not before["files"]:
            return []
        if before["files"][number] != file._asdict():
            self.notes.append(f"{file.path} has changed, so all its rows are answered again")
            return []
        return [
            Part(file.path, None if section is None else Section(*section), name)
            for path, section, name in map(dict.values, before["parts"])
            if name.startswith(f"part-{number:05d}-")
        ]

    def _forget(self, number: int) -> None:
        """Delete all answers for a file."""
        names = f"part-{number:05d}-"
        self._reports = {
            name: report for name, report in self._reports.items() if not name.startswith(names)
        }
        for path in self.path.glob(f"{names}*"):
            path.unlink()

    def _report_of(self, part: Part) -> PartReport | None:
        if not (self.path / part.name).is_file():
            return None
        if part.name in self._reports:
            return self._reports[part.name]
        try:
            content = (self.path / f"{part.name}{REPORT}").read_bytes()
        except FileNotFoundError:
            return None
        return PartReport(**json.loads(content))

    def _write_manifest(self) -> None:
        manifest = {
            "format": FORMAT,
            "settings": self._settings,
            "files": [file._asdict() for file in self._files],
            "parts": [part._asdict() for part in self.parts],
            "reports": {name: asdict(report) for name, report in self._reports.items()},
        }
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _write_json(self.path / MANIFEST, manifest)
        except OSError as error:
            raise _cannot_use(self.path, error) from error


def _sections(
    path: str, rows_per_part: int, reading: Mapping[str, Any]
) -> Sequence[Section | None]:
    how = {name: reading[name] for name in ("format", "encoding") if name in reading}
    try:
        return split_file(path, rows_per_part, **how)
    except DataError:
        return [None]  # reading it says what is wrong


def _cannot_use(path: Path, error: OSError) -> DataError:
    return DataError(
        f"the answers cannot be written to {path}: {error.strerror or error}; free some space, "
        "check the permissions, or choose another place"
    )


def _write_json(path: Path, value: Any) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    write_durably(unfinished, json.dumps(value, indent=1).encode())
    os.replace(unfinished, path)
    sync_folder(path.parent)
