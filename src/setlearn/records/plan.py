"""The plan for turning records into a model: guessed from the data, unless set by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import RuleHolder, Task
from setlearn.files import Row
from setlearn.records.cells import Kind
from setlearn.records.column_guesses import guess_columns
from setlearn.records.columns import Column, as_rows, column_notes, read_columns
from setlearn.records.model import RecordModel
from setlearn.records.readers import FeatureReader, RecordReader, TextFeatures, TextReader
from setlearn.records.target_guesses import guess_targets
from setlearn.records.targets import TargetReader
from setlearn.records.texts import TokenSplit, plan_texts

__all__ = ["RecordPlan", "plan_records"]


@dataclass(frozen=True, slots=True, eq=False)
class RecordPlan:
    """How records will be read, before anything is learned.

    Attributes
    ----------
    columns : tuple of Column
        All columns but the target, also the ignored ones.
    targets : TargetReader
        How the sets are read.
    text : dict
        For labels: how each column of texts becomes features.
    tokens : pair of {"char", "word"}, or None
        For sequences: how inputs and elements are split. Pass it to `SequenceSetGenerator`.
    notes : tuple of str
        What was decided, one line per decision.

    Examples
    --------
    >>> plan = plan_records([{"x": 3.5, "y": ["a"]}, {"x": 1.5, "y": []}], task="labels")
    >>> plan.task, [column.note for column in plan.inputs]
    ('labels', ['x: number'])
    """

    columns: tuple[Column, ...]
    targets: TargetReader
    text: Mapping[str, TextFeatures]
    tokens: tuple[TokenSplit, TokenSplit] | None
    notes: tuple[str, ...]

    @property
    def task(self) -> Task:
        """What the elements are, "labels" or "sequences"."""
        return self.targets.task

    @property
    def inputs(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return read_columns(self.columns)

    def fit(self, records: Any, model: RuleHolder) -> RecordModel:
        """Fit a copy of a model on all or some of the records that the plan was made for.

        Parameters
        ----------
        records : iterable of Row or dict, or DataFrame
        model : SetClassifier or SequenceSetGenerator
            The model, not yet fitted.

        Returns
        -------
        RecordModel

        Raises
        ------
        ParameterError
            If the model is for another task.
        """
        if model.task != self.task:
            raise ParameterError(
                f"the elements are {self.task}, but a {type(model).__name__} predicts "
                f"{model.task}; pass a model for {self.task}, or plan for the other task"
            )
        rows = as_rows(records)
        reader = self._reader(rows)
        sets = [self.targets.read(row) for row in rows]
        fitted = clone(model).fit(reader.read(rows), sets)
        return RecordModel(reader, self.targets, fitted)

    def problem_with(self, row: Row) -> str | None:
        """Say what cannot be read in a row, its set or an input; None if all can be read."""
        try:
            self.targets.read(row)
            for column in self.inputs:
                [cell] = column.cells([row])
                cell.check(column.kind)
        except DataError as error:
            return str(error)
        return None

    def _reader(self, rows: Sequence[Row]) -> RecordReader:
        # Only plans for sequences have tokens.
        if self.tokens is not None and self.inputs[0].kind in ("text", "tokens"):
            return TextReader(self.inputs[0])
        return FeatureReader.fit(rows, self.inputs, self.text)


def plan_records(
    records: Any,
    *,
    target: str | Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    declared: Sequence[str] = (),
    separator: str | None = None,
    task: Task | None = None,
    text: TextFeatures | None = None,
    tokens: TokenSplit | tuple[TokenSplit, TokenSplit] | None = None,
) -> RecordPlan:
    """Decide how to read records; only what is not given is guessed.

    Parameters
    ----------
    records : iterable of Row or dict, or DataFrame
    target, separator, task
        How to read the sets; see `guess_targets`.
    inputs, kinds, declared
        Which columns to read, and as which kinds; see `guess_columns`.
    text : {"tfidf", "words", "chars"}, optional
        How texts become features, if elements are labels.
    tokens : {"char", "word"} or a pair of them, optional
        How texts are split, if elements are sequences; a pair is for inputs and elements.

    Returns
    -------
    RecordPlan

    Raises
    ------
    DataError
        If the records cannot be read in this way.
    ParameterError
        If parameters are unknown or contradict each other.

    Examples
    --------
    >>> words = ["fish", "ox", "wolf", "cat"]
    >>> forms = ["fish", "ox;oxen", "wolf;wolves", "cat;cats"]
    >>> plan = plan_records([{"word": w, "y": f} for w, f in zip(words, forms, strict=True)])
    >>> for note in plan.notes:
    ...     print(note)
    target: y (by its name)
    y: sequences, separated by ";" (7 different)
    task: sequences (7 of 7 elements occur once)
    elements: by characters
    word: text (by characters)
    """
    rows = as_rows(records)
    targets, notes = guess_targets(rows, target, separator=separator, task=task)
    columns = guess_columns(
        rows, target_columns=targets.columns, given=kinds, inputs=inputs, declared=declared
    )
    if not read_columns(columns):
        ignored = "; ".join(column_notes(columns)) or "the target is the only column"
        raise DataError(
            f"there is no column to predict from: {ignored}; name some as inputs",
            advice={"inputs": None},
        )
    texts = plan_texts(rows, columns, targets, text=text, tokens=tokens)
    notes += [*texts.notes, *column_notes(texts.columns)]
    return RecordPlan(texts.columns, targets, texts.features, texts.tokens, tuple(notes))
