"""How a verb ends: its exit code, and what it says when something went wrong."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from setlearn.cli.console import say
from setlearn.cli.options import Talking

__all__ = ["end_without_verb", "open_closed_streams", "told_errors"]

FAILURE, USAGE, DATA, MODEL, INTERRUPTED = 1, 2, 3, 4, 130

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system calls a place without room."""


def open_closed_streams() -> None:
    """Let what is said to a closed stdout or stderr (``>&-``) go nowhere, which is what was asked.

    It also keeps their numbers from files that are opened later, into which output would run.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # till the end


@contextmanager
def told_errors(talking: Talking, *, interrupted: str) -> Iterator[None]:
    """Turn errors of a verb into a line on stderr and an exit code; no traceback unless asked.

    With ``--json`` the error is also one JSON document on stdout. ``interrupted`` is what Ctrl-C
    is answered with, where the verb itself has nothing better to say.
    """
    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        _give_up_output()
    except KeyboardInterrupt as error:
        raise _failed(str(error) or interrupted, INTERRUPTED, talking.as_json) from None
    except Exception as error:
        if talking.debug:
            raise
        raise _failed(_in_words(error), _exit_code(error), talking.as_json) from None


def end_without_verb(error: Exception, arguments: Sequence[str]) -> int:
    """Tell of a mistake in the arguments, or of help that could not be shown; give the exit code.

    All that verbs do is told by `told_errors`, which lets errors pass for ``--debug`` alone.
    """
    show = getattr(error, "show", None)
    if show is None and ("--debug" in arguments or not isinstance(error, OSError)):
        raise error
    if show is None:
        _failed(_in_words(error), FAILURE, as_json=False)
        _give_up_output()
        return FAILURE
    if "--json" in arguments and (told := getattr(error, "format_message", None)) is not None:
        _print_json(told(), USAGE)
    show()
    return int(getattr(error, "exit_code", USAGE))


def _exit_code(error: Exception) -> int:
    from setlearn.errors import DataError, KindError, ModelError, ParameterError

    if isinstance(error.__cause__, OSError) and error.__cause__.errno in FULL:
        return FAILURE  # a full disk is no fault of the data, nor of the model that was to be saved
    codes = {ParameterError: USAGE, DataError: DATA, KindError: DATA, ModelError: MODEL}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), FAILURE)


def _in_words(error: Exception) -> str:
    # No import of setlearn.errors before it is needed: it takes long, and help must not.
    if isinstance(error, OSError) and error.strerror:
        cure = "free some space, or choose another place" if error.errno in FULL else "check it"
        return f"{error.filename or 'the output'}: {error.strerror}; {cure}"
    if isinstance(error, MemoryError):
        return "there is not enough memory; give fewer rows, or a smaller model"
    from setlearn.errors import SetlearnError, UntrustedModelError

    if isinstance(error, UntrustedModelError) and error.types:
        options = " ".join(f"--trust {name}" for name in error.types)
        return f"{error}; on the command line: {options}"
    if isinstance(error, SetlearnError):
        return str(error)
    return f"{type(error).__name__}: {error} (--debug shows where)"


def _failed(message: str, code: int, as_json: bool) -> typer.Exit:
    say([f"setlearn: {message}"])
    if as_json:
        _print_json(message, code)
    return typer.Exit(code)


def _print_json(message: str, code: int) -> None:
    try:
        typer.echo(json.dumps({"error": {"code": code, "message": message}}))
    except OSError:  # the output may be the very thing that failed
        _give_up_output()


def _give_up_output() -> None:
    # Nobody reads our output any more, or there is no room for it. The interpreter closes the
    # stream at the end, and must not fail at it again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
