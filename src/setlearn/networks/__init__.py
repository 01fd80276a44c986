"""Networks for sets of sequences, and how to train them. Importing this does not import torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setlearn.errors import ParameterError
from setlearn.lazy_parts import import_when_used
from setlearn.networks.training_settings import Training

if TYPE_CHECKING:
    from setlearn.networks.lstm import LSTM
    from setlearn.networks.recipe import NetworkRecipe
    from setlearn.networks.transducer import Transducer
    from setlearn.networks.transformer import Transformer

# To add a network, import its recipe above and list it here. Its module has the name of the class
# in snake case, and its name on the command line is that of the class in lower case.
__all__ = ["LSTM", "Training", "Transducer", "Transformer", "network_named", "network_names"]


__getattr__ = import_when_used(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def network_names() -> list[str]:
    """Names of the networks in this package, for `network_named`.

    Examples
    --------
    >>> network_names()
    ['lstm', 'transducer', 'transformer']
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
            f"network must be one of {', '.join(network_names())} or a recipe, got {name!r}",
            advice={"network": None},
        )
    recipe: NetworkRecipe = __getattr__(recipes[name])()
    return recipe


def _recipes() -> dict[str, str]:
    """The class names of the recipes by their names in lower case; nothing is imported."""
    # Recipes are never kept in the globals, and all other names are.
    return {name.lower(): name for name in __all__ if name not in globals()}
