"""Dropout that does not spend a quarter of a training step on drawing random numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Dropout"]

ONE_BYTE = 256


class Dropout(nn.Module):
    """Zero each feature with probability ``p`` while training, and scale the others up.

    On a CPU torch draws one number a feature, one after the other. One random byte a feature is
    enough, and eight of them come with each draw. So ``p`` is rounded to 256ths.

    Examples
    --------
    >>> with torch.random.fork_rng():
    ...     dropped = Dropout(0.25)(torch.ones(1000))
    >>> sorted({round(value, 2) for value in dropped.tolist()})
    [0.0, 1.33]
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.n_dropped = min(round(p * ONE_BYTE), ONE_BYTE - 1)

    def forward(self, x: Tensor) -> Tensor:
        """Drop some of x."""
        if not self.training or self.n_dropped == 0:
            return x
        draws = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device)
        draws.random_(-(2**63), None)
        kept = draws.view(torch.uint8)[: x.numel()].view(x.shape) >= self.n_dropped
        return x * kept.to(x.dtype).mul_(ONE_BYTE / (ONE_BYTE - self.n_dropped))
