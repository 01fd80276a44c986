"""NumPy files: one matrix, or several arrays with the inputs X and the label sets Y."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import DataError
from setlearn.files.formats import Format
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource

__all__ = ["NUMPY", "read_npy_header"]

TARGET = "y"
ZIP_MAGIC = b"PK"

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Matrix: TypeAlias = NDArray[Any] | sparse.csr_array


def read_numpy(source: FileSource) -> Rows:
    """Read records ``{"x": ..., "y": [...]}``.

    ``x`` is an array of floats, or a dict from column to value if X is sparse. ``y`` lists the
    labels by name, or by column if the file has no names.
    """
    file = source.seekable()
    is_zip = file.read(2) == ZIP_MAGIC
    file.seek(0)
    try:
        if not is_zip:
            return Rows(source, _rows(source, _mapped(file), None, None), columns=["x"])
        with np.load(file, allow_pickle=False) as arrays:
            X, Y, names = _parts(arrays)
    except (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{source.name} cannot be read: {error}; save arrays with np.savez(path, X=X, Y=Y)"
        ) from error
    if Y is None:
        return Rows(source, _rows(source, X, None, None), columns=["x"])
    return Rows(source, _rows(source, X, Y, names), columns=["x", TARGET], target=TARGET)


def read_npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, whether the order is Fortran's, and type; the numbers follow in the file."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(file)
    return shape, is_fortran, dtype


def _mapped(file: IO[bytes]) -> NDArray[Any]:
    """Map a matrix into memory, so that only the rows in use are loaded."""
    shape, is_fortran, dtype = read_npy_header(file)
    _check_numbers("the array", dtype, len(shape))
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.memmap(file, dtype, "r", file.tell(), shape, "F" if is_fortran else "C")


def _parts(arrays: Arrays) -> tuple[Matrix, Matrix | None, list[Any] | None]:
    X = _matrix(arrays, "X")
    if X is None:
        raise ValueError(f"it holds {', '.join(sorted(arrays)) or 'no arrays'}, but no X")
    Y = _matrix(arrays, "Y")
    if Y is None:
        Y = _matrix(arrays, "y")  # the name that scikit-learn uses
    if Y is None:
        return X, None, None
    if Y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but Y has {Y.shape[0]}")
    names = arrays["label_names"].tolist() if "label_names" in arrays else None
    if names is not None and len(names) != Y.shape[1]:
        raise ValueError(f"Y has {Y.shape[1]} columns, but there are {len(names)} label_names")
    return X, Y, names


def _matrix(arrays: Arrays, part: str) -> Matrix | None:
    if part in arrays:
        matrix = arrays[part]
        _check_numbers(part, matrix.dtype, matrix.ndim)
        return matrix
    if f"{part}_indptr" not in arrays:
        return None
    indptr, indices = arrays[f"{part}_indptr"], arrays[f"{part}_indices"].astype(np.int64)
    has_data = f"{part}_data" in arrays
    data = arrays[f"{part}_data"] if has_data else np.ones(len(indices))
    shape = (len(indptr) - 1, _width(arrays, part, indices))
    csr = sparse.csr_array((data, indices, indptr), shape=shape)
    csr.check_format(full_check=True)
    csr.sum_duplicates()
    return csr


def _width(arrays: Arrays, part: str, indices: NDArray[Any]) -> int:
    if f"{part}_shape" in arrays:
        return int(arrays[f"{part}_shape"][1])
    if part != "X" and "n_labels" in arrays:
        return int(arrays["n_labels"])
    if part != "X" and "label_names" in arrays:
        return len(arrays["label_names"])
    return int(indices.max(initial=-1)) + 1


def _check_numbers(part: str, dtype: np.dtype[Any], n_dimensions: int) -> None:
    if n_dimensions != 2 or dtype.kind not in "biuf":
        raise ValueError(
            f"{part} has {n_dimensions} dimension(s) of {dtype}, but a matrix of numbers is needed"
        )


def _rows(
    source: FileSource, X: Matrix, Y: Matrix | None, names: list[Any] | None
) -> Iterator[Row]:
    for i in range(X.shape[0]):
        place = source.place(i + 1, "row")
        record: dict[str, Any] = {"x": _input(X, i)}
        if Y is not None:
            columns, values = _entries(Y, i)
            unfit = values[(values != 0) & (values != 1)]
            if unfit.size:
                source.bad_rows.add(place, f"Y holds {unfit[0]}, but label sets consist of 0 and 1")
                continue
            right = columns[values == 1].tolist()
            record[TARGET] = right if names is None else [names[label] for label in right]
        yield Row(place, record)


def _input(X: Matrix, i: int) -> NDArray[np.float64] | dict[int, float]:
    if isinstance(X, np.ndarray):
        return np.array(X[i], dtype=np.float64)
    columns, values = _entries(X, i)
    return dict(zip(columns.tolist(), values.astype(np.float64).tolist(), strict=True))


def _entries(matrix: Matrix, i: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The stored columns of one row, and their values."""
    if isinstance(matrix, np.ndarray):
        return np.arange(matrix.shape[1]), matrix[i]
    span = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return matrix.indices[span], matrix.data[span]


NUMPY = Format("numpy", (".npz", ".npy"), read=read_numpy, description="NumPy arrays")
