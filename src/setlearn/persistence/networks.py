"""Networks from saved weights: built without memory first, then given weights that fit exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setlearn.errors import ModelError
from setlearn.persistence.registry import name_of

if TYPE_CHECKING:
    from torch import nn

__all__ = ["OWNERS", "rebuilt_network"]


def _of_rule(rule: Any) -> nn.Module:
    module: nn.Module = rule.build(rule.n_choices_, rule.n_positions_)
    return module


def _of_labels(learner: Any) -> nn.Module:
    module: nn.Module = learner.new_network()
    return module


def _of_sequences(scorer: Any) -> nn.Module:
    module: nn.Module = scorer.new_network()
    return module


OWNERS: Mapping[str, Callable[[Any], nn.Module]] = {
    "LambdaCNN": _of_rule,
    "LambdaRNN": _of_rule,
    "LambdaSet": _of_rule,
    "SequenceScorer": _of_sequences,
    "SequenceSigmoidNetwork": _of_labels,
    "SigmoidNetwork": _of_labels,
}
"""Who owns a network, and how that network is built anew from the owner's other attributes."""


def rebuilt_network(name: str, owner: Any, weights: Mapping[str, NDArray[Any]]) -> nn.Module:
    """The owner's network with these weights; they must fit in name, shape and kind."""
    import torch

    _check_sizes(name, owner, weights)
    recipe = getattr(owner, "recipe", getattr(owner, "network", None))
    # A recipe of the user's own may look at values, which tensors without memory do not have.
    known = recipe is None or isinstance(recipe, str) or name_of(recipe) is not None
    with torch.device("meta" if known else "cpu"):
        network = OWNERS[name](owner)
    network = network.double()
    wanted = dict(network.state_dict())
    if set(wanted) != set(weights):
        raise _misfit(name, sorted(set(wanted) ^ set(weights))[0])
    for key, tensor in wanted.items():
        array = weights[key]
        same_kind = (array.dtype.kind == "f") == tensor.is_floating_point()
        if tuple(tensor.shape) != array.shape or not same_kind:
            raise _misfit(name, key)
        if not np.isfinite(array).all():
            raise ModelError(f"the weights {key!r} of the model's {name} hold NaN; it is damaged")
    tensors = {key: torch.from_numpy(np.array(array)) for key, array in weights.items()}
    network.load_state_dict(tensors, assign=True)
    network.requires_grad_(False)
    return network.eval()


def _check_sizes(name: str, owner: Any, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise where layers are to be built that the weights cannot be of: it would take for ever."""
    recipe = getattr(owner, "recipe", getattr(owner, "network", None))
    sizes = {**vars(owner), **(vars(recipe) if hasattr(recipe, "get_params") else {})}
    for key, size in sizes.items():
        if key.endswith("_layers") and isinstance(size, int) and size > len(weights):
            raise _misfit(name, key)


def _misfit(name: str, key: str) -> ModelError:
    return ModelError(
        f"the weights of the model's {name} do not fit its sizes ({key!r:.80}); "
        "it is damaged, or was not written by setlearn"
    )
