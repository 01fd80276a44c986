"""What every recipe of a sequence network has. Needs no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

from sklearn.base import BaseEstimator

from setlearn.errors import ParameterError
from setlearn.parameter_checks import check_count

if TYPE_CHECKING:
    from setlearn.networks.sequence_network import SequenceNetwork
    from setlearn.nodes import BoolArray, IntArray

__all__ = ["Loss", "NetworkRecipe", "loss_of"]

Loss: TypeAlias = Literal["node", "sequence"]
"""How a sequence network is trained, which decides what its scores mean."""


class NetworkRecipe(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """The sizes of a network and what suits it in training, before it has any weights.

    A subclass stores its parameters in ``__init__``, among them ``loss``, and implements
    ``new_module``. Recipes are passed to `SequenceSetGenerator` as ``network``.
    """

    loss: Loss
    """"node" trains every right choice at a prefix on its own, by binary cross entropy. "sequence"
    trains one choice among all, by cross entropy, as in the paper."""

    steps_per_root: ClassVar[int] = 75
    """Steps of a training that does not stop early, times the root of the number of samples."""

    suited_training: ClassVar[Mapping[str, Any]] = {}
    """What suits the network in training, by the names of the parameters of `Training`."""

    sizes: ClassVar[tuple[str, ...]] = ()
    """The parameters that must be whole numbers of at least 1."""

    reads_spelling: ClassVar[bool] = False
    """Whether ``new_module`` also takes ``spelling``: which parts each choice is spelled with."""

    @property
    def copies_tokens(self) -> bool:
        """Whether the network copies tokens of its input, so that it can learn to use stand-ins."""
        return False

    @abstractmethod
    def new_module(
        self, *, n_choices: int, n_tokens: int, n_features: int, copies: IntArray | None
    ) -> SequenceNetwork:
        """Make the network with fresh weights; the recipe's parameters have been checked.

        Parameters
        ----------
        n_choices, n_tokens, n_features, copies
            As in `build`.

        Returns
        -------
        SequenceNetwork
        """

    def build(
        self,
        *,
        n_choices: int,
        n_tokens: int,
        n_features: int,
        copies: IntArray | None = None,
        **spelling: BoolArray | None,
    ) -> SequenceNetwork:
        """Check the parameters and make a network with fresh weights.

        Parameters
        ----------
        n_choices : int
            The number of tokens that sequences consist of, with stand-ins, plus one for the end
            symbol.
        n_tokens : int
            The number of input tokens, including the unknown token 0 and stand-ins; 0 for numeric
            inputs.
        n_features : int
            The length of input vectors; 0 if inputs are tokens.
        copies : array of shape (n_tokens,), optional
            The choice that is the same token as each input token; 0 where there is none.
        **spelling : dict
            For a recipe with ``reads_spelling``: ``spelling``, a mask (n_choices, n_parts) of the
            parts that each choice is spelled with, or None if choices share no parts.

        Returns
        -------
        SequenceNetwork

        Raises
        ------
        ParameterError
            If a parameter of the recipe is out of range.
        """
        self.check_parameters()
        return self.new_module(
            n_choices=n_choices, n_tokens=n_tokens, n_features=n_features, copies=copies, **spelling
        )

    def check_parameters(self) -> None:
        """Raise ParameterError if a parameter is out of range; subclasses may check more."""
        for name in self.sizes:
            check_count(name, getattr(self, name))
        loss_of(self)
        width, heads = getattr(self, "width", 1), getattr(self, "heads", 1)
        if width % heads:
            raise ParameterError(
                f"width must be a multiple of heads, got {width} and {heads}",
                advice={"width": None},
            )


def loss_of(recipe: Any) -> Loss:
    """The loss of a recipe; "sequence", as in the paper, for a recipe that names none.

    Raises
    ------
    ParameterError
        If it is neither "node" nor "sequence".
    """
    loss: Loss = getattr(recipe, "loss", "sequence")
    if loss not in get_args(Loss):
        raise ParameterError(f'loss must be "node" or "sequence", got {loss!r}')
    return loss
