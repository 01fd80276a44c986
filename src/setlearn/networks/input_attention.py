"""Attention between the positions of an input, biased by distance and by equal tokens.

In a short input each position attends to all others. In a long one it attends to those that it
sees (`windows`), and to the nearest occurrences of its own token, however far they are. Scores are
computed for a few blocks at a time. If there are too many to keep, they are computed once more for
the gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from setlearn.networks.windows import Windows

__all__ = [
    "BEFORE",
    "EARLIER",
    "LATER",
    "NEXT",
    "N_OCCURRENCES",
    "N_PAIR_RELATIONS",
    "FarPairs",
    "InputBias",
    "Pairs",
    "attend_within",
    "same_token_pairs",
]

MOST_SCORES = 4_000_000
"""Scores that are computed together: 16 MB."""

NEAREST = 16
"""Each position is paired with so many occurrences of its token before it, and as many after."""

MOST_FAR = 4
"""So many of them in each direction are paired even if they lie outside of its window."""

LARGEST_FAR_SCORE = 60.0
"""Scores of far pairs are cut off there, so that their odds stay finite."""

MASKED = -1e9
"""Added to scores that must not count: finite, so that a row of such scores is not NaN."""

NEXT, LATER, BEFORE, EARLIER = range(4)
"""How the second position of a pair relates to the first: it is the next occurrence of the same
token, a later one, the one before, or an earlier one."""

N_PAIR_RELATIONS = 4
N_OCCURRENCES = 4


@dataclass(frozen=True, slots=True, eq=False)
class FarPairs:
    """Pairs of positions with the same token that are not in one window."""

    query: Tensor  # (m,) positions, those of all inputs numbered one after the other
    key: Tensor  # (m,)
    relation: Tensor  # (m,)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Which positions hold the same token: in pairs, sorted by block, and for each by itself."""

    place: Tensor  # (m,) in the scores of the block, (size, n_seen + 1), flattened
    relation: Tensor  # (m,) of the second position to the first
    bounds: list[int]  # (n_blocks + 1,) where the pairs of each block begin, and the last end
    far: FarPairs
    occurrence: Tensor  # (b, positions): 1 if the token comes again, plus 2 if it came before


