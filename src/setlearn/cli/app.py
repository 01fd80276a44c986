"""The command line as a whole: its verbs, and how the program starts and ends."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from setlearn.cli.console import exit_code_without_verb, replace_closed_streams
from setlearn.cli.verbs import command_for

__all__ = ["app", "main"]

VERBS = (
    *("fit", "predict", "evaluate", "complete", "trace"),
    *("inspect", "serve", "doctor", "reproduce"),
)
"""Each is a function of this name in a module of this name."""


class LazyVerbs(TyperGroup):
    """Imports the module of a verb when the verb is used."""

    def __init__(self, **settings: Any) -> None:
        # typer suggests names from this dictionary, so that it must hold the verbs.
        super().__init__(**{**settings, "commands": dict.fromkeys(VERBS)})

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order in which help shows them."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a verb.

        Parameters
        ----------
        ctx : typer.Context
        cmd_name : str

        Returns
        -------
        TyperCommand or None
            None if there is no such verb.
        """
        if cmd_name not in VERBS:
            return None
        if self.commands[cmd_name] is None:
            function = getattr(import_module(f"setlearn.cli.{cmd_name}"), cmd_name)
            self.commands[cmd_name] = command_for(function)
        return self.commands[cmd_name]


app = typer.Typer(
    cls=LazyVerbs,
    name="setlearn",
    help="Predict sets of labels or of whole sequences.",
    epilog="Exit codes: 0 success, 1 failure, 2 wrong usage, 3 bad data, 4 bad or untrusted "
    "model, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(requested: bool) -> None:
    if requested:
        from setlearn import __version__

        typer.echo(f"setlearn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options before the verb."""


def main() -> None:
    """Run the command line."""
    replace_closed_streams()
    try:
        sys.exit(app(prog_name="setlearn", standalone_mode=False))
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        sys.exit(exit_code_without_verb(error, sys.argv))
