"""Which positions a transducer reaches when it writes the prefixes of known trees.

Level by level, a transducer takes many small steps. For prefixes that are known beforehand, what it
would do at each position of the input can be computed at once. The positions that a prefix reaches,
and their shares in its probability, then follow from a few products per level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from setlearn.networks.action_scorer import ActionScorer
from setlearn.networks.action_trees import written_tokens
from setlearn.trie import Trie

__all__ = ["Reached", "reached_positions"]


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Where the prefixes of a trie may be written."""

    share: Tensor  # (nodes, positions): of each position in the probability of the prefix
    end: Tensor  # (nodes,) the probability that nothing follows
    histories: list[Tensor]  # one per member: (nodes, d)


def reached_positions(
    members: list[ActionScorer],
    encoded: list[Tensor],
    choice: Tensor,
    last: Tensor,
    trie: Trie,
    least: float,
) -> Reached:
    """Follow all prefixes of trees through their inputs.

    Parameters
    ----------
    members : list of ActionScorer
    encoded : list of Tensor of shape (b, positions, d)
        The inputs as each member reads them.
    choice : Tensor of shape (b, positions)
        What can be copied at each position.
    last : Tensor of shape (b,)
        The last position of each input.
    trie : Trie
        One tree per input.
    least : float
        Smaller shares count as 0.

    Returns
    -------
    Reached
    """
    device = choice.device
    sample, token = (torch.from_numpy(part).to(device) for part in (trie.sample, trie.token))
    above = torch.from_numpy(np.maximum(trie.parent, 0)).to(device)
    written = torch.from_numpy(written_tokens(trie)[1]).to(device)
    histories = [member.history(written) for member in members]
    moves = torch.zeros(len(trie), choice.shape[1], dtype=encoded[0].dtype, device=device)
    writes = torch.zeros_like(moves)  # the last token of each prefix, by the prefix above it
    for member, inputs, history in zip(members, encoded, histories, strict=True):
        hidden = member.combined(inputs[sample], history[:, None])  # (nodes, positions, d)
        moves += member.advance_logits(hidden).sigmoid() / len(members)
        at_token = member.token_logits(hidden[above], choice[sample], token[:, None])
        writes += at_token.sigmoid() / len(members)
    position = torch.arange(choice.shape[1], device=device)
    ends = moves.gather(1, last[sample][:, None])[:, 0]
    moves = moves * (position < last[sample][:, None])
    share = torch.zeros_like(moves)
    for number, level in enumerate(trie.levels()):
        nodes = torch.from_numpy(level.nodes).to(device)
        started = (position == 0).to(share.dtype).expand(len(nodes), -1)
        if number:
            started = share[above[nodes]] * writes[nodes]
            started = started / started.sum(1, keepdim=True).clamp_min(least**2)
        reached = _moved_on(started, moves[nodes])
        share[nodes] = reached.masked_fill(reached <= least, 0.0)
    end = share.gather(1, last[sample][:, None])[:, 0] * ends
    return Reached(share, end, histories)


def _moved_on(started: Tensor, moves: Tensor) -> Tensor:
    """The share of each position that is reached from those before it, (n, positions)."""
    columns = [started[:, 0]]
    for place in range(1, started.shape[1]):
        columns.append(started[:, place] + columns[-1] * moves[:, place - 1])
    return torch.stack(columns, dim=1)
