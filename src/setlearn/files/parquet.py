"""Parquet, a batch of rows at a time."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from setlearn.errors import DataError, ParameterError
from setlearn.files.rows import Row, Rows
from setlearn.files.source import Source
from setlearn.files.table import check_columns

__all__ = ["read_parquet"]

BATCH_SIZE = 1024


def read_parquet(source: Source) -> Rows:
    """Read records of Python's own values; columns of lists come as lists."""
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


def _rows(source: Source, file: Any) -> Iterator[Row]:
    import pyarrow

    numbers = count(1)
    try:
        for batch in file.iter_batches(BATCH_SIZE):
            for record in batch.to_pylist():
                yield Row(source.place(next(numbers), "row"), record)
    except pyarrow.ArrowException as error:
        raise _damaged(source, error) from error


def _damaged(source: Source, error: Exception) -> DataError:
    return DataError(
        f"{source.name} cannot be read as Parquet: {error}; "
        f"write it again, or name its true format with --format"
    )
