"""Runs the command line, in this process where that is enough, else in one of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
from typing import NamedTuple

from setlearn.cli import main

COMMAND = [sys.executable, "-m", "setlearn"]


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)

    @property
    def answers(self):
        return [json.loads(line) for line in self.out.splitlines()]


@contextlib.contextmanager
def replaced(name, value):
    """Give ``sys`` another value for a while, as contextlib does for its streams."""
    before = getattr(sys, name)
    setattr(sys, name, value)
    try:
        yield
    finally:
        setattr(sys, name, before)


def run(*arguments, stdin=b""):
    """Run a command in this process, which spares the seconds that imports take."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    given = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8")
    code = 0
    with (
        replaced("argv", ["setlearn", *map(str, arguments)]),
        replaced("stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ending:
            code = ending.code or 0
        said = []
        for stream in (out, err):
            stream.flush()
            said.append(stream.buffer.getvalue().decode())
    return Ended(code, *said)


def run_process(*arguments, stdin=None, stdout=subprocess.PIPE, **environment):
    """Run a command in a process of its own."""
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "100", **environment},
        check=False,
    )
    out = ended.stdout.decode() if ended.stdout is not None else ""
    return Ended(ended.returncode, out, ended.stderr.decode())
