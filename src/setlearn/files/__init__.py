"""Reading and writing data files of many formats as a stream of rows.

A row is a record (a dict from column names to values) and its place in the file, so that an error
about a row can say where it is. `open_rows` reads files and `write_rows` writes them.

To add a format, write one file that ends with its `Format` declaration, and add that declaration
to the list below. The suffixes, the names in error messages and the checks of options are derived
from it. A format from outside the package needs no line here: pass its `Format` as ``format=``.
"""

from setlearn.files.arff import ARFF
from setlearn.files.formats import FORMATS, Format, add_formats
from setlearn.files.json_records import JSON, JSONL
from setlearn.files.numpy_arrays import NUMPY
from setlearn.files.parquet import PARQUET
from setlearn.files.reading import open_rows, split_file
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource, Section
from setlearn.files.svmlight import SVMLIGHT
from setlearn.files.table import CSV, TSV
from setlearn.files.writing import write_rows

__all__ = [
    "FORMATS",
    "FileSource",
    "Format",
    "Row",
    "Rows",
    "Section",
    "open_rows",
    "split_file",
    "write_rows",
]

add_formats(
    JSONL,
    JSON,
    CSV,
    TSV,
    PARQUET,
    SVMLIGHT,
    ARFF,
    NUMPY,
)
