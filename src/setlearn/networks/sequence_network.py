"""The base class of networks for sets of sequences, and their losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from setlearn.errors import DataError
from setlearn.networks.recipe import Loss
from setlearn.nodes import IntArray
from setlearn.trie import Sequences, Trie

if TYPE_CHECKING:
    from setlearn.sequence_inputs import Inputs

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
"""What a network keeps of the inputs, one row per sample, in a form of its own."""

State: TypeAlias = tuple[Tensor, ...]
"""What a network keeps of the prefixes: tensors with one row per prefix."""


IMPOSSIBLE = -1e4
"""The logit of choices that a sample does not have: their probability is 0."""


class SequenceNetwork(nn.Module, ABC):
    """Reads each input once, then scores prefixes, many at a time.

    A subclass implements ``encode``, ``start`` and ``advance``. ``n_choices`` is the number of
    tokens of the sequences, plus one for the end symbol, whose id is 0. The last ``n_stand_ins`` of
    them stand for tokens of the input that training has not seen.
    """

    n_choices: int
    n_stand_ins: int = 0

    precision: ClassVar[torch.dtype] = torch.float64
    """Of the weights after training. In double precision scores are the same in every batch, up to
    ten decimals."""

    @abstractmethod
    def encode(self, values: Tensor, length: Tensor) -> Memory:
        """Read inputs.

        Parameters
        ----------
        values : Tensor of shape (b, longest) or (b, longest, d)
            Token ids or vectors, padded.
        length : Tensor of shape (b,)
            The lengths without padding.

        Returns
        -------
        Memory
        """

    @property
    def longest_whole(self) -> int | None:
        """The longest input that is read in one piece; None if all are.

        Longer inputs are read in another way. A batch holds only inputs of one kind, so that
        answers do not depend on what is asked together.
        """
        return None

    def most_at_once(self, longest: int) -> int | None:
        """The largest number of inputs of that length to encode together; None for no limit."""
        return None

    def memory_of(self, memory: Memory, rows: Tensor) -> Memory | None:
        """What is kept of some inputs only, once all prefixes of the others are finished.

        Parameters
        ----------
        memory : Memory
            From ``encode``.
        rows : Tensor of shape (m,)
            The inputs to keep, ascending.

        Returns
        -------
        Memory or None
            One row per input that is kept; None, the default, to keep all inputs.
        """
        return None

    @abstractmethod
    def start(self, memory: Memory) -> tuple[Tensor, State]:
        """Score the root of every sample: logits (b, n_choices) and states."""

    @abstractmethod
    def advance(
        self, memory: Memory, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Add one token to each prefix. All prefixes of one call have the same length.

        Parameters
        ----------
        memory : Memory
            From ``encode``.
        sample : Tensor of shape (n,)
            The input that each prefix belongs to.
        state : State
            The states of the prefixes before the token, one row per prefix.
        token : Tensor of shape (n,)

        Returns
        -------
        logits : Tensor of shape (n, n_choices)
        state : State
        """

    def training_trie(
        self, inputs: Inputs, sequences: Sequences, rng: np.random.RandomState
    ) -> Trie:
        """The trees that the network is trained on.

        By default they are the prefix trees of the sequences. A network that writes its sequences
        in another form, such as actions, overrides this together with `training_loss`.

        Parameters
        ----------
        inputs : Inputs
        sequences : Sequences
        rng : RandomState

        Returns
        -------
        Trie
            One tree per input.
        """
        return Trie.of(sequences, len(inputs))

    def training_loss(self, memory: Memory, trie: Trie, loss: Loss) -> Tensor:
        """The loss on some of the trees that `training_trie` returned.

        Parameters
        ----------
        memory : Memory
            From ``encode``.
        trie : Trie
        loss : {"node", "sequence"}

        Returns
        -------
        Tensor
            A single number.
        """
        return self.tree_loss(self.score_trie(memory, trie), trie, loss)

    def loss_terms(self, trie: Trie, loss: Loss) -> IntArray:
        """How many terms the mean in `training_loss` has for each tree.

        Processes that share a batch weigh their losses by it. A network whose ``training_loss`` is
        the mean of something else than nodes or tokens overrides it.

        Parameters
        ----------
        trie : Trie
            What `training_trie` returned.
        loss : {"node", "sequence"}

        Returns
        -------
        array of int, shape (n_trees,)
        """
        if loss == "node":
            return np.bincount(trie.sample, minlength=trie.n_samples)
        tree = trie.sample[trie.edge_node]
        return np.bincount(tree, trie.edge_count, minlength=trie.n_samples).astype(np.int64)

    def tree_loss(self, logits: Tensor, trie: Trie, loss: Loss) -> Tensor:
        """The loss of scored trees. Stand-ins that a sample does not use are not its choices.

        Parameters
        ----------
        logits : Tensor of shape (n_nodes, n_choices)
        trie : Trie
        loss : {"node", "sequence"}

        Returns
        -------
        Tensor
            A single number.
        """
        if self.n_stand_ins:
            available = np.ones((trie.n_samples, logits.shape[1]), dtype=bool)
            available[:, -self.n_stand_ins :] = False
            available[trie.sample[trie.edge_node], trie.edge_token] = True
            padding = torch.from_numpy(~available[trie.sample]).to(logits.device)
            logits = logits.masked_fill(padding, IMPOSSIBLE)
        return LOSSES[loss](logits, trie)

    def score_trie(self, memory: Memory, trie: Trie) -> Tensor:
        """Score every node of the tries; a prefix that sequences share is scored once.

        This goes level by level. A network that can score a whole trie at once may override it.

        Parameters
        ----------
        memory : Memory
            From ``encode``.
        trie : Trie

        Returns
        -------
        Tensor of shape (n_nodes, n_choices)
            The logits.
        """
        device = next(self.parameters()).device
        levels = trie.levels()
        logits, state = self.start(memory)
        by_level = [logits]
        for level in levels[1:]:
            parent = torch.from_numpy(level.parent).to(device)
            gathered = tuple(part.index_select(0, parent) for part in state)
            sample = torch.from_numpy(trie.sample[level.nodes]).to(device)
            token = torch.from_numpy(level.token).to(device)
            logits, state = self.advance(memory, sample, gathered, token)
            by_level.append(logits)
        # Levels list the nodes depth by depth; the trie orders them by sample.
        place = torch.from_numpy(np.concatenate([level.nodes for level in levels])).to(device)
        by_depth = torch.cat(by_level)
        return torch.empty_like(by_depth).index_copy(0, place, by_depth)


