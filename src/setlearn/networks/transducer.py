"""A network that reads its input once from left to right and writes its answer on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from setlearn.networks.action_scorer import ADVANCE, ActionScorer
from setlearn.networks.action_trees import action_trie, written_tokens
from setlearn.networks.lattice import reached_positions
from setlearn.networks.recipe import Loss, NetworkRecipe
from setlearn.networks.sequence_network import SequenceNetwork, State
from setlearn.networks.windows import Windows
from setlearn.parameter_checks import check_share
from setlearn.savable import savable
from setlearn.trie import END, Sequences, Trie

if TYPE_CHECKING:
    from setlearn.nodes import BoolArray, IntArray
    from setlearn.sequence_inputs import Inputs

__all__ = ["Transducer", "TransducerNetwork"]

MOST_VALUES = 8_000_000
"""Hidden values that are computed together: 32 MB in single precision."""

SMALLEST = 1e-12
"""Probabilities below this one count as this one."""

SMALLEST_SHARE = 1e-6
"""Positions with a smaller share in the probability of a prefix are left out."""

FEW_POSITIONS = 64
"""In longer inputs most positions are out of reach of a prefix, and need not be computed."""


@savable()
class Transducer(NetworkRecipe):
    """A network for outputs that follow their inputs from left to right.

    Pronunciations, inflected forms and transliterations are of this kind. The training outputs
    are first aligned with their inputs. The network then learns which tokens to write at each
    position of the input, and when to move on. All ways to write the same output count together.

    Parameters
    ----------
    width : int, default=192
        Of all layers; a multiple of ``heads``.
    heads : int, default=4
        Attention heads of each layer.
    layers : int, default=2
        Of the encoder; each is a convolution over neighbouring positions, and attention.
    window : int, default=3
        How many positions on either side of each position the first layer sees.
    history : int, default=4
        How many of the last tokens of the output the network sees in order. Of all others it
        knows how often each was written.
    members : int, default=1
        How many such networks to train. Their probabilities are averaged, which is more accurate
        and takes that many times as long.
    dropout : float in [0, 1), default=0.3
    loss : {"node", "sequence"}, default="node"
        "node" trains each right action on its own. "sequence" trains one action among all.

    Examples
    --------
    >>> from setlearn.networks import Transducer
    >>> network = Transducer(width=32).build(n_choices=11, n_tokens=11, n_features=0)
    >>> len(network.members)
    1
    """

    sizes = ("width", "heads", "layers", "window", "history", "members")
    reads_spelling: ClassVar[bool] = True
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 32,
        "learning_rate": 2e-3,
        "weight_decay": 0.05,
        "schedule": "one-cycle",
    }

    def __init__(
        self,
        width: int = 192,
        heads: int = 4,
        layers: int = 2,
        window: int = 3,
        history: int = 4,
        members: int = 1,
        dropout: float = 0.3,
        *,
        loss: Loss = "node",
    ) -> None:
        self.width = width
        self.heads = heads
        self.layers = layers
        self.window = window
        self.history = history
        self.members = members
        self.dropout = dropout
        self.loss = loss

    @property
    def copies_tokens(self) -> bool:
        """True: each position can be copied."""
        return True

    def check_parameters(self) -> None:
        """Raise ParameterError if a parameter is out of range."""
        super().check_parameters()
        check_share("dropout", self.dropout)

    def new_module(
        self,
        *,
        n_choices: int,
        n_tokens: int,
        n_features: int,
        copies: IntArray | None,
        spelling: BoolArray | None = None,
    ) -> TransducerNetwork:
        """Make the network with fresh weights.

        Parameters
        ----------
        n_choices, n_tokens, n_features, copies, spelling
            As in `build`.

        Returns
        -------
        TransducerNetwork
        """
        return TransducerNetwork(
            self,
            n_choices=n_choices,
            n_tokens=n_tokens,
            n_features=n_features,
            copies=copies,
            spelling=spelling,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """What is kept of the inputs, with a position before the first token and one after the last."""

    encoded: list[Tensor]  # one per member: (b, positions, d)
    choice: Tensor  # (b, positions) the choice that a position can be copied as, END for none
    last: Tensor  # (b,) the position after the last token


@dataclass(frozen=True, slots=True, eq=False)
class _At:
    """Places where actions are scored: an input, a position, and what was written before."""

    sample: Tensor  # (m,)
    position: Tensor  # (m,)
    histories: list[Tensor]  # one per member: (m, d)


class TransducerNetwork(SequenceNetwork):
    """Writes tokens at one input position after the other.

    A prefix can be written in several ways, which differ in where in the input its last token was
    written. The state of a prefix holds the share of each position in its probability.

    Parameters
    ----------
    recipe : Transducer
    n_choices, n_tokens, n_features, copies, spelling
        As in `NetworkRecipe.build`.
    """

    precision = torch.float32
    copies: Tensor

    def __init__(
        self,
        recipe: Transducer,
        *,
        n_choices: int,
        n_tokens: int,
        n_features: int,
        copies: IntArray | None,
        spelling: BoolArray | None,
    ) -> None:
        super().__init__()
        self.n_choices = n_choices
        self.loss_name = recipe.loss
        copies = np.zeros(max(n_tokens, 1), np.int64) if copies is None else np.asarray(copies)
        self.register_buffer("copies", torch.as_tensor(copies, dtype=torch.long))
        copying = bool(n_tokens) and bool((copies != END).any())
        parts = None if spelling is None else torch.as_tensor(spelling, dtype=torch.float32)
        self.members = nn.ModuleList(
            ActionScorer(recipe, n_choices, n_tokens, n_features, copying=copying, spelling=parts)
            for _ in range(recipe.members)
        )

    def training_trie(
        self, inputs: Inputs, sequences: Sequences, rng: np.random.RandomState
    ) -> Trie:
        """The trees of the actions that write the sequences.

        Parameters
        ----------
        inputs : Inputs
        sequences : Sequences
        rng : RandomState

        Returns
        -------
        Trie
        """
        return action_trie(inputs, sequences, self.copies.cpu().numpy(), self.n_choices, rng)

    def training_loss(self, memory: _Memory, trie: Trie, loss: Loss) -> Tensor:
        """The mean loss of the members on the nodes of trees of actions.

        Parameters
        ----------
        memory : Memory
        trie : Trie
            A part of what ``training_trie`` returned.
        loss : {"node", "sequence"}

        Returns
        -------
        Tensor
        """
        position, history = written_tokens(trie)
        device = memory.choice.device
        sample, at, written = (
            torch.from_numpy(part).to(device) for part in (trie.sample, position, history)
        )
        choice = memory.choice[sample, at]
        losses = []
        for member, encoded in zip(self._each(), memory.encoded, strict=True):
            hidden = member.hidden(encoded[sample, at], written)
            losses.append(self.tree_loss(member.logits(hidden, choice), trie, loss))
        return torch.stack(losses).mean()

    @property
    def longest_whole(self) -> int:
        """Longer inputs are read in windows, with the positions before and after them."""
        return Windows.longest_whole() - 2

    def most_at_once(self, longest: int) -> int:
        """The longer, the fewer. There is a position before each input, and one after it."""
        return Windows.of(longest + 2).most_at_once

    def encode(self, values: Tensor, length: Tensor) -> _Memory:
        """Read the inputs, each with a position before its first token and one after its last."""
        length = length.to(values.device)
        choice = torch.zeros(values.shape[:2], dtype=torch.long, device=values.device)
        if values.dim() == 2:
            inside = torch.arange(values.shape[1], device=values.device) < length[:, None]
            choice = self.copies[values] * inside
        encoded = [member(values, length) for member in self._each()]
        return _Memory(encoded, pad(choice, (1, 1)), length + 1)

    def start(self, memory: _Memory) -> tuple[Tensor, State]:
        """Score the empty prefix: everything is still to be read."""
        b, n_positions = memory.choice.shape
        device = memory.choice.device
        share = memory.encoded[0].new_zeros(b, n_positions)
        share[:, 0] = 1
        written = torch.zeros(b, 0, dtype=torch.long, device=device)
        return self._step(memory, torch.arange(b, device=device), share, written)

    def advance(
        self, memory: _Memory, sample: Tensor, state: State, token: Tensor
    ) -> tuple[Tensor, State]:
        """Write one token to every prefix, at each position by its share."""
        reached, written = state
        shares = [
            self._written_at(memory, sample[rows], reached[rows], written[rows], token[rows])
            for rows in self._chunks(memory, len(token))
        ]
        written = torch.cat([written, token[:, None]], dim=1)
        return self._step(memory, sample, torch.cat(shares), written)

    def score_trie(self, memory: _Memory, trie: Trie) -> Tensor:
        """Score all prefixes together if inputs are short, by where they may be written."""
        n_positions, width = memory.encoded[0].shape[1:]
        if self.loss_name == "sequence" or n_positions > FEW_POSITIONS:
            return super().score_trie(memory, trie)
        nodes_per_input = np.bincount(trie.sample, minlength=trie.n_samples)
        before = np.cumsum(nodes_per_input) - nodes_per_input
        part = before // max(MOST_VALUES // (2 * n_positions * width), 1)
        rows = np.split(np.arange(trie.n_samples), np.flatnonzero(np.diff(part)) + 1)
        return torch.cat([self._score_part(memory, trie, samples) for samples in rows])

    def _score_part(self, memory: _Memory, trie: Trie, samples: IntArray) -> Tensor:
        """The logits of the trees of some samples."""
        trie = trie.take(samples)
        of = slice(int(samples[0]), int(samples[-1]) + 1)
        memory = _Memory([x[of] for x in memory.encoded], memory.choice[of], memory.last[of])
        reached = reached_positions(
            self._each(), memory.encoded, memory.choice, memory.last, trie, SMALLEST_SHARE
        )
        row, position = reached.share.nonzero(as_tuple=True)
        sample = torch.from_numpy(trie.sample).to(row.device)
        chosen = reached.share.new_zeros(len(trie), self.n_choices)
        for rows in self._chunks(memory, len(row)):
            at = _At(sample[row[rows]], position[rows], [h[row[rows]] for h in reached.histories])
            share = reached.share[row[rows], position[rows]][:, None]
            chosen.index_add_(0, row[rows], share * self._probabilities(memory, at))
        return self._as_logits(chosen, reached.end)

    def _as_logits(self, chosen: Tensor, end: Tensor) -> Tensor:
        """The logits (n, choices) of probabilities, of which END has its own."""
        chosen = torch.cat([end[:, None], chosen[:, END + 1 :]], dim=1)
        if self.loss_name == "sequence":
            return chosen.clamp_min(SMALLEST).log()
        # Ways to write the same token may add up to more than 1.
        return chosen.clamp(SMALLEST, 1 - 1e-6).logit()

    def _written_at(
        self, memory: _Memory, sample: Tensor, reached: Tensor, written: Tensor, token: Tensor
    ) -> Tensor:
        """The share of each position in the probability that a token is written, (n, positions)."""
        row, position = reached.nonzero(as_tuple=True)
        at = _At(sample[row], position, [member.history(written)[row] for member in self._each()])
        emitted = self._probabilities(memory, at, token[row])
        share = torch.zeros_like(reached)
        share[row, position] = reached[row, position] * emitted
        return share / share.sum(1, keepdim=True).clamp_min(SMALLEST)

    def _step(
        self, memory: _Memory, sample: Tensor, share: Tensor, written: Tensor
    ) -> tuple[Tensor, State]:
        parts = [
            self._step_part(memory, sample[rows], share[rows], written[rows])
            for rows in self._chunks(memory, len(sample))
        ]
        logits, reached = (torch.cat(part) for part in zip(*parts, strict=True))
        return logits, (reached, written)

    def _step_part(
        self, memory: _Memory, sample: Tensor, share: Tensor, written: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits of the next tokens, and the share of each position that is reached."""
        histories = [member.history(written) for member in self._each()]
        last = memory.last[sample]
        at = share.clone()
        chosen = share.new_zeros(len(share), self.n_choices)
        end = share.new_zeros(len(share))
        # Each prefix goes on from the first position that has a share. Its own pace does not
        # depend on the others, so all of them take a step at a time.
        row = torch.arange(len(share), device=share.device)
        position = (share > SMALLEST_SHARE).int().argmax(dim=1)
        to_come = share.flip(1).cumsum(1).flip(1)
        while len(row):
            reached = at[row, position]
            probabilities = self._probabilities(
                memory, _At(sample[row], position, [history[row] for history in histories])
            )
            chosen[row] += reached[:, None] * probabilities
            moved = reached * probabilities[:, ADVANCE]
            at_end = last[row] == position
            end[row[at_end]] = moved[at_end]
            row, position, moved = row[~at_end], position[~at_end] + 1, moved[~at_end]
            at[row, position] += moved
            goes_on = (moved > SMALLEST_SHARE) | (to_come[row, position] > SMALLEST_SHARE)
            row, position = row[goes_on], position[goes_on]
        at.masked_fill_(at <= SMALLEST_SHARE, 0.0)
        return self._as_logits(chosen, end), at

    def _probabilities(self, memory: _Memory, at: _At, token: Tensor | None = None) -> Tensor:
        """Of all actions at some places (m, choices), or of one token at each (m,).

        They are the averages of the members.
        """
        choice = memory.choice[at.sample, at.position]
        total: Tensor | float = 0.0
        for member, encoded, history in zip(
            self._each(), memory.encoded, at.histories, strict=True
        ):
            hidden = member.combined(encoded[at.sample, at.position], history)
            if token is not None and self.loss_name == "node":
                total = total + member.token_logits(hidden, choice, token).sigmoid()
                continue
            logits = member.logits(hidden, choice)
            each = logits.sigmoid() if self.loss_name == "node" else logits.softmax(-1)
            total = total + (each if token is None else each.gather(1, token[:, None])[:, 0])
        return cast(Tensor, total) / len(self.members)

    def _each(self) -> list[ActionScorer]:
        return [cast(ActionScorer, member) for member in self.members]

    def _chunks(self, memory: _Memory, n: int) -> list[slice]:
        # A prefix is at few positions at once.
        per_prefix = memory.choice.shape[1] + 4 * max(memory.encoded[0].shape[2], self.n_choices)
        size = max(MOST_VALUES // per_prefix, 1)
        return [slice(first, first + size) for first in range(0, max(n, 1), size)]
