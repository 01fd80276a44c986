"""Opens a file of any format as rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from setlearn.errors import ParameterError
from setlearn.files.arff import read_arff
from setlearn.files.bad_rows import BadRows
from setlearn.files.formats import (
    STANDARD_STREAM,
    check_format,
    format_of_name,
    format_of_start,
)
from setlearn.files.json_records import read_json, read_jsonl
from setlearn.files.numpy_arrays import read_numpy
from setlearn.files.parquet import read_parquet
from setlearn.files.rows import Rows
from setlearn.files.source import Source, check_encoding, open_bytes, reading_errors
from setlearn.files.svmlight import read_svmlight
from setlearn.files.table import check_delimiter, read_table

__all__ = ["open_rows"]

READERS: dict[str, Callable[[Source], Rows]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "csv": read_table,
    "tsv": read_table,
    "parquet": read_parquet,
    "svmlight": read_svmlight,
    "arff": read_arff,
    "numpy": read_numpy,
}
"""Each reads what comes before the rows at once, and the rows when they are asked for."""


def open_rows(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the name that users know it by
    encoding: str = "utf-8",
    delimiter: str | None = None,
    label_file: str | Path | None = None,
    skip_bad: bool = False,
) -> Rows:
    r"""Open a file as a stream of rows, whatever its format.

    Parameters
    ----------
    path : str or Path
        The file, compressed with gzip or not; "-" for standard input.
    format : str, optional
        One of `FORMATS`. By default the suffix tells, and for standard input the first character.
    encoding : str
        The encoding of text. A byte order mark is dropped.
    delimiter : str, optional
        What stands between the columns of a CSV or TSV file. By default a tab in TSV, and in CSV
        whichever of comma, semicolon, tab and bar stands most often in the header.
    label_file : str or Path, optional
        The XML file that names the labels among the attributes of an ARFF file. By default the
        one beside it, such as flags.xml for flags-train.arff.
    skip_bad : bool
        Whether to leave out rows that cannot be used, and count them, rather than raise an error.

    Returns
    -------
    Rows
        To be iterated once.

    Raises
    ------
    DataError
        For a file that is not there or that cannot be read. For a row, the message has its place.
    ParameterError
        For an unknown format or encoding.

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
    encoding = check_encoding(encoding)
    if format is not None:
        check_format(format)
    elif str(path) != STANDARD_STREAM:
        format = format_of_name(Path(path))  # noqa: A001  # as above
    with ExitStack() as closing:
        name, stream = open_bytes(path, closing)
        source = Source(
            name=name,
            path=None if str(path) == STANDARD_STREAM else Path(path),
            stream=stream,
            format=format or format_of_start(stream.peek(64)),
            encoding=encoding,
            delimiter=None if delimiter is None else check_delimiter(delimiter),
            label_file=None if label_file is None else Path(label_file),
            bad_rows=BadRows(skip=skip_bad),
            closing=closing,
        )
        _check_options(source)
        if format is None:
            source.notes.append(f"{name} looks like {source.format}, and is read as such")
        with reading_errors(name):
            rows = READERS[source.format](source)
        # All went well, so what was opened stays open until the rows are read.
        source.closing = closing.pop_all()
        return rows


def _check_options(source: Source) -> None:
    if source.delimiter is not None and source.format not in ("csv", "tsv"):
        raise ParameterError(
            f"only csv and tsv have a delimiter, but {source.name} is read as {source.format}; "
            f"leave delimiter out, or name the format with --format"
        )
    if source.label_file is not None and source.format != "arff":
        raise ParameterError(
            f"only arff has a label file, but {source.name} is read as {source.format}; "
            f"leave label_file out, or name the format with --format"
        )
