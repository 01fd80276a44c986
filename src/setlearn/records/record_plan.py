"""How records will be read, before anything is learned."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import Task
from setlearn.estimators.label_space import LabelSpace
from setlearn.estimators.leaked_targets import warn_of_leaked_columns
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.features.columns import Column, as_rows, read_columns
from setlearn.features.feature_reader import FeatureReader
from setlearn.features.text_terms import TextFeatures
from setlearn.files import Row
from setlearn.records.candidate_reader import CandidateReader
from setlearn.records.model import RecordModel, RecordReader
from setlearn.records.readers import text_reader
from setlearn.records.targets import TargetReader
from setlearn.token_guesses import TokenSplit

__all__ = ["CandidatePlan", "RecordPlan", "training_rows"]


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
    tokens : pair of {"char", "word", "text"}, or None
        For sequences: how inputs and elements are split. Pass it to `SequenceSetGenerator`.
    notes : tuple of str
        What was decided, one line per decision.
    reader : FeatureReader, TextReader, JoinedTextReader or CandidateReader, optional
        What reads the inputs, if it is known already.

    Examples
    --------
    >>> from setlearn.records import plan_records
    >>> plan = plan_records([{"x": 3.5, "y": ["a"]}, {"x": 1.5, "y": []}], task="labels")
    >>> plan.task, [column.note for column in plan.inputs]
    ('labels', ['x: number'])
    """

    columns: tuple[Column, ...]
    targets: TargetReader
    text: Mapping[str, TextFeatures]
    tokens: tuple[TokenSplit, TokenSplit] | None
    notes: tuple[str, ...]
    reader: RecordReader | None = None

    @property
    def task(self) -> Task:
        """What the elements are: "labels", "sequences" or "candidates"."""
        return self.targets.task

    @property
    def inputs(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return read_columns(self.columns)

    def fit(
        self,
        records: Any,
        model: RuleHolder,
        *,
        fitted_by: Callable[[Any, Any, Any], Any] | None = None,
    ) -> RecordModel:
        """Fit a copy of a model on all or some of the records that the plan was made for.

        Parameters
        ----------
        records : iterable of Row or dict, or DataFrame
        model : SetClassifier, SequenceSetGenerator or SetSelector
            The model, not yet fitted.
        fitted_by : callable, optional
            Takes the model, inputs and sets, and returns a fitted model, such as
            `setlearn.scale.fit`. By default the model's own ``fit`` is used.

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
        rows = training_rows(records)
        reader = self._reader(rows)
        sets = [self.read_set(row) for row in rows]
        if self.task == "labels":  # elements that are sequences may well be copies of inputs
            columns = {c.name: [cell.value for cell in c.cells(rows)] for c in self.inputs}
            warn_of_leaked_columns(columns, *LabelSpace.read(sets))
        # A model whose training is continued needs what it has learned.
        fresh: Any = copy(model) if getattr(model, "warm_start", False) else clone(model)
        unfitted, inputs = fresh.reading(reader), reader.read(rows)
        fitted = (fitted_by or _fit)(unfitted, inputs, sets)
        return RecordModel(reader, self.targets, fitted)

    def read_set(self, row: Row) -> frozenset[Hashable]:
        """Read the set of a row."""
        return self.targets.read(row)

    def problem_with(self, row: Row) -> str | None:
        """Say what cannot be read in a row, its set or an input; None if all can be read."""
        try:
            self.read_set(row)
            self._check_inputs(row)
        except DataError as error:
            return str(error)
        return None

    def _check_inputs(self, row: Row) -> None:
        """Raise if the inputs of a row cannot be read."""
        for column in self.inputs:
            [cell] = column.cells([row])
            cell.check(column.kind)
        if self._reads_texts:
            text_reader(self.inputs).read([row])

    def _reader(self, rows: Sequence[Row]) -> RecordReader:
        if self.reader is not None:
            return self.reader
        if self._reads_texts:
            return text_reader(self.inputs)
        return FeatureReader.fit(rows, self.inputs, self.text)

    @property
    def _reads_texts(self) -> bool:
        """Whether inputs are texts or tokens for a model of sequences."""
        # Only plans for sequences have tokens.
        return self.tokens is not None and self.inputs[0].kind in ("text", "tokens")


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePlan(RecordPlan):
    """A plan for records whose sets are chosen from candidates in another column."""

    def read_set(self, row: Row) -> frozenset[Hashable]:
        """Read the set of a row; its elements must be among the candidates."""
        chosen = self.targets.read(row)
        assert isinstance(self.reader, CandidateReader)
        self.reader.check_chosen(row, chosen)
        return chosen

    def _check_inputs(self, row: Row) -> None:
        """Raise if the query or the candidates of a row cannot be read."""
        self._reader([row]).read([row])


def _fit(model: Any, inputs: Any, sets: Any) -> Any:
    return model.fit(inputs, sets)


def training_rows(records: Any) -> list[Row]:
    """Return records to learn from as rows; there must be some."""
    rows = as_rows(records)
    if not rows:
        raise DataError("there are 0 records to learn from; pass at least one")
    return rows
