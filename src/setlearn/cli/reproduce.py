"""``setlearn reproduce``: the tables of the paper, and further ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from setlearn.cli.options import OutputOptions, RayOptions

__all__ = ["reproduce"]

INTERRUPTED = "interrupted; finished cells are kept, and the same command continues from there"
FULL_SPLITS, QUICK_SPLITS = 10, 2


def reproduce(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help=f"Run {QUICK_SPLITS} splits instead of {FULL_SPLITS}, and only the tables of the "
            "paper unless others are named.",
        ),
    ] = False,
    only: Annotated[
        str, typer.Option(metavar="TABLES", help="Tables to run, such as yeast,task2. [all]")
    ] = "",
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A system to run; may be repeated. [all]"),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Number of random splits, also with --quick."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Number of processes.")] = 2,
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Folder for results.json, report.md and index.html."),
    ] = Path("report"),
    cells: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for finished cells, which are never run twice. [OUT/cells]",
        ),
    ] = None,
    *,
    output: OutputOptions,
    processes: RayOptions,
) -> None:
    """Run the experiments of the paper, and further ones.

    Writes a report with all figures. Finished parts are kept: after Ctrl-C the same command
    continues where it was.
    """
    from setlearn.cli.console import counted, print_notes, print_result
    from setlearn.errors import SetlearnError
    from setlearn.experiments.report import tables_as_text
    from setlearn.experiments.reproduce import reproduce as run_tables
    from setlearn.experiments.reproduce import tables_named
    from setlearn.experiments.runner import run_as_ray_tasks
    from setlearn.experiments.tables import PAPER

    processes.check()
    on_ray = processes.ray is not None
    names = [name.strip() for name in only.split(",") if name.strip()]
    only_paper = quick and not names and not system
    try:
        report = run_tables(
            list(PAPER) if only_paper else tables_named(names, system or []),
            n_splits=splits or (QUICK_SPLITS if quick else FULL_SPLITS),
            jobs=processes.n_workers if on_ray else jobs,
            out=out,
            cells=out / "cells" if cells is None else cells,
            run_missing=partial(run_as_ray_tasks, address=processes.address) if on_ray else None,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(INTERRUPTED) from None
    print_result(tables_as_text(report.results), report.results, output)
    files = ", ".join(str(path) for path in report.files)
    print_notes([f"written: {files}"], quiet=output.quiet)
    if report.n_failed:
        print_notes([f"{counted(report.n_failed, 'cell')} did not run; the report says why"])
    if not any(table["rows"] for table in report.results["tables"]):
        raise SetlearnError("no experiment could be run; see above")
