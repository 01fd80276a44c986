"""The plan for turning records into a model: guessed from the data, unless set by the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, get_args

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import Task
from setlearn.features.cells import Kind
from setlearn.features.column_guesses import AS_GIVEN, LIKE, guess_columns, sampled_rows
from setlearn.features.columns import Column, column_notes, read_columns
from setlearn.features.encoders import guess_text_features
from setlearn.features.text_terms import TextFeatures
from setlearn.files import Row
from setlearn.records.candidate_plan import find_candidates, plan_candidates
from setlearn.records.model import RecordModel
from setlearn.records.readers import lacks_input, text_reader
from setlearn.records.record_plan import RecordPlan, training_rows
from setlearn.records.target_guesses import guess_targets
from setlearn.records.targets import TargetReader
from setlearn.token_guesses import TokenSplit, guess_tokens, split_remark

__all__ = ["TokenSplit", "plan_records", "plan_to_continue"]

Columns: TypeAlias = tuple[Column, ...]

FEATURE_REMARKS: dict[TextFeatures, str] = {
    "subwords": "by TF-IDF of words and their parts",
    "tfidf": "by TF-IDF of words",
    "words": "by which words occur",
    "chars": "by TF-IDF of characters",
}


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
    candidates: str | None = None,
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
    candidates : str, optional
        The column with lists of candidates that sets are chosen from. By default, if ``task``
        leaves it open, a column whose lists hold all elements of the sets.

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
    rows = training_rows(records)
    guessed = None
    if candidates is None and task in (None, "candidates"):
        guessed = find_candidates(rows, target)
    if guessed is None and candidates is None and task == "candidates":
        raise DataError(
            "no column has lists that hold all elements of the sets; name the column of candidates",
            advice={"candidates": None},
        )
    if column := candidates or guessed:
        _check_for_candidates(column, task, text=text, tokens=tokens)
        plan = plan_candidates(
            rows, column, target=target, inputs=inputs, kinds=kinds, separator=separator
        )
        return plan if guessed is None else replace(plan, notes=(_guess_of(column), *plan.notes))
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


def _guess_of(candidates: str) -> str:
    """The note on a column that was guessed to hold the candidates."""
    return (
        f"{candidates}: holds all chosen elements, so they are chosen from it; if they are labels "
        "all the same, choose the task labels"
    )


def _check_for_candidates(candidates: str, task: Task | None, **splits: Any) -> None:
    """Raise if a parameter is for other tasks."""
    if task not in (None, "candidates"):
        raise ParameterError(
            f"the column {candidates!r} holds candidates to choose from, but the task is {task!r}; "
            "leave one of them out",
            advice={"task": "candidates"},
        )
    for name, value in splits.items():
        if value is not None:
            raise ParameterError(
                f"{name} is for labels or sequences, but sets are chosen from {candidates!r}, got "
                f"{value!r}; leave it out, or choose another task",
                advice={"task": None},
            )


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
        reader = text_reader(text_columns)
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


def _with_remarks(columns: Columns, remarks: Mapping[str, str]) -> Columns:
    """Columns with these remarks, behind a doubt about how they are spelled if there is one."""
    return tuple(
        replace(c, remark=f"{c.remark}; {new}" if c.remark.startswith(LIKE) else new)
        if (new := remarks.get(c.name))
        else c
        for c in columns
    )
