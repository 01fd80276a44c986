"""From data back to a fitted model: nothing is run, imported or believed that is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setlearn.errors import ModelError, SetlearnError
from setlearn.persistence.encoding import TYPES, Encoded, is_sound
from setlearn.persistence.networks import OWNERS, rebuilt_network
from setlearn.persistence.registry import new_object
from setlearn.persistence.structure import check_structure

__all__ = ["decode"]

LAST = "scorer_"
"""The one attribute that shares its network with its owner, so that it comes after it."""

FLOATS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}

MOST_LETTERS = 200_000_000
"""Of an array of texts, each as wide as the longest: 800 MB."""


def decode(data: Encoded) -> Any:
    """Put a model together again."""
    decoder = _Decoder(data)
    try:
        model = decoder.decode(data.config)
        check_structure(model)
        decoder.check_all_used()
    except ModelError:
        raise
    except SetlearnError as error:  # of a network, say, whose sizes it would not take
        raise _damaged(error) from error
    except (ArithmeticError, LookupError, RecursionError) as error:
        raise _damaged(error) from error
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise _damaged(error) from error
    return model


class _Decoder:
    def __init__(self, data: Encoded) -> None:
        self.data = data
        self.used: set[str] = set()
        self.networks: dict[str, Any] = {}
        self.arrays: dict[str, NDArray[Any]] = {}

    def decode(self, node: Any) -> Any:
        """The value that some JSON stands for."""
        if isinstance(node, list):
            return [self.decode(part) for part in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node), "")
        if not tag.startswith("!"):
            return {name: self.decode(part) for name, part in node.items()}
        if tag not in READERS:
            raise ModelError(f"the model holds {tag!r:.40}, which this version does not know")
        return READERS[tag](self, node)

    def check_all_used(self) -> None:
        """Raise if there are arrays that belong to nothing."""
        left = sorted(set(self.data.tensors) - self.used)
        if left:
            raise ModelError(f"the model holds the array {left[0]!r:.80}, which is part of nothing")

    def _object(self, node: dict[str, Any]) -> Any:
        name, coded = node["!object"], {k: v for k, v in node.items() if k != "!object"}
        networks = {k: part for k, part in coded.items() if _is_network(part)}
        later = {k: part for k, part in coded.items() if k == LAST}
        state = {k: self.decode(part) for k, part in coded.items() if k not in {*networks, *later}}
        for attribute, part in networks.items():
            state[attribute] = self._shared_or_built(name, state, part["!network"])
        state |= {k: self.decode(part) for k, part in later.items()}
        return new_object(name, state)

    def _shared_or_built(self, name: str, state: dict[str, Any], place: str) -> Any:
        if place not in self.networks:
            if name not in OWNERS:
                raise ModelError(f"the model's {name} has a network, but none belongs there")
            prefix = f"{place}/"
            weights = {k: v for k, v in self.data.tensors.items() if k.startswith(prefix)}
            self.used |= set(weights)
            owner = new_object(name, state)
            weights = {k.removeprefix(prefix): v for k, v in weights.items()}
            self.networks[place] = rebuilt_network(name, owner, weights)
        return self.networks[place]

    def _vocabulary(self, node: dict[str, Any]) -> Any:
        place = node["!vocabulary"]
        if place not in self.arrays:
            self.arrays[place] = self.decode(self.data.vocabulary[place])
        return self.arrays[place]

    def _tensor(self, node: dict[str, Any]) -> NDArray[Any]:
        place = node["!tensor"]
        if place not in self.arrays:
            self.used.add(place)
            array = self.data.tensors[place]
            if not is_sound(array, place):
                raise ModelError(f"the model's {place} holds NaN or infinity; it is damaged")
            # Copies, for what safetensors gives cannot be written to.
            by_columns = node.get("order") == "F"
            self.arrays[place] = array.copy(order="F" if by_columns else "C")
        return self.arrays[place]

    def _array(self, node: dict[str, Any]) -> NDArray[Any]:
        values, dtype = self.decode(node["!array"]), _dtype(node["dtype"])
        flat = np.empty(len(values), dtype=object)
        flat[:] = values
        if dtype.kind in "biuf":
            flat = flat.astype(dtype)
        elif dtype.kind == "U":
            texts = [str(value) for value in flat]
            # All become as wide as the longest, which must not take more room than is there.
            if max(map(len, texts), default=0) * len(texts) > MOST_LETTERS:
                raise ModelError("the model's texts would take too much room; it is damaged")
            flat = np.array(texts, dtype=str)
        return flat.reshape([int(size) for size in node["shape"]])

    def _sparse(self, node: dict[str, Any]) -> Any:
        name = node["!sparse"]
        kind = TYPES[name] if name.startswith(("csr_", "csc_")) else None
        if kind is None:
            raise ModelError(f"the model holds a sparse {name!r:.40}, which none has")
        data, indices, indptr = (self.decode(node[k]) for k in ("data", "indices", "indptr"))
        matrix = kind((data, indices, indptr), shape=tuple(map(int, node["shape"])))
        matrix.check_format(full_check=True)
        return matrix

    def _scalar(self, node: dict[str, Any]) -> Any:
        return _dtype(node["dtype"]).type(self.decode(node["!scalar"]))

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(value) for key, value in node["!dict"]}

    def _sklearn(self, node: dict[str, Any]) -> Any:
        number = node["!sklearn"]
        if not 0 <= number < len(self.data.sklearn):
            raise IndexError("a part of scikit-learn's is missing")
        return self.data.sklearn[number]


READERS: Mapping[str, Callable[[_Decoder, dict[str, Any]], Any]] = {
    "!array": _Decoder._array,
    "!dict": _Decoder._dict,
    "!dtype": lambda _, node: _dtype(node["!dtype"]),
    "!float": lambda _, node: FLOATS[node["!float"]],
    "!frozenset": lambda decoder, node: frozenset(decoder.decode(node["!frozenset"])),
    "!object": _Decoder._object,
    "!scalar": _Decoder._scalar,
    "!set": lambda decoder, node: set(decoder.decode(node["!set"])),
    "!sklearn": _Decoder._sklearn,
    "!sparse": _Decoder._sparse,
    "!tensor": _Decoder._tensor,
    "!tuple": lambda decoder, node: tuple(decoder.decode(node["!tuple"])),
    "!type": lambda _, node: TYPES[node["!type"]],
    "!vocabulary": _Decoder._vocabulary,
}
"""What each name that begins with "!" stands for."""


def _dtype(name: object) -> np.dtype[Any]:
    dtype = np.dtype(str(name))
    if dtype.kind not in "biufOU" or dtype.itemsize > 4096:
        raise ModelError(f"the model names the number type {name!r:.40}, which none has")
    return dtype


def _is_network(node: Any) -> bool:
    return isinstance(node, Mapping) and set(node) == {"!network"}


def _damaged(error: Exception) -> ModelError:
    return ModelError(
        f"the model's parts do not fit together ({type(error).__name__}: {error!s:.120}); "
        "it is damaged, or was not written by setlearn"
    )
