"""Benchmarks of label sets: from a folder, a package, OpenML, or made from other data."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import os
import warnings
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.datasets._random_generator import RandomState, random_generator
from setlearn.errors import DataError, ParameterError
from setlearn.indicators import indicator_of_rows
from setlearn.nodes import FloatArray

__all__ = ["Benchmark", "digit_strips", "load_benchmark"]

FOLDER_VARIABLE = "SETLEARN_DATA"
OPENML_IDS = {"yeast": 40597, "scene": 40595}
RIVER_FILE = "datasets/yeast.csv.gz"
NAMES = ("bibtex", "digits", "flags", "scene", "yeast")

MOST_DIGITS = 6
"""The most digits on a strip; shorter strips are blank on the right."""


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """A multi-label data set.

    Attributes
    ----------
    name : str
        The name for `load_benchmark`.
    X : array or csr_array of shape (n_samples, n_features)
        The inputs.
    Y : csr_array of bool, shape (n_samples, n_labels)
        The indicator of the labels of each sample.
    label_names : tuple of str
        The names of the labels, one per column of Y.
    source : str
        Where the data came from, for people to read.
    """

    name: str
    X: FloatArray | sparse.csr_array
    Y: sparse.csr_array
    label_names: tuple[str, ...]
    source: str

    def sets(self) -> list[frozenset[str]]:
        """Return the label sets by name."""
        names = [self.label_names[label] for label in self.Y.indices]
        return [frozenset(names[first:last]) for first, last in pairwise(self.Y.indptr)]


def load_benchmark(name: str) -> Benchmark:
    """Load a benchmark of label sets by name.

    "yeast", "scene", "flags" and "bibtex" are read from ``<name>.npz`` in the folder named by the
    environment variable ``SETLEARN_DATA``. Without this file, yeast is read from the package
    ``river``, and yeast and scene are downloaded from OpenML by scikit-learn. "digits" is always
    available: it is made from scikit-learn's handwritten digits (see `digit_strips`).

    Parameters
    ----------
    name : {"yeast", "scene", "flags", "bibtex", "digits"}
        The data set.

    Returns
    -------
    Benchmark
        With ``X``, a sparse boolean indicator ``Y``, ``label_names``, and ``sets()`` for the same
        labels as sets.

    Raises
    ------
    DataError
        If the data set is not available here, or its file is damaged.
    ParameterError
        If there is no such benchmark.

    Examples
    --------
    >>> digits = load_benchmark("digits")
    >>> digits.X.shape, digits.Y.shape
    ((2000, 384), (2000, 10))
    >>> sorted(digits.sets()[0])
    ['1', '3', '4', '8']
    """
    if name not in NAMES:
        raise ParameterError(f"there is no benchmark {name!r}; choose one of {', '.join(NAMES)}")
    if name == "digits":
        return digit_strips()
    failures = []
    for source in (_from_folder, _from_river, _from_openml):
        try:
            return source(name)
        except _NotAvailableError as reason:
            failures.append(str(reason))
    raise DataError(
        f"the data set {name} is not available here: {'; '.join(failures)}; to get it, "
        f"{_how_to_get(name)}"
    )


def digit_strips(n_samples: int = 2000, *, random_state: RandomState = 0) -> Benchmark:
    """Strips of 1 to 6 handwritten digits side by side, and the set of digits on each.

    The images come with scikit-learn, 8 by 8 pixels each, so no download is needed.

    Parameters
    ----------
    n_samples : int
        The number of strips.
    random_state : int, RandomState or None
        The seed, or the random generator.

    Returns
    -------
    Benchmark
        The strips as rows of pixels, and the digits on each.

    Raises
    ------
    ParameterError
        If ``n_samples`` is below 1, or ``random_state`` cannot be used.

    Examples
    --------
    >>> strips = digit_strips(3, random_state=0)
    >>> strips.X.shape, sorted(strips.sets()[0])
    ((3, 384), ['3', '4', '5', '8'])
    """
    from sklearn.datasets import load_digits

    if not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ParameterError(f"n_samples must be a whole number of 1 or more, got {n_samples!r}")
    rng = random_generator(random_state)
    images, digits = load_digits(return_X_y=True)
    n_digits = rng.randint(1, MOST_DIGITS + 1, size=n_samples)
    drawn = rng.randint(len(images), size=(n_samples, MOST_DIGITS))
    on_strip = np.arange(MOST_DIGITS) < n_digits[:, None]  # (n, 6)
    strips = np.where(on_strip[..., None], images[drawn], 0.0)  # (n, 6, 64)
    rows = strips.reshape(n_samples, MOST_DIGITS, 8, 8).swapaxes(1, 2)
    sets = [set(digits[row[mask]].tolist()) for row, mask in zip(drawn, on_strip, strict=True)]
    return Benchmark(
        "digits",
        rows.reshape(n_samples, -1),
        indicator_of_rows([sorted(labels) for labels in sets], 10),
        tuple("0123456789"),
        "made from scikit-learn's digits",
    )


class _NotAvailableError(Exception):
    """A source does not have the data; the message says why."""


def _how_to_get(name: str) -> str:
    ways = [f"set {FOLDER_VARIABLE} to a folder that holds {name}.npz"]
    if name == "yeast":
        ways.append("pip install 'setlearn[datasets]'")
    if name in OPENML_IDS:
        ways.append(f"connect to the internet (OpenML data set {OPENML_IDS[name]})")
    return ", or ".join(ways)


def _from_folder(name: str) -> Benchmark:
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not folder:
        raise _NotAvailableError(f"{FOLDER_VARIABLE} is not set")
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise _NotAvailableError(f"the folder in {FOLDER_VARIABLE} holds no {name}.npz")
    # A damaged file is an error: trying another source would hide it.
    try:
        # Opened here, because np.load does not close a file that is not a zip archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _read_arrays(name, dict(arrays))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{name}.npz in the folder of {FOLDER_VARIABLE} cannot be read: {error}; "
            "download it again, or remove it to try other sources"
        ) from error


Arrays: TypeAlias = dict[str, NDArray[Any]]


def _read_arrays(name: str, arrays: Arrays) -> Benchmark:
    n_labels = int(arrays["n_labels"])
    Y = _checked_csr(arrays, "Y", n_labels).astype(bool)
    X: FloatArray | sparse.csr_array
    if "X" in arrays:
        X = np.asarray(arrays["X"], dtype=np.float64)
    else:
        X = _checked_csr(arrays, "X", int(arrays["X_shape"][1]))
    label_names = tuple(str(label) for label in arrays["label_names"])
    if X.shape[0] != Y.shape[0] or len(label_names) != n_labels:
        raise ValueError(
            f"its parts do not match: {X.shape[0]} inputs, {Y.shape[0]} label sets, "
            f"{n_labels} labels with {len(label_names)} names"
        )
    return Benchmark(name, X, Y, label_names, f"{name}.npz of {FOLDER_VARIABLE}")


def _checked_csr(arrays: Arrays, part: str, n_columns: int) -> sparse.csr_array:
    indptr, indices = arrays[f"{part}_indptr"], arrays[f"{part}_indices"].astype(np.int64)
    data = arrays.get(f"{part}_data", np.ones(len(indices)))
    matrix = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.check_format(full_check=True)
    return matrix


def _from_river(name: str) -> Benchmark:
    if name != "yeast":
        raise _NotAvailableError(f"the package river does not hold {name}")
    package = importlib.util.find_spec("river")  # not imported, because that is slow
    if package is None or not package.submodule_search_locations:
        raise _NotAvailableError("the package river is not installed")
    path = Path(package.submodule_search_locations[0]) / RIVER_FILE
    if not path.is_file():
        raise _NotAvailableError("the package river is too old (before 0.26) to hold yeast")
    try:
        with gzip.open(path, "rt", newline="") as file:
            header, *rows = csv.reader(file)
        numbers = np.array(rows, dtype=np.float64)
        labels = np.array([column.startswith("Class") for column in header])
        names = tuple(column for column in header if column.startswith("Class"))
        Y = sparse.csr_array(numbers[:, labels] == 1)
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise DataError(
            f"{RIVER_FILE} of the package river cannot be read: {error}; install river again"
        ) from error
    return Benchmark(name, numbers[:, ~labels], Y, names, "the package river")


def _from_openml(name: str) -> Benchmark:
    if name not in OPENML_IDS:
        raise _NotAvailableError(f"{name} is not fetched from OpenML")
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one per retry; the last failure is reported below
            # The parser that needs no pandas.
            bunch = fetch_openml(
                data_id=OPENML_IDS[name], as_frame=False, parser="liac-arff", n_retries=1
            )
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _NotAvailableError(f"OpenML could not be reached ({reason})") from error
    values = np.char.lower(np.asarray(bunch.target).astype(str))
    Y = sparse.csr_array(np.isin(values, ("true", "1", "1.0")))
    names = tuple(str(label) for label in bunch.target_names)
    X = np.asarray(bunch.data, dtype=np.float64)
    return Benchmark(name, X, Y, names, f"OpenML data set {OPENML_IDS[name]}")
