"""``setlearn serve``: models over HTTP, and a page to play with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from setlearn.cli.console import say
from setlearn.cli.options import Talking, Trust

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Folders of models, each with a name if you like: tags=path/to/model.",
            show_default=False,
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 for all, which others can reach.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes that answer, each with all models.")
    ] = 2,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with a token that clients must send. [variable SETLEARN_TOKEN, else none]"
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name that clients may call the server by; may be given again."),
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Of a request.")] = 2_000_000,
    max_rows: Annotated[int, typer.Option(min=1, help="Inputs of a request.")] = 1000,
    max_seconds: Annotated[float, typer.Option(min=0.1, help="For a request.")] = 30.0,
    max_queue: Annotated[int, typer.Option(min=1, help="Requests that may wait.")] = 200,
    trust: Trust = None,
    *,
    talking: Talking,
) -> None:
    """Serve models over HTTP, with a page to play with them.

    Ends with Ctrl-C or SIGTERM, after running requests have been answered. The access log on
    stderr has one JSON document a line; --quiet turns it off.
    """
    from setlearn.server import Limits, Settings
    from setlearn.server import serve as run

    settings = Settings(
        models=_named(models),
        host=host,
        port=port,
        workers=workers,
        token=_token(token_file),
        hosts=tuple(allow_host or ()),
        trusted=tuple(trust or ()),
        access_log=not talking.quiet,
        limits=Limits(max_bytes, max_rows, max_seconds, max_queue),
    )
    if settings.token is None and not _is_loopback(host):
        say([f"setlearn: warning: no token is set, so whoever reaches {host} can ask the models"])
    run(settings, lambda address: say([f"serving {', '.join(settings.models)} at {address}"]))


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _named(models: list[str]) -> dict[str, Path]:
    from setlearn.errors import ParameterError

    named: dict[str, Path] = {}
    for text in models:
        name, equals, path = text.partition("=")
        folder = Path(path if equals else text)
        name = name if equals else folder.resolve().name
        if not name or name in named:
            raise ParameterError(
                f"the models need names that differ, and {text!r} has "
                f"{'the name of another' if name else 'none'}; write name=folder"
            )
        named[name] = folder
    return named


def _token(file: Path | None) -> str | None:
    from setlearn.errors import ParameterError

    if file is None:
        return os.environ.get("SETLEARN_TOKEN") or None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ParameterError(f"the token cannot be read: {file}: {error.strerror}") from error
    if not token:
        raise ParameterError(f"{file} holds no token; write one into it")
    return token
