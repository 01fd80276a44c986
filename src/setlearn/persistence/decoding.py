"""From data back to a fitted model: nothing is run or imported that setlearn does not know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setlearn.errors import ModelError, SetlearnError
from setlearn.persistence.audit.objects import check_structure
from setlearn.persistence.classes import class_at, new_object, place_of, spec_of
from setlearn.persistence.encoding import TYPES, Encoded, is_sound
from setlearn.savable import Saved

if TYPE_CHECKING:
    from torch import nn

__all__ = ["decode"]

FLOATS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}

MAX_LETTERS = 200_000_000
"""Of an array of texts, each as wide as the longest: 800 MB."""


def decode(data: Encoded) -> Any:
    """Put a model together again.

    Raises
    ------
    ModelError
        If its parts do not fit together.
    """
    decoder = _Decoder(data)
    try:
        model = decoder.decode(data.config)
        check_structure(model)
        decoder.check_all_used()
    except ModelError:
        raise
    except SetlearnError as error:  # such as a network that refuses its sizes
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
        """Raise if there are arrays that are not part of the model."""
        unused = sorted(set(self.data.tensors) - self.used)
        if unused:
            raise ModelError(
                f"the model holds the array {unused[0]!r:.80}, which is not part of it"
            )

    def _object(self, node: dict[str, Any]) -> Any:
        kind = class_at(node["!object"])
        spec = spec_of(kind) or Saved()
        coded = {name: part for name, part in node.items() if name != "!object"}
        networks = {name: part["!network"] for name, part in coded.items() if _is_network(part)}
        # What shares the network of this object comes after it.
        later = [name for name, part in coded.items() if _shares(part, networks.values())]
        state: dict[str, Any] = {}
        for name in [name for name in coded if name not in later] + later:
            if name in networks:
                state[name] = self._network(kind, state, networks[name])
            else:
                state[name] = self._attribute(coded[name], name in spec.infinite)
        return new_object(kind, {name: state[name] for name in coded})

    def _attribute(self, node: Any, infinite: bool) -> Any:
        if isinstance(node, dict) and "!tensor" in node:
            return self._tensor(node, infinite)
        return self.decode(node)

    def _network(self, kind: type[Any], state: dict[str, Any], place: str) -> Any:
        if place not in self.networks:
            prefix = f"{place}/"
            weights = {k: v for k, v in self.data.tensors.items() if k.startswith(prefix)}
            self.used |= set(weights)
            weights = {k.removeprefix(prefix): v for k, v in weights.items()}
            self.networks[place] = _rebuilt(kind, state, weights)
        return self.networks[place]

    def _vocabulary(self, node: dict[str, Any]) -> Any:
        place = node["!vocabulary"]
        if place not in self.arrays:
            self.arrays[place] = self.decode(self.data.vocabulary[place])
        return self.arrays[place]

    def _tensor(self, node: dict[str, Any], infinite: bool = False) -> NDArray[Any]:
        place = node["!tensor"]
        array = self.data.tensors[place]
        if not is_sound(array, infinite=infinite):
            raise ModelError(f"the model's {place} holds NaN or infinity; it is damaged")
        if place not in self.arrays:
            self.used.add(place)
            # Copies, because the arrays of safetensors cannot be written to.
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
            # All become as wide as the longest, which must not take more memory than there is.
            if max(map(len, texts), default=0) * len(texts) > MAX_LETTERS:
                raise ModelError("the model's texts would take too much memory; it is damaged")
            flat = np.array(texts, dtype=str)
        return flat.reshape([int(size) for size in node["shape"]])

    def _sparse(self, node: dict[str, Any]) -> Any:
        name = node["!sparse"]
        kind = TYPES[name] if name.startswith(("csr_", "csc_")) else None
        if kind is None:
            raise ModelError(f"the model holds a sparse {name!r:.40}, which no model has")
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
            raise IndexError("an object of scikit-learn is missing")
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
"""How to read each object whose first key begins with "!"."""


def _dtype(name: object) -> np.dtype[Any]:
    dtype = np.dtype(str(name))
    if dtype.kind not in "biufOU" or dtype.itemsize > 4096:
        raise ModelError(f"the model names the number type {name!r:.40}, which no model has")
    return dtype


def _is_network(node: Any) -> bool:
    return isinstance(node, Mapping) and set(node) == {"!network"}


def _shares(node: Any, places: Collection[str]) -> bool:
    """Whether a part holds one of these networks, which is built elsewhere."""
    return bool(places) and any(place in places for place in _networks_in(node))


def _networks_in(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if _is_network(part):
            yield part["!network"]
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _rebuilt(
    kind: type[Any], state: dict[str, Any], weights: Mapping[str, NDArray[Any]]
) -> nn.Module:
    """The network of a class, built without memory and given weights that fit exactly."""
    import torch

    name = kind.__name__
    if not hasattr(kind, "new_network"):
        raise ModelError(f"the model's {name} has a network, but none belongs there")
    owner = new_object(kind, state)
    _check_layers(name, owner, weights)
    # A recipe of the user's own may look at values, which tensors without memory do not have.
    are_known = all(place_of(recipe) is not None for recipe in _recipes(owner))
    with torch.device("meta" if are_known else "cpu"):
        network: nn.Module = owner.new_network().double()
    expected = dict(network.state_dict())
    if set(expected) != set(weights):
        raise _misfit(name, sorted(set(expected) ^ set(weights))[0])
    for key, tensor in expected.items():
        array = weights[key]
        same_kind = (array.dtype.kind == "f") == tensor.is_floating_point()
        if tuple(tensor.shape) != array.shape or not same_kind:
            raise _misfit(name, key)
        if not is_sound(array):
            raise ModelError(f"the weights {key!r} of the model's {name} hold NaN; it is damaged")
    tensors = {key: torch.from_numpy(np.array(array)) for key, array in weights.items()}
    network.load_state_dict(tensors, assign=True)
    network.requires_grad_(False)
    return network.eval()


def _check_layers(name: str, owner: Any, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise if there would be more layers than weights: building them could take forever."""
    for sizes in (owner, *_recipes(owner)):
        for key, size in vars(sizes).items():
            if key.endswith("_layers") and isinstance(size, int) and size > len(weights):
                raise _misfit(name, key)


def _recipes(owner: Any) -> list[Any]:
    return [part for part in vars(owner).values() if hasattr(part, "build")]


def _misfit(name: str, key: str) -> ModelError:
    return ModelError(
        f"the weights of the model's {name} do not fit its sizes ({key!r:.80}); "
        "it is damaged, or was not written by setlearn"
    )


def _damaged(error: Exception) -> ModelError:
    return ModelError(
        f"the model's parts do not fit together ({type(error).__name__}: {error!s:.120}); "
        "it is damaged, or was not written by setlearn"
    )
