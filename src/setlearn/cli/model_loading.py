"""Loads a model for the rows of a file, or for an input given in the command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setlearn.cli.console import print_notes
from setlearn.cli.named_parts import fit_free_rule_named
from setlearn.cli.options import ModelOptions, OutputOptions
from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.files import Rows
    from setlearn.records import RecordModel

__all__ = ["model_for_input", "model_for_rows"]


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
    from setlearn.persistence import load
    from setlearn.records import record_model_for

    loaded = load(path, trusted=options.trusted or ())
    model, notes = record_model_for(loaded, rows.first(), options.inputs)
    print_notes([*rows.notes, *notes], quiet=output.quiet)
    return _under_rule(model, rule)


def model_for_input(
    path: Path,
    options: ModelOptions,
    given: Any,
    output: OutputOptions,
    *,
    rule: str | None = None,
) -> RecordModel:
    """Load a model that reads one input.

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
    RecordModel
    """
    from setlearn.files import Row
    from setlearn.persistence import load
    from setlearn.records import reading_x, record_model_for

    loaded = load(path, trusted=options.trusted or ())
    if isinstance(given, dict):
        model, notes = record_model_for(loaded, Row("--text", given), options.inputs)
        print_notes(notes, quiet=output.quiet)
        return _under_rule(model, rule)
    if options.inputs:
        raise ParameterError(
            f"--input names columns, but --text is not a record: {given!r}; leave --input out, or "
            "write a JSON object"
        )
    return _under_rule(reading_x(loaded), rule)


def _under_rule(model: RecordModel, rule: str | None) -> RecordModel:
    return model if rule is None else model.with_rule(fit_free_rule_named(rule))
