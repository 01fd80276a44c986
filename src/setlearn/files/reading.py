"""Opens a file of any format as rows."""

from __future__ import annotations

import gzip
import io
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from setlearn.errors import DataError, ParameterError
from setlearn.files.formats import (
    STANDARD_STREAM,
    Format,
    check_options,
    format_named,
    format_of_name,
    format_of_start,
)
from setlearn.files.rows import Rows
from setlearn.files.source import BadRows, FileSource, Section, reading_errors

__all__ = ["open_rows", "split_file"]

GZIP_MAGIC = b"\x1f\x8b"


def open_rows(
    path: str | Path,
    *,
    format: str | Format | None = None,  # noqa: A002  # the natural name for users
    encoding: str = "utf-8",
    delimiter: str | None = None,
    label_file: str | Path | None = None,
    skip_bad: bool = False,
    section: Section | None = None,
) -> Rows:
    r"""Open a file as a stream of rows, whatever its format.

    Parameters
    ----------
    path : str or Path
        The file, compressed with gzip or not; "-" for standard input.
    format : str or Format, optional
        A name in `FORMATS`, or a `Format` of your own. By default it is found by the suffix of
        the file name, and for standard input by the first character.
    encoding : str
        The encoding of text. A byte order mark is removed.
    delimiter : str, optional
        The character between the columns of a CSV or TSV file. By default a tab for TSV. For CSV,
        the one of comma, semicolon, tab and vertical bar that occurs most often in the header.
    label_file : str or Path, optional
        The XML file that names the labels among the attributes of an ARFF file. By default the
        one in the same folder with the same name, such as flags.xml for flags-train.arff.
    skip_bad : bool
        Whether to skip and count rows that cannot be used, instead of raising an error.
    section : Section, optional
        A part of the file, from `split_file`. By default all rows are read.

    Returns
    -------
    Rows
        An iterator over the rows, which can be used once.

    Raises
    ------
    DataError
        If the file does not exist or cannot be read. For a bad row, the message has its place.
    ParameterError
        If the format or the encoding is unknown, or an option does not apply to the format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.svm"
    ...     _ = path.write_text("1,5 3:0.5 7:1\n2 3:1\n")
    ...     for place, record in open_rows(path):
    ...         print(place, record)
    songs.svm, line 1 {'labels': [1, 5], 'x': {3: 0.5, 7: 1.0}}
    songs.svm, line 2 {'labels': [2], 'x': {3: 1.0}}
    """
    encoding = _check_encoding(encoding)
    is_stream = str(path) == STANDARD_STREAM
    named = None
    if format is not None:
        named = format_named(format)
    elif not is_stream:
        _check_is_file(Path(path))  # otherwise its missing suffix would be the problem reported
        named = format_of_name(Path(path))
    with ExitStack() as closing:
        name, stream = _open_bytes(path, closing)
        chosen = named or format_of_start(stream.peek(64))
        check_options(chosen, name, {"delimiter": delimiter, "label_file": label_file})
        source = FileSource(
            name=name,
            path=None if is_stream else Path(path),
            stream=stream,
            format=chosen.name,
            encoding=encoding,
            delimiter=delimiter,
            label_file=None if label_file is None else Path(label_file),
            bad_rows=BadRows(skip=skip_bad),
            closing=closing,
            section=section,
        )
        if named is None:
            source.notes.append(f"{name} looks like {chosen.name}, and is read as such")
        with reading_errors(name):
            rows = chosen.read(source)
        # Opening succeeded, so the file stays open until the rows are read.
        source.closing = closing.pop_all()
        return rows


def split_file(
    path: str | Path,
    n_rows: int,
    *,
    format: str | Format | None = None,  # noqa: A002  # as above
    encoding: str = "utf-8",
) -> list[Section | None]:
    r"""Split a file into sections that can be read one without the other.

    Only the ends of lines are looked for, and of Parquet only the metadata are read.

    Parameters
    ----------
    path : str or Path
    n_rows : int
        The number of rows in each section, except for the last. For JSON lines, blank lines count.
    format, encoding
        As for `open_rows`.

    Returns
    -------
    list of Section or None
        A single None, for the whole file, if it is compressed, damaged or empty, or if its format
        cannot be split.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "birds.jsonl"
    ...     _ = path.write_text('{"name": "robin"}\n{"name": "raven"}\n{"name": "wren"}\n')
    ...     sections = split_file(path, 2)
    ...     list(open_rows(path, section=sections[1]))
    [Row(place='birds.jsonl, line 3', record={'name': 'wren'})]
    """
    encoding = _check_encoding(encoding)
    with _open_file(Path(path)) as file, reading_errors(str(path)):
        is_compressed = file.peek(2).startswith(GZIP_MAGIC)
        chosen = format_of_name(Path(path)) if format is None else format_named(format)
        # In UTF-16, a line feed has two bytes, and only the start of the file says in which order.
        is_plain = "\n".encode(encoding) == b"\n"
        if chosen.split is None or is_compressed or not is_plain:
            return [None]
        return list(chosen.split(file, n_rows)) or [None]


def _check_encoding(encoding: str) -> str:
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        raise ParameterError(
            f"there is no text encoding {encoding!r}; common ones are utf-8, latin-1 and utf-16",
            advice={"encoding": None},
        ) from None
    return encoding


def _open_bytes(path: str | Path, closing: ExitStack) -> tuple[str, io.BufferedReader]:
    """Open a file or standard input, decompressed, and return its name for messages with it."""
    if str(path) == STANDARD_STREAM:
        name, stream = "standard input", _peekable(sys.stdin.buffer)
    else:
        name, stream = Path(path).name, closing.enter_context(_open_file(Path(path)))
    with reading_errors(name):
        if stream.peek(2).startswith(GZIP_MAGIC):
            unpacked = closing.enter_context(gzip.GzipFile(fileobj=stream))
            stream = closing.enter_context(io.BufferedReader(unpacked))
        if not stream.peek(1):
            raise DataError(f"{name} is empty: it holds no rows; check how it was made")
    return name, stream


def _open_file(path: Path) -> io.BufferedReader:
    _check_is_file(path)
    with reading_errors(str(path)):
        return path.open("rb")


def _check_is_file(path: Path) -> None:
    with reading_errors(str(path)):
        if path.is_dir():
            raise DataError(f"{path} is a folder, not a file; name one file in it")
        if not path.exists():
            raise DataError(f"there is no file {path}; check the path")


def _peekable(stream: BinaryIO) -> io.BufferedReader:
    # Not wrapped if it can peek: a second buffer would block until a slow pipe has filled it.
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(stream)  # type: ignore[arg-type]  # binary files have readinto
