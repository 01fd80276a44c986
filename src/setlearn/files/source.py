"""The file that a reader reads: its decompressed bytes, its lines, and its bad rows."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from setlearn.errors import DataError

__all__ = ["BadRows", "FileSource", "Section", "reading_errors"]

BYTE_ORDER_MARK = "\ufeff"

N_SHOWN = 10
"""How many bad rows are kept with their description; the others are only counted."""


class Section(NamedTuple):
    """A part of a file that can be read without the rest.

    Attributes
    ----------
    start, stop : int
        Where it starts, and where the next one does, in the unit of the format: bytes or rows.
    n_before : int
        The number of lines or rows before it.
    """

    start: int
    stop: int
    n_before: int


class BadRows:
    """Collects the rows that cannot be used: raises an error, or counts them.

    Parameters
    ----------
    skip : bool
        Whether to count such rows instead of raising an error.

    Attributes
    ----------
    n : int
        The number of bad rows so far.
    first : list of str
        Descriptions of the first few, each with its place.
    """

    def __init__(self, *, skip: bool) -> None:
        self.skip = skip
        self.n = 0
        self.first: list[str] = []

    def add(self, place: str, problem: str) -> None:
        """Count a bad row, or raise an error.

        Parameters
        ----------
        place : str
            Where the row is.
        problem : str
            What is wrong with it.

        Raises
        ------
        DataError
            If bad rows are not to be skipped.
        """
        description = f"{place}: {problem}"
        if not self.skip:
            raise DataError(
                f"{description}; correct it, or pass skip_bad=True to leave such rows out",
                advice={"skip_bad": True},
            )
        self.count(description)

    def count(self, description: str) -> None:
        """Count a row that the caller has already described as bad."""
        self.n += 1
        if len(self.first) < N_SHOWN:
            self.first.append(description)


@dataclass(slots=True)
class FileSource:
    """An open file, and what `open_rows` was asked to do with it.

    Attributes
    ----------
    name : str
        The file's name in messages.
    path : Path or None
        None for standard input.
    stream : binary file
        The decompressed bytes.
    format : str
        The name of the format in which the file is read.
    encoding : str
        The encoding of its text.
    delimiter : str or None
        The character between the columns of a table, if it was given.
    label_file : Path or None
        The XML file with the labels of an ARFF file, if it was given.
    bad_rows : BadRows
        Collects the rows that cannot be used.
    closing : ExitStack
        Everything that must be closed at the end.
    section : Section or None
        The part of the file to read; None for all of it.
    notes : list of str
        What was guessed about the file, for people to read.
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
    section: Section | None = None
    notes: list[str] = field(default_factory=list)

    def place(self, number: int, unit: str = "line") -> str:
        """Describe the place of a row for messages.

        Parameters
        ----------
        number : int
            The number of the line, row or item, counted from 1 at the start of the section.
        unit : str
            What is counted.

        Returns
        -------
        str
            For example "birds.csv, line 2".
        """
        n_before = 0 if self.section is None else self.section.n_before
        return f"{self.name}, {unit} {n_before + number}"

    def lines(self) -> Iterator[tuple[int, str]]:
        r"""Yield each line with its number, from 1; lines end in ``\n``, except maybe the last."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        number, n_bytes, pending = 1, 0, ""
        # The bytes up to a line feed are not always complete text: in UTF-16, the second byte of
        # the line feed comes with the next line. So the decoder keeps state, and lines are cut
        # out of the decoded text.
        for raw in self._raw_lines():
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

    def _raw_lines(self) -> Iterator[bytes]:
        if self.section is None:
            yield from self.stream
            return
        self.stream.seek(self.section.start)
        n_left = self.section.stop - self.section.start
        while n_left > 0 and (raw := self.stream.readline()):
            n_left -= len(raw)
            yield raw

    def seekable(self) -> IO[bytes]:
        """Return the bytes as a seekable file, copied to a temporary file if necessary."""
        if self.path is not None and self.path.is_file() and not self._is_compressed():
            return self.stream
        copy = self.closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed with the source
        shutil.copyfileobj(self.stream, copy)
        copy.seek(0)
        return copy

    def _is_compressed(self) -> bool:
        return isinstance(self.stream.raw, gzip.GzipFile)

    def _encoding_error(self, number: int, offset: int) -> DataError:
        offset += 0 if self.section is None else self.section.start
        return DataError(
            f"{self.place(number)}: byte {offset} of the file is not {self.encoding}; pass the "
            f"encoding in which it was saved, for instance encoding='latin-1' or encoding='utf-16'",
            advice={"encoding": None},
        )


@contextmanager
def reading_errors(name: str) -> Iterator[None]:
    """Turn the errors of reading a file into a DataError that names the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{name} is compressed, but incomplete or damaged ({error}); download or copy it again"
        ) from error
    except OSError as error:
        raise DataError(
            f"{name} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error
