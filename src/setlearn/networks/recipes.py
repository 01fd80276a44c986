"""Networks as data: their sizes, before there are any weights. Importing this needs no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.networks.sequence_network import SequenceNetwork

__all__ = ["LSTM"]


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
        self, embedding: int = 60, encoder_units: int = 60, decoder_units: int = 120
    ) -> None:
        self.embedding = embedding
        self.encoder_units = encoder_units
        self.decoder_units = decoder_units

    def build(self, *, n_choices: int, n_tokens: int, n_features: int) -> SequenceNetwork:
        """A network with fresh weights."""
        for name, size in self.get_params().items():
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise ParameterError(f"{name} must be a whole number from 1 up, got {size!r}")
        from setlearn.networks.lstm import LSTMNetwork

        return LSTMNetwork(n_choices, n_tokens=n_tokens, n_features=n_features, **self.get_params())
