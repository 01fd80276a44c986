"""The header of an array in NumPy's own format."""

from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

__all__ = ["read_npy_header"]


def read_npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type; the file stands at the numbers then."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(file)
    return shape, is_fortran, dtype
