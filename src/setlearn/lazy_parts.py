"""Packages whose parts are imported when they are first used: scikit-learn and torch are slow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

__all__ = ["import_when_used", "snake_case"]


def snake_case(name: str) -> str:
    """Spell the name of a class as that of its module.

    Examples
    --------
    >>> snake_case("SetMixture"), snake_case("LambdaCNN")
    ('set_mixture', 'lambda_cnn')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def import_when_used(package: str, names: Iterable[str]) -> Callable[[str], Any]:
    """Make the function ``__getattr__`` of a package with one class per module.

    Parameters
    ----------
    package : str
        Its name.
    names : iterable of str
        The classes. Each module has the name of its class in snake case.

    Returns
    -------
    callable
        Takes the name of a class and imports it.
    """
    parts = frozenset(names)

    def part(name: str) -> Any:
        if name not in parts:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{snake_case(name)}"), name)

    return part
