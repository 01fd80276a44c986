"""Arguments and options that several verbs share, each with its one help text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from setlearn.files import Rows

__all__ = ["Data", "IfUnknown", "Model", "Opening", "Out", "Reading", "Talking", "Trust", "Unknown"]

Model: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model's folder.", show_default=False)
]
Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file: JSONL, CSV, Parquet, SVMlight, ARFF or NumPy, also gzipped; - for stdin.",
        show_default=False,
    ),
]
Out: TypeAlias = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="File for the answers, by its name CSV, TSV or JSONL, which is also written where the "
        "name tells no format; other formats are refused; - for stdout.",
    ),
]

Trust: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE",
        help="A type that the model may hold beyond the known ones, by its full name; may be "
        "given again.",
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
class Reading:
    """How to read a file."""

    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of DATA: jsonl, json, csv, tsv, parquet, svmlight, arff or numpy. "
            "[by its name]",
        ),
    ] = None
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of the text in DATA.")] = (
        "utf-8"
    )
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="CHARACTER", help="Between the columns of CSV. [by its header]"),
    ] = None
    label_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="MULAN's XML to an ARFF file. [the one beside it]"),
    ] = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out bad rows, and count them.")
    ] = False

    def open(self, data: str) -> Rows:
        """The rows of the file."""
        from setlearn.files import open_rows

        return open_rows(
            data,
            format=self.file_format,
            encoding=self.encoding,
            delimiter=self.delimiter,
            label_file=self.label_file,
            skip_bad=self.skip_bad,
        )


@dataclass(frozen=True)
class Opening:
    """How to open a model."""

    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COLUMN",
            help="For models saved from Python: a column to predict from; may be given again.",
        ),
    ] = None
    trust: Trust = None


@dataclass(frozen=True)
class Talking:
    """What a verb says, and how."""

    as_json: Annotated[
        bool, typer.Option("--json", help="Answer with one JSON document, errors too.")
    ] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Say nothing on stderr but errors, warnings and bad rows."
        ),
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False
