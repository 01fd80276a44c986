"""From a fitted model to data: JSON, arrays, and scikit-learn's objects, each kept apart.

Plain JSON values are written as they are. Everything else is an object whose first key begins
with "!", such as ``{"!tuple": [1, 2]}``; `decoding` reads them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import ModelError
from setlearn.persistence.classes import place_of, spec_of, state_of
from setlearn.savable import Saved

if TYPE_CHECKING:
    from torch import nn

__all__ = ["TYPES", "Encoded", "encode", "is_sound"]

TYPES = {
    "frozenset": frozenset,
    "list": list,
    "ndarray": np.ndarray,
    "set": set,
    "str": str,
    "tuple": tuple,
    **{
        name: getattr(sparse, name)
        for layout in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
        for name in (f"{layout}_array", f"{layout}_matrix")
    },
}
"""The types that a model may name: of elements, and of the containers of sets."""


@dataclass
class Encoded:
    """A model as data. ``config`` refers to the others by name or number."""

    config: Any = None
    vocabulary: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    sklearn: list[Any] = field(default_factory=list)


def encode(model: Any) -> Encoded:
    """Take a fitted model apart. What cannot be saved is refused, with its place in the model."""
    encoder = _Encoder()
    encoder.data.config = encoder.encode(model, type(model).__name__)
    return encoder.data


class _Encoder:
    """Writes each value under its place: the attributes, keys and numbers that lead to it.

    Places are unique, because dots and slashes in keys are escaped; see `_below`.
    """

    def __init__(self) -> None:
        self.data = Encoded()
        # Shared arrays and networks are written once. The objects themselves are kept beside
        # their JSON, because the id of a deleted object may be given to another.
        self.seen: dict[int, tuple[object, dict[str, Any]]] = {}

    def encode(self, value: Any, where: str, *, infinite: bool = False) -> Any:
        """The JSON of a value; ``where`` is its place, for names and messages."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"!float": str(value)}
        if (place := place_of(value)) is not None:
            return self._object(place, value, where)
        if isinstance(value, np.ndarray):
            coded = self._once(value, where, self._array)
            if "!tensor" in coded:  # labels, which are names, may be any numbers
                _check_finite(value, where, infinite)
            return coded
        if isinstance(value, np.generic):
            return {"!scalar": self.encode(value.item(), where), "dtype": value.dtype.str}
        if sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.dtype):
            return {"!dtype": value.str}
        if isinstance(value, type):
            return self._type(value, where)
        if _is_module(value):
            return self._once(value, where, self._module)
        if type(value) in (list, tuple, set, frozenset, dict):
            return self._container(value, where)
        return self._by_skops(value, where)

    def _object(self, kind: str, value: Any, where: str) -> dict[str, Any]:
        spec = spec_of(type(value)) or Saved()
        state = {}
        for attribute, part in state_of(value).items():
            place = _below(where, attribute)
            if attribute in spec.names:
                state[attribute] = {"!vocabulary": place}
                self.data.vocabulary[place] = self._names(part, place)
                self.seen[id(part)] = (part, state[attribute])
            else:
                state[attribute] = self.encode(part, place, infinite=attribute in spec.infinite)
        return {"!object": kind, **state}

    def _names(self, names: Any, where: str) -> Any:
        """Labels or tokens in readable form, even if they are numbers."""
        if isinstance(names, np.ndarray):
            return self._listed(names, where)
        return self.encode(names, where)

    def _listed(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        values = self._all(array.ravel().tolist(), where)
        return {"!array": values, "dtype": array.dtype.str, "shape": list(array.shape)}

    def _all(self, values: Any, where: str) -> list[Any]:
        return [self.encode(value, _below(where, k)) for k, value in enumerate(values)]

    def _once(self, value: Any, where: str, write: Any) -> dict[str, Any]:
        if id(value) not in self.seen:
            self.seen[id(value)] = (value, write(value, where))
        return self.seen[id(value)][1]

    def _array(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        if array.dtype.kind in "OU":
            return self._listed(array, where)
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise _cannot(where, f"an array of {array.dtype}", "models hold ordinary numbers")
        self._put_tensor(where, np.ascontiguousarray(array).reshape(array.shape))
        # The layout is kept, because the last digit of a matrix product depends on it.
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        return {"!tensor": where, **({"order": "F"} if by_columns else {})}

    def _put_tensor(self, place: str, array: NDArray[Any]) -> None:
        if place in self.data.tensors:
            raise AssertionError(f"two arrays have the place {place!r}")
        self.data.tensors[place] = array

    def _sparse(self, matrix: Any, where: str) -> dict[str, Any]:
        name = type(matrix).__name__
        if name not in ("csr_array", "csr_matrix", "csc_array", "csc_matrix"):
            raise _cannot(where, f"a {name}", "only CSR and CSC matrices can be saved")
        parts = {
            part: self.encode(getattr(matrix, part), _below(where, part))
            for part in ("data", "indices", "indptr")
        }
        return {"!sparse": name, "shape": list(matrix.shape), **parts}

    def _type(self, kind: type, where: str) -> dict[str, Any]:
        for name, known in TYPES.items():
            if kind is known:
                return {"!type": name}
        if where.endswith(".container"):  # which is made again for sparse matrices alone
            return {"!type": "ndarray"}
        raise _cannot(where, f"the type {kind.__name__}", "it cannot be named in a file")

    def _module(self, module: nn.Module, where: str) -> dict[str, Any]:
        for name, tensor in module.state_dict().items():
            array = tensor.detach().cpu().numpy()
            _check_finite(array, f"{where}.{name}")
            self._put_tensor(f"{where}/{name}", np.ascontiguousarray(array))
        return {"!network": where}

    def _container(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return self._dict(value, where)
        if isinstance(value, set | frozenset):
            return {f"!{type(value).__name__}": self._all(sorted(value, key=repr), where)}
        coded = self._all(value, where)
        return {"!tuple": coded} if isinstance(value, tuple) else coded

    def _dict(self, value: dict[Any, Any], where: str) -> dict[str, Any]:
        if all(isinstance(key, str) and not key.startswith("!") for key in value):
            return {key: self.encode(part, _below(where, key)) for key, part in value.items()}
        return {
            "!dict": [self._all(pair, _below(where, k)) for k, pair in enumerate(value.items())]
        }

    def _by_skops(self, value: Any, where: str) -> dict[str, Any]:
        if callable(value) and not hasattr(value, "get_params"):
            raise _cannot(
                where,
                f"the function {getattr(value, '__name__', value)!r}",
                'a file cannot hold code; pass a name where there is one, such as tokens="word"',
            )
        self.data.sklearn.append(value)
        return {"!sklearn": len(self.data.sklearn) - 1, "type": type(value).__name__}


def is_sound(array: NDArray[Any], *, infinite: bool = False) -> bool:
    """Whether all numbers are numbers, and finite where they must be.

    Parameters
    ----------
    array : ndarray
    infinite : bool, default=False
        Whether infinity is allowed.

    Returns
    -------
    bool
    """
    if array.dtype.kind != "f":
        return True
    return not (np.isnan(array) if infinite else ~np.isfinite(array)).any()


def _below(where: str, key: str | int) -> str:
    """The place of a part: keys are escaped, so that no two parts of a model have the same."""
    if isinstance(key, str):
        key = quote(key, safe=" ", errors="surrogatepass").replace(".", "%2E")
    return f"{where}.{key}"


def _check_finite(array: NDArray[Any], where: str, infinite: bool = False) -> None:
    if not is_sound(array, infinite=infinite):
        raise _cannot(where, "NaN or infinity", "its training has failed; fit it again")


def _is_module(value: Any) -> bool:
    # Without importing torch, which most label models do not need.
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(value).__mro__)


def _cannot(where: str, what: str, advice: str) -> ModelError:
    return ModelError(f"the model cannot be saved: {where} is or holds {what}; {advice}")
