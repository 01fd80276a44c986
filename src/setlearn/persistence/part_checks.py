"""What must hold of scikit-learn's objects that were built from a file, before they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.persistence.archive_checks import unsound
from setlearn.persistence.index_checks import check_indices, check_settings

__all__ = ["check_parts"]

MAY_LACK_VALUES = (
    "scipy.interpolate",
    "sklearn.ensemble._hist_gradient_boosting",
    "sklearn.impute",
    "sklearn.model_selection",
    "sklearn.preprocessing",
)
"""Where NaN or infinity are ordinary: what is off a curve, thresholds that catch all,
categories, fills, scores."""


def check_parts(parts: Any) -> None:
    """Look at every object that was built: arrays first, for the learners around them use them."""
    found = list(_all_objects(parts))
    for thing, owner in found:
        if sparse.issparse(thing):
            _check_sparse(thing, owner)
        elif isinstance(thing, np.ndarray):
            _check_finite(thing, owner)
    for thing, _ in reversed(found):
        check_settings(thing)
        if _is_fitted(thing):
            check_indices(thing)


def _all_objects(root: Any) -> Iterator[tuple[Any, str]]:
    """Every object below the root with the module of the object that holds it."""
    seen: set[int] = set()
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        thing, owner = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | str | bytes | int | float | None):
            continue
        seen.add(id(thing))
        yield thing, owner
        if isinstance(thing, dict):
            waiting += [(part, owner) for pair in thing.items() for part in pair]
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting += [(part, owner) for part in thing]
        elif isinstance(thing, np.ndarray):
            waiting += [(part, owner) for part in thing.ravel()] if thing.dtype == object else []
        elif hasattr(thing, "__dict__") and not sparse.issparse(thing):
            waiting += [(part, type(thing).__module__) for part in vars(thing).values()]


def _is_fitted(thing: Any) -> bool:
    """Whether it has learned something; learners also hold copies that were never fitted."""
    if not hasattr(thing, "get_params"):
        return True
    return any(name.endswith("_") and name[0] != "_" for name in vars(thing))


def _check_sparse(matrix: Any, owner: str) -> None:
    if matrix.format not in ("csr", "csc"):
        raise unsound(f"it holds a sparse matrix in the layout {matrix.format}")
    matrix.check_format(full_check=True)
    _check_finite(matrix.data, owner)


def _check_finite(array: NDArray[Any], owner: str) -> None:
    if array.dtype.kind != "f" or owner.startswith(MAY_LACK_VALUES):
        return
    if not np.isfinite(array).all():
        raise unsound(f"an array of {owner.rpartition('.')[2]} holds NaN or infinity")
