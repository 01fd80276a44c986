"""``setlearn reproduce``: the paper's tables, and those beyond it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setlearn.cli.console import say, show
from setlearn.cli.options import Talking

__all__ = ["INTERRUPTED", "reproduce"]

INTERRUPTED = "interrupted; finished cells are kept, the same command goes on from here"
FULL_SPLITS, QUICK_SPLITS = 10, 2


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
        str, typer.Option(metavar="TABLES", help="Which to run, such as yeast,task2. [all]")
    ] = "",
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A system to run; may be given again. [all]"),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="How many random splits, whatever --quick says."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Processes that run at once.")
    ] = 2,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="For results.json, report.md and index.html.")
    ] = Path("report"),
    cells: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="For finished cells, which are never run twice. [OUT/cells]"
        ),
    ] = None,
    *,
    talking: Talking,
) -> None:
    """Run the paper's experiments, and those beyond it.

    A report with all figures is written. Finished parts are kept: after Ctrl-C the same command
    goes on where it was.
    """
    from setlearn.errors import SetlearnError
    from setlearn.experiments.report import tables_as_text
    from setlearn.experiments.reproduce import reproduce as run_tables
    from setlearn.experiments.reproduce import tables_named
    from setlearn.experiments.tables import PAPER

    names = [name.strip() for name in only.split(",") if name.strip()]
    papers_alone = quick and not names and not system
    made = run_tables(
        list(PAPER) if papers_alone else tables_named(names, system or []),
        n_splits=splits or (QUICK_SPLITS if quick else FULL_SPLITS),
        jobs=jobs,
        out=out,
        cells=out / "cells" if cells is None else cells,
    )
    show(tables_as_text(made.results), made.results, talking)
    say(["written: " + ", ".join(str(path) for path in made.files)], quiet=talking.quiet)
    if made.n_failed:
        say([f"{made.n_failed} cells did not run; the report says why"])
    if not any(table["rows"] for table in made.results["tables"]):
        raise SetlearnError("no experiment could be run; see above")