def sequence_loss(logits: Tensor, trie: Trie) -> Tensor:
    """The mean cross entropy per token, the paper's loss.

    Each edge counts once for every sequence that uses it, so the loss on the trie equals the loss
    on the sequences one by one.

    Parameters
    ----------
    logits : Tensor of shape (n_nodes, n_choices)
    trie : Trie

    Returns
    -------
    Tensor
        A single number.
    """
    device = logits.device
    log_probabilities = logits.log_softmax(dim=1)
    node = torch.from_numpy(trie.edge_node).to(device)
    token = torch.from_numpy(trie.edge_token).to(device)
    count = torch.from_numpy(trie.edge_count).to(device, logits.dtype)
    return -(log_probabilities[node, token] * count).sum() / count.sum()


def node_loss(logits: Tensor, trie: Trie) -> Tensor:
    """The binary cross entropy of all choices, summed at each node, averaged over nodes.

    Each choice is right or wrong on its own, so the probability of one does not depend on how many
    others are right.

    Parameters
    ----------
    logits : Tensor of shape (n_nodes, n_choices)
    trie : Trie

    Returns
    -------
    Tensor
        A single number.
    """
    device = logits.device
    right = torch.zeros_like(logits)
    node, token = torch.from_numpy(trie.edge_node), torch.from_numpy(trie.edge_token)
    right[node.to(device), token.to(device)] = 1
    return binary_cross_entropy_with_logits(logits, right, reduction="sum") / len(trie)


LOSSES: dict[Loss, Callable[[Tensor, Trie], Tensor]] = {
    "node": node_loss,
    "sequence": sequence_loss,
}


def check_shapes(network: SequenceNetwork, memory: Memory, n_samples: int) -> None:
    """Run two steps on a few encoded inputs and check the shapes of the results.

    Parameters
    ----------
    network : SequenceNetwork
    memory : Memory
        What the network's ``encode`` returned.
    n_samples : int
        The number of inputs that were encoded.

    Raises
    ------
    DataError
        If ``start`` or ``advance`` returns something of another shape or type.
    """
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
            f"{where} returned logits of shape {tuple(logits.shape)} for {n_rows} prefixes and "
            f"{n_choices} choices (tokens and the end symbol); it must be ({n_rows}, {n_choices})"
        )


def _check_state(where: str, state: State, n_rows: int) -> None:
    if not isinstance(state, tuple) or not all(isinstance(part, Tensor) for part in state):
        raise DataError(f"{where} must return its states as a tuple of tensors, got {state!r:.60}")
    shapes = [tuple(part.shape) for part in state]
    if any(len(part) != n_rows for part in state):
        raise DataError(
            f"{where} returned states of shapes {shapes} for {n_rows} prefixes; "
            f"each must have {n_rows} rows"
        )