@dataclass(frozen=True, slots=True, eq=False)
class InputBias:
    """What is added to the attention between the positions of inputs."""

    length: Tensor  # (b,) of the inputs: no attention to padding
    distance: Tensor  # (heads, n_distances), for `Windows.distances`
    relation: Tensor | None = None  # (N_PAIR_RELATIONS, heads)
    pairs: Pairs | None = None


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
    windows = Windows.of(n)
    known = values.flatten().nonzero()[:, 0]
    # One number per sample and token; the sort keeps the order of positions.
    group = values.flatten()[known] + known // n * (int(values.max()) + 1)
    group, order = torch.sort(group, stable=True)
    where = known[order]
    first, second, relations, steps = [where[:0]], [where[:0]], [where[:0]], [where[:0]]
    for apart in range(1, NEAREST + 1):
        same = group[apart:] == group[:-apart]
        before, after = where[:-apart][same], where[apart:][same]
        first += [before, after]
        second += [after, before]
        forward, back = (NEXT, BEFORE) if apart == 1 else (LATER, EARLIER)
        relations += [torch.full_like(before, forward), torch.full_like(before, back)]
        steps += [torch.full_like(before, apart)] * 2
    query, key = torch.cat(first), torch.cat(second)
    order = torch.argsort(query, stable=True)
    query, key = query[order], key[order]
    relation, apart_by = torch.cat(relations)[order], torch.cat(steps)[order]
    occurrence = torch.zeros(b * n, dtype=torch.long, device=values.device)
    occurrence[query[relation == NEXT]] += 1
    occurrence[query[relation == BEFORE]] += 2

    number, inside = query % n // windows.size, query % n % windows.size
    seen_at = key % n - number * windows.size + windows.around
    is_near = (seen_at >= 0) & (seen_at < windows.size + 2 * windows.around)
    is_far = ~is_near & (apart_by <= MOST_FAR)
    block = (query // n * windows.n_blocks + number)[is_near]
    blocks = torch.arange(b * windows.n_blocks + 1, device=values.device)
    return Pairs(
        (inside * (windows.n_seen + 1) + windows.ends + seen_at)[is_near],
        relation[is_near],
        torch.searchsorted(block, blocks).tolist(),
        FarPairs(query[is_far], key[is_far], relation[is_far]),
        occurrence.view(b, n),
    )


def attend_within(query: Tensor, key: Tensor, value: Tensor, bias: InputBias) -> Tensor:
    """Let the positions of each input attend to each other.

    Parameters
    ----------
    query : Tensor of shape (b, heads, positions, d)
    key, value : Tensor of shape (b, heads, positions + 1, d)
        The last one stands for nothing, and is 0.
    bias : InputBias

    Returns
    -------
    Tensor of shape (b, heads, positions, d)
    """
    windows, pairs = Windows.of(query.shape[2]), bias.pairs
    near_bias = None
    if pairs is not None and bias.relation is not None:
        near_bias = bias.relation[pairs.relation]
    hidden = windows.is_hidden(bias.length).flatten(0, 1)
    key_bias = pad(query.new_zeros(hidden.shape).masked_fill(hidden, MASKED), (0, 1))
    if windows.n_blocks == 1:
        return _attend(query, key, value, key_bias, bias.distance, near_bias, pairs)
    key, value = key[:, :, :-1], value[:, :, :-1]
    # One more feature, which is 1 for nothing and 0 for all positions, says how much of the
    # attention goes to nothing.
    of_nothing = value.new_zeros(value.shape[-1] + 1)
    of_nothing[-1] = 1
    seen_value = pad(_seen(windows, value, bias.length), (0, 1))
    attended = _attend(
        windows.split(query.transpose(1, 2)).flatten(0, 1).transpose(1, 2),
        pad(_seen(windows, key, bias.length), (0, 0, 0, 1)),
        torch.cat([seen_value, of_nothing.expand(*seen_value.shape[:2], 1, -1)], dim=2),
        key_bias,
        bias.distance,
        near_bias,
        pairs,
    )
    attended = attended.transpose(1, 2)
    attended = windows.join(attended.reshape(len(query), windows.n_blocks, *attended.shape[1:]))
    near, to_nothing = attended[..., :-1], attended[..., -1]  # (b, positions, heads, …)
    if pairs is not None and bias.relation is not None and len(pairs.far.query):
        near = _with_far(near, to_nothing, query, key, value, bias, pairs.far)
    return near.transpose(1, 2)


def _seen(windows: Windows, x: Tensor, length: Tensor) -> Tensor:
    """What each block sees of keys or values, (b · blocks, heads, n_seen, d)."""
    return windows.seen(x.transpose(1, 2), length).flatten(0, 1).transpose(1, 2)


def _with_far(
    near: Tensor,
    to_nothing: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: InputBias,
    far: FarPairs,
) -> Tensor:
    """Add far occurrences of tokens to what positions attend to, (b, positions, heads, d).

    The score of nothing is 0. So the odds of a far position against nothing are the exponential of
    its score, and its weight before normalisation is that times the attention to nothing.
    """
    assert bias.relation is not None
    shape = near.shape
    queries, keys, values = (x.transpose(1, 2).flatten(0, 1) for x in (query, key, value))
    scores = (queries[far.query] * keys[far.key]).sum(-1) * shape[-1] ** -0.5  # (m, heads)
    is_later = (far.key > far.query)[:, None]
    scores = scores + bias.relation[far.relation]
    scores = scores + torch.where(is_later, bias.distance[:, -1], bias.distance[:, 0])
    weight = scores.clamp(max=LARGEST_FAR_SCORE).exp() * to_nothing.flatten(0, 1)[far.query]
    total = torch.ones_like(near[..., 0]).flatten(0, 1).index_add(0, far.query, weight)
    attended = near.flatten(0, 1).index_add(0, far.query, weight[..., None] * values[far.key])
    return (attended / total[..., None]).view(shape)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_bias: Tensor,
    distance_bias: Tensor,
    pair_bias: Tensor | None,
    pairs: Pairs | None,
) -> Tensor:
    """Attention within blocks.

    Parameters
    ----------
    query : Tensor of shape (b, heads, queries, d)
    key : Tensor of shape (b, heads, keys + 1, d)
    value : Tensor of shape (b, heads, keys + 1, e)
    key_bias : Tensor of shape (b, keys + 1)
        Added to the scores of each key.
    distance_bias : Tensor of shape (heads, distances)
        Added to the scores by the distance from the query to the key, from the most negative on.
        Keys are consecutive positions. If there are more than these distances are for, those at
        either end are positions farther away.
    pair_bias : Tensor of shape (m, heads), optional
        Added to the scores of the pairs.
    pairs : Pairs, optional

    Returns
    -------
    Tensor of shape (b, heads, queries, e)
    """
    attended: Tensor = _AttendWithin.apply(  # type: ignore[no-untyped-call]  # torch's own
        query, key, value, key_bias, distance_bias, pair_bias, pairs
    )
    return attended


