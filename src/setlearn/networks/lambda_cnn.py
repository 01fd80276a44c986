"""The convolutional λ-network of the paper (SSG-CNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LambdaConvolution"]

MAX_POOLED = 64
"""Places kept along the vocabulary axis: bounds the first dense layer for large vocabularies."""


class LambdaConvolution(nn.Module):
    """Logits, position id j and logit id k in; a binary logit for each k out.

    As printed: one 1-D convolution along the vocabulary axis, max pooling, several dense layers
    and one sigmoid (which the loss applies). The paper runs the network once for each k. Here
    the id k enters last, as an embedding E_k, so that one pass serves all k with one matrix
    product: ``output_k = <h, E_k> + b_k + s_k · logit_k``.

    The last term, a learned multiple of the choice's own logit, is our addition: pooling blurs
    which choice a score belongs to. Measured, it changes nothing to speak of with the few labels
    of YEAST and SCENE, but with 300 choices the network hardly learns without it.

    Parameters
    ----------
    n_choices : int
        V, the length of the vocabulary axis.
    n_positions : int
        Positions with an embedding of their own; deeper ones use the last.
    channels, kernel_size : int
        Of the convolution.
    hidden : sequence of int
        The sizes of the dense layers; the last is the size of E_k.
    embedding : int
        The size of a position's embedding.
    dropout : float
        After each dense layer.

    Examples
    --------
    >>> network = LambdaConvolution(5, 2)
    >>> network(torch.zeros(3, 5), torch.tensor([0, 1, 7])).shape
    torch.Size([3, 5])
    """

    def __init__(
        self,
        n_choices: int,
        n_positions: int,
        *,
        channels: int = 16,
        kernel_size: int = 3,
        hidden: Sequence[int] = (64, 64),
        embedding: int = 8,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        n_pooled = min((n_choices + 1) // 2, MAX_POOLED)
        self.convolution = nn.Conv1d(1, channels, kernel_size, padding="same")
        self.pool = nn.AdaptiveMaxPool1d(n_pooled)
        self.position = nn.Embedding(n_positions, embedding)
        layers: list[nn.Module] = []
        size = channels * n_pooled + embedding
        for width in hidden:
            layers += [nn.Linear(size, width), nn.ReLU(), nn.Dropout(dropout)]
            size = width
        self.dense = nn.Sequential(*layers)
        self.choice = nn.Embedding(n_choices, size)
        # The start is nearly "trust the scorer": the choice's own logit and not much else.
        nn.init.normal_(self.choice.weight, std=0.1)
        self.bias = nn.Parameter(torch.zeros(n_choices))
        self.slope = nn.Parameter(torch.ones(n_choices))

    def forward(self, logits: Tensor, position: Tensor) -> Tensor:
        """Binary logits (n, V) from log-odds (n, V) and positions (n,)."""
        features = torch.relu(self.convolution(logits[:, None, :]))  # (n, channels, V)
        pooled = self.pool(features).flatten(1)  # (n, channels * pooled)
        place = self.position(position.clamp(max=self.position.num_embeddings - 1))
        context = self.dense(torch.cat([pooled, place], dim=1))  # (n, H)
        from_context: Tensor = context @ self.choice.weight.T  # (n, V)
        return from_context + self.bias + self.slope * logits
