"""The modules of the λ-networks: log-odds of all choices in, one binary logit per choice out.

Each takes ``logits`` (n, V) and ``position`` (n,). Those that can be used on choices whose number
differs from row to row also take ``available`` (n, V): choices come first, padding last.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LambdaConvolution", "LambdaOrderFree", "LambdaRecurrence", "relative_features"]

MAX_POOLED = 64
"""Places kept along the vocabulary axis: bounds the first dense layer for large vocabularies."""

N_INPUTS = 10
"""The number of features by which `LambdaOrderFree` judges a choice."""


class LambdaConvolution(nn.Module):
    """The convolutional λ-network of the paper (SSG-CNN).

    As printed: one 1-D convolution along the vocabulary axis, max pooling, several dense layers
    and one sigmoid (which the loss applies). The paper runs the network once for each k. Here
    the id k enters last, as an embedding E_k, so that one pass serves all k with one matrix
    product: ``output_k = <h, E_k> + b_k + s_k · logit_k``.

    The last term, a learned multiple of the choice's own logit, is our addition: pooling blurs
    which choice a score belongs to. In our measurements it makes no difference with the few
    labels of YEAST and SCENE, but with 300 choices the network hardly learns without it.

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
        layers, size = _dense(channels * n_pooled + embedding, hidden, dropout)
        self.dense = nn.Sequential(*layers)
        self.choice = nn.Embedding(n_choices, size)
        # The network starts close to the scorer: the choice's own logit and little else.
        nn.init.normal_(self.choice.weight, std=0.1)
        self.bias = nn.Parameter(torch.zeros(n_choices))
        self.slope = nn.Parameter(torch.ones(n_choices))

    def forward(self, logits: Tensor, position: Tensor) -> Tensor:
        """Compute binary logits.

        Parameters
        ----------
        logits : tensor of shape (n, V)
            Log-odds of the scorer's probabilities.
        position : tensor of shape (n,)
            The depth of each choice point.

        Returns
        -------
        tensor of shape (n, V)
        """
        features = torch.relu(self.convolution(logits[:, None, :]))  # (n, channels, V)
        pooled = self.pool(features).flatten(1)  # (n, channels * pooled)
        place = _embedded(self.position, position)
        context = self.dense(torch.cat([pooled, place], dim=1))  # (n, H)
        from_context: Tensor = context @ self.choice.weight.T  # (n, V)
        return from_context + self.bias + self.slope * logits


