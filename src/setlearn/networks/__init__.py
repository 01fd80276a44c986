"""Networks for sets of sequences, and how to train them. Importing this does not import torch."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.networks.lstm import LSTM
    from setlearn.networks.recipe import NetworkRecipe
    from setlearn.networks.training_settings import Training
    from setlearn.networks.transformer import Transformer

# To add a network, import its recipe above and list it here. Its module has the name of the class
# in snake case, and its name on the command line is that of the class in lower case.
__all__ = ["LSTM", "Training", "Transformer", "network_named", "network_names"]

_OTHER_MODULES = {"Training": "training_settings"}


def __getattr__(name: str) -> Any:
    """Import a class when it is first used: torch and scikit-learn are slow to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    in_snake_case = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    module = import_module(f"{__name__}.{_OTHER_MODULES.get(name, in_snake_case)}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def network_names() -> list[str]:
    """Names of the networks in this package, for `network_named`.

    Examples
    --------
    >>> network_names()
    ['lstm', 'transformer']
    """
    return sorted(_recipes())


def network_named(name: str) -> NetworkRecipe:
    """The recipe of that name, with its default parameters.

    Raises
    ------
    ParameterError
        If there is no network of that name.

    Examples
    --------
    >>> network_named("lstm")
    LSTM()
    """
    recipes = _recipes()
    if name not in recipes:
        raise ParameterError(
            f"there is no network {name!r}; choose one of {', '.join(network_names())}"
        )
    recipe: NetworkRecipe = __getattr__(recipes[name])()
    return recipe


def _recipes() -> dict[str, str]:
    """The class names of the recipes by their names in lower case; nothing is imported."""
    # What is loaded when first used and is not listed as something else is a recipe.
    lazy = [name for name in __all__ if name not in globals() and name not in _OTHER_MODULES]
    return {name.lower(): name for name in lazy}
