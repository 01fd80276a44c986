"""What a file format declares, and the table of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.files.rows import Rows
    from setlearn.files.source import FileSource, Section

__all__ = [
    "FORMATS",
    "STANDARD_STREAM",
    "Format",
    "add_formats",
    "check_options",
    "format_named",
    "format_of_name",
    "format_of_start",
    "suffix_of",
    "writable_formats",
]

STANDARD_STREAM = "-"
"""The path that means standard input, or standard output when writing."""

OPTIONS = ("delimiter", "label_file")
"""The arguments of `open_rows` that only some formats use."""

FALLBACK = "csv"
"""The format of a stream whose first character says nothing."""

Reader: TypeAlias = "Callable[[FileSource], Rows]"
Writer: TypeAlias = Callable[[Iterable[Mapping[str, Any]]], Iterator[bytes]]
Splitter: TypeAlias = "Callable[[BinaryIO, int], Iterable[Section]]"


@dataclass(frozen=True, slots=True)
class Format:
    r"""A file format, declared once, at the end of the file that implements it.

    Parameters
    ----------
    name : str
        The name that users pass as ``format=``.
    suffixes : tuple of str
        The suffixes of file names, in lower case and with the dot. Each may be followed by .gz.
    read : callable
        Takes a `FileSource` and returns `Rows`. It reads the header at once, and the rows one by
        one when they are asked for.
    write : callable, optional
        Takes an iterable of records and yields the bytes of the file, piece by piece. None for a
        format that can only be read.
    split : callable, optional
        Takes an open file and a number of rows, and returns the sections with this number of rows
        each. None if the file can only be read from its start.
    options : frozenset of {"delimiter", "label_file"}
        The arguments of `open_rows` that the reader uses. The others are refused.
    description : str
        What the format is called in help texts.
    start : bytes
        The first character, after white space, of every file of this format. It is used to guess
        the format of standard input. Empty if the first character says nothing.

    Raises
    ------
    ParameterError
        If a suffix has no dot or is not in lower case, or an option does not exist.

    Examples
    --------
    A format of one word per line, which the library does not know:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from setlearn.files import Row, Rows, open_rows
    >>> def read_words(source):
    ...     rows = (Row(source.place(n), {"word": line.strip()}) for n, line in source.lines())
    ...     return Rows(source, rows, columns=["word"])
    >>> words = Format("words", (".words",), read=read_words)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "birds.words"
    ...     _ = path.write_text("robin\nraven\n")
    ...     [record["word"] for _, record in open_rows(path, format=words)]
    ['robin', 'raven']
    """

    name: str
    suffixes: tuple[str, ...]
    read: Reader
    write: Writer | None = None
    split: Splitter | None = None
    options: frozenset[str] = frozenset()
    description: str = ""
    start: bytes = b""

    def __post_init__(self) -> None:
        for suffix in self.suffixes:
            if not suffix.startswith(".") or suffix != suffix.lower():
                raise ParameterError(
                    f"the suffixes of a format start with a dot and are in lower case, "
                    f"got {suffix!r} for {self.name}"
                )
        unknown = self.options.difference(OPTIONS)
        if unknown:
            raise ParameterError(
                f"{self.name} declares the unknown option {min(unknown)!r}; "
                f"the options are {', '.join(OPTIONS)}"
            )


FORMATS: dict[str, Format] = {}
"""All formats of the package by name; ``files/__init__.py`` lists them."""


def add_formats(*formats: Format) -> None:
    """Add formats to `FORMATS`, so that their names and suffixes are recognised.

    Parameters
    ----------
    *formats : Format
        The formats, in the order in which error messages list them.

    Raises
    ------
    ParameterError
        If another format already has the name or one of the suffixes.
    """
    for new in formats:
        for other in FORMATS.values():
            shared = {new.name, *new.suffixes} & {other.name, *other.suffixes}
            if shared:
                raise ParameterError(
                    f"there is already a format for {min(shared)!r}; choose another name or suffix"
                )
        FORMATS[new.name] = new


def format_named(format: str | Format) -> Format:  # noqa: A002  # the public name of the argument
    """Return the format of this name; a `Format` is returned as it is."""
    if isinstance(format, Format):
        return format
    if format not in FORMATS:
        raise ParameterError(
            f"there is no format {format!r}; choose one of {', '.join(FORMATS)}",
            advice={"format": None},
        )
    return FORMATS[format]


def format_of_name(path: PurePath) -> Format:
    """Return the format that the suffix of a file name stands for, with or without .gz.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> format_of_name(PurePath("birds.CSV.gz")).name
    'csv'
    """
    suffix = suffix_of(path)
    for candidate in FORMATS.values():
        if suffix in candidate.suffixes:
            return candidate
    raise ParameterError(
        f"the file name {path.name!r} has no suffix of a known format; "
        f"pass format=, one of {', '.join(FORMATS)}",
        advice={"format": None},
    )


def suffix_of(path: PurePath) -> str:
    """Return the suffix of a file name, in lower case and without .gz.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> suffix_of(PurePath("birds.CSV.gz"))
    '.csv'
    """
    return PurePath(path.name.lower().removesuffix(".gz")).suffix


def writable_formats() -> str:
    """Return the names of the formats that can be written, for messages."""
    return ", ".join(each.name for each in FORMATS.values() if each.write is not None)


def format_of_start(first_bytes: bytes) -> Format:
    """Guess the format of a stream without a name from its first bytes.

    Examples
    --------
    >>> format_of_start(b'{"x": 1}').name, format_of_start(b"name,colour").name
    ('jsonl', 'csv')
    """
    start = first_bytes.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    for candidate in FORMATS.values():
        if candidate.start and candidate.start == start:
            return candidate
    return FORMATS[FALLBACK]


def check_options(chosen: Format, file_name: str, given: Mapping[str, object]) -> None:
    """Refuse options that the format does not use.

    Parameters
    ----------
    chosen : Format
        The format in which the file is read.
    file_name : str
        The name of the file, for the error message.
    given : dict from str to object
        The options by name; None means that the option was not given.

    Raises
    ------
    ParameterError
        If an option is given that the format does not declare.
    """
    for option, value in given.items():
        if value is not None and option not in chosen.options:
            users = [other.name for other in FORMATS.values() if option in other.options]
            raise ParameterError(
                f"{option} is only for {' and '.join(users)}, but {file_name} is read as "
                f"{chosen.name}; leave {option} out, or pass format=",
                advice={"format": None},
            )
