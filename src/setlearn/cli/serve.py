"""``setlearn serve``: models over HTTP, with a page to try them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from setlearn.cli.options import OutputOptions, Trusted

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Folders of models, optionally with a name: tags=path/to/model.",
            show_default=False,
        ),
    ],
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on; 0.0.0.0 makes it reachable for others."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="NUMBER", help="Port; 0 takes a free one.")
    ] = 8000,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=64, metavar="NUMBER", help="Number of processes, each with all models."
        ),
    ] = 2,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a token that clients must send. [SETLEARN_TOKEN, if it is set]",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A host name that clients may use for the server; may be repeated.",
        ),
    ] = None,
    max_bytes: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Largest size of a request.")
    ] = 2_000_000,
    max_rows: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Most inputs per request.")
    ] = 1000,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, metavar="NUMBER", help="Longest time for a request.")
    ] = 30.0,
    max_queue: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Most waiting requests.")
    ] = 200,
    trusted: Trusted = None,
    *,
    output: OutputOptions,
) -> None:
    """Serve models over HTTP, with a page to try them.

    Ends with Ctrl-C or SIGTERM, after running requests have been answered. When the server is
    ready, stderr gets a line with its address; with --json, stdout a document. The access log on
    stderr has one JSON document per line. --quiet turns off both on stderr.
    """
    from setlearn.cli.console import print_notes
    from setlearn.server import Limits, Settings
    from setlearn.server import serve as run

    settings = Settings(
        models=_named(models),
        host=host,
        port=port,
        workers=workers,
        token=_token(token_file),
        hosts=tuple(allow_host or ()),
        trusted=tuple(trusted or ()),
        access_log=not output.quiet,
        limits=Limits(max_bytes, max_rows, max_seconds, max_queue),
    )
    if settings.token is None and not _is_loopback(host):
        print_notes(
            [f"setlearn: warning: no token is set, so anyone who reaches {host} can use the models"]
        )

    def announce(address: str) -> None:
        line = f"serving {', '.join(settings.models)} at {address} (Ctrl-C stops the server)"
        if output.as_json:
            typer.echo(json.dumps({"address": address, "models": [*settings.models]}))
        else:
            print_notes([line], quiet=output.quiet)

    run(settings, announce)


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
                f"each model needs a name of its own, but {text!r} has "
                f"{'the name of another model' if name else 'none'}; write name=folder"
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
        raise ParameterError(f"{file} holds no token; write one to it")
    return token