class LambdaRecurrence(nn.Module):
    """The recurrent λ-network of the paper (SSG-RNN): an LSTM encoder–decoder.

    The encoder reads the logits with the position's embedding, choice by choice. Its last state
    starts the decoder, which reads the logits again and outputs one binary logit per choice.

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

    def forward(self, logits: Tensor, position: Tensor, available: Tensor | None = None) -> Tensor:
        """Compute binary logits.

        Parameters
        ----------
        logits : tensor of shape (n, V)
            Log-odds of the scorer's probabilities.
        position : tensor of shape (n,)
            The depth of each choice point.
        available : bool tensor of shape (n, V), optional
            False for padding, which comes last in each row.

        Returns
        -------
        tensor of shape (n, V)
            Without meaning for padding.
        """
        scores = logits[:, :, None]  # (n, V, 1)
        place = _embedded(self.position, position)
        places = place[:, None, :].expand(-1, logits.shape[1], -1)  # (n, V, embedding)
        read = torch.cat([scores, places], dim=2)
        if available is None:
            _, state = self.encoder(read)
        else:  # each row up to its last choice
            lengths = available.sum(dim=1).cpu()
            packed = pack_padded_sequence(read, lengths, batch_first=True, enforce_sorted=False)
            _, state = self.encoder(packed)
        answers, _ = self.decoder(scores, state)  # (n, V, hidden)
        binary: Tensor = self.answer(answers).squeeze(2)
        return binary


class LambdaOrderFree(nn.Module):
    """An order-free λ-network: the same small network judges every choice.

    It sees how a choice compares with the others, not which one it is. So shuffling the choices
    shuffles the answers, what is learned from one choice holds for all, and the weights serve a
    vocabulary of any size. Its output is added to the choice's own logit, and starts at 0.

    Parameters
    ----------
    n_positions : int
        Positions with an embedding of their own; deeper ones use the last.
    hidden : sequence of int
        The sizes of the dense layers.
    embedding : int
        The size of a position's embedding.
    dropout : float
        After each layer.

    Examples
    --------
    >>> network = LambdaOrderFree(2)
    >>> network(torch.zeros(3, 5), torch.tensor([0, 1, 7])).shape
    torch.Size([3, 5])
    """

    def __init__(
        self,
        n_positions: int,
        *,
        hidden: Sequence[int] = (32, 32),
        embedding: int = 8,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.position = nn.Embedding(n_positions, embedding)
        layers, size = _dense(N_INPUTS + embedding, hidden, dropout)
        answer = nn.Linear(size, 1)
        nn.init.zeros_(answer.weight)
        nn.init.zeros_(answer.bias)
        self.judge = nn.Sequential(*layers, answer)

    def forward(self, logits: Tensor, position: Tensor, available: Tensor | None = None) -> Tensor:
        """Compute binary logits.

        Parameters
        ----------
        logits : tensor of shape (n, V)
            Log-odds of the scorer's probabilities.
        position : tensor of shape (n,)
            The depth of each choice point.
        available : bool tensor of shape (n, V), optional
            False for padding.

        Returns
        -------
        tensor of shape (n, V)
            Without meaning for padding.
        """
        place = _embedded(self.position, position)
        places = place[:, None, :].expand(-1, logits.shape[1], -1)  # (n, V, embedding)
        features = torch.cat([relative_features(logits, available), places], dim=2)
        correction: Tensor = self.judge(features).squeeze(2)
        return logits + correction


def relative_features(logits: Tensor, available: Tensor | None = None) -> Tensor:
    """How each choice compares with the others.

    Equal choices have equal features: ranks count what is strictly better. Ranks, gaps and sizes
    enter by their logarithms, as the first few matter most and there may be thousands.

    Parameters
    ----------
    logits : tensor of shape (n, V)
        Log-odds.
    available : bool tensor of shape (n, V), optional
        False for padding, which no other choice is compared with.

    Returns
    -------
    tensor of shape (n, V, N_INPUTS)
        Finite for padding, without meaning.

    Examples
    --------
    >>> own, p, share, rank = relative_features(torch.tensor([[0.0, -1.0, 0.0]]))[0, :, :4].T
    >>> share.tolist()  # 1 for the best, 1/2 for the next one, ...
    [1.0, 0.3333333432674408, 1.0]
    """
    n_choices = logits.shape[1]
    ranked, n_padding = logits, torch.zeros(1)
    if available is not None:
        ranked = logits.masked_fill(~available, -math.inf)  # sorts below all choices
        n_padding = (~available).sum(dim=1, keepdim=True)
        lowest = logits.masked_fill(~available, math.inf).min(dim=1, keepdim=True).values
        logits = torch.where(available, logits, lowest)
    ascending = ranked.sort(dim=1).values.contiguous()
    p = ascending.sigmoid()
    expected_size = p.sum(dim=1, keepdim=True)
    up_to = torch.cat([torch.zeros_like(expected_size), p.cumsum(dim=1)], dim=1)  # (n, V + 1)
    logits = logits.contiguous()
    below = torch.searchsorted(ascending, logits)  # how many are strictly worse
    not_above = torch.searchsorted(ascending, logits, right=True)
    rank = (n_choices - not_above).to(logits.dtype)
    # The best and the worst choice have no neighbour on one side: the gap there is 0.
    better = torch.gather(ascending, 1, not_above.clamp(max=n_choices - 1))
    worse = torch.gather(ascending, 1, (below - 1).clamp(min=0))
    better = torch.where(not_above < n_choices, better, logits)
    worse = torch.where(below > n_padding, worse, logits)
    above = expected_size - torch.gather(up_to, 1, not_above)  # expected right ones among those
    top = ascending[:, -1:]
    return torch.stack(
        [
            logits / 4,  # of the size of the others
            logits.sigmoid(),
            1 / (1 + rank),
            rank.log1p(),
            (top - logits).log1p(),
            (better - logits).log1p(),
            (logits - worse).log1p(),
            above.clamp(min=0).log1p(),
            expected_size.log1p().expand_as(logits),
            (top / 4).expand_as(logits),
        ],
        dim=2,
    )


def _dense(size: int, hidden: Sequence[int], dropout: float) -> tuple[list[nn.Module], int]:
    """Dense layers, and the size of what comes out of them."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Linear(size, width), nn.ReLU(), nn.Dropout(dropout)]
        size = width
    return layers, size


def _embedded(embedding: nn.Embedding, position: Tensor) -> Tensor:
    place: Tensor = embedding(position.clamp(max=embedding.num_embeddings - 1))
    return place
