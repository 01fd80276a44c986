"""Networks as data: their sizes, before there are any weights. Importing this needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import BaseEstimator

from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.networks.sequence_network import SequenceNetwork
    from setlearn.nodes import IntArray

__all__ = ["LSTM", "Transformer"]


class LSTM(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """The paper's encoder–decoder, with the paper's sizes unless others are given.

    Parameters
    ----------
    embedding : int, default=60
    encoder_units : int, default=60
    decoder_units : int, default=120

    Examples
    --------
    >>> from setlearn.networks import LSTM
    >>> network = LSTM(decoder_units=32).build(n_choices=11, n_tokens=11, n_features=0)
    >>> network.decoder.hidden_size
    32
    """

    def __init__(
        self,
        embedding: int = 60,
        encoder_units: int = 60,
        decoder_units: int = 120,
        loss: str = "sequence",
    ) -> None:
        self.loss = loss
        self.embedding = embedding
        self.encoder_units = encoder_units
        self.decoder_units = decoder_units

    # What suits this network unless the estimator is told otherwise; here, as in the paper.
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 15,
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "max_steps": 6000,
    }

    def build(
        self, *, n_choices: int, n_tokens: int, n_features: int, copies: IntArray | None = None
    ) -> SequenceNetwork:
        """A network with fresh weights. It cannot copy, so ``copies`` do not matter."""
        sizes = {name: size for name, size in self.get_params().items() if name != "loss"}
        for name, size in sizes.items():
            _check_size(name, size)
        from setlearn.networks.lstm import LSTMNetwork

        return LSTMNetwork(n_choices, n_tokens=n_tokens, n_features=n_features, **sizes)


class Transformer(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A small encoder–decoder with attention and a copy head.

    Parameters
    ----------
    width : int, default=96
        Of all layers; a multiple of ``heads``.
    heads : int, default=4
    encoder_layers : int, default=3
    decoder_layers : int, default=1
        One is enough where sequences are copied; longer ones that are made up may want more.
    dropout : float, default=0.2
    copy : bool, default=True
        Whether tokens of the input can be copied into the answer. Where inputs and sequences
        share no token there is nothing to copy anyway.

    Examples
    --------
    >>> from setlearn.networks import Transformer
    >>> network = Transformer(width=32).build(n_choices=11, n_tokens=11, n_features=0)
    >>> network.output.in_features
    32
    """

    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 32,
        "learning_rate": 2e-3,
        "weight_decay": 0.1,
        "max_steps": 2000,
        "evaluate_every": 500,
        "schedule": "one-cycle",
    }

    def __init__(
        self,
        width: int = 96,
        heads: int = 4,
        encoder_layers: int = 3,
        decoder_layers: int = 1,
        dropout: float = 0.2,
        copy: bool = True,
        loss: str = "node",
    ) -> None:
        self.loss = loss
        self.width = width
        self.heads = heads
        self.encoder_layers = encoder_layers
        self.decoder_layers = decoder_layers
        self.dropout = dropout
        self.copy = copy

    def build(
        self, *, n_choices: int, n_tokens: int, n_features: int, copies: IntArray | None = None
    ) -> SequenceNetwork:
        """A network with fresh weights; ``copies`` is the choice that each input token spells."""
        for name in ("width", "heads", "encoder_layers", "decoder_layers"):
            _check_size(name, getattr(self, name))
        if self.width % self.heads:
            raise ParameterError(
                f"width must be a multiple of heads, got {self.width} and {self.heads}"
            )
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ParameterError(f"dropout must lie in [0, 1), got {self.dropout!r}")
        from setlearn.networks.transformer import TransformerNetwork

        sizes = {name: size for name, size in self.get_params().items() if name != "loss"}
        return TransformerNetwork(
            n_choices, n_tokens=n_tokens, n_features=n_features, copies=copies, **sizes
        )


def _check_size(name: str, size: object) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError(f"{name} must be a whole number from 1 up, got {size!r}")
