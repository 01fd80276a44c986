"""From names in a file to classes, and from objects to their attributes and back.

A file names a class by its module and its name. Only modules of setlearn itself are ever imported
for it, and only classes that are marked there with `setlearn.savable.savable` are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pkgutil import iter_modules
from typing import Any

import setlearn
from setlearn.errors import ModelError
from setlearn.savable import Saved, saved_spec

__all__ = ["class_at", "fits", "new_object", "place_of", "spec_of", "state_of"]

NO_SAVED_CLASSES = ("cli", "experiments", "persistence", "server")
"""Packages of setlearn that hold no part of a model, so that no file may have them imported."""

OTHERS = {"sklearn.pipeline:Pipeline": Saved()}
"""Classes of other packages that are saved by us: the steps of a pipeline may hold networks."""


def spec_of(kind: type[Any]) -> Saved | None:
    """What a class says about being saved; None if its objects are not saved by setlearn."""
    place = f"{kind.__module__}:{kind.__qualname__}"
    if place in OTHERS:
        return OTHERS[place]
    return saved_spec(kind) if _is_ours(kind.__module__) else None


def place_of(value: object) -> str | None:
    """Module and name of an object's class, if its objects are saved by setlearn."""
    kind = type(value)
    if spec_of(kind) is None:
        return None
    return f"{kind.__module__}:{kind.__qualname__}"


def class_at(place: object) -> type[Any]:
    """The class that a file names.

    Raises
    ------
    ModelError
        If it is not a class that setlearn saves.
    """
    kind = _class_at(place) if isinstance(place, str) else None
    if kind is None:
        raise ModelError(
            f"the model names the class {place!r:.80}, which this version of setlearn does not "
            "know; it was written by a later version, or not by setlearn"
        )
    return kind


def _class_at(place: str) -> type[Any] | None:
    module, _, name = place.partition(":")
    if place not in OTHERS and not _is_ours(module):
        return None
    kind: Any = vars(import_module(module)).get(name)
    # A name that was only imported there is not its own.
    if not isinstance(kind, type) or f"{kind.__module__}:{kind.__qualname__}" != place:
        return None
    return kind if spec_of(kind) is not None else None


@cache
def _is_ours(module: str) -> bool:
    """Whether the installed package has such a module, and one that may hold saved classes."""
    root, *names = module.split(".")
    if root != "setlearn" or not names or names[0] in NO_SAVED_CLASSES:
        return False
    folders = list(setlearn.__path__)
    for name in names:
        if name.startswith("_") or name not in {found.name for found in iter_modules(folders)}:
            return False
        folders = [f"{folder}/{name}" for folder in folders]
    return True


def state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object that are saved."""
    spec = spec_of(type(value)) or Saved()
    if isinstance(value, tuple):
        state: dict[str, Any] = value._asdict()  # type: ignore[attr-defined]  # a named tuple
    elif is_dataclass(value):
        state = {field.name: getattr(value, field.name) for field in fields(value)}
    else:
        state = dict(vars(value))
    return {name: part for name, part in state.items() if name not in spec.skipped}


def new_object(kind: type[Any], state: Mapping[str, Any]) -> Any:
    """An object with these attributes; no ``__init__`` is run.

    A parameter that is not among them has its default: it was not saved, or it did not exist yet
    when the model was saved.

    Parameters
    ----------
    kind : type
        From `class_at`.
    state : mapping
        The attributes by name.

    Returns
    -------
    object

    Raises
    ------
    ModelError
        If there is an attribute that the class does not have, or one that it needs is missing.
    """
    if issubclass(kind, tuple):
        return kind(**state)
    if not fits(kind, state):
        raise ModelError(
            f"the model's {kind.__name__} has the attributes {sorted(state)}, which do not fit; "
            "it was written by another version, or it is damaged"
        )
    value = object.__new__(kind)
    for attribute, part in {**_defaults(kind), **state}.items():
        object.__setattr__(value, attribute, part)  # frozen classes are set in the same way
    return value


def fits(kind: type[Any], names: Iterable[str]) -> bool:
    """Whether objects of a class can have exactly these attributes.

    Parameters
    ----------
    kind : type
    names : iterable of str

    Returns
    -------
    bool
        False if a name is neither a parameter nor learned, if it is never saved, or if a parameter
        that has no default is missing.
    """
    spec, defaults = spec_of(kind) or Saved(), _defaults(kind)
    known = (set(defaults) | spec.extra) - spec.skipped
    needed = {name for name, default in defaults.items() if default is Parameter.empty}
    names = set(names)
    possible = all(name in known or _is_learned(name) for name in names)
    return needed <= names and possible and not names & spec.skipped


def _defaults(kind: type[Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in signature(kind).parameters.items()}


def _is_learned(attribute: str) -> bool:
    return attribute.isidentifier() and attribute.endswith("_") and attribute[0] != "_"
