"""Turns a function into a verb of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

from setlearn.cli.console import handled_errors, print_warnings
from setlearn.cli.options import OutputOptions
from setlearn.cli.part_names import fill_in_names

__all__ = ["command_for"]


class VerbCommand(TyperCommand):
    """A command whose help texts name rules, learners and so on, filled in when help is shown."""

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
    parameters: list[Parameter] = []
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
        output = OutputOptions(**{f.name: given[f.name] for f in fields(OutputOptions)})
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        with handled_errors(output), print_warnings():
            function(**given)

    del run.__wrapped__  # typer would use its signature
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # as inspect documents
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
