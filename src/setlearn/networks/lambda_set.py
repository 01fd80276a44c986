"""An order-free λ-network: one small judge for all choices, which sees how each one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LambdaOrderFree", "standing"]

N_INPUTS = 10


class LambdaOrderFree(nn.Module):
    """Logits and a position in, a binary logit for each choice out; the same judge for all.

    The judge sees a choice's standing among the others, not which one it is. So shuffling the
    choices shuffles the answers, what is learned of one choice holds for all, and the weights
    serve a vocabulary of any size. It adds to the choice's own logit, and at first adds nothing.

    Parameters
    ----------
    n_positions : int
        Positions with an embedding of their own; deeper ones use the last.
    hidden : sequence of int
        The sizes of the judge's layers.
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
        layers: list[nn.Module] = []
        size = N_INPUTS + embedding
        for width in hidden:
            layers += [nn.Linear(size, width), nn.ReLU(), nn.Dropout(dropout)]
            size = width
        answer = nn.Linear(size, 1)
        nn.init.zeros_(answer.weight)
        nn.init.zeros_(answer.bias)
        self.judge = nn.Sequential(*layers, answer)

    def forward(self, logits: Tensor, position: Tensor) -> Tensor:
        """Binary logits (n, V) from log-odds (n, V) and positions (n,)."""
        place = self.position(position.clamp(max=self.position.num_embeddings - 1))
        places = place[:, None, :].expand(-1, logits.shape[1], -1)  # (n, V, embedding)
        correction: Tensor = self.judge(torch.cat([standing(logits), places], dim=2)).squeeze(2)
        return logits + correction


def standing(logits: Tensor) -> Tensor:
    """How each choice stands among the others, (n, V, N_INPUTS), from log-odds (n, V).

    Equal choices stand equally: ranks count what is strictly better. Ranks, gaps and sizes enter
    by their logarithms, as the first few matter most and there may be thousands.

    Examples
    --------
    >>> own, p, share, rank = standing(torch.tensor([[0.0, -1.0, 0.0]]))[0, :, :4].T
    >>> share.tolist()  # 1 for the best, 1/2 for the next one, ...
    [1.0, 0.3333333432674408, 1.0]
    """
    n_choices = logits.shape[1]
    ascending = logits.sort(dim=1).values.contiguous()
    p = ascending.sigmoid()
    expected_size = p.sum(dim=1, keepdim=True)
    up_to = torch.cat([torch.zeros_like(expected_size), p.cumsum(dim=1)], dim=1)  # (n, V + 1)
    asked = logits.contiguous()
    below = torch.searchsorted(ascending, asked)  # how many are strictly worse
    not_above = torch.searchsorted(ascending, asked, right=True)
    rank = (n_choices - not_above).to(logits.dtype)
    # At the ends a choice is its own neighbour, without a gap.
    better = torch.gather(ascending, 1, not_above.clamp(max=n_choices - 1))
    worse = torch.gather(ascending, 1, (below - 1).clamp(min=0))
    better = torch.where(not_above < n_choices, better, asked)
    worse = torch.where(below > 0, worse, asked)
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
