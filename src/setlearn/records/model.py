"""A fitted set predictor that reads records and answers in sets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from types import SimpleNamespace
import numpy as np
from setlearn.errors import DataError
from setlearn.records.cells import as_number, guess_kind
from setlearn.records.columns import Column, join_names, matching_columns
from setlearn.records.readers import FeatureReader, NumericEncoder, TextReader
from setlearn.records.target_guesses import USUAL_NAMES
from setlearn.records.targets import USUAL_SEPARATOR
from numpy.typing import NDArray

from setlearn.errors import ParameterError
from setlearn.files import Row
from setlearn.records.columns import as_rows
from setlearn.records.readers import RecordReader
from setlearn.records.targets import TargetReader, Task
from setlearn.rules import Rule
from setlearn.vocabulary import read_elements

if TYPE_CHECKING:
    from setlearn.estimators.label_trace import LabelTrace
    from setlearn.estimators.sequence_set_generator import SequenceSetGenerator
    from setlearn.estimators.sequence_trace import SequenceTrace
    from setlearn.estimators.set_classifier import SetClassifier

__all__ = ["RecordModel"]


@dataclass(frozen=True, slots=True, eq=False)
class RecordModel:
    """Reads records, and predicts the set of each.

    A record is a row of a file, a dict, or, where the model reads one column alone, a bare value
    such as a text. Columns that it does not read may be there or not.

    Attributes
    ----------
    reader : FeatureReader or TextReader
        From records to the model's inputs.
    targets : TargetReader
        How the sets of records are written.
    model : SetClassifier or SequenceSetGenerator
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
    model: SetClassifier | SequenceSetGenerator

    @property
    def task(self) -> Task:
        """Whether elements are labels or sequences."""
        return self.targets.task

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, if elements are labels."""
        classes: NDArray[Any] = self.model.classes_
        return classes

    @property
    def rule_(self) -> Rule:
        """The fitted rule."""
        rule: Rule = self.model.rule_
        return rule

    def predict(self, records: Any) -> list[frozenset[Hashable]]:
        """Predict the set of each record."""
        return self._as_sets(self.model.predict(self._inputs(records)))

    def predict_ranked(
        self, records: Any, *, top: int | None = None
    ) -> list[list[tuple[Hashable, float]]]:
        """List the elements of each predicted set with their scores, best first.

        With ``top``, list that many of the best labels instead; sequences have no such list.
        """
        if top is not None and self.task == "sequences":
            raise ParameterError(f"top is for labels, not for sequences, got {top!r}; leave it out")
        options: dict[str, Any] = {} if top is None else {"top": top}
        return self.model.predict_ranked(self._inputs(records), **options)

    def complete(self, records: Any, known: Any) -> list[frozenset[Hashable]]:
        """Given these elements, what else? One set of known elements a record."""
        return self._as_sets(self.model.complete(self._inputs(records), known))

    def trace(self, record: Any, known: Any = ()) -> LabelTrace | SequenceTrace:
        """Tell step by step how the set of one record came about."""
        return self.model.trace(self._inputs([record])[0], known)

    def true_sets(self, records: Any) -> list[frozenset[Hashable]]:
        """The sets that records are labelled with, spelled as predicted ones are."""
        sets = [self.targets.read(row) for row in as_rows(records, self.reader.columns)]
        if self.task == "labels":
            return spelled_as_labels(sets, self._labels())
        return read_elements(sets, self.model.vocabulary_.tokeniser, "the targets")

    def known_sets(self, records: Any, column: str) -> list[frozenset[Hashable]]:
        """The sets that stand in a column and are written like targets, to be completed."""
        rows = as_rows(records, self.reader.columns)
        sets = [self.targets.read_column(row, column) for row in rows]
        return spelled_as_labels(sets, self._labels())

    def elements_named(self, names: Iterable[Hashable]) -> frozenset[Hashable]:
        """Elements by how people spell them: for "3", the label 3 if there is one."""
        return spelled_as_labels([names], self._labels())[0]

    def reading_targets(
        self, row: Row, target: Sequence[str] | None, separator: str | None
    ) -> RecordModel:
        """The same model, for rows like this one whose sets stand elsewhere or are written so.

        Parameters
        ----------
        row : Row
        target : names or patterns, or None for the columns of training
            Several columns are one a label.
        separator : str or None
            What stands between the elements of a text; "" keeps texts whole, None is as before.
        """
        targets = self.targets.for_other_columns(row, target, separator, self._labels())
        return replace(self, targets=targets)

    def _labels(self) -> list[Hashable]:
        """The labels; none if elements are sequences."""
        return self.classes_.tolist() if self.task == "labels" else []

    def _inputs(self, records: Any) -> Any:
        return self.reader.read(as_rows(records, self.reader.columns))

    def _as_sets(self, answer: Any) -> list[frozenset[Hashable]]:
        """Answers as sets, also of an estimator that was fitted on an indicator or on classes."""
        is_list = isinstance(answer, list)
        sets: list[frozenset[Hashable]] = answer if is_list else self.model.space_.as_sets(answer)
        return sets


USUAL_INPUT = "x"


def spelled_as_labels(sets, labels):
    known = set(labels)
    by_spelling = {str(label): label for label in labels}
    return [
        frozenset(e if e in known else by_spelling.get(str(e), e) for e in elements)
        for elements in sets
    ]


def _layout(model):
    reader = getattr(model, "reader_", None)
    of_sequences = getattr(reader, "n_features", None)
    n = getattr(model, "n_features_in_", of_sequences)
    tokens = getattr(reader, "tokens", ())
    by_character = reader is not None and reader.tokeniser.split == "char"
    reads = by_character and any(not isinstance(t, str) or len(t) > 1 for t in tokens)
    names = getattr(model, "feature_names_in_", None)
    return SimpleNamespace(
        n_features=n, tokens=reads, names=None if names is None else names.tolist()
    )


def record_model_for(
    model: Any, row: Row, inputs: Sequence[str] | None = None
) -> tuple[RecordModel, list[str]]:
    """Make a model that reads records from a predictor that was fitted in Python.

    Parameters
    ----------
    model : fitted SetPredictor
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
    layout = _layout(model)
    names, reason = _input_names(layout, row, inputs)
    target = next((name for name in USUAL_NAMES if name in row.record), "labels")
    targets = TargetReader(
        (target,), USUAL_SEPARATOR, ("sequences" if hasattr(model, "vocabulary_") else "labels")
    )
    notes = [f"inputs: {join_names(names)} ({reason})"]
    return RecordModel(_reader(layout, row, names), targets, model), notes


