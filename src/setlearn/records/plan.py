"""The plan by which records become a model: guessed from the data, said, and overrulable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records.column_notes import column_notes
from setlearn.records.columns import Column, guess_columns, inputs_of
from setlearn.records.kinds import Kind
from setlearn.records.model import RecordModel
from setlearn.records.readers import FeatureReader, RecordReader, TextReader
from setlearn.records.rows import as_rows
from setlearn.records.target_guess import guess_targets
from setlearn.records.targets import TargetReader, Task
from setlearn.records.text_features import TextFeatures
from setlearn.records.text_guess import TokenSplit, plan_features, plan_tokens

if TYPE_CHECKING:
    from setlearn.estimators.sequence_set_generator import SequenceSetGenerator
    from setlearn.estimators.set_classifier import SetClassifier

__all__ = ["RecordPlan", "plan_records"]


@dataclass(frozen=True, slots=True, eq=False)
class RecordPlan:
    """How records will be read, before anything is learned.

    Attributes
    ----------
    columns : tuple of Column
        Every column but the target, those that are ignored too.
    targets : TargetReader
        How the sets are read.
    text : dict
        For labels: how each column of texts becomes features.
    tokens : pair of {"char", "word"}, or None
        For sequences: how inputs and elements are split. Pass it to `SequenceSetGenerator`.
    notes : tuple of str
        What was decided, a line each.

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
        """Which model is needed: for "labels" a `SetClassifier`, else a `SequenceSetGenerator`."""
        return self.targets.task

    @property
    def inputs(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return inputs_of(self.columns)

    def fit(self, records: Any, model: SetClassifier | SequenceSetGenerator) -> RecordModel:
        """Fit a copy of the model on all or some of the records that the plan was made for."""
        from sklearn.base import clone

        from setlearn.estimators.sequence_set_generator import SequenceSetGenerator
        from setlearn.estimators.set_classifier import SetClassifier

        needed = SetClassifier if self.task == "labels" else SequenceSetGenerator
        if not isinstance(model, needed):
            raise ParameterError(
                f"the elements are {self.task}, which need a {needed.__name__}, "
                f"got {type(model).__name__}; pass one, or plan for the other task"
            )
        rows = as_rows(records)
        reader = self._reader(rows)
        fitted = clone(model).fit(reader.read(rows), [self.targets.read(row) for row in rows])
        return RecordModel(reader, self.targets, fitted)

    def problem_with(self, row: Row) -> str | None:
        """What cannot be read in a row, its set or one of the inputs; None if all can."""
        try:
            self.targets.read(row)
            for column in self.inputs:
                [cell] = column.cells([row])
                cell.check(column.kind)
        except DataError as error:
            return str(error)
        return None

    def _reader(self, rows: Sequence[Row]) -> RecordReader:
        if self.task == "sequences" and self.inputs[0].kind in ("text", "tokens"):
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
    """Look at records and decide how to read them; whatever is given is not guessed.

    Parameters
    ----------
    records : Rows, dicts or a DataFrame
    target, separator, task : how to read the sets, as `guess_targets` tells
    inputs, kinds, declared : which columns to read, and as what, as `guess_columns` tells
    text : {"tfidf", "words", "chars"}, optional
        How texts become features, if elements are labels.
    tokens : {"char", "word"} or a pair of them, optional
        How texts are split, if elements are sequences; a pair speaks of inputs and of elements.

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
    if not inputs_of(columns):
        ignored = "; ".join(column_notes(columns)) or "there are no others than the target"
        raise DataError(f"no column is left to predict from: {ignored}; name some as inputs")
    pair: tuple[TokenSplit, TokenSplit] | None = None
    features: dict[str, TextFeatures] = {}
    if targets.task == "labels":
        if tokens is not None:
            raise ParameterError(
                f"tokens is for sequences, but the elements are labels, got {tokens!r}; "
                'leave it out, or set task="sequences"'
            )
        columns, features = plan_features(rows, columns, text)
    else:
        if text is not None:
            raise ParameterError(
                f"text is for labels, but the elements are sequences, got {text!r}; "
                'leave it out, or set task="labels"'
            )
        columns, pair, said = plan_tokens(rows, columns, targets, tokens)
        notes += said
    return RecordPlan(columns, targets, features, pair, (*notes, *column_notes(columns)))
