"""Where bytes come from: a file or standard input, compressed or not, and in some encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

from setlearn.errors import DataError, ParameterError
from setlearn.files.bad_rows import BadRows
from setlearn.files.formats import STANDARD_STREAM

__all__ = ["Source", "check_encoding", "open_bytes", "reading_errors"]

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = "\ufeff"


@dataclass(slots=True)
class Source:
    """A file on its way in, and all that its reader was told about it.

    Attributes
    ----------
    name : str
        What messages call it.
    path : Path or None
        None for standard input.
    stream : binary file
        Its bytes, no longer compressed.
    format, encoding : str
    delimiter : str or None
        What stands between the columns of a table, if told.
    label_file : Path or None
        The XML that names the labels of an ARFF file, if told.
    bad_rows : BadRows
        Takes the rows that cannot be used.
    closing : ExitStack
        All that is to be closed at the end.
    notes : list of str
        What was guessed, for people.
    """

    name: str
    path: Path | None
    stream: io.BufferedReader
    format: str
    encoding: str
    delimiter: str | None
    label_file: Path | None
    bad_rows: BadRows
    closing: ExitStack
    notes: list[str] = field(default_factory=list)

    def place(self, number: int, unit: str = "line") -> str:
        """What messages call one line or row."""
        return f"{self.name}, {unit} {number}"

    def lines(self) -> Iterator[tuple[int, str]]:
        r"""Each line with its number from 1; it ends in ``\n``, except maybe the last."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        number, n_bytes, pending = 1, 0, ""
        # The bytes of a line are not always text of their own: in UTF-16, half of the line's end
        # comes with the next one. Hence a decoder that remembers, and lines cut out of its text.
        for raw in self.stream:
            try:
                text = decoder.decode(raw)
            except UnicodeDecodeError as error:
                kept = len(error.object) - len(raw)
                raise self._encoding_error(number, n_bytes + error.start - kept) from None
            if n_bytes == 0:
                text = text.removeprefix(BYTE_ORDER_MARK)
            n_bytes += len(raw)
            *complete, pending = (pending + text).split("\n")
            for line in complete:
                yield number, f"{line}\n"
                number += 1
        try:
            pending += decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise self._encoding_error(number, n_bytes) from None
        if pending:
            yield number, pending

    def seekable(self) -> IO[bytes]:
        """The bytes as a file to jump about in, copied to disk if they are not one already."""
        if self.path is not None and self.path.is_file() and not self._is_compressed():
            return self.stream
        copy = self.closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed with the source
        shutil.copyfileobj(self.stream, copy)
        copy.seek(0)
        return copy

    def _is_compressed(self) -> bool:
        return isinstance(self.stream.raw, gzip.GzipFile)

    def _encoding_error(self, number: int, offset: int) -> DataError:
        return DataError(
            f"{self.place(number)}: byte {offset} of the file is not {self.encoding}; name the "
            f"encoding it was saved in, for instance with --encoding latin-1 or --encoding utf-16"
        )


def open_bytes(path: str | Path, closing: ExitStack) -> tuple[str, io.BufferedReader]:
    """Open a file or standard input, through gzip if it is compressed, and say its name."""
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


@contextmanager
def reading_errors(name: str) -> Iterator[None]:
    """Turn what goes wrong on the way in into errors that name the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{name} is compressed, but cut short or damaged ({error}); fetch or copy it again"
        ) from error
    except OSError as error:
        raise DataError(
            f"{name} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error


def check_encoding(encoding: str) -> str:
    """Give the encoding back if Python knows it as one of text."""
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        raise ParameterError(
            f"there is no text encoding {encoding!r}; common ones are utf-8, latin-1 and utf-16"
        ) from None
    return encoding


def _open_file(path: Path) -> io.BufferedReader:
    with reading_errors(str(path)):
        if path.is_dir():
            raise DataError(f"{path} is a folder, not a file; name one file in it")
        if not path.exists():
            raise DataError(f"there is no file {path}; check the path")
        return path.open("rb")


def _peekable(stream: BinaryIO) -> io.BufferedReader:
    # Not wrapped if it can peek: a second buffer would wait for more than a slow pipe has yet.
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(stream)  # type: ignore[arg-type]  # binary files have readinto
