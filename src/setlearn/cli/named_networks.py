"""Networks by their names on the command line, with their settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from setlearn.cli.named_settings import name_and_settings
from setlearn.cli.options import flag
from setlearn.errors import ParameterError

__all__ = ["check_trained_in_steps", "network_with"]

OPTION_PARAMETERS: Mapping[str, tuple[str, ...]] = {"layers": ("layers", "encoder_layers")}
"""The parameters that an option may stand for, if they do not have the name of the option."""


def network_with(texts: Sequence[str], options: Mapping[str, Any]) -> Any:
    """Make a network from its name, its settings after a colon, and options of their own.

    Parameters
    ----------
    texts : sequence of str
        As in ``transducer:window=2``. None of them stands for what suits the data, several for a
        mixture.
    options : mapping
        The values of options such as ``width``; None for those that were not given.

    Returns
    -------
    NetworkRecipe, Scorer, a list of these, or None

    Raises
    ------
    ParameterError
        If settings are given without a network or with several, or there is no such network, or it
        does not have one of the settings.

    Examples
    --------
    >>> network_with(["transducer:window=2"], {"width": 64, "layers": None})
    Transducer(width=64, window=2)
    >>> network_with(["transformer"], {"layers": 2})
    Transformer(encoder_layers=2)
    >>> network_with(["analogy", "transformer:width=64"], {})
    [AnalogyScorer(), Transformer(width=64)]
    """
    if len(texts) == 1:
        return _one_network(texts[0], options)
    given = next((option for option, value in options.items() if value is not None), None)
    if given and texts:
        raise ParameterError(
            f"{flag(given)} is a setting of one network, but there are {len(texts)}; write "
            "settings after a colon, as in --network transducer:layers=2"
        )
    if given:
        raise ParameterError(
            f"{flag(given)} is a setting of a network, but no network is named; add "
            f"{_networks_with(given)}, or leave it out"
        )
    return [_one_network(text, {}) for text in texts] or None


def _one_network(text: str, options: Mapping[str, Any]) -> Any:
    from setlearn.estimators.scorer_names import scorer_named

    name, settings = name_and_settings(
        text, what="network", example="--network transducer:window=2"
    )
    network = scorer_named(name)
    own = network.get_params(deep=False)
    for setting in settings:
        if setting not in own:
            raise ParameterError(
                f"the network {name} has no setting {setting!r}; its settings are {', '.join(own)}"
            )
    for option, value in options.items():
        if value is None:
            continue
        parameter = _parameter(option, own)
        if parameter is None:
            raise ParameterError(
                f"{flag(option)} is not a setting of the network {name}, which has "
                f"{', '.join(own)}; leave it out, write --network {name}:NAME=VALUE, or use "
                f"{_networks_with(option)}"
            )
        if parameter in settings:
            raise ParameterError(
                f"{parameter} is given twice, by {flag(option)} and in --network {text}; "
                "give it once"
            )
        settings[parameter] = value
    network.set_params(**settings)
    if hasattr(network, "check_parameters"):
        network.check_parameters()  # before the data are read
    return network


def _parameter(option: str, own: Collection[str]) -> str | None:
    """The parameter that an option stands for, among those that a network has."""
    return next((p for p in OPTION_PARAMETERS.get(option, (option,)) if p in own), None)


def _networks_with(option: str) -> str:
    """Say how to choose a network that has a setting.

    >>> _networks_with("members"), _networks_with("layers")
    ('--network transducer', '--network transducer or --network transformer')
    """
    from setlearn.networks import network_named, network_names

    parameters = {name: network_named(name).get_params(deep=False) for name in network_names()}
    names = [name for name, own in parameters.items() if _parameter(option, own)]
    return " or ".join(f"--network {name}" for name in names)


def check_trained_in_steps(network: Any, names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Check that options of a training in steps are given only for networks.

    Parameters
    ----------
    network : NetworkRecipe, Scorer, or a list of these
    names : sequence of str
        Their names on the command line.
    options : mapping
        The values of the options; None for those that were not given.

    Raises
    ------
    ParameterError
        If one was given, but no scorer is a network.
    """
    parts = network if isinstance(network, list) else [network]
    if any(hasattr(part, "build") for part in parts):
        return
    for option, value in options.items():
        if value is not None:
            from setlearn.networks import network_names

            raise ParameterError(
                f"{flag(option)} is for networks that are trained in steps, but "
                f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not; "
                f"leave it out, or use --network {' or '.join(network_names())}"
            )
