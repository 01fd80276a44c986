"""Loads a model for the rows of a file, or for an input given in the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setlearn.cli.console import print_notes
from setlearn.cli.named_rules import fit_free_rule_named
from setlearn.cli.options import ModelOptions, OutputOptions
from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.files import Row, Rows
    from setlearn.persistence import SavedModel
    from setlearn.records import RecordModel

__all__ = ["model_for_input", "model_for_rows", "saved_model_for_rows"]

TEXT = "--text"
"""Where an input in the command comes from, for messages."""


def model_for_rows(
    path: Path,
    options: ModelOptions,
    rows: Rows,
    output: OutputOptions,
    *,
    rule: str | None = None,
) -> RecordModel:
    """Load a model that reads the rows of a file.

    Parameters
    ----------
    path : Path
        The model's folder.
    options : ModelOptions
    rows : Rows
        A model that was saved from Python has no columns; they are chosen by the first row.
    output : OutputOptions
    rule : str, optional
        The name and settings of another rule.

    Returns
    -------
    RecordModel
    """
    model: RecordModel = saved_model_for_rows(path, options, rows, output, rule=rule).model
    return model


def saved_model_for_rows(
    path: Path,
    options: ModelOptions,
    rows: Rows,
    output: OutputOptions,
    *,
    rule: str | None = None,
) -> SavedModel:
    """Load a model that reads the rows of a file, with what is known about it.

    Parameters
    ----------
    path, options, rows, output, rule
        As in `model_for_rows`.

    Returns
    -------
    SavedModel
        Its ``model`` is a `RecordModel`.
    """
    from setlearn.persistence import read_model
    from setlearn.records import record_model_for

    saved = read_model(path, trusted=options.trusted or ())
    model, notes = record_model_for(saved.model, rows.first(), options.inputs)
    print_notes([*rows.notes, *notes], quiet=output.quiet)
    return replace(saved, model=_under_rule(model, rule))


def model_for_input(
    path: Path,
    options: ModelOptions,
    given: Any,
    output: OutputOptions,
    *,
    rule: str | None = None,
) -> tuple[RecordModel, Row]:
    """Load a model that reads one input, and the input as a row.

    Parameters
    ----------
    path : Path
        The model's folder.
    options : ModelOptions
    given : dict or value
        The input: a record, or the value of the only column.
    output : OutputOptions
    rule : str, optional
        The name and settings of another rule.

    Returns
    -------
    model : RecordModel
    row : Row
        The input, called --text in messages.

    Raises
    ------
    ParameterError
        If the input is not a record, but columns were named or the model reads several.
    """
    from setlearn.features import as_rows
    from setlearn.files import Row
    from setlearn.persistence import load
    from setlearn.records import reading_x, record_model_for

    loaded = load(path, trusted=options.trusted or ())
    if isinstance(given, dict):
        model, notes = record_model_for(loaded, Row(TEXT, given), options.inputs)
        print_notes(notes, quiet=output.quiet)
    elif options.inputs:
        raise ParameterError(
            f"--input names columns, but --text is not a record: {given!r}; leave --input out, or "
            "write a JSON object"
        )
    else:
        model = reading_x(loaded)
    names = [column.name for column in model.reader.columns]
    if len(names) > 1 and not isinstance(given, dict):
        example = ", ".join(f'"{name}": ...' for name in names)
        raise ParameterError(
            f"the model reads {len(names)} columns, but --text is the single value {given!r}; "
            f"write a JSON object: {{{example}}}"
        )
    [row] = as_rows([given], model.reader.columns)
    return _under_rule(model, rule), row._replace(place=TEXT)


def _under_rule(model: RecordModel, rule: str | None) -> RecordModel:
    return model if rule is None else model.with_rule(fit_free_rule_named(rule))
