"""Attention between all positions of an input, biased by distance and by equal tokens.

Scores between positions are the only part of the network that grows with the square of the input.
They are computed for a few samples at a time. If there are too many to keep, they are computed once
more for the gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "BEFORE",
    "EARLIER",
    "LATER",
    "NEXT",
    "N_OCCURRENCES",
    "N_PAIR_RELATIONS",
    "Pairs",
    "attend_within",
    "same_token_pairs",
]

MOST_SCORES = 4_000_000
"""Scores that are computed together: 16 MB."""

NEAREST = 16
"""Each position is paired with so many occurrences of its token before it, and as many after."""

NEXT, LATER, BEFORE, EARLIER = range(4)
"""How the second position of a pair relates to the first: it is the next occurrence of the same
token, a later one, the one before, or an earlier one."""

N_PAIR_RELATIONS = 4
N_OCCURRENCES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Which positions hold the same token: in pairs, sorted by sample, and for each by itself."""

    place: Tensor  # (m,) in the scores of the sample, (positions, positions + 1), flattened
    relation: Tensor  # (m,) of the second position to the first
    bounds: list[int]  # (b + 1,) where the pairs of each sample begin, and where the last end
    occurrence: Tensor  # (b, positions): 1 if the token comes again, plus 2 if it came before


