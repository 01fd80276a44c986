"""What a verb prints, and how it ends: output, notes, warnings, errors and exit codes.

Results go to stdout; notes, warnings and errors go to stderr. Names in a model or a file may
contain anything, also terminal commands, so all text for people goes through `printable`.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

from setlearn.cli.options import OutputOptions

if TYPE_CHECKING:
    from setlearn.errors import UnseenTokenWarning, UnseenValueWarning
    from setlearn.files import Rows
    from setlearn.scale.prediction import PredictedFiles

__all__ = [
    "counted",
    "exit_code_without_verb",
    "handled_errors",
    "print_bad_rows",
    "print_notes",
    "print_result",
    "print_warnings",
    "printable",
    "replace_closed_streams",
]

FAILURE, USAGE, DATA, MODEL, INTERRUPTED = 1, 2, 3, 4, 130

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that control terminals, change the text direction, or have no bytes."""

HARMLESS = "\n\u200c\u200d"
"""Characters of these categories that texts need: line breaks, and joiners within words."""


def printable(text: str) -> str:
    r"""Escape the characters in a text that could control a terminal.

    Examples
    --------
    >>> printable("a \x1b[31mred label")
    'a \\x1b[31mred label'
    """
    return "".join(
        character
        if character in HARMLESS or unicodedata.category(character) not in UNSAFE
        else character.encode("unicode_escape").decode()
        for character in text
    )


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural unless it is 1.

    Parameters
    ----------
    number : int
    noun : str
        In the singular; its plural ends in s.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "row"), counted(0, "bad row")
    ('1 row', '0 bad rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def print_result(result: object, document: Mapping[str, Any], output: OutputOptions) -> None:
    """Print a result on stdout.

    Parameters
    ----------
    result : object
        Its ``str()`` is printed for people.
    document : mapping
        Printed instead with ``--json``.
    output : OutputOptions
    """
    typer.echo(json.dumps(document) if output.as_json else printable(str(result)))


def print_notes(lines: Iterable[str], *, quiet: bool = False) -> None:
    """Print lines on stderr.

    Parameters
    ----------
    lines : iterable of str
    quiet : bool, default=False
        Print nothing.
    """
    if not quiet:
        for line in lines:
            typer.echo(printable(line), err=True)


def print_bad_rows(rows: Rows | PredictedFiles) -> None:
    """Print how many rows were left out, and what is wrong with the first of them."""
    if rows.n_bad:
        more = rows.n_bad - len(rows.bad)
        print_notes([*rows.bad, *([f"… and {more} more"] if more else [])])
        print_notes([f"left out: {counted(rows.n_bad, 'bad row')} of {rows.name}"])


@contextmanager
def print_warnings(options: Sequence[Any]) -> Iterator[None]:
    """Print each different warning of the block once, as one line.

    Sets that were cut off, and inputs with tokens, categories or dates unlike those of training,
    are counted over all batches of a file, and reported at the end.

    Parameters
    ----------
    options : sequence of typer's options
        Those of the verb. The line names the ones that follow the advice of a warning.
    """
    from setlearn.errors import TruncationWarning, UnseenTokenWarning, UnseenValueWarning

    printed: set[str] = set()
    cut_off: list[int] = []
    unseen: list[UnseenTokenWarning] = []
    new_values: dict[type[UnseenValueWarning], list[UnseenValueWarning]] = {}

    def print_once(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        # Warnings of other packages are for programmers; users of a terminal cannot act on them.
        if isinstance(message, TruncationWarning):
            cut_off.extend(message.samples)
        elif isinstance(message, UnseenTokenWarning):
            unseen.append(message)
        elif isinstance(message, UnseenValueWarning):
            new_values.setdefault(type(message), []).append(message)
        elif category.__module__.startswith("setlearn") and str(message) not in printed:
            printed.add(str(message))
            print_notes([f"setlearn: warning: {message}{_advised_options(message, options)}"])

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = print_once
        yield
    if unseen:
        _print_unseen_tokens(unseen)
    for kind, parts in new_values.items():
        print_notes([f"setlearn: warning: {kind.of_batches(parts)}"])
    if cut_off:
        n_sets = counted(len(cut_off), "predicted set")
        problem = f"{n_sets} cut off at a limit of the model, so elements may be missing"
        remedy = (
            "in Python, setlearn.load(...).model.set_params() can raise max_length, max_size and "
            "max_nodes"
        )
        print_notes([f"setlearn: warning: {problem}; {remedy}"])


def _print_unseen_tokens(parts: Sequence[UnseenTokenWarning]) -> None:
    """Report the tokens that training has not seen, of all batches together."""
    n_inputs = counted(sum(len(part.samples) for part in parts), "input")
    tokens = dict.fromkeys(token for part in parts for token in part.tokens)
    lost = {token for part in parts for token in part.lost}
    problem = (
        f"{n_inputs} with tokens never seen in training ({len(tokens)} different, such as "
        f"{next(iter(tokens))!r:.60})"
    )
    fate = f"{len(lost)} of these tokens cannot be part of predicted sets"
    if not lost:
        fate = "these tokens can be copied into predicted sets"
    remedy = "add rows with such tokens to the training data"
    print_notes([f"setlearn: warning: {problem}; {fate}; {remedy}"])


@contextmanager
def handled_errors(output: OutputOptions, options: Sequence[Any]) -> Iterator[None]:
    """Turn errors of a verb into one line on stderr and an exit code.

    With ``--json`` the error is also printed as a JSON document on stdout, and with ``--debug``
    it is raised as it is.

    Parameters
    ----------
    output : OutputOptions
    options : sequence of typer's options
        Those of the verb. The line names the ones that follow the advice of an error.

    Returns
    -------
    context manager

    Raises
    ------
    typer.Exit
        With the exit code of the error.
    """
    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        _discard_output()
    except KeyboardInterrupt as error:
        raise _failed(str(error) or "interrupted", INTERRUPTED, output.as_json) from None
    except Exception as error:
        if output.debug:
            raise
        message = _message(error) + _advised_options(error, options)
        raise _failed(message, _exit_code(error), output.as_json) from None


def exit_code_without_verb(error: Exception, arguments: Sequence[str]) -> int:
    """Report an error that no verb has handled: in the arguments, or while printing help.

    Parameters
    ----------
    error : Exception
    arguments : sequence of str
        Those of the command.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    Exception
        The error itself, if it is a bug or the arguments hold ``--debug``.
    """
    show = getattr(error, "show", None)
    if show is None and ("--debug" in arguments or not isinstance(error, OSError)):
        raise error
    if show is None:
        _failed(_message(error), FAILURE, as_json=False)
        _discard_output()
        return FAILURE
    if "--json" in arguments and (message := getattr(error, "format_message", None)) is not None:
        _print_json_error(message(), USAGE)
    show()
    return int(getattr(error, "exit_code", USAGE))


def replace_closed_streams() -> None:
    """Send output for a closed stdout or stderr (``>&-``) to the null device.

    Otherwise files that are opened later could get their numbers, and the output with them.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # stays open


def _exit_code(error: Exception) -> int:
    from setlearn.errors import DataError, KindError, ModelError, ParameterError

    if _is_disk_full(error):
        return FAILURE  # neither the data nor the model are to blame
    codes = {ParameterError: USAGE, DataError: DATA, KindError: DATA, ModelError: MODEL}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), FAILURE)


def _is_disk_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            return True
        error = error.__cause__
    return False


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        full = error.errno in DISK_FULL
        advice = "free some space, or choose another place" if full else "check it"
        return f"{error.filename or 'the output'}: {error.strerror}; {advice}"
    if isinstance(error, MemoryError):
        return "there is not enough memory; use fewer rows, or a smaller model"
    from setlearn.errors import SetlearnError  # slow, not needed for help

    if isinstance(error, SetlearnError):
        return str(error)
    return f"{type(error).__name__}: {error} (--debug shows the traceback)"


def _advised_options(problem: object, options: Sequence[Any]) -> str:
    """Write the parameters that an error or a warning advises to set, as options of the verb."""
    by_parameter = {option.name: option for option in options}
    advice = getattr(problem, "advice", {})
    written = [_option(by_parameter[name], advice[name]) for name in advice if name in by_parameter]
    return f" ({', '.join(written)})" if written else ""


def _option(option: Any, value: object) -> str:
    """Write an option with its value, or with the word for it in help texts if there is none."""
    name = option.opts[0]
    if value is True:
        return str(name)
    if value is False:
        return f"without {name}"
    if value is None:
        return f"{name} {option.metavar or ''}".rstrip()
    values = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{name} {value}" for value in values)


def _failed(message: str, code: int, as_json: bool) -> typer.Exit:
    print_notes([f"setlearn: {message}"])
    if as_json:
        _print_json_error(message, code)
    return typer.Exit(code)


def _print_json_error(message: str, code: int) -> None:
    try:
        typer.echo(json.dumps({"error": {"code": code, "message": message}}))
    except OSError:  # writing the output may be what failed
        _discard_output()


def _discard_output() -> None:
    # Nobody reads the output any more, or there is no space for it. Python flushes stdout when it
    # exits, and that must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
