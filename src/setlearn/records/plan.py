"""The plan for turning records into a model: guessed from the data, unless set by the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, get_args

from sklearn.base import clone

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import Task
from setlearn.estimators.label_space import LabelSpace
from setlearn.estimators.leaked_targets import warn_of_leaked_columns
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.features.cells import Kind
from setlearn.features.column_guesses import AS_GIVEN, LIKE, guess_columns, sampled_rows
from setlearn.features.columns import Column, as_rows, column_notes, read_columns
from setlearn.features.encoders import guess_text_features
from setlearn.features.feature_reader import FeatureReader
from setlearn.features.text_terms import TextFeatures
from setlearn.files import Row
from setlearn.records.model import RecordModel
from setlearn.records.readers import JoinedTextReader, RecordReader, TextReader, lacks_input
from setlearn.records.target_guesses import guess_targets
from setlearn.records.targets import TargetReader
from setlearn.token_guesses import TokenSplit, guess_tokens, split_remark

__all__ = ["RecordPlan", "TokenSplit", "plan_records", "plan_to_continue"]

Columns: TypeAlias = tuple[Column, ...]

FEATURE_REMARKS: dict[TextFeatures, str] = {
    "subwords": "by TF-IDF of words and their parts",
    "tfidf": "by TF-IDF of words",
    "words": "by which words occur",
    "chars": "by TF-IDF of characters",
}


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
    reader : FeatureReader, TextReader or JoinedTextReader, optional
        What reads the inputs, if it is known already.

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
    reader: RecordReader | None = None

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
        rows = _training_rows(records)
        reader = self._reader(rows)
        sets = [self.targets.read(row) for row in rows]
        if self.task == "labels":  # elements that are sequences may well be copies of inputs
            columns = {c.name: [cell.value for cell in c.cells(rows)] for c in self.inputs}
            warn_of_leaked_columns(columns, *LabelSpace.read(sets))
        # A model whose training is continued needs what it has learned.
        fresh: Any = copy(model) if getattr(model, "warm_start", False) else clone(model)
        fitted = fresh.reading(reader).fit(reader.read(rows), sets)
        return RecordModel(reader, self.targets, fitted)

    def problem_with(self, row: Row) -> str | None:
        """Say what cannot be read in a row, its set or an input; None if all can be read."""
        try:
            self.targets.read(row)
            for column in self.inputs:
                [cell] = column.cells([row])
                cell.check(column.kind)
            if self._reads_texts:
                _text_reader(self.inputs).read([row])
        except DataError as error:
            return str(error)
        return None

    def _reader(self, rows: Sequence[Row]) -> RecordReader:
        if self.reader is not None:
            return self.reader
        if self._reads_texts:
            return _text_reader(self.inputs)
        return FeatureReader.fit(rows, self.inputs, self.text)

    @property
    def _reads_texts(self) -> bool:
        """Whether inputs are texts or tokens for a model of sequences."""
        # Only plans for sequences have tokens.
        return self.tokens is not None and self.inputs[0].kind in ("text", "tokens")


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
    text : {"subwords", "tfidf", "words", "chars"}, optional
        How texts become features, if elements are labels.
    tokens : {"char", "word", "text"} or a pair of them, optional
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
    rows = _training_rows(records)
    targets, notes = guess_targets(rows, target, separator=separator, task=task)
    columns = guess_columns(
        rows,
        target_columns=targets.columns,
        given=kinds,
        inputs=inputs,
        declared=declared,
        ignore_codes=targets.task == "labels",
    )
    if not read_columns(columns):
        ignored = "; ".join(column_notes(columns)) or "the target is the only column"
        raise DataError(
            f"there is no column to predict from: {ignored}; name some as inputs",
            advice={"inputs": None},
        )
    texts = TEXT_PLANNERS[targets.task](rows, columns, targets, text, tokens)
    notes += [*texts.notes, *column_notes(texts.columns)]
    return RecordPlan(texts.columns, targets, texts.features, texts.tokens, tuple(notes))


def plan_to_continue(model: RecordModel, notes: Sequence[str] = ()) -> RecordPlan:
    """Plan to read records as a fitted model does, to continue its training.

    Parameters
    ----------
    model : RecordModel
    notes : sequence of str, optional
        What to say of the plan.

    Returns
    -------
    RecordPlan
    """
    return RecordPlan(model.reader.columns, model.targets, {}, None, tuple(notes), model.reader)


class TextPlan(NamedTuple):
    """How the texts among the inputs are read.

    Attributes
    ----------
    columns : tuple of Column
        All columns, with a remark on how texts are read.
    features : dict
        For labels: how each column of texts becomes features, by its name.
    tokens : pair of {"char", "word", "text"}, or None
        For sequences: how inputs and elements are split.
    notes : list of str
        What was decided on the elements.
    """

    columns: Columns
    features: dict[str, TextFeatures]
    tokens: tuple[TokenSplit, TokenSplit] | None
    notes: list[str]


def _plan_for_labels(
    rows: Sequence[Row], columns: Columns, targets: TargetReader, text: Any, tokens: Any
) -> TextPlan:
    if tokens is not None:
        raise ParameterError(
            f"tokens is for sequences, but the elements are labels, got {tokens!r}; "
            'leave it out, or set task="sequences"',
            advice={"task": "sequences"},
        )
    if text is not None and text not in FEATURE_REMARKS:
        raise ParameterError(f"text must be one of {', '.join(FEATURE_REMARKS)}, got {text!r}")
    sampled = [rows[k] for k in sampled_rows(len(rows))]
    features: dict[str, TextFeatures] = {
        column.name: text or guess_text_features(column.cells(sampled), len(rows))
        for column in columns
        if column.kind == "text"
    }
    remarks = {name: FEATURE_REMARKS[choice] for name, choice in features.items()}
    return TextPlan(_with_remarks(columns, remarks), features, None, [])


def _plan_for_sequences(
    rows: Sequence[Row], columns: Columns, targets: TargetReader, text: Any, tokens: Any
) -> TextPlan:
    if text is not None:
        raise ParameterError(
            f"text is for labels, but the elements are sequences, got {text!r}; "
            'leave it out, or set task="labels"',
            advice={"task": "labels"},
        )
    given = tokens if isinstance(tokens, tuple | list) else (tokens, tokens)
    if len(given) != 2 or not {*given} <= {*get_args(TokenSplit), None}:
        raise ParameterError(
            f'tokens must be "char", "word", "text" or a pair of them (for inputs and elements), '
            f"got {tokens!r}"
        )
    sampled = [rows[k] for k in sampled_rows(len(rows))]
    columns = _readable_as_sequences(columns, sampled)
    text_columns = [column for column in columns if column.kind == "text"]
    sets = [targets.read(row) for row in sampled]
    texts: list[Any] = [None] * len(sampled)
    if text_columns:
        reader = _text_reader(text_columns)
        texts = [
            None if lacks_input(text_columns, row) else reader.read([row])[0].strip()
            for row in sampled
        ]
    guessed = guess_tokens(texts, sets)
    input_split, element_split = given[0] or guessed[0] or "char", given[1] or guessed[1] or "char"
    remarks = {column.name: split_remark(input_split) for column in text_columns}
    notes = [f"elements: {split_remark(element_split)}"] if guessed[1] else []
    if len(text_columns) > 1:
        names = ", ".join(column.name for column in text_columns)
        notes.append(f"inputs: joined into one text, in this order: {names}")
    return TextPlan(_with_remarks(columns, remarks), {}, (input_split, element_split), notes)


TEXT_PLANNERS: dict[Task, Callable[..., TextPlan]] = {
    "labels": _plan_for_labels,
    "sequences": _plan_for_sequences,
}


def _readable_as_sequences(columns: Columns, rows: Sequence[Row]) -> Columns:
    """Check that a sequence model can read the columns; categories are read as texts.

    So are dates, and texts of digits in a single column, which are rather spelled than measured.
    """
    n_inputs = len(read_columns(columns))
    columns = tuple(
        replace(c, kind="text")
        if (c.kind == "date" or (c.kind == "number" and n_inputs == 1)) and _is_spelled(c, rows)
        else c
        for c in columns
    )
    inputs = read_columns(columns)
    kinds = {column.kind for column in inputs}
    if kinds <= {"number", "vector"} or (len(inputs) == 1 and kinds <= {"tokens"}):
        return columns
    if kinds <= {"text", "category"}:
        return tuple(replace(c, kind="text") if c in inputs else c for c in columns)
    names = ", ".join(f"{column.name} ({column.kind})" for column in inputs)
    raise DataError(
        "a model of sequences reads texts, one list of tokens, or only numbers and vectors, "
        f"but the inputs are {names}; name fewer inputs, or choose the task labels",
        advice={"inputs": None, "task": "labels"},
    )


def _is_spelled(column: Column, rows: Sequence[Row]) -> bool:
    """Whether a column that was guessed to hold dates or numbers holds dates or digits as texts."""
    if column.remark == AS_GIVEN:
        return False
    values = [cell.value for cell in column.cells(rows) if not cell.missing]
    return all(
        isinstance(value, str) and (column.kind == "date" or value.strip().isdigit())
        for value in values
    )


def _text_reader(columns: Sequence[Column]) -> TextReader | JoinedTextReader:
    return TextReader(columns[0]) if len(columns) == 1 else JoinedTextReader(tuple(columns))


def _with_remarks(columns: Columns, remarks: Mapping[str, str]) -> Columns:
    """Columns with these remarks, behind a doubt about how they are spelled if there is one."""
    return tuple(
        replace(c, remark=f"{c.remark}; {new}" if c.remark.startswith(LIKE) else new)
        if (new := remarks.get(c.name))
        else c
        for c in columns
    )


def _training_rows(records: Any) -> list[Row]:
    rows = as_rows(records)
    if not rows:
        raise DataError("there are 0 records to learn from; pass at least one")
    return rows
