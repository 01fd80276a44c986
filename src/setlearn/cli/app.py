"""The command line as a whole: its verbs, and how the program starts and ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from setlearn.cli.console import (
    exit_code_without_verb,
    handled_errors,
    print_warnings,
    replace_closed_streams,
)
from setlearn.cli.options import OutputOptions, with_left_out_values
from setlearn.cli.part_names import fill_in_names

__all__ = ["app", "command_for", "main"]

VERBS = (
    *("fit", "predict", "evaluate", "complete", "trace"),
    *("inspect", "serve", "doctor", "reproduce"),
)
"""Each is a function of this name in a module of this name."""

CONTEXT = "context"
"""The parameter by which typer passes on what it knows about the command."""


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


class VerbCommand(TyperCommand):
    """A command whose help texts name rules, learners and so on, filled in when help is shown.

    Some of its options have values that may be left out.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments.

        Parameters
        ----------
        ctx : typer.Context
        args : list of str

        Returns
        -------
        list of str
            What is left of them.
        """
        return super().parse_args(ctx, with_left_out_values(args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help.

        Parameters
        ----------
        ctx : typer.Context
        formatter : click's HelpFormatter
        """
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text:
                parameter.help = fill_in_names(text)  # type: ignore[attr-defined]  # see above
        super().format_help(ctx, formatter)


def command_for(function: Callable[..., None]) -> Any:
    """Return the command that runs a function.

    A parameter whose type is a dataclass, such as `ReadingOptions`, is a group of options: each
    field becomes an option.
    """
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(cls=VerbCommand)(_with_plain_options(function))
    return typer.main.get_command(single)


def _with_plain_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give typer the fields of each group as parameters, and handle all errors."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {}
    parameters = [Parameter(CONTEXT, Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, parameter in signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            field_hints = get_type_hints(hints[name], include_extras=True)
            parameters += [
                Parameter(
                    field.name,
                    Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=field_hints[field.name],
                )
                for field in fields(hints[name])
            ]
        else:
            keyword = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            parameters.append(keyword)

    @wraps(function)
    def run(**given: Any) -> None:
        context = given.pop(CONTEXT)
        output = OutputOptions(**{f.name: given[f.name] for f in fields(OutputOptions)})
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        options = context.command.params
        with handled_errors(output, options), print_warnings(options):
            function(**given)

    del run.__wrapped__  # typer would use its signature
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # as inspect documents
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
