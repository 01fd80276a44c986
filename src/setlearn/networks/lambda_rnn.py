"""The recurrent λ-network of the paper (SSG-RNN)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["LambdaRecurrence"]


class LambdaRecurrence(nn.Module):
    """An LSTM encoder–decoder along the vocabulary axis.

    The encoder reads the logits with the position's embedding, choice by choice. Its last state
    starts the decoder, which reads the logits again and answers one binary logit a choice.

    Parameters
    ----------
    n_positions : int
        Positions with an embedding of their own; deeper ones use the last.
    hidden : int
        Units of the encoder and of the decoder.
    embedding : int
        The size of a position's embedding.

    Examples
    --------
    >>> network = LambdaRecurrence(2)
    >>> network(torch.zeros(3, 5), torch.tensor([0, 1, 7])).shape
    torch.Size([3, 5])
    """

    def __init__(self, n_positions: int, *, hidden: int = 32, embedding: int = 8) -> None:
        super().__init__()
        self.position = nn.Embedding(n_positions, embedding)
        self.encoder = nn.LSTM(1 + embedding, hidden, batch_first=True)
        self.decoder = nn.LSTM(1, hidden, batch_first=True)
        self.answer = nn.Linear(hidden, 1)

    def forward(self, logits: Tensor, position: Tensor) -> Tensor:
        """Binary logits (n, V) from log-odds (n, V) and positions (n,)."""
        scores = logits[:, :, None]  # (n, V, 1)
        place = self.position(position.clamp(max=self.position.num_embeddings - 1))
        places = place[:, None, :].expand(-1, logits.shape[1], -1)  # (n, V, embedding)
        _, state = self.encoder(torch.cat([scores, places], dim=2))
        answers, _ = self.decoder(scores, state)  # (n, V, hidden)
        binary: Tensor = self.answer(answers).squeeze(2)
        return binary
