"""The command line: ``setlearn <verb>``, also ``python -m setlearn <verb>``.

Whatever is slow to import is imported inside the verbs, so that help comes at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

__all__ = ["app", "main"]

FULL_SPLITS, QUICK_SPLITS = 10, 2

app = typer.Typer(
    name="setlearn",
    help="Predict sets: of labels, or of whole sequences.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _verbs() -> None:
    """Make verbs of the commands, however few there are."""


@app.command()
def reproduce(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help=f"{QUICK_SPLITS} splits instead of {FULL_SPLITS}, of the paper's tables alone "
            "unless others are named.",
        ),
    ] = False,
    only: Annotated[
        str, typer.Option(help="Tables to run, such as yeast,task2. All by default.")
    ] = "",
    system: Annotated[
        list[str] | None, typer.Option(help="A system to run; may be given again. All by default.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="How many random splits, whatever --quick says.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that run at once.")] = 2,
    out: Annotated[
        Path, typer.Option(help="Folder for results.json, report.md and index.html.")
    ] = Path("report"),
    cells: Annotated[
        Path | None,
        typer.Option(help="Folder for finished cells, which are never run twice. [OUT/cells]"),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Run the paper's experiments, and those beyond it, and write a report with its figures.

    Finished parts are kept: after Ctrl-C the same command goes on where it was.
    """
    from setlearn.errors import SetlearnError

    try:
        _reproduce(
            [name.strip() for name in only.split(",") if name.strip()],
            system or [],
            papers_alone=quick and not only and not system,
            n_splits=splits or (QUICK_SPLITS if quick else FULL_SPLITS),
            jobs=jobs,
            out=out,
            cells=out / "cells" if cells is None else cells,
        )
    except SetlearnError as error:
        if debug:
            raise
        _fail(str(error), _exit_code(error))
    except KeyboardInterrupt:
        _fail("interrupted; finished cells are kept, the same command goes on from here", 130)
    except Exception as error:
        if debug:
            raise
        _fail(f"{type(error).__name__}: {error} (--debug shows where)", 1)


def _reproduce(
    names: list[str],
    systems: list[str],
    *,
    papers_alone: bool,
    n_splits: int,
    jobs: int,
    out: Path,
    cells: Path,
) -> None:
    from setlearn.errors import SetlearnError
    from setlearn.experiments.report import tables_as_text
    from setlearn.experiments.reproduce import reproduce, tables_named
    from setlearn.experiments.tables import PAPER

    tables = list(PAPER) if papers_alone else tables_named(names, systems)
    made = reproduce(tables, n_splits=n_splits, jobs=jobs, out=out, cells=cells)
    typer.echo(tables_as_text(made.results))
    typer.echo("written: " + ", ".join(str(path) for path in made.files), err=True)
    if made.n_failed:
        typer.echo(f"{made.n_failed} cells did not run; the report says why", err=True)
    if not any(table["rows"] for table in made.results["tables"]):
        raise SetlearnError("no experiment could be run; see above")


def _exit_code(error: Exception) -> int:
    """2 for a mistake in what was asked, as everywhere on the command line; else 1."""
    from setlearn.errors import ParameterError

    return 2 if isinstance(error, ParameterError) else 1


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"setlearn: {message}", err=True)
    raise typer.Exit(code)


def main() -> None:
    """Run the command line."""
    app(prog_name="setlearn")
