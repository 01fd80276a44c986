"""What makes a function a verb of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from setlearn.cli.console import told_warnings
from setlearn.cli.ending import told_errors
from setlearn.cli.options import Talking

__all__ = ["verb"]


def verb(function: Callable[..., None], *, interrupted: str = "interrupted") -> Callable[..., None]:
    """Let typer see the options of each group among the parameters, and tell of all errors.

    A parameter whose type is a dataclass, such as `Reading`, is a group: its fields become
    options. ``interrupted`` is what Ctrl-C is answered with.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            of_fields = get_type_hints(hints[name], include_extras=True)
            parameters += [
                Parameter(
                    field.name,
                    Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=of_fields[field.name],
                )
                for field in fields(hints[name])
            ]
        else:
            keyword = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            parameters.append(keyword)

    @wraps(function)
    def run(**given: Any) -> None:
        talking = Talking(**{f.name: given[f.name] for f in fields(Talking)})
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        with told_errors(talking, interrupted=interrupted), told_warnings():
            function(**given)

    del run.__wrapped__  # typer would look through it
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # as it is documented
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