def reading_x(model: Any) -> RecordModel:
    """Make a model that reads records with the single column x, or plain values of it.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.rules import TopK
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> plain = SetClassifier(rule=TopK(1), random_state=0).fit(X, [{"a"}, {"b"}, {"b"}, {"a"}])
    >>> reading_x(plain).predict([[1.0, 0.0], {"x": [0.0, 0.0]}])
    [frozenset({'b'}), frozenset({'a'})]
    """
    layout = _layout(model)
    if layout.n_features is not None:
        example: Any = [0.0] * layout.n_features
    else:
        example = ["a", "token"] if layout.tokens else "a text"
    return record_model_for(model, Row("", {USUAL_INPUT: example}))[0]


def _input_names(layout: Any, row: Row, inputs: Sequence[str] | None) -> tuple[list[str], str]:
    columns = list(row.record)
    if inputs:
        return matching_columns(inputs, columns), "as given"
    if layout.names is not None and USUAL_INPUT not in columns:
        return matching_columns(layout.names, columns), "as in training"
    if USUAL_INPUT in columns:
        return [USUAL_INPUT], "by its name"
    others = [name for name in columns if name not in USUAL_NAMES]
    return others or columns, "all columns but the target"


def _reader(layout: Any, row: Row, names: Sequence[str]) -> RecordReader:
    width = layout.n_features
    first = row.record[names[0]]
    if width is None:
        if len(names) > 1:
            raise DataError(
                f"{row.place}: the model reads one text, but there are {len(names)} columns "
                f"({join_names(names)}); name one of them as the input"
            )
        is_list = guess_kind([first]) in ("tokens", "vector")
        return TextReader(Column(names[0], "tokens" if is_list else "text"))
    if len(names) == 1 and as_number(first) is None:
        return FeatureReader((_numeric_encoder(Column(names[0], "vector"), width),))
    if len(names) != width:
        raise DataError(
            f"{row.place}: the model reads {width} numbers, but there are {len(names)} columns "
            f"({join_names(names)}); name the columns to read as inputs, or put the numbers in a "
            f"list called {USUAL_INPUT}"
        )
    return FeatureReader(tuple(_numeric_encoder(Column(name, "number"), 1) for name in names))


def _numeric_encoder(column: Column, width: int) -> NumericEncoder:
    # Nothing is known about the training data, so missing numbers become 0.
    zeros = np.zeros(width)
    return NumericEncoder(column, zeros, zeros, zeros)
