"""Models that were fitted in Python, without columns: which columns of a file they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setlearn.errors import DataError
from setlearn.files import Row
from setlearn.records.cells import as_number
from setlearn.records.column_names import listed_names, resolve_names
from setlearn.records.columns import Column
from setlearn.records.encoders import NumericEncoder
from setlearn.records.kinds import guess_kind
from setlearn.records.model import RecordModel
from setlearn.records.readers import FeatureReader, RecordReader, TextReader
from setlearn.records.target_guess import USUAL_NAMES
from setlearn.records.targets import TargetReader

__all__ = ["reading_x", "record_model_for"]

USUAL_INPUT = "x"


def record_model_for(
    model: Any, row: Row, inputs: Sequence[str] | None = None
) -> tuple[RecordModel, list[str]]:
    """Let a fitted estimator read records like this one, and say how.

    Parameters
    ----------
    model : fitted SetClassifier or SequenceSetGenerator
    row : Row
        The first of the file.
    inputs : names or patterns, optional
        The columns to read. By default those that the model was fitted on, the one called x, or
        all but the target.

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
    names, why = _input_names(model, row, inputs)
    reader = _reader(model, row, names)
    target = next((name for name in USUAL_NAMES if name in row.record), "labels")
    targets = TargetReader((target,), ";", model.task)
    return RecordModel(reader, targets, model), [f"inputs: {listed_names(names)} ({why})"]


def reading_x(model: Any) -> RecordModel:
    """Let a fitted estimator read records with one column, x, or the bare values of that.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.rules import TopK
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> plain = SetClassifier(rule=TopK(1), random_state=0).fit(X, [{"a"}, {"b"}, {"b"}, {"a"}])
    >>> reading_x(plain).predict([[1.0, 0.0], {"x": [0.0, 0.0]}])
    [frozenset({'b'}), frozenset({'a'})]
    """
    width = _n_features(model)
    if width is not None:
        example: Any = [0.0] * width
    else:
        example = ["a", "token"] if _reads_tokens(model) else "a text"
    return record_model_for(model, Row("", {USUAL_INPUT: example}))[0]


def _reads_tokens(model: Any) -> bool:
    """Whether a sequence model was fitted on lists of tokens, as far as its tokens tell."""
    reads_tokens: bool = model.input_layout().tokens
    return reads_tokens


def _input_names(model: Any, row: Row, inputs: Sequence[str] | None) -> tuple[list[str], str]:
    there = list(row.record)
    if inputs:
        return resolve_names(inputs, there), "as given"
    trained_on = getattr(model, "feature_names_in_", None)
    if trained_on is not None and USUAL_INPUT not in there:
        return resolve_names(trained_on.tolist(), there), "as in training"
    if USUAL_INPUT in there:
        return [USUAL_INPUT], "by its name"
    others = [name for name in there if name not in USUAL_NAMES]
    return others or there, "all columns but the target"


def _reader(model: Any, row: Row, names: Sequence[str]) -> RecordReader:
    width = _n_features(model)
    first = row.record[names[0]]
    if width is None:
        if len(names) > 1:
            raise DataError(
                f"{row.place}: the model reads one text, but the columns are "
                f"{listed_names(names)}; name one with --input"
            )
        is_list = guess_kind([first]) in ("tokens", "vector")
        return TextReader(Column(names[0], "tokens" if is_list else "text"))
    if len(names) == 1 and as_number(first) is None:
        return FeatureReader((_numbers(Column(names[0], "vector"), width),))
    if len(names) != width:
        raise DataError(
            f"{row.place}: the model reads {width} numbers, but there are {len(names)} columns "
            f"({listed_names(names)}); name them with --input, or put them in a list called "
            f"{USUAL_INPUT}"
        )
    return FeatureReader(tuple(_numbers(Column(name, "number"), 1) for name in names))


def _n_features(model: Any) -> int | None:
    """How many numbers the model reads; None where it reads texts or tokens."""
    n_features: int | None = model.input_layout().n_features
    return n_features


def _numbers(column: Column, width: int) -> NumericEncoder:
    # Nothing is known of the training data, so what is missing becomes 0.
    zeros = np.zeros(width)
    return NumericEncoder(column, zeros, zeros, zeros)
