"""The layers of a transducer: how it reads inputs, and scores actions at their positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag, gelu, linear, pad

from setlearn.networks.attention import BIAS_UNIT, Attention, Dropout
from setlearn.networks.input_attention import InputBias, attend_within
from setlearn.networks.windows import Windows
from setlearn.trie import END

if TYPE_CHECKING:
    from setlearn.networks.transducer import Transducer

__all__ = ["ADVANCE", "ActionScorer"]

ADVANCE = END
"""The action that moves on to the next position; at the last position it ends the sequence."""

MOST_PLACES = 16
"""Distances from either end of the input with an embedding of their own; larger ones share one."""

FARTHEST = 16
"""The largest distance between positions that attention distinguishes, in either direction."""


class ActionScorer(nn.Module):
    """Scores what to write at a position of the input, given what was written before.

    Parameters
    ----------
    recipe : Transducer
    n_choices, n_tokens, n_features : int
        As in `NetworkRecipe.build`.
    copying : bool
        Whether some input tokens are also choices.
    spelling : Tensor of shape (n_choices, n_parts), optional
        The parts that each choice is spelled with.
    """

    def __init__(
        self,
        recipe: Transducer,
        n_choices: int,
        n_tokens: int,
        n_features: int,
        *,
        copying: bool,
        spelling: Tensor | None,
    ) -> None:
        super().__init__()
        width, small = recipe.width, max(recipe.width // 6, 8)
        self.window = recipe.window
        self.n_recent = recipe.history
        self.read: nn.Module
        if n_features:
            self.read = nn.Linear(n_features, small)
        else:
            self.read = nn.Embedding(n_tokens, small, padding_idx=0)
        self.ends = nn.Parameter(torch.randn(2, small))  # before the first token, after the last
        self.place = nn.Embedding(2 * MOST_PLACES, small)
        self.first = nn.Linear((2 * recipe.window + 3) * small, width)
        self.blocks = nn.ModuleList(
            MixingBlock(width, recipe.heads, recipe.dropout) for _ in range(recipe.layers)
        )
        self.norm = nn.LayerNorm(width)
        self.recent = ChoiceVectors(n_choices, small, spelling)  # row 0: before the start
        self.of_recent = nn.Linear(recipe.history * small, width, bias=False)
        self.bag = ChoiceVectors(n_choices, width, spelling, scale=0.3)
        self.of_bag = nn.Linear(width, width, bias=False)
        self.dropout = Dropout(recipe.dropout)
        self.light_dropout = Dropout(recipe.dropout / 4)
        self.output = ChoiceVectors(n_choices, width, spelling, scale=0.6 * width**-0.5)
        # Most choices are wrong, so all start as improbable.
        self.bias = nn.Parameter(torch.full((n_choices,), -math.log(n_choices)))
        self.copy = nn.Linear(width, 1) if copying else None

    def forward(self, values: Tensor, length: Tensor) -> Tensor:
        """Encode inputs, each with a position before its first token and one after its last.

        Parameters
        ----------
        values : Tensor of shape (b, longest) or (b, longest, d)
        length : Tensor of shape (b,)

        Returns
        -------
        Tensor of shape (b, longest + 2, width)
        """
        n_positions = values.shape[1] + 2
        place = torch.arange(n_positions, device=values.device)
        last = length[:, None] + 1
        inside = (place <= last)[..., None]
        x = pad(self.read(values), (0, 0, 1, 1)) * inside
        x = torch.where(place[:, None] == 0, self.ends[0], x)
        x = torch.where((place == last)[..., None], self.ends[1], x)
        x = self.light_dropout(x)
        beside = pad(x, (0, 0, self.window, self.window)).unfold(1, 2 * self.window + 1, 1)
        from_start = self.place(place.clamp(max=MOST_PLACES - 1)).expand(len(values), -1, -1)
        from_end = self.place(MOST_PLACES + (last - place).clamp(0, MOST_PLACES - 1))
        x = self.first(torch.cat([beside.flatten(2), from_start, from_end], dim=2))
        for block in self.blocks:
            x = block(x, length + 2, inside)
        normed: Tensor = self.norm(x)
        return normed

    def hidden(self, encoded: Tensor, written: Tensor) -> Tensor:
        """Combine positions with what was written before.

        Parameters
        ----------
        encoded : Tensor of shape (n, d)
        written : Tensor of shape (n, tokens)
            The tokens of each prefix, after zeros.

        Returns
        -------
        Tensor of shape (n, d)
        """
        return self.combined(encoded, self.history(written))

    def history(self, written: Tensor) -> Tensor:
        """What was written before, (n, d)."""
        recent = pad(written, (self.n_recent, 0))[:, -self.n_recent :]
        recent = self.light_dropout(embedding(recent, self.recent()))
        history = self.of_recent(recent.flatten(1))
        bag = torch.tanh(embedding_bag(pad(written, (1, 0)), self.bag(), padding_idx=0, mode="sum"))
        known: Tensor = history + self.of_bag(self.dropout(bag))
        return known

    def combined(self, encoded: Tensor, history: Tensor) -> Tensor:
        """Combine positions with histories.

        Parameters
        ----------
        encoded : Tensor of shape (n, d)
        history : Tensor of shape (n, d)

        Returns
        -------
        Tensor of shape (n, d)
        """
        dropped: Tensor = self.dropout(gelu(encoded + history))
        return dropped

    def logits(self, hidden: Tensor, choice: Tensor) -> Tensor:
        """Score all actions.

        Parameters
        ----------
        hidden : Tensor of shape (..., width)
        choice : Tensor of shape (...)
            What can be copied at each position.

        Returns
        -------
        Tensor of shape (..., n_choices)
        """
        logits: Tensor = linear(hidden, self.output(), self.bias)
        if self.copy is None:
            return logits
        # Nothing can be copied where the choice is ADVANCE.
        vote = self.copy(hidden) * (choice != ADVANCE)[..., None]
        return logits.scatter_add(-1, choice[..., None], vote)

    def token_logits(self, hidden: Tensor, choice: Tensor, token: Tensor) -> Tensor:
        """Score one token.

        Parameters
        ----------
        hidden : Tensor of shape (..., width)
        choice : Tensor of shape (...)
            What can be copied at each position.
        token : Tensor of the same shape, or one that fits it
            Not ADVANCE.

        Returns
        -------
        Tensor of shape (...)
        """
        logits: Tensor = (hidden * self.output()[token]).sum(-1) + self.bias[token]
        if self.copy is None:
            return logits
        vote: Tensor = self.copy(hidden)[..., 0] * (choice == token)
        voted: Tensor = logits + vote
        return voted

    def advance_logits(self, hidden: Tensor) -> Tensor:
        """Score ADVANCE at (..., width)."""
        logits: Tensor = hidden @ self.output()[ADVANCE] + self.bias[ADVANCE]
        return logits


class ChoiceVectors(nn.Module):
    """One vector per choice: a part of its own, and what its spelling contributes.

    So tokens that are spelled alike, such as a vowel with and without stress, share what is
    learned about them.
    """

    spelling: Tensor | None

    def __init__(
        self, n_choices: int, width: int, spelling: Tensor | None, scale: float = 1.0
    ) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.randn(n_choices, width) * scale)
        self.register_buffer("spelling", spelling)
        if spelling is not None:
            self.parts = nn.Parameter(torch.randn(spelling.shape[1], width) * scale / 2)

    def forward(self) -> Tensor:
        """The vectors, (n_choices, width)."""
        return self.own if self.spelling is None else self.own + self.spelling @ self.parts


class MixingBlock(nn.Module):
    """Every position looks at its neighbours, then at the others."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.neighbours = nn.Conv1d(width, width, 3, padding=1)
        self.narrow = nn.Linear(width, width)
        self.attention = Attention(width, heads)
        self.distance = nn.Parameter(torch.zeros(heads, 2 * FARTHEST + 1))
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, length: Tensor, inside: Tensor) -> Tensor:
        """Update the residual stream.

        Parameters
        ----------
        x : Tensor of shape (b, positions, d)
        length : Tensor of shape (b,)
            How many positions are no padding.
        inside : Tensor of shape (b, positions, 1)
            Which they are.

        Returns
        -------
        Tensor of shape (b, positions, d)
        """
        normed = self.norms[0](x) * inside
        beside = gelu(self.neighbours(normed.transpose(1, 2))).transpose(1, 2)
        x = x + self.dropout(self.narrow(beside))
        distance = Windows.of(x.shape[1]).distances(x.device)
        distance = distance.clamp(-FARTHEST, FARTHEST) + FARTHEST
        bias = InputBias(length, BIAS_UNIT * self.distance[:, distance])
        attention, normed = self.attention, self.norms[1](x)
        by_head = attention.by_head(attention.query(normed), attention.key_value(normed))
        attended = attend_within(*by_head, bias).transpose(1, 2).flatten(2)
        update: Tensor = self.dropout(attention.output(attended))
        return x + update
