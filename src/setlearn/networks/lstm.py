"""The paper's encoder–decoder: one LSTM layer on either side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from setlearn.networks.recipe import Loss, NetworkRecipe
from setlearn.networks.sequence_network import SequenceNetwork, State
from setlearn.savable import savable

if TYPE_CHECKING:
    from setlearn.nodes import IntArray

__all__ = ["LSTM", "LSTMNetwork"]


@savable()
class LSTM(NetworkRecipe):
    """The paper's encoder–decoder. The default sizes are the paper's.

    Parameters
    ----------
    embedding : int, default=60
        The length of token embeddings.
    encoder_units : int, default=60
        Hidden units of the encoder.
    decoder_units : int, default=120
        Hidden units of the decoder.
    loss : {"node", "sequence"}, default="sequence"
        "sequence" is the paper's loss: one choice among all at each prefix. "node" trains each
        right choice on its own.

    Examples
    --------
    >>> from setlearn.networks import LSTM
    >>> network = LSTM(decoder_units=32).build(n_choices=11, n_tokens=11, n_features=0)
    >>> network.decoder.hidden_size
    32
    """

    sizes = ("embedding", "encoder_units", "decoder_units")
    # As in the paper.
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 15,
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "max_steps": 6000,
    }

    def __init__(
        self,
        embedding: int = 60,
        encoder_units: int = 60,
        decoder_units: int = 120,
        *,
        loss: Loss = "sequence",
    ) -> None:
        self.embedding = embedding
        self.encoder_units = encoder_units
        self.decoder_units = decoder_units
        self.loss = loss

    def new_module(
        self, *, n_choices: int, n_tokens: int, n_features: int, copies: IntArray | None
    ) -> LSTMNetwork:
        """Make the network. It cannot copy input tokens, so ``copies`` is not used."""
        return LSTMNetwork(
            n_choices,
            n_tokens=n_tokens,
            n_features=n_features,
            embedding=self.embedding,
            encoder_units=self.encoder_units,
            decoder_units=self.decoder_units,
        )


class LSTMNetwork(SequenceNetwork):
    """Encodes an input into one state, from which the decoder starts every sequence.

    The paper gives the encoder 60 units and the decoder 120 and does not say how one initialises
    the other. Here a linear layer maps the encoder's final state to the decoder's first.

    Parameters
    ----------
    n_choices, n_tokens, n_features : int
        As in `NetworkRecipe.build`.
    embedding, encoder_units, decoder_units : int
        As in `LSTM`.
    """

    def __init__(
        self,
        n_choices: int,
        *,
        n_tokens: int,
        n_features: int,
        embedding: int,
        encoder_units: int,
        decoder_units: int,
    ) -> None:
        super().__init__()
        self.n_choices = n_choices
        self.read: nn.Module = (
            nn.Linear(n_features, embedding)
            if n_features
            # The embedding of the unknown token is 0 and stays 0.
            else nn.Embedding(n_tokens, embedding, padding_idx=0)
        )
        self.encoder = nn.LSTM(embedding, encoder_units, batch_first=True)
        self.bridge = nn.Linear(2 * encoder_units, 2 * decoder_units)
        self.tokens = nn.Embedding(n_choices, embedding)  # row 0, the end symbol, also starts
        self.decoder = nn.LSTMCell(embedding, decoder_units)
        self.output = nn.Linear(decoder_units, n_choices)

    def encode(self, values: Tensor, length: Tensor) -> State:
        """The decoder's first state (hidden, cell) for each sample."""
        packed = pack_padded_sequence(
            self.read(values), length.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (hidden, cell) = self.encoder(packed)
        first = self.bridge(torch.cat([hidden[0], cell[0]], dim=1))  # (b, 2 · decoder_units)
        hidden, cell = first.chunk(2, dim=1)
        return torch.tanh(hidden), cell

    def start(self, memory: State) -> tuple[Tensor, State]:
        """Score the empty prefix, by feeding the end symbol."""
        hidden, _ = memory
        token = torch.zeros(len(hidden), dtype=torch.long, device=hidden.device)
        return self._step(memory, token)

    def advance(
        self, memory: State, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Feed one token to every prefix."""
        return self._step(state, token)

    def _step(self, state: State, token: Tensor) -> tuple[Tensor, State]:
        hidden, cell = self.decoder(self.tokens(token), state)
        return self.output(hidden), (hidden, cell)