class _AttendWithin(torch.autograd.Function):
    """`_attend`, in chunks of blocks, with gradients for all but ``key_bias``."""

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
        b, heads, n_queries, _ = query.shape
        n_keys = key.shape[2] - 1
        size = max(MOST_SCORES // (heads * n_queries * (n_keys + 1)), 1)
        by_place = _at_places(distance_bias, n_queries, n_keys)
        attended = query.new_empty(*query.shape[:3], value.shape[3])
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
        b, heads, n_queries, d = query.shape
        n_keys = key.shape[2] - 1
        pairs: Pairs | None = ctx.pairs
        by_place = distance_bias if kept else _at_places(distance_bias, n_queries, n_keys)
        d_query, d_key, d_value = (torch.empty_like(part) for part in (query, key, value))
        d_place = query.new_zeros(heads, n_queries, n_keys + 1)
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
        d_distance = _by_distance(d_place[..., :n_keys], distance_bias.shape[1])
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
    """The attention of some blocks, (chunk, heads, queries, keys + 1)."""
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
    n_blocks, heads, n_queries, n_keys = shape
    bounds = pairs.bounds[chunk.start : chunk.start + n_blocks + 1]
    rows = slice(bounds[0], bounds[-1])
    device = pairs.place.device
    per_block = torch.tensor(bounds).diff().to(device)
    block = torch.repeat_interleave(torch.arange(n_blocks, device=device), per_block)
    matrix = block[:, None] * heads + torch.arange(heads, device=device)
    return rows, matrix * (n_queries * n_keys) + pairs.place[rows, None]


def _at_places(distance_bias: Tensor, n_queries: int, n_keys: int) -> Tensor:
    """From biases by distance to (heads, queries, keys + 1), 0 for the key of nothing."""
    heads, n_distances = distance_bias.shape
    n_window = n_distances + 1 - n_queries
    n_ends = (n_keys - n_window) // 2
    # From the last query to the first, each row of keys starts one distance later.
    upside_down = distance_bias.contiguous().as_strided(
        (heads, n_queries, n_window), (n_distances, 1, 1)
    )
    by_place = distance_bias.new_zeros(heads, n_queries, n_keys + 1)
    by_place[..., n_ends : n_ends + n_window] = upside_down.flip(1)
    if n_ends:
        by_place[..., :n_ends] = distance_bias[:, None, :1]
        by_place[..., n_ends + n_window : n_keys] = distance_bias[:, None, -1:]
    return by_place


def _by_distance(by_place: Tensor, n_distances: int) -> Tensor:
    """Sums of (heads, queries, keys) by distance, the reverse of `_at_places`."""
    heads, n_queries, n_keys = by_place.shape
    n_window = n_distances + 1 - n_queries
    n_ends = (n_keys - n_window) // 2
    # In rows one shorter than what they hold, what was a diagonal becomes a column.
    longer = by_place.new_zeros(heads, n_queries, n_distances + 1)
    longer[..., :n_window] = by_place[..., n_ends : n_ends + n_window].flip(1)
    in_columns = longer.flatten(1)[:, : n_queries * n_distances]
    sums = in_columns.view(heads, n_queries, n_distances).sum(1)
    if n_ends:
        sums[:, 0] += by_place[..., :n_ends].sum((1, 2))
        sums[:, -1] += by_place[..., n_ends + n_window :].sum((1, 2))
    return sums
