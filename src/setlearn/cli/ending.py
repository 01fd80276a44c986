"""How a verb ends: its exit code, and what it says when something went wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from setlearn.cli.options import Talking

__all__ = ["say_usage_error", "told_errors"]

FAILURE, USAGE, DATA, MODEL, INTERRUPTED = 1, 2, 3, 4, 130


@contextmanager
def told_errors(talking: Talking, *, interrupted: str) -> Iterator[None]:
    """Turn errors of a verb into a line on stderr and an exit code; no traceback unless asked.

    With ``--json`` the error is also one JSON document on stdout.
    """
    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        _leave_quietly()
    except KeyboardInterrupt:
        raise _failed(interrupted, INTERRUPTED, talking.as_json) from None
    except Exception as error:
        if talking.debug:
            raise
        raise _failed(_told(error), _exit_code(error), talking.as_json) from None


def say_usage_error(error: Exception, *, as_json: bool) -> int:
    """Tell of a mistake in the arguments, which typer found before any verb ran."""
    told = getattr(error, "format_message", None)
    if told is None:
        raise error
    if as_json:
        _print_json(told(), USAGE)
    else:
        show = getattr(error, "show", None)
        if show is not None:
            show()
    return int(getattr(error, "exit_code", USAGE))


def _exit_code(error: Exception) -> int:
    from setlearn.errors import DataError, KindError, ModelError, ParameterError

    codes = {ParameterError: USAGE, DataError: DATA, KindError: DATA, ModelError: MODEL}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), FAILURE)


def _told(error: Exception) -> str:
    from setlearn.errors import SetlearnError

    if isinstance(error, SetlearnError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory; give fewer rows, or a smaller model"
    return f"{type(error).__name__}: {error} (--debug shows where)"


def _failed(message: str, code: int, as_json: bool) -> typer.Exit:
    if as_json:
        _print_json(message, code)
    typer.echo(f"setlearn: {message}", err=True)
    return typer.Exit(code)


def _print_json(message: str, code: int) -> None:
    typer.echo(json.dumps({"error": {"code": code, "message": message}}))


def _leave_quietly() -> None:
    # Whoever read our output has seen enough. The stream is closed by nobody but the interpreter,
    # which must not fail at it again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
