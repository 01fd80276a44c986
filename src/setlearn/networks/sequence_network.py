"""What a network for sets of sequences is, and how it walks a whole trie at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from setlearn.errors import DataError
from setlearn.trie import Trie

__all__ = [
    "LOSSES",
    "Memory",
    "SequenceNetwork",
    "State",
    "check_shapes",
    "node_loss",
    "sequence_loss",
]

Memory: TypeAlias = Any
"""What a network keeps of the inputs themselves, one row a sample; its own business."""

State: TypeAlias = tuple[Tensor, ...]
"""What a network knows of the prefixes, one row a prefix in every tensor."""


class SequenceNetwork(nn.Module, ABC):
    """Reads each input once, then scores prefixes, many at a time.

    A network of your own has these three methods; ``n_choices`` is the size of the vocabulary
    with the end symbol, whose id is 0.
    """

    n_choices: int

    @abstractmethod
    def encode(self, values: Tensor, length: Tensor) -> Memory:
        """Read inputs: ids (b, longest) or vectors (b, longest, d), padded, with their lengths."""

    def most_at_once(self, longest: int) -> int | None:
        """How many inputs of that length to encode together at the most; None is any number."""
        return None

    @abstractmethod
    def start(self, memory: Memory) -> tuple[Tensor, State]:
        """Score the root of every sample: logits (b, n_choices) and states."""

    @abstractmethod
    def advance(
        self, memory: Memory, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Move prefixes one token on: logits (n, n_choices) and states.

        ``sample`` (n,) says to which input each prefix belongs; ``state`` has been gathered, a
        row a prefix. All prefixes of one call are equally long.
        """

    def score_trie(self, memory: Memory, trie: Trie) -> Tensor:
        """Logits of every node of the tries, (n_nodes, n_choices): each shared prefix is run once.

        This goes level by level; a network that can look at a whole tree at once may do so.
        """
        device = next(self.parameters()).device
        levels = trie.levels()
        logits, state = self.start(memory)
        found = [logits]
        for level in levels[1:]:
            parent = torch.from_numpy(level.parent).to(device)
            gathered = tuple(part.index_select(0, parent) for part in state)
            sample = torch.from_numpy(trie.sample[level.nodes]).to(device)
            token = torch.from_numpy(level.token).to(device)
            logits, state = self.advance(memory, sample, gathered, token)
            found.append(logits)
        # Levels list the nodes depth by depth; the trie orders them by sample.
        place = torch.from_numpy(np.concatenate([level.nodes for level in levels])).to(device)
        by_depth = torch.cat(found)
        return torch.empty_like(by_depth).index_copy(0, place, by_depth)


def sequence_loss(logits: Tensor, trie: Trie) -> Tensor:
    """Cross entropy a token, the paper's loss: each edge counts for every sequence that takes it.

    So the loss on the tree equals the loss on one row a sequence.
    """
    device = logits.device
    log_probabilities = logits.log_softmax(dim=1)
    node = torch.from_numpy(trie.edge_node).to(device)
    token = torch.from_numpy(trie.edge_token).to(device)
    count = torch.from_numpy(trie.edge_count).to(device, logits.dtype)
    return -(log_probabilities[node, token] * count).sum() / count.sum()


def node_loss(logits: Tensor, trie: Trie) -> Tensor:
    """Binary cross entropy of all choices, summed at each node, in the mean over nodes.

    Every right choice of a node is told at once, so that the probability of one does not depend
    on how many others there are.
    """
    device = logits.device
    right = torch.zeros_like(logits)
    node, token = torch.from_numpy(trie.edge_node), torch.from_numpy(trie.edge_token)
    right[node.to(device), token.to(device)] = 1
    return binary_cross_entropy_with_logits(logits, right, reduction="sum") / len(trie)


LOSSES = {"node": node_loss, "sequence": sequence_loss}


def check_shapes(network: SequenceNetwork, memory: Memory, n_samples: int) -> None:
    """Go two steps from a few encoded inputs, and raise if shapes are not as promised."""
    name, device = type(network).__name__, next(network.parameters()).device
    with torch.no_grad():
        logits, state = network.start(memory)
        _check_logits(f"{name}.start", logits, n_samples, network.n_choices)
        _check_state(f"{name}.start", state, n_samples)
        sample = torch.arange(n_samples, device=device).repeat(2)
        doubled = tuple(part[sample] for part in state)
        logits, state = network.advance(memory, sample, doubled, torch.zeros_like(sample))
        _check_logits(f"{name}.advance", logits, 2 * n_samples, network.n_choices)
        _check_state(f"{name}.advance", state, 2 * n_samples)


def _check_logits(where: str, logits: Tensor, n_rows: int, n_choices: int) -> None:
    if tuple(logits.shape) != (n_rows, n_choices):
        raise DataError(
            f"{where} answered logits of shape {tuple(logits.shape)} for {n_rows} prefixes and "
            f"{n_choices} choices (tokens and the end symbol); it must be ({n_rows}, {n_choices})"
        )


def _check_state(where: str, state: State, n_rows: int) -> None:
    if not isinstance(state, tuple) or not all(isinstance(part, Tensor) for part in state):
        raise DataError(f"{where} must answer its states as a tuple of tensors, got {state!r:.60}")
    shapes = [tuple(part.shape) for part in state]
    if any(len(part) != n_rows for part in state):
        raise DataError(
            f"{where} answered states of shapes {shapes} for {n_rows} prefixes; "
            f"each must have {n_rows} rows"
        )
