"""What a prefix attends to besides its input: the prefixes above it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from setlearn.networks.attention import Attention, History, SampleGrid
from setlearn.networks.input_attention import MASKED
from setlearn.nodes import IntArray
from setlearn.trie import Trie

__all__ = ["GrowingHistory", "TreeHistory"]


class TreeHistory(History):
    """The prefixes of whole trees, which are scored together with the prefixes above them.

    Parameters
    ----------
    trie : Trie
    grid : SampleGrid
        Of the nodes of the trie.
    like : Tensor
        Has the type and the device of biases.
    """

    def __init__(self, trie: Trie, grid: SampleGrid, like: Tensor) -> None:
        self.grid = grid
        n_slots = grid.n_slots
        paths = torch.from_numpy(_paths(trie)).to(like.device)
        node = torch.arange(len(paths), device=paths.device)[:, None].expand_as(paths)
        above = grid.slot[paths[paths >= 0]] % n_slots
        bias = like.new_full((grid.n_samples * n_slots * n_slots,), MASKED)
        bias[grid.slot[node[paths >= 0]] * n_slots + above] = 0
        self.bias = bias.view(grid.n_samples, 1, n_slots, n_slots)

    def attend(self, attention: Attention, layer: int, x: Tensor) -> Tensor:
        """Attend within the tree of each sample."""
        key_value = self.grid.arrange(attention.key_value(x))
        return self.grid.flatten(attention(self.grid.arrange(x), key_value, self.bias))


class GrowingHistory(History):
    """Prefixes that grow token by token: the keys and values of all steps so far.

    Parameters
    ----------
    past : list of Tensor of shape (n, tokens before, 2d)
        One per layer.
    """

    def __init__(self, past: list[Tensor]) -> None:
        self.past = past
        self.grown: list[Tensor] = []

    def attend(self, attention: Attention, layer: int, x: Tensor) -> Tensor:
        """Attend to the steps before and to this one."""
        path = torch.cat([self.past[layer], attention.key_value(x)[:, None]], dim=1)
        self.grown.append(path)
        attended: Tensor = attention(x[:, None], path, path.new_zeros(1, 1, 1, path.shape[1]))
        return attended[:, 0]


def _paths(trie: Trie) -> IntArray:
    """For each node the nodes from itself up to its root, (n, longest), then -1."""
    paths = np.full((len(trie), int(trie.depth.max(initial=0)) + 1), -1, dtype=np.int64)
    node = np.arange(len(trie))
    for column in range(paths.shape[1]):
        paths[:, column] = node
        node = np.where(node < 0, -1, trie.parent[node])
    return paths
