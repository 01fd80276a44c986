"""From a fitted model to data: JSON, arrays, and scikit-learn's objects, each kept apart.

What JSON knows is written as it is. All else is an object with a name that begins with "!", such
as ``{"!tuple": [1, 2]}``; `decoding` reads them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import ModelError
from setlearn.persistence.registry import name_of, state_of

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

NAMES = {("LabelSpace", "classes"), ("TokenReader", "tokens"), ("Vocabulary", "tokens")}
"""What goes to the vocabulary: the labels and tokens that users know."""

INFINITE = {"interval_", "objective_"}
"""Learned numbers that may be infinite; all others must be finite."""


@dataclass
class Encoded:
    """A model as data. ``config`` refers to the others by name or number."""

    config: Any = None
    vocabulary: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    sklearn: list[Any] = field(default_factory=list)


def encode(model: Any) -> Encoded:
    """Take a fitted model apart; what cannot be saved is refused, with where it is."""
    encoder = _Encoder()
    encoder.into.config = encoder.encode(model, type(model).__name__)
    return encoder.into


class _Encoder:
    def __init__(self) -> None:
        self.into = Encoded()
        # Shared arrays and networks are written once. The things themselves are kept beside
        # their places, for the number of one that is gone may be given to another.
        self.seen: dict[int, tuple[object, dict[str, Any]]] = {}

    def encode(self, value: Any, where: str) -> Any:
        """The JSON of a value; ``where`` is its place in the model, for names and messages."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"!float": str(value)}
        if (name := name_of(value)) is not None:
            return self._object(name, value, where)
        if isinstance(value, np.ndarray):
            return self._once(value, where, self._array)
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

    def _object(self, name: str, value: Any, where: str) -> dict[str, Any]:
        state = {}
        for attribute, part in state_of(value).items():
            place = f"{where}.{attribute}"
            if (name, attribute) in NAMES:
                coded = {"!vocabulary": place}
                self.into.vocabulary[place] = self._names(part, place)
                self.seen[id(part)] = (part, coded)
            else:
                coded = self.encode(part, place)
            state[attribute] = coded
        return {"!object": name, **state}

    def _names(self, names: Any, where: str) -> Any:
        """Labels or tokens as people can read them, even if they are numbers."""
        return (
            self._listed(names, where)
            if isinstance(names, np.ndarray)
            else self.encode(names, where)
        )

    def _listed(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        values = [self.encode(value, where) for value in array.ravel().tolist()]
        return {"!array": values, "dtype": array.dtype.str, "shape": list(array.shape)}

    def _once(self, value: Any, where: str, write: Any) -> dict[str, Any]:
        if id(value) not in self.seen:
            self.seen[id(value)] = (value, write(value, where))
        return self.seen[id(value)][1]

    def _array(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        if array.dtype.kind in "OU":
            return self._listed(array, where)
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise _cannot(where, f"an array of {array.dtype}", "models hold ordinary numbers")
        self._check_finite(array, where)
        self.into.tensors[where] = np.ascontiguousarray(array).reshape(array.shape)
        # Products of matrices depend on their layout in the last digit, so it is kept.
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        return {"!tensor": where, **({"order": "F"} if by_columns else {})}

    def _sparse(self, matrix: Any, where: str) -> dict[str, Any]:
        name = type(matrix).__name__
        if name not in ("csr_array", "csr_matrix", "csc_array", "csc_matrix"):
            raise _cannot(where, f"a {name}", "only CSR and CSC matrices can be saved")
        parts = {
            part: self.encode(getattr(matrix, part), f"{where}.{part}")
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
            self._check_finite(array, f"{where}.{name}")
            self.into.tensors[f"{where}/{name}"] = np.ascontiguousarray(array)
        return {"!network": where}

    def _container(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            if all(isinstance(key, str) and not key.startswith("!") for key in value):
                return {key: self.encode(part, f"{where}.{key}") for key, part in value.items()}
            pairs = [
                [self.encode(key, where), self.encode(part, where)] for key, part in value.items()
            ]
            return {"!dict": pairs}
        if isinstance(value, set | frozenset):
            value, tag = sorted(value, key=repr), f"!{type(value).__name__}"
        else:
            tag = f"!{type(value).__name__}"
        coded = [self.encode(part, f"{where}.{k}") for k, part in enumerate(value)]
        return coded if tag == "!list" else {tag: coded}

    def _by_skops(self, value: Any, where: str) -> dict[str, Any]:
        if callable(value) and not hasattr(value, "get_params"):
            raise _cannot(
                where,
                f"the function {getattr(value, '__name__', value)!r}",
                'a file cannot hold code; give a name where there is one, such as tokens="word"',
            )
        self.into.sklearn.append(value)
        return {"!sklearn": len(self.into.sklearn) - 1, "type": type(value).__name__}

    def _check_finite(self, array: NDArray[Any], where: str) -> None:
        if not is_sound(array, where):
            raise _cannot(where, "NaN or infinity", "its training has failed; fit it again")


def is_sound(array: NDArray[Any], where: str) -> bool:
    """Whether all numbers are numbers, and finite where they must be."""
    if array.dtype.kind != "f":
        return True
    may_be_infinite = where.rpartition(".")[2] in INFINITE
    return not (np.isnan(array) if may_be_infinite else ~np.isfinite(array)).any()


def _is_module(value: Any) -> bool:
    # Without importing torch, which most label models do not need.
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(value).__mro__)


def _cannot(where: str, what: str, so: str) -> ModelError:
    return ModelError(f"the model cannot be saved: {where} is or holds {what}; {so}")