def same_token_pairs(values: Tensor) -> Pairs:
    """Pair each position with the nearest occurrences of its token.

    Parameters
    ----------
    values : Tensor of shape (b, positions)
        Token ids. 0 is padding or an unknown token, which is equal to nothing.

    Returns
    -------
    Pairs
    """
    b, n = values.shape
    known = values.flatten().nonzero()[:, 0]
    # One number per sample and token; the sort keeps the order of positions.
    group = values.flatten()[known] + known // n * (int(values.max()) + 1)
    group, order = torch.sort(group, stable=True)
    where = known[order]
    first, second, relations = [where[:0]], [where[:0]], [where[:0]]
    for apart in range(1, NEAREST + 1):
        same = group[apart:] == group[:-apart]
        before, after = where[:-apart][same], where[apart:][same]
        first += [before, after]
        second += [after, before]
        forward, back = (NEXT, BEFORE) if apart == 1 else (LATER, EARLIER)
        relations += [torch.full_like(before, forward), torch.full_like(before, back)]
    query, key = torch.cat(first), torch.cat(second)
    order = torch.argsort(query, stable=True)
    query, key = query[order], key[order]
    relation = torch.cat(relations)[order]
    samples = torch.arange(b + 1, device=values.device)
    bounds = torch.searchsorted(query // n, samples).tolist()
    occurrence = torch.zeros(b * n, dtype=torch.long, device=values.device)
    occurrence[query[relation == NEXT]] += 1
    occurrence[query[relation == BEFORE]] += 2
    return Pairs(query % n * (n + 1) + key % n, relation, bounds, occurrence.view(b, n))


def attend_within(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_bias: Tensor,
    distance_bias: Tensor,
    pair_bias: Tensor | None,
    pairs: Pairs | None,
) -> Tensor:
    """Let the positions of each input attend to each other.

    Parameters
    ----------
    query : Tensor of shape (b, heads, positions, d)
    key, value : Tensor of shape (b, heads, positions + 1, d)
        The last one stands for nothing.
    key_bias : Tensor of shape (b, positions + 1)
        Added to the scores of each key.
    distance_bias : Tensor of shape (heads, 2 * positions - 1)
        Added to the scores by the distance from the query to the key, from the most negative on.
    pair_bias : Tensor of shape (m, heads), optional
        Added to the scores of the pairs.
    pairs : Pairs, optional

    Returns
    -------
    Tensor of shape (b, heads, positions, d)
    """
    attended: Tensor = _AttendWithin.apply(  # type: ignore[no-untyped-call]  # torch's own
        query, key, value, key_bias, distance_bias, pair_bias, pairs
    )
    return attended


class _AttendWithin(torch.autograd.Function):
    """`attend_within`, in chunks of samples, with gradients for all but ``key_bias``."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_bias: Tensor,
        distance_bias: Tensor,
        pair_bias: Tensor | None,
        pairs: Pairs | None,
    ) -> Tensor:
        b, heads, n, _ = query.shape
        size = max(MOST_SCORES // (heads * n * (n + 1)), 1)
        by_place = _at_places(distance_bias)
        attended = torch.empty_like(query)
        kept = []
        for first in range(0, b, size):
            chunk = slice(first, first + size)
            weights = _weights(query, key, key_bias, by_place, pair_bias, pairs, chunk)
            torch.matmul(weights, value[chunk], out=attended[chunk])
            if b <= size:
                kept.append(weights)
        ctx.save_for_backward(query, key, value, key_bias, distance_bias, pair_bias, *kept)
        ctx.pairs, ctx.size = pairs, size
        return attended

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, key_bias, distance_bias, pair_bias, *kept = ctx.saved_tensors
        b, heads, n, d = query.shape
        pairs: Pairs | None = ctx.pairs
        by_place = distance_bias if kept else _at_places(distance_bias)
        d_query, d_key, d_value = (torch.empty_like(part) for part in (query, key, value))
        d_place = query.new_zeros(heads, n, n + 1)
        d_pair = None if pair_bias is None else torch.empty_like(pair_bias)
        for first in range(0, b, ctx.size):
            chunk = slice(first, first + ctx.size)
            weights = (
                kept[0]
                if kept
                else _weights(query, key, key_bias, by_place, pair_bias, pairs, chunk)
            )
            torch.matmul(weights.mT, gradient[chunk], out=d_value[chunk])
            d_scores = torch.ops.aten._softmax_backward_data(
                gradient[chunk] @ value[chunk].mT, weights, -1, weights.dtype
            )
            torch.matmul(d_scores, key[chunk], out=d_query[chunk])
            torch.matmul(d_scores.mT, query[chunk], out=d_key[chunk])
            d_place += d_scores.sum(0)
            if pairs is not None and d_pair is not None:
                rows, places = _places(pairs, chunk, d_scores.shape)
                d_pair[rows] = d_scores.take(places)
        scale = d**-0.5
        d_distance = _along_diagonals(d_place[..., :n])
        return d_query.mul_(scale), d_key.mul_(scale), d_value, None, d_distance, d_pair, None


def _weights(
    query: Tensor,
    key: Tensor,
    key_bias: Tensor,
    by_place: Tensor,
    pair_bias: Tensor | None,
    pairs: Pairs | None,
    chunk: slice,
) -> Tensor:
    """The attention of some samples, (chunk, heads, positions, positions + 1)."""
    query, key = query[chunk], key[chunk]
    scores = by_place + key_bias[chunk, None, None]
    if pairs is not None and pair_bias is not None:
        rows, places = _places(pairs, chunk, scores.shape)
        scores.view(-1).scatter_add_(0, places.flatten(), pair_bias[rows].flatten())
    scores.flatten(0, 1).baddbmm_(
        query.flatten(0, 1), key.flatten(0, 1).mT, alpha=query.shape[-1] ** -0.5
    )
    return scores.softmax(-1)


def _places(pairs: Pairs, chunk: slice, shape: torch.Size) -> tuple[slice, Tensor]:
    """The pairs of a chunk, and their places (m, heads) in its flattened scores."""
    n_samples, heads, n_queries, n_keys = shape
    bounds = pairs.bounds[chunk.start : chunk.start + n_samples + 1]
    rows = slice(bounds[0], bounds[-1])
    device = pairs.place.device
    per_sample = torch.tensor(bounds).diff().to(device)
    sample = torch.repeat_interleave(torch.arange(n_samples, device=device), per_sample)
    head = torch.arange(heads, device=device)
    block = sample[:, None] * heads + head
    return rows, block * (n_queries * n_keys) + pairs.place[rows, None]


def _at_places(distance_bias: Tensor) -> Tensor:
    """From biases by distance to (heads, positions, positions + 1), 0 for the key of nothing."""
    heads, n_distances = distance_bias.shape
    n = (n_distances + 1) // 2
    # From the last query to the first, each row of keys starts one distance later.
    upside_down = distance_bias.contiguous().as_strided((heads, n, n), (n_distances, 1, 1))
    by_place = distance_bias.new_zeros(heads, n, n + 1)
    by_place[..., :n] = upside_down.flip(1)
    return by_place


def _along_diagonals(by_place: Tensor) -> Tensor:
    """Sums of (heads, positions, positions) by distance, the reverse of `_at_places`."""
    heads, n, _ = by_place.shape
    # In rows one shorter than what they hold, what was a diagonal becomes a column.
    longer = by_place.new_zeros(heads, n, 2 * n)
    longer[..., :n] = by_place.flip(1)
    return longer.flatten(1)[:, : n * (2 * n - 1)].view(heads, n, 2 * n - 1).sum(1)
