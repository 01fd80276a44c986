"""Which data file a model was trained on, to warn if it is evaluated on the same file."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setlearn.cli.console import counted
from setlearn.files.formats import STANDARD_STREAM
from setlearn.files.reading import GZIP_MAGIC

__all__ = ["describe_training_data", "rows_trained_on", "too_good_figures"]

CONTENT = "content_sha256"


def describe_training_data(data: str, n_rows: int) -> dict[str, Any]:
    """Describe the file that a model is trained on, so that it can be recognised.

    Parameters
    ----------
    data : str
        The path of the file.
    n_rows : int
        The number of rows to train on.

    Returns
    -------
    dict
        Has digests, unless the data come through a pipe, which cannot be read twice.
    """
    return {"file": Path(data).name, "rows": n_rows, **_digests(data)}


def rows_trained_on(about: Mapping[str, Any], data: str) -> int | None:
    """The number of rows of a file that a model was trained on.

    Parameters
    ----------
    about : mapping
        What was saved with the model.
    data : str
        The path of the file, which may be compressed although it was not in training, or the other
        way round.

    Returns
    -------
    int or None
        0 if the model was trained on another file. None if that is not known: the model does not
        say what it was trained on, or one of the two files is a pipe.
    """
    match about.get("data"):
        case {"rows": int(n_rows), "sha256": str(digest), **others}:
            given = _digests(data).values()
        case _:
            return None
    if not given:
        return None
    return n_rows if digest in given or others.get(CONTENT) in given else 0


def too_good_figures(n_trained: int, n_rows: int, file: str) -> str:
    """Say that figures are too good, because the model was trained on the rows.

    Parameters
    ----------
    n_trained : int
        The number of rows that the model was trained on.
    n_rows : int
        The number of all rows.
    file : str
        The name of the file.

    Returns
    -------
    str

    Examples
    --------
    >>> too_good_figures(8, 10, "birds.csv")
    'the model was trained on 8 of the 10 rows of birds.csv, so the figures are too good; ...'
    """
    some = f"{n_trained} of the {counted(n_rows, 'row')}" if n_trained < n_rows else "the rows"
    return (
        f"the model was trained on {some} of {file}, so the figures are too good; evaluate it on "
        "rows that it has not seen"
    )


def _digests(data: str) -> dict[str, str]:
    """The SHA-256 of a file and, if it is compressed, that of its content."""
    if data == STANDARD_STREAM or not Path(data).is_file():
        return {}
    with open(data, "rb") as file:
        digests = {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
        file.seek(0)
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            file.seek(0)
            content = gzip.GzipFile(fileobj=file)
            digests[CONTENT] = hashlib.file_digest(content, "sha256").hexdigest()
    return digests
