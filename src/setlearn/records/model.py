"""A fitted set predictor that reads records, and the columns that other predictors read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.argument_checks import check_not_empty
from setlearn.estimators.base import InputLayout, Ranking, SetPredictor, Task, Trace, Unknown
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.features.cells import Kind, as_number, guess_kind
from setlearn.features.columns import Column, as_rows, join_names, matching_columns
from setlearn.features.encoders import NumericEncoder
from setlearn.features.feature_reader import FeatureReader
from setlearn.files import Row
from setlearn.nodes import Mask, Nodes
from setlearn.records.candidate_reader import CandidateReader
from setlearn.records.labels_in_texts import KnownLabelsReader
from setlearn.records.readers import JoinedTextReader, TextReader
from setlearn.records.target_guesses import USUAL_NAMES
from setlearn.records.targets import USUAL_SEPARATOR, TargetReader
from setlearn.rules import Rule
from setlearn.savable import savable

__all__ = ["RecordModel", "RecordReader", "reading_x", "record_model_for"]

RecordReader: TypeAlias = FeatureReader | TextReader | JoinedTextReader | CandidateReader

USUAL_INPUT = "x"
USUAL_CANDIDATE_INPUTS = ("query", "candidates")


@savable(
    is_model=True,
    parts={
        "reader": (FeatureReader, TextReader, JoinedTextReader, CandidateReader),
        "targets": (TargetReader,),
        "model": (
            "setlearn.estimators.set_classifier:SetClassifier",
            "setlearn.estimators.sequence_set_generator:SequenceSetGenerator",
            "setlearn.estimators.set_selector:SetSelector",
        ),
    },
)
@dataclass(frozen=True, slots=True, eq=False)
class RecordModel(SetPredictor):
    """A set predictor whose inputs are records.

    A record is a row of a file, a dict, or, if the model reads a single column, a plain value
    such as a text. Records may have columns that the model does not read. The verbs are those of
    every `SetPredictor`, and answers are always frozensets.

    Attributes
    ----------
    reader : FeatureReader, TextReader, JoinedTextReader or CandidateReader
        Turns records into the model's inputs.
    targets : TargetReader
        Reads the sets of records.
    model : SetClassifier, SequenceSetGenerator or SetSelector
        The fitted model itself.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.records import plan_records
    >>> texts = ["sun over the sea", "a city at night", "sun on the city", "the night sea"] * 5
    >>> tags = ["sun;sea", "city", "sun;city", "sea"] * 5
    >>> records = [{"text": x, "tags": y} for x, y in zip(texts, tags, strict=True)]
    >>> plan = plan_records(records, target="tags")
    >>> model = plan.fit(records, SetClassifier(random_state=0))
    >>> sorted(model.predict(["sun over the sea"])[0])
    ['sea', 'sun']
    """

    reader: RecordReader
    targets: TargetReader
    model: RuleHolder

    @property
    def task(self) -> Task:
        """What the elements of the sets are."""
        return self.model.task

    @property
    def elements_(self) -> list[Hashable] | None:
        """The labels; None if elements are sequences."""
        return self.model.elements_

    @property
    def element_split(self) -> Any:
        """How elements that are texts are split into tokens; None if they are not."""
        return self.model.element_split

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels as an array, as in scikit-learn; only for labels."""
        classes: NDArray[Any] = self.model.classes_  # type: ignore[attr-defined]  # labels only
        return classes

    @property
    def rule_(self) -> Rule:
        """The fitted rule."""
        return self.model.rule_

    def predict(self, X: Any) -> list[frozenset[Any]]:
        return self.predict_sets(X)

    def predict_sets(self, X: Any) -> list[frozenset[Any]]:
        return self.model.predict_sets(self._inputs(X))

    def predict_ranked(self, X: Any, *, top: int | None = None) -> list[Ranking]:
        return self.model.predict_ranked(self._inputs(X), top=top)

    def complete(self, X: Any, known: Any, *, unknown: Unknown = "error") -> list[frozenset[Any]]:
        others = self.model.complete(self._inputs(X), known, unknown=unknown)
        return self.model.as_elements(others)

    def complete_ranked(
        self, X: Any, known: Any, *, top: int | None = None, unknown: Unknown = "error"
    ) -> list[Ranking]:
        return self.model.complete_ranked(self._inputs(X), known, top=top, unknown=unknown)

    def trace(self, x: Any, known: Any = (), *, unknown: Unknown = "error") -> Trace:
        return self.model.trace(self._inputs([x])[0], known, unknown=unknown)

    def with_rule(self, rule: Rule, X: Any = None, y: Any = None) -> Self:
        """Return a copy of this model with the same scores under another rule.

        Parameters
        ----------
        rule : Rule
        X : iterable of records, optional
            Records to fit the rule on, if it needs a fit.
        y : iterable of sets, optional
            The true sets of these records. By default they are read from the records.

        Returns
        -------
        RecordModel

        Raises
        ------
        ParameterError
            If the rule needs a fit and there are no samples for it.
        """
        inputs, sets = self._samples(X, y)
        return replace(self, model=self.model.with_rule(rule, inputs, sets))

    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        """Return scored choice points and their right choices, which rules are fitted on.

        Parameters
        ----------
        X : iterable of records, optional
            By default the samples that ``fit`` has kept.
        y : iterable of sets, optional
            The true sets of these records. By default they are read from the records.

        Returns
        -------
        nodes : Nodes
        positive : mask of shape (n, choices)
        """
        return self.model.choice_points(*self._samples(X, y))

    def facts(self) -> dict[str, Any]:
        return self.model.facts()

    def choice_names(self) -> list[str]:
        return self.model.choice_names()

    def as_elements(self, sets: Any) -> list[frozenset[Hashable]]:
        return self.model.as_elements(sets)

    def as_true_sets(self, sets: Any) -> list[frozenset[Hashable]]:
        return self.model.as_true_sets(sets)

    def input_layout(self) -> InputLayout:
        """Return what the model reads from a record: the names of the columns."""
        layout = self.model.input_layout()
        return layout._replace(names=[column.name for column in self.reader.columns])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean F1 of the predicted sets.

        Parameters
        ----------
        X : iterable of records
        y : iterable of sets, optional
            The true sets. By default they are read from the records.

        Returns
        -------
        float
        """
        records = self._rows(X)
        return SetPredictor.score(self, records, self.true_sets(records) if y is None else y)

    def true_sets(self, records: Any) -> list[frozenset[Hashable]]:
        """Read the sets of records, with elements spelled as in predictions."""
        rows = self._rows(records)
        return self.as_true_sets([self.targets.read(row) for row in rows])

    def known_sets(self, records: Any, column: str) -> list[frozenset[Hashable]]:
        """Read known elements from a column that is written like the targets.

        Parameters
        ----------
        records : iterable of records
        column : str

        Returns
        -------
        list of frozenset
            With elements spelled as in predictions.
        """
        rows = self._rows(records)
        return self.as_elements([self.targets.read_column(row, column) for row in rows])

    def reading_targets(
        self, row: Row, target: Sequence[str] | None, separator: str | None
    ) -> RecordModel:
        """Return the same model for rows whose sets are in other columns or written differently.

        Parameters
        ----------
        row : Row
            One of these rows.
        target : sequence of names or patterns, or None
            None keeps the columns of training. Several columns are read as one per label.
        separator : str or None
            What separates the elements of a text; "" keeps texts whole, None changes nothing.

        Returns
        -------
        RecordModel
        """
        targets = self.targets.for_other_columns(row, target, separator, self.elements_ or [])
        return replace(self, targets=targets)

    def _rows(self, records: Any) -> list[Row]:
        rows = as_rows(records, self.reader.columns)
        check_not_empty(len(rows))
        return rows

    def _inputs(self, records: Any) -> Any:
        return self.reader.read(self._rows(records))

    def _samples(self, records: Any, y: Any) -> tuple[Any, Any]:
        if records is None:
            return None, y
        rows = self._rows(records)
        inputs = self.reader.read(rows)
        if y is not None:
            return inputs, y
        try:
            return inputs, self.true_sets(rows)
        except DataError as error:
            problem = f"{error}. The true sets are read from the records; add them, or pass y"
            raise DataError(problem, advice=error.advice) from error


def record_model_for(
    model: RuleHolder | RecordModel, row: Row, inputs: Sequence[str] | None = None
) -> tuple[RecordModel, list[str]]:
    """Make a model that reads records of any fitted predictor.

    Parameters
    ----------
    model : fitted SetClassifier, SequenceSetGenerator, SetSelector or RecordModel
        A `RecordModel` is returned as it is.
    row : Row
        The first row of the file.
    inputs : sequence of names or patterns, optional
        The columns to read. By default those that the model was fitted on, the column x, or all
        columns but the target.

    Returns
    -------
    model : RecordModel
    notes : list of str
        Which columns are read, for users.

    Raises
    ------
    DataError
        If the model cannot read these columns.
    ParameterError
        If ``inputs`` are given for a `RecordModel`, which has its own columns.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.rules import TopK
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> plain = SetClassifier(rule=TopK(1), random_state=0).fit(X, [{"a"}, {"b"}, {"b"}, {"a"}])
    >>> model, notes = record_model_for(plain, Row("", {"height": 1.0, "width": 0.5}))
    >>> notes
    ['inputs: height, width (all columns but the target)']
    >>> model.predict([{"height": 1.0, "width": 0.0}])
    [frozenset({'b'})]
    """
    if isinstance(model, RecordModel):
        if inputs:
            columns = join_names([column.name for column in model.reader.columns])
            raise ParameterError(
                f"inputs are for models without columns, but this one reads {columns}; "
                "leave them out"
            )
        return model, []
    layout = model.input_layout()
    usual = "chosen" if layout.candidates else "labels"
    target = next((name for name in USUAL_NAMES if name in row.record), usual)
    targets = TargetReader((target,), USUAL_SEPARATOR, model.task)
    if model.elements_ is not None:
        labels = frozenset(map(str, model.elements_))
        targets = KnownLabelsReader((target,), USUAL_SEPARATOR, model.task, known=labels)
    table_reader, inner = model.without_reader()
    if table_reader is not None:
        return record_model_for(RecordModel(table_reader, targets, inner), row, inputs)
    if layout.candidates:
        return _record_model_of_candidates(model, targets, inputs)
    names, reason = _input_names(layout, row, inputs)
    notes = [f"inputs: {join_names(names)} ({reason})"]
    return RecordModel(_reader(layout, row, names), targets, model), notes


def reading_x(model: RuleHolder | RecordModel) -> RecordModel:
    """Make a model that reads records with the single column x, or plain values of it.

    A `RecordModel` is returned as it is.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.rules import TopK
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> plain = SetClassifier(rule=TopK(1), random_state=0).fit(X, [{"a"}, {"b"}, {"b"}, {"a"}])
    >>> reading_x(plain).predict([[1.0, 0.0], {"x": [0.0, 0.0]}])
    [frozenset({'b'}), frozenset({'a'})]
    """
    layout = model.input_layout()
    if layout.n_features is not None:
        example: Any = [0.0] * layout.n_features
    else:
        example = ["a", "token"] if layout.tokens else "a text"
    return record_model_for(model, Row("", {USUAL_INPUT: example}))[0]


def _record_model_of_candidates(
    model: RuleHolder, targets: TargetReader, inputs: Sequence[str] | None
) -> tuple[RecordModel, list[str]]:
    """A model that reads a column of queries and a column of lists of candidates."""
    layout = model.input_layout()
    if layout.n_features is not None:
        raise DataError(
            "this model reads a matrix of features for each sample, which no column holds; use it "
            "in Python"
        )
    names = list(inputs or USUAL_CANDIDATE_INPUTS)
    if len(names) != 2:
        raise DataError(
            f"the model reads a column of queries and one of candidates, in this order, got "
            f"{join_names(names)}; name these two as inputs",
            advice={"inputs": None},
        )
    query, candidates = names
    kind: Kind = "tokens" if layout.tokens else "text"
    reader = CandidateReader(TextReader(Column(query, kind)), Column(candidates, "candidates"))
    return RecordModel(reader, targets, model), [f"inputs: {query}, with {candidates}"]


def _input_names(
    layout: InputLayout, row: Row, inputs: Sequence[str] | None
) -> tuple[list[str], str]:
    columns = list(row.record)
    if inputs:
        return matching_columns(inputs, columns), "as given"
    if layout.names is not None and USUAL_INPUT not in columns:
        return matching_columns(layout.names, columns), "as in training"
    if USUAL_INPUT in columns:
        return [USUAL_INPUT], "by its name"
    others = [name for name in columns if name not in USUAL_NAMES]
    return others or columns, "all columns but the target"


def _reader(layout: InputLayout, row: Row, names: Sequence[str]) -> RecordReader:
    width = layout.n_features
    first = row.record[names[0]]
    if width is None:
        if len(names) > 1:
            raise DataError(
                f"{row.place}: the model reads one text, but there are {len(names)} columns "
                f"({join_names(names)}); name one of them as the input",
                advice={"inputs": None},
            )
        is_list = guess_kind([first]) in ("tokens", "vector")
        return TextReader(Column(names[0], "tokens" if is_list else "text"))
    if len(names) == 1 and as_number(first) is None:
        return FeatureReader((_numeric_encoder(Column(names[0], "vector"), width),))
    if len(names) != width:
        raise DataError(
            f"{row.place}: the model reads {width} numbers, but there are {len(names)} columns "
            f"({join_names(names)}); name the columns to read as inputs, or put the numbers in a "
            f"list called {USUAL_INPUT}",
            advice={"inputs": None},
        )
    return FeatureReader(tuple(_numeric_encoder(Column(name, "number"), 1) for name in names))


def _numeric_encoder(column: Column, width: int) -> NumericEncoder:
    # Nothing is known about the training data, so missing numbers become 0.
    zeros = np.zeros(width)
    return NumericEncoder(column, zeros, zeros, zeros)
