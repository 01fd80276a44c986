"""The formats by name, and how a file tells its own."""

from pathlib import PurePath

from setlearn.errors import ParameterError

__all__ = ["FORMATS", "STANDARD_STREAM", "check_format", "format_of_name", "format_of_start"]

STANDARD_STREAM = "-"
"""The path that means standard input, or standard output when writing."""

FORMATS = {
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet",),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "arff": (".arff",),
    "numpy": (".npz", ".npy"),
}
"""The suffixes of each format; each may be followed by .gz."""


def check_format(format: str) -> str:  # noqa: A002  # the name that users know it by
    """Give the format back if it is one."""
    if format not in FORMATS:
        raise ParameterError(f"there is no format {format!r}; choose one of {', '.join(FORMATS)}")
    return format


def format_of_name(path: PurePath) -> str:
    """Tell the format by the suffix, with or without .gz.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> format_of_name(PurePath("birds.CSV.gz"))
    'csv'
    """
    suffix = PurePath(path.name.lower().removesuffix(".gz")).suffix
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise ParameterError(
        f"the name {path.name!r} does not tell a format; "
        f"name one with --format: {', '.join(FORMATS)}"
    )


def format_of_start(first_bytes: bytes) -> str:
    """Guess the format of a stream without a name.

    Examples
    --------
    >>> format_of_start(b'{"x": 1}'), format_of_start(b"name,colour")
    ('jsonl', 'csv')
    """
    start = first_bytes.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return {b"{": "jsonl", b"[": "json"}.get(start, "csv")
