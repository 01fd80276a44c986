"""From data back to a fitted model: nothing is run, imported or believed that is not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setlearn.errors import ModelError, SetlearnError
from setlearn.persistence.encoding import TYPES, Encoded, is_sound
from setlearn.persistence.networks import OWNERS, rebuilt_network
from setlearn.persistence.registry import new_object

__all__ = ["decode"]

LAST = "scorer_"
"""The one attribute that shares its network with its owner, so that it comes after it."""

MOST_LETTERS = 200_000_000
"""Of an array of texts, each as wide as the longest: 800 MB."""


def decode(data: Encoded) -> Any:
    """Put a model together again."""
    decoder = _Decoder(data)
    try:
        model = decoder.decode(data.config)
        decoder.check_all_used()
    except ModelError:
        raise
    except SetlearnError as error:  # of a network, say, whose sizes it would not take
        raise _damaged(error) from error
    except (ArithmeticError, LookupError, MemoryError, RecursionError) as error:
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
        read = getattr(self, f"_{tag[1:]}", None) if tag in TAGS else None
        if read is None:
            raise ModelError(f"the model holds {tag!r:.40}, which this version does not know")
        return read(node[tag], {k: v for k, v in node.items() if k != tag})

    def check_all_used(self) -> None:
        """Raise if there are arrays that belong to nothing."""
        left = sorted(set(self.data.tensors) - self.used)
        if left:
            raise ModelError(f"the model holds the array {left[0]!r:.80}, which is part of nothing")

    def _object(self, name: str, coded: dict[str, Any]) -> Any:
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

    def _vocabulary(self, place: str, rest: dict[str, Any]) -> Any:
        if place not in self.arrays:
            self.arrays[place] = self.decode(self.data.vocabulary[place])
        return self.arrays[place]

    def _tensor(self, place: str, rest: dict[str, Any]) -> NDArray[Any]:
        if place not in self.arrays:
            self.used.add(place)
            array = self.data.tensors[place]
            if not is_sound(array, place):
                raise ModelError(f"the model's {place} holds NaN or infinity; it is damaged")
            # Copies, for what safetensors gives cannot be written to.
            by_columns = rest.get("order") == "F"
            self.arrays[place] = array.copy(order="F" if by_columns else "C")
        return self.arrays[place]

    def _array(self, values: list[Any], rest: dict[str, Any]) -> NDArray[Any]:
        dtype = self._dtype(rest["dtype"], {})
        flat = np.empty(len(values), dtype=object)
        flat[:] = [self.decode(value) for value in values]
        if dtype.kind in "biuf":
            flat = flat.astype(dtype)
        elif dtype.kind == "U":
            texts = [str(value) for value in flat]
            # All become as wide as the longest, which must not take more room than is there.
            if max(map(len, texts), default=0) * len(texts) > MOST_LETTERS:
                raise ModelError("the model's texts would take too much room; it is damaged")
            flat = np.array(texts, dtype=str)
        return flat.reshape([int(size) for size in rest["shape"]])

    def _sparse(self, name: str, rest: dict[str, Any]) -> Any:
        kind = TYPES[name] if name.startswith(("csr_", "csc_")) else None
        if kind is None:
            raise ModelError(f"the model holds a sparse {name!r:.40}, which none has")
        data, indices, indptr = (self.decode(rest[k]) for k in ("data", "indices", "indptr"))
        matrix = kind((data, indices, indptr), shape=tuple(map(int, rest["shape"])))
        matrix.check_format(full_check=True)
        return matrix

    def _scalar(self, value: Any, rest: dict[str, Any]) -> Any:
        return self._dtype(rest["dtype"], {}).type(self.decode(value))

    def _dtype(self, name: str, rest: dict[str, Any]) -> np.dtype[Any]:
        dtype = np.dtype(str(name))
        if dtype.kind not in "biufOU" or dtype.itemsize > 4096:
            raise ModelError(f"the model names the number type {name!r:.40}, which none has")
        return dtype

    def _type(self, name: str, rest: dict[str, Any]) -> type:
        kind: type = TYPES[name]
        return kind

    def _float(self, text: str, rest: dict[str, Any]) -> float:
        return {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[text]

    def _dict(self, pairs: list[list[Any]], rest: dict[str, Any]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(value) for key, value in pairs}

    def _tuple(self, parts: list[Any], rest: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.decode(part) for part in parts)

    def _set(self, parts: list[Any], rest: dict[str, Any]) -> set[Any]:
        return {self.decode(part) for part in parts}

    def _frozenset(self, parts: list[Any], rest: dict[str, Any]) -> frozenset[Any]:
        return frozenset(self.decode(part) for part in parts)

    def _sklearn(self, number: int, rest: dict[str, Any]) -> Any:
        if not 0 <= number < len(self.data.sklearn):
            raise IndexError("a part of scikit-learn's is missing")
        return self.data.sklearn[number]


TAGS = {
    f"!{name}"
    for name in (
        *("array", "dict", "dtype", "float", "frozenset", "object", "scalar", "set"),
        *("sklearn", "sparse", "tensor", "tuple", "type", "vocabulary"),
    )
}


def _is_network(node: Any) -> bool:
    return isinstance(node, Mapping) and set(node) == {"!network"}


def _damaged(error: Exception) -> ModelError:
    return ModelError(
        f"the model's parts do not fit together ({type(error).__name__}: {error!s:.120}); "
        "it is damaged, or was not written by setlearn"
    )
