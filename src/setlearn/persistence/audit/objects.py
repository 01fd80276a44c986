"""What must hold of objects that were built from a file, before they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import ModelError
from setlearn.persistence.audit.archive import unsound
from setlearn.persistence.audit.indices import INDEX_CHECKS, SETTING_CHECKS
from setlearn.persistence.classes import place_of, spec_of
from setlearn.savable import Part, Saved

__all__ = ["check_objects", "check_structure"]

MAY_LACK_VALUES = (
    "scipy.interpolate",
    "sklearn.ensemble._hist_gradient_boosting",
    "sklearn.impute",
    "sklearn.model_selection",
    "sklearn.preprocessing",
)
"""Where NaN or infinity are ordinary: curves beyond their ends, thresholds that include all,
categories, fill values, scores."""


def check_objects(parts: Any) -> None:
    """Raise unless every object of scikit-learn that was built is sound.

    Arrays come first, because the learners around them use them.
    """
    objects = list(_all_objects(parts))
    for value, owner in objects:
        if sparse.issparse(value):
            _check_sparse(value, owner)
        elif isinstance(value, np.ndarray):
            _check_finite(value, owner)
    for value, _ in reversed(objects):
        _check_by_type(value, SETTING_CHECKS)
        if _is_fitted(value):
            _check_by_type(value, INDEX_CHECKS)


def _check_by_type(value: Any, checks: Mapping[str, Callable[[Any], None]]) -> None:
    for kind in type(value).__mro__:
        check = checks.get(f"{kind.__module__}.{kind.__name__}")
        if check is not None:
            check(value)


def _all_objects(root: Any) -> Iterator[tuple[Any, str]]:
    """Every object below the root with the module of the object that holds it."""
    seen: set[int] = set()
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        value, owner = waiting.pop()
        if id(value) in seen or isinstance(value, type | str | bytes | int | float | None):
            continue
        seen.add(id(value))
        yield value, owner
        if isinstance(value, dict):
            waiting += [(part, owner) for pair in value.items() for part in pair]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += [(part, owner) for part in value]
        elif isinstance(value, np.ndarray):
            waiting += [(part, owner) for part in value.ravel()] if value.dtype == object else []
        elif not sparse.issparse(value):
            waiting += [(part, type(value).__module__) for part in _attributes(value)]


def _attributes(value: Any) -> list[Any]:
    """The values of all attributes, also of classes with ``__slots__``."""
    attributes = list(getattr(value, "__dict__", {}).values())
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        attributes += [getattr(value, name) for name in names if hasattr(value, name)]
    return attributes


def _is_fitted(value: Any) -> bool:
    """Whether it is fitted; learners also hold copies that never were."""
    if not hasattr(value, "get_params"):
        return True
    return any(name.endswith("_") and name[0] != "_" for name in vars(value))


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


def check_structure(model: Any) -> None:
    """Raise unless every large part of a model is of a type that its class names."""
    kind = type(model)
    for attribute, types in (spec_of(kind) or Saved()).parts.items():
        # A part that may be None may also be absent, as before a fit.
        part = getattr(model, attribute, None) if None in types else getattr(model, attribute)
        if not any(_is_of(part, wanted) for wanted in types):
            names = " or ".join(map(_short_name, types))
            raise ModelError(
                f"the model's {kind.__name__} has a {type(part).__name__} as {attribute}, where "
                f"only {names} belongs; it is damaged, or was not written by setlearn"
            )
        check_structure(part)


def _is_of(part: Any, wanted: Part) -> bool:
    if wanted is None:
        return part is None
    return place_of(part) == wanted if isinstance(wanted, str) else isinstance(part, wanted)


def _short_name(wanted: Part) -> str:
    if wanted is None:
        return "None"
    return wanted.rpartition(":")[2] if isinstance(wanted, str) else wanted.__name__
