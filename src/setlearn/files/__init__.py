"""Files of many formats, all read as a stream of rows, and rows written back.

A row is a record, a dict from names to values, and the place it came from, so that whoever finds
something wrong with it can say where. `open_rows` reads, `write_rows` writes.
"""

from setlearn.files.formats import FORMATS
from setlearn.files.reading import open_rows
from setlearn.files.rows import Row, Rows
from setlearn.files.writing import write_rows

__all__ = ["FORMATS", "Row", "Rows", "open_rows", "write_rows"]
