"""Parquet, read in batches of rows."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from setlearn.errors import DataError, ParameterError
from setlearn.files.formats import Format
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource
from setlearn.files.table import check_columns

__all__ = ["PARQUET"]

BATCH_SIZE = 1024


def read_parquet(source: FileSource) -> Rows:
    """Read records of plain Python values; list columns become lists."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ParameterError(
            f"{source.name} is a Parquet file, but pyarrow is not installed; "
            f"pip install 'setlearn[parquet]'"
        ) from None
    try:
        file = parquet.ParquetFile(source.seekable())
    except pyarrow.ArrowException as error:
        raise _damaged(source, error) from error
    columns = list(file.schema_arrow.names)
    check_columns(columns, source.name)
    return Rows(source, _rows(source, file), columns=columns)


def _rows(source: FileSource, file: Any) -> Iterator[Row]:
    import pyarrow

    numbers = count(1)
    try:
        for batch in file.iter_batches(BATCH_SIZE):
            for record in batch.to_pylist():
                yield Row(source.place(next(numbers), "row"), record)
    except pyarrow.ArrowException as error:
        raise _damaged(source, error) from error


def _damaged(source: FileSource, error: Exception) -> DataError:
    return DataError(
        f"{source.name} cannot be read as Parquet: {error}; "
        f"write the file again, or pass its real format as format=",
        advice={"format": None},
    )


PARQUET = Format("parquet", (".parquet",), read=read_parquet, description="Parquet")
