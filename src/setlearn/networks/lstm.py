"""The paper's encoder–decoder: one LSTM layer on either side."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from setlearn.networks.sequence_network import SequenceNetwork, State

__all__ = ["LSTMNetwork"]


class LSTMNetwork(SequenceNetwork):
    """Encodes an input into one state, from which a decoder follows every prefix.

    The paper gives the encoder 60 units and the decoder 120 without saying how the first starts
    the second; here a linear layer maps the encoder's final state to the decoder's first.

    Parameters
    ----------
    n_choices : int
        Tokens of the sequences, and the end symbol.
    n_tokens : int
        Ids of input tokens; 0 stands for an unknown one. Not used where inputs are vectors.
    n_features : int
        Length of input vectors; 0 where inputs are tokens.
    embedding, encoder_units, decoder_units : int
        The paper's 60, 60 and 120 by default.
    """

    def __init__(
        self,
        n_choices: int,
        *,
        n_tokens: int = 0,
        n_features: int = 0,
        embedding: int = 60,
        encoder_units: int = 60,
        decoder_units: int = 120,
    ) -> None:
        super().__init__()
        self.n_choices = n_choices
        self.read: nn.Module = (
            nn.Linear(n_features, embedding)
            if n_features
            # An unknown token has the embedding 0: it says nothing, and learns nothing.
            else nn.Embedding(n_tokens, embedding, padding_idx=0)
        )
        self.encoder = nn.LSTM(embedding, encoder_units, batch_first=True)
        self.bridge = nn.Linear(2 * encoder_units, 2 * decoder_units)
        self.tokens = nn.Embedding(n_choices, embedding)  # row 0, the end, also starts
        self.decoder = nn.LSTMCell(embedding, decoder_units)
        self.output = nn.Linear(decoder_units, n_choices)

    def encode(self, values: Tensor, length: Tensor) -> State:
        """The decoder's first state (hidden, cell) of each sample."""
        packed = pack_padded_sequence(
            self.read(values), length.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (hidden, cell) = self.encoder(packed)
        first = self.bridge(torch.cat([hidden[0], cell[0]], dim=1))  # (b, 2 · decoder_units)
        hidden, cell = first.chunk(2, dim=1)
        return torch.tanh(hidden), cell

    def start(self, memory: State) -> tuple[Tensor, State]:
        """Feed the end symbol, which also stands for the beginning."""
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
