"""Parquet, read in batches of rows."""

from collections.abc import Iterator
from itertools import count
from typing import Any, BinaryIO

from setlearn.errors import DataError, ParameterError
from setlearn.files.formats import Format
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource, Section
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


def split_parquet(file: BinaryIO, n_rows: int) -> Iterator[Section]:
    """Yield sections of a number of rows each; how many there are is in the metadata.

    Parameters
    ----------
    file : binary file
    n_rows : int
        The number of rows in each section, except for the last.

    Yields
    ------
    Section
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return  # reading says what to install
    try:
        n_all = parquet.ParquetFile(file).metadata.num_rows
    except pyarrow.ArrowException:
        return  # reading says what is wrong
    for start in range(0, n_all, n_rows):
        yield Section(start, min(start + n_rows, n_all), n_before=start)


def _rows(source: FileSource, file: Any) -> Iterator[Row]:
    import pyarrow

    numbers = count(1)
    try:
        for batch in _batches(file, source.section):
            for record in batch.to_pylist():
                yield Row(source.place(next(numbers), "row"), record)
    except pyarrow.ArrowException as error:
        raise _damaged(source, error) from error


def _batches(file: Any, section: Section | None) -> Iterator[Any]:
    """Yield batches of rows, of a section only from the row groups that it is in."""
    if section is None:
        yield from file.iter_batches(BATCH_SIZE)
        return
    first = 0  # of the group
    for group in range(file.metadata.num_row_groups):
        stop = first + file.metadata.row_group(group).num_rows
        if first < section.stop and section.start < stop:
            for batch in file.iter_batches(BATCH_SIZE, row_groups=[group]):
                begin = min(max(section.start - first, 0), len(batch))
                yield batch.slice(begin, max(section.stop - first - begin, 0))
                first += len(batch)
        first = stop


def _damaged(source: FileSource, error: Exception) -> DataError:
    return DataError(
        f"{source.name} cannot be read as Parquet: {error}; "
        f"write the file again, or pass its real format as format=",
        advice={"format": None},
    )


PARQUET = Format(
    "parquet", (".parquet",), read=read_parquet, split=split_parquet, description="Parquet"
)
