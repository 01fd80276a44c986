"""Writes rows to a file, which is complete or not there at all, or to standard output."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from setlearn.errors import DataError, ParameterError
from setlearn.files.formats import (
    FORMATS,
    STANDARD_STREAM,
    Format,
    format_named,
    format_of_name,
    writable_formats,
)

__all__ = ["write_rows"]

STREAM_FORMAT = "jsonl"
"""What is written to standard output by default."""


def write_rows(
    path: str | Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    format: str | Format | None = None,  # noqa: A002  # the natural name for users
) -> None:
    """Write records, one at a time, as JSON lines, CSV or TSV.

    A file appears under its name only when it is complete, so a failure does not change an older
    file. Sets become sorted lists. In a table, lists have semicolons between their elements, or
    are JSON if an element holds a semicolon. NaN and infinity become null, or an empty cell.

    Parameters
    ----------
    path : str or Path
        The file to write; "-" for standard output. A file whose name ends in .gz is compressed.
    rows : iterable of dict
        The records. A table has the columns of the first one.
    format : {"jsonl", "csv", "tsv"} or Format, optional
        By default it is found by the suffix of the file name. Standard output gets "jsonl".

    Raises
    ------
    DataError
        If the file cannot be written, or a record does not fit in a table.
    ParameterError
        If the format is unknown or can only be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "birds.csv"
    ...     write_rows(path, [{"name": "robin", "colours": {"red", "brown"}}])
    ...     print(path.read_text())
    name,colours
    robin,brown;red
    """
    # Opening /dev/stdout again would truncate a file that the shell appends to.
    is_stream = str(path) in (STANDARD_STREAM, "/dev/stdout")
    if format is not None:
        chosen = format_named(format)
    else:
        chosen = FORMATS[STREAM_FORMAT] if is_stream else format_of_name(Path(path))
    if chosen.write is None:
        raise ParameterError(f"{chosen.name} can only be read; write one of {writable_formats()}")
    lines = chosen.write(rows)
    if is_stream:
        _write_to_standard_output(lines)
    else:
        _write_to_file(Path(path), lines)


def _write_to_standard_output(lines: Iterator[bytes]) -> None:
    sys.stdout.flush()  # what was printed before must come first
    for line in lines:
        with _writing_errors("standard output"):
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()  # so that the next program in a pipe need not wait


def _write_to_file(path: Path, lines: Iterator[bytes]) -> None:
    name = str(path)
    compress = name.lower().endswith(".gz")
    with _writing_errors(name):
        if path.is_dir():
            raise DataError(f"{name} is a folder; name a file in it")
        is_device = path.exists() and not path.is_file()
        target = path.resolve()  # a link stays a link
    if is_device:  # a pipe or a device must not be replaced
        _write_lines(path, lines, name, compress=compress)
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        _write_lines(part, lines, name, compress=compress)
        with _writing_errors(name):
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
    finally:
        with suppress(OSError):  # it no longer exists if writing succeeded
            part.unlink()


def _write_lines(path: Path, lines: Iterator[bytes], name: str, *, compress: bool) -> None:
    closing = ExitStack()
    try:
        with _writing_errors(name):
            file: IO[bytes] | gzip.GzipFile = closing.enter_context(path.open("wb"))
            if compress:
                # Without time and name, so that the same rows always give the same bytes.
                file = closing.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        for line in lines:  # errors raised by the rows themselves pass through unchanged
            with _writing_errors(name):
                file.write(line)
    except BaseException:
        with suppress(OSError):  # flushing the buffers fails again
            closing.close()
        raise
    with _writing_errors(name):
        closing.close()


@contextmanager
def _writing_errors(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader has stopped reading, which is not an error
        raise
    except OSError as error:
        raise DataError(
            f"{name} cannot be written: {error.strerror or error}; free some space, check the "
            f"permissions, or choose another place"
        ) from error
