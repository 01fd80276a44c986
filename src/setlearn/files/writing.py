"""Writes rows: to a file that is whole or not there at all, or to standard output."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from setlearn.errors import DataError, ParameterError
from setlearn.files.formats import STANDARD_STREAM, check_format, format_of_name
from setlearn.files.json_records import jsonl_lines
from setlearn.files.table_cells import table_lines

__all__ = ["write_rows"]

WRITERS: dict[str, Callable[[Iterable[Mapping[str, Any]]], Iterator[bytes]]] = {
    "jsonl": jsonl_lines,
    "csv": partial(table_lines, delimiter=","),
    "tsv": partial(table_lines, delimiter="\t"),
}


def write_rows(
    path: str | Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    format: str | None = None,  # noqa: A002  # the name that users know it by
) -> None:
    """Write records, one at a time, as JSON lines, CSV or TSV.

    A file appears under its name only when it is complete, so a failure leaves an older one as
    it was. Sets become sorted lists. In a table, lists have semicolons between their elements, or
    are JSON if an element holds one. Numbers that are not finite become null, or an empty cell.

    Parameters
    ----------
    path : str or Path
        Where to; "-" for standard output. A name that ends in .gz is compressed.
    rows : iterable of dict
        The records. A table's columns are those of the first.
    format : {"jsonl", "csv", "tsv"}, optional
        By default the suffix tells, and standard output gets "jsonl".

    Raises
    ------
    DataError
        For a place that cannot be written to, and for records that do not fit in a table.

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
    # To open /dev/stdout anew would wipe out the file that the shell appends to.
    is_stream = str(path) in (STANDARD_STREAM, "/dev/stdout")
    if format is None:
        format = "jsonl" if is_stream else format_of_name(Path(path))  # noqa: A001  # as above
    if check_format(format) not in WRITERS:
        raise ParameterError(f"{format} can only be read; write one of {', '.join(WRITERS)}")
    lines = WRITERS[format](rows)
    if is_stream:
        _write_to_standard_output(lines)
    else:
        _write_to_file(Path(path), lines)


def _write_to_standard_output(lines: Iterator[bytes]) -> None:
    sys.stdout.flush()  # what was printed before comes before
    for line in lines:
        with _writing_errors("standard output"):
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()  # the next program in a pipe need not wait


def _write_to_file(path: Path, lines: Iterator[bytes]) -> None:
    name = str(path)
    compress = name.lower().endswith(".gz")
    with _writing_errors(name):
        if path.is_dir():
            raise DataError(f"{name} is a folder; name a file in it")
        is_device = path.exists() and not path.is_file()
        target = path.resolve()  # a link stays a link
    if is_device:  # a pipe or a device is not to be replaced
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
        with suppress(OSError):  # it is no longer there if all went well
            part.unlink()


def _write_lines(path: Path, lines: Iterator[bytes], name: str, *, compress: bool) -> None:
    closing = ExitStack()
    try:
        with _writing_errors(name):
            file: IO[bytes] | gzip.GzipFile = closing.enter_context(path.open("wb"))
            if compress:
                # Without the time and the name, so that the same rows make the same bytes.
                file = closing.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        for line in lines:  # whose own errors are not ours to explain
            with _writing_errors(name):
                file.write(line)
    except BaseException:
        with suppress(OSError):  # what the buffers still hold fails once more
            closing.close()
        raise
    with _writing_errors(name):
        closing.close()


@contextmanager
def _writing_errors(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader has had enough, which is no fault
        raise
    except OSError as error:
        raise DataError(
            f"{name} cannot be written: {error.strerror or error}; free some space, check the "
            f"permissions, or choose another place"
        ) from error
