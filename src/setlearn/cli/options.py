"""Arguments and options that several verbs share, each with its help text.

An option that sets a parameter of the library has the parameter's name, whatever it is called on
the command line. So an error of the library that advises to set a parameter can name the option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

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
    "RayOptions",
    "ReadingOptions",
    "Scores",
    "Top",
    "Trusted",
    "Unknown",
    "flag",
    "with_left_out_values",
]

SINGULAR = {"inputs": "input", "kinds": "kind"}
"""Options that are repeated for several values, by the parameter that takes all of them."""

LOCAL = "local"
"""The value of ``--ray`` without an address."""

OPTIONAL_VALUES = {"--ray": (re.compile(r"auto|local|.+:\d+"), LOCAL)}
"""Options whose value may be left out: how a value looks, and what stands for none."""

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

        return open_rows(data, skip_bad=self.skip_bad, **self.how)

    @property
    def how(self) -> dict[str, Any]:
        """The arguments of `open_rows` that say how the file is written."""
        return {
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "label_file": None if self.label_file is None else str(self.label_file),
        }


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
class RayOptions:
    """Which processes share the work."""

    ray: Annotated[
        str | None,
        typer.Option(
            metavar="[ADDRESS]",
            help="Share the work among processes, by Ray: of the cluster at this address "
            "(host:port, or auto), or without one on this machine.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Number of worker processes, with --ray. [2]"),
    ] = None

    @property
    def address(self) -> str | None:
        """The address of a cluster; None for a Ray on this machine."""
        return None if self.ray == LOCAL else self.ray

    def check(self) -> None:
        """Check that the options fit together.

        Raises
        ------
        ParameterError
            If there is a number of workers, but no Ray.
        """
        from setlearn.errors import ParameterError

        if self.ray is None and self.workers is not None:
            raise ParameterError("--workers is for --ray, which is missing; add it")

    @property
    def n_workers(self) -> int:
        """The number of worker processes."""
        return self.workers or 2


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


def with_left_out_values(arguments: list[str]) -> list[str]:
    """Fill in the values of options that may be left out, as typer wants one.

    Examples
    --------
    >>> with_left_out_values(["model", "--ray", "data.csv"])
    ['model', '--ray', 'local', 'data.csv']
    >>> with_left_out_values(["model", "--ray", "cluster:6379"])
    ['model', '--ray', 'cluster:6379']
    """
    filled: list[str] = []
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        filled.append(argument)
        if argument in OPTIONAL_VALUES and "--" not in filled:
            looks, value = OPTIONAL_VALUES[argument]
            if not looks.fullmatch(following):
                filled.append(value)
    return filled


def flag(parameter: str) -> str:
    """The option that sets a parameter, as it is written on the command line.

    Examples
    --------
    >>> flag("max_steps"), flag("kinds")
    ('--max-steps', '--kind')
    """
    return f"--{SINGULAR.get(parameter, parameter).replace('_', '-')}"
