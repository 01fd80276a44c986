"""The verbs, put together, and how the program begins and ends."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from setlearn.cli.complete import complete
from setlearn.cli.doctor import doctor
from setlearn.cli.ending import end_without_verb, open_closed_streams
from setlearn.cli.evaluate import evaluate
from setlearn.cli.fit import fit
from setlearn.cli.inspect import inspect
from setlearn.cli.predict import predict
from setlearn.cli.reproduce import INTERRUPTED, reproduce
from setlearn.cli.serve import serve
from setlearn.cli.trace import trace
from setlearn.cli.verbs import verb

__all__ = ["app", "main"]

app = typer.Typer(
    name="setlearn",
    help="Predict sets: of labels, or of whole sequences.",
    epilog="Exit codes: 0 fine, 1 failure, 2 wrong usage, 3 bad data, 4 bad or untrusted model, "
    "130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for function in (fit, predict, evaluate, complete, trace, inspect, serve, doctor):
    app.command()(verb(function))
app.command()(verb(reproduce, interrupted=INTERRUPTED))


def _show_version(asked: bool) -> None:
    if asked:
        from setlearn import __version__

        typer.echo(f"setlearn {__version__}")
        raise typer.Exit


@app.callback()
def _verbs(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that stand before the verb."""


def main() -> None:
    """Run the command line."""
    open_closed_streams()
    try:
        sys.exit(app(prog_name="setlearn", standalone_mode=False))
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        sys.exit(end_without_verb(error, sys.argv))
