"""scikit-learn's objects as one skops file, audited before and after it is built."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from setlearn.errors import ModelError, ParameterError, UntrustedModelError
from setlearn.persistence.audit.allowed_types import check_loaders, names_in, unknown_types
from setlearn.persistence.audit.archive import Node, read_archive
from setlearn.persistence.audit.objects import check_objects

__all__ = ["check_trusted", "dump_parts", "load_parts"]


@cache
def _skops() -> Any:
    """skops, imported without torch.

    To find all estimators, skops imports every package of scikit-learn. One of them, which has no
    estimators, imports torch, and that would take most of the time a command needs to start.
    """
    name = "sklearn.externals.array_api_compat.torch"
    blocked = "torch" not in sys.modules and name not in sys.modules
    if blocked:
        sys.modules[name] = None  # type: ignore[assignment]  # makes the import fail
    try:
        return import_module("skops.io")
    finally:
        if blocked:
            del sys.modules[name]


def check_trusted(trusted: Iterable[str]) -> list[str]:
    """The names of types that a user trusts, checked; there is no way to trust everything."""
    if isinstance(trusted, str | bool) or not isinstance(trusted, Iterable):
        raise ParameterError(
            f"trusted must be a list of names of types, such as ['package.module.Type'], "
            f"got {trusted!r}; there is no way to trust everything"
        )
    names = list(trusted)
    for name in names:
        if not isinstance(name, str) or "." not in name:
            raise ParameterError(
                f"trusted holds {name!r}; pass each type by its full name, such as "
                "'package.module.Type'"
            )
    return names


def dump_parts(parts: Sequence[Any], trusted: Collection[str]) -> bytes:
    """Write scikit-learn's objects of a model as one file.

    Parameters
    ----------
    parts : sequence of objects
    trusted : collection of str
        Full names of types that may be there besides those known to be safe.

    Returns
    -------
    bytes

    Raises
    ------
    UntrustedModelError
        If there are other types; the message lists them.
    ModelError
        If skops cannot write the objects, or could not find one of their types again.
    """
    try:
        content: bytes = _skops().dumps(list(parts))
    except Exception as error:  # getting an object's state may raise anything
        kinds = sorted({type(part).__name__ for part in parts})
        raise ModelError(
            f"the model cannot be saved: skops cannot write one of {', '.join(kinds)} "
            f"({type(error).__name__}: {error!s:.120})"
        ) from error
    _, nodes = read_archive(content)
    for node in nodes:
        # No other process could find it either, so trusting the name would not help.
        if (names := unknown_types([node])) and not _is_importable(node):
            raise ModelError(
                f"the model cannot be saved: it holds {names[0]}, which cannot be imported by this "
                "name, and a file cannot hold code; instead of lambdas, methods and local "
                "functions use a function or class at the top level of a module"
            )
    unknown = unknown_types(nodes, trusted)
    if unknown:
        raise UntrustedModelError(
            f"the model holds types that are not known to be safe: {', '.join(unknown)}. To save "
            f"it anyway, name them: save(model, path, trusted={unknown}); load then needs "
            "the same names",
            unknown,
        )
    return content


def _is_importable(node: Node) -> bool:
    """Whether the name of a type or function in a file that was just written leads back to it."""
    try:
        found = getattr(import_module(node["__module__"]), node["__class__"])
    except (ImportError, AttributeError):
        return False
    # skops numbers objects by their id. Another function may have the name of a local one.
    return node["__loader__"] not in ("FunctionNode", "TypeNode") or id(found) == node["__id__"]


def load_parts(content: bytes, trusted: Collection[str]) -> list[Any]:
    """Build the objects of such a file, if all types are allowed and all they hold is sound.

    Parameters
    ----------
    content : bytes
    trusted : collection of str
        Full names of types that may be there besides those known to be safe.

    Returns
    -------
    list

    Raises
    ------
    UntrustedModelError
        If there are other types; the message lists them.
    ModelError
        If the file is damaged.
    """
    try:
        _, nodes = read_archive(content)
        unknown = unknown_types(nodes, trusted)
        if unknown:
            raise UntrustedModelError(
                f"the model holds types that are not known to be safe: {', '.join(unknown)}. If "
                "you know them and trust where the model comes from, name them: "
                f"load(path, trusted={unknown})",
                unknown,
            )
        check_loaders(nodes, trusted)
        names = {name for node in nodes for name in names_in(node)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about another version of scikit-learn, for example
            parts = _skops().loads(content, trusted=sorted(names))
        if not isinstance(parts, list):
            raise ModelError("the scikit-learn parts of the model are not a list; it is damaged")
        check_objects(parts)
    except ModelError:
        raise
    except Exception as error:  # a damaged state may fail anywhere in scikit-learn
        raise ModelError(
            "the scikit-learn parts of the model cannot be read "
            f"({type(error).__name__}: {error!s:.120}); it is damaged, or was written with a "
            "version of scikit-learn that is too different"
        ) from error
    return parts
