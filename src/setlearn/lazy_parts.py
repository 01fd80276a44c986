"""Packages whose parts are imported when they are first used: scikit-learn and torch are slow."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
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


def import_when_used(package: str) -> Callable[[str], Any]:
    """Make the function ``__getattr__`` of a package with one class per module.

    It takes the name of a class in the package's ``__all__``, and imports the module of the same
    name in snake case.
    """

    def part(name: str) -> Any:
        if name not in sys.modules[package].__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{snake_case(name)}"), name)

    return part
