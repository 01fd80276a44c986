"""Arguments and options that several verbs share, each with its help text.

An option that sets a parameter of the library has the parameter's name, whatever it is called on
the command line. So an error of the library that advises to set a parameter can name the option.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from setlearn.cli.part_names import complete_formats, complete_rules

if TYPE_CHECKING:
    from setlearn.files import Rows

__all__ = [
    "Data",
    "IfUnknown",
    "Model",
    "ModelOptions",
    "OtherRule",
    "Out",
    "OutputOptions",
    "ReadingOptions",
    "Scores",
    "Top",
    "Trusted",
    "Unknown",
    "flag",
]

SINGULAR = {"inputs": "input", "kinds": "kind"}
"""Options that are repeated for several values, by the parameter that takes all of them."""

Model: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model's folder.", show_default=False)
]
Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A data file ({formats}), which may be gzipped; - for stdin.",
        show_default=False,
    ),
]
Out: TypeAlias = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="File for the answers. Its name says whether they are written as CSV, TSV or JSONL; "
        "a name without a known format means JSONL, and other formats are refused. - for stdout.",
    ),
]
Scores: TypeAlias = Annotated[
    bool, typer.Option("--scores", help="Give the score of each element too, best first.")
]
Top: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="NUMBER",
        help="Give this number of the best elements, whether the rule keeps them or not, with "
        "their scores.",
    ),
]
OtherRule: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:SETTINGS]",
        help="Answer under another rule that needs no fit, as in threshold:cut=0.4 or top-k:k=3. "
        "[the rule of the model]",
        autocompletion=complete_rules,
    ),
]
Trusted: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="TYPE",
        help="Full name of a type that the model may contain although setlearn does not know it; "
        "may be repeated.",
    ),
]


class Unknown(Enum):
    """What to do with known elements that were never seen in training."""

    error = "error"
    ignore = "ignore"


IfUnknown: TypeAlias = Annotated[
    Unknown, typer.Option(help="What to do with known elements never seen in training.")
]


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a data file."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of DATA: {formats}. [by its name]",
            autocompletion=complete_formats,
        ),
    ] = None
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of the text in DATA.")] = (
        "utf-8"
    )
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER", help="What separates the columns of CSV. [by its header]"
        ),
    ] = None
    label_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="MULAN's XML file for an ARFF file. [the one in its folder]"
        ),
    ] = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out bad rows, and count them.")
    ] = False

    def open(self, data: str) -> Rows:
        """Open a data file; its rows are read one by one."""
        from setlearn.files import open_rows

        return open_rows(
            data,
            format=self.format,
            encoding=self.encoding,
            delimiter=self.delimiter,
            label_file=self.label_file,
            skip_bad=self.skip_bad,
        )


@dataclass(frozen=True)
class ModelOptions:
    """How to load a model."""

    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COLUMN",
            help="For models saved from Python: a column to predict from; may be repeated.",
        ),
    ] = None
    trusted: Trusted = None


@dataclass(frozen=True)
class OutputOptions:
    """What a verb prints, and how."""

    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, also for errors.")
    ] = False
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print only errors, warnings and bad rows on stderr."),
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False


def flag(parameter: str) -> str:
    """The option that sets a parameter, as it is written on the command line.

    Examples
    --------
    >>> flag("max_steps"), flag("kinds")
    ('--max-steps', '--kind')
    """
    return f"--{SINGULAR.get(parameter, parameter).replace('_', '-')}"
