"""Keys of inputs: what two inputs may have in common, as hashes of 64 bits.

A key stands for the last tokens of the stem together with its context, for its vowels, and so on.
Hashes can be sorted, searched and saved as arrays, and are the same on every machine.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from setlearn.nodes import BoolArray, IntArray
from setlearn.scorers.edit_operations import Layout, Numbers

__all__ = ["InputKeys", "Keys", "describe", "drop_key", "find", "known_levels", "vowels_of"]

LONGEST_ENDING = 8
LONGEST_BEGINNING = 6
LONGEST_SHAPE = 6
MOST_SOUNDS = 200
"""With more different tokens in the stems they are no letters or sounds."""

BITS = (1 << 64) - 1
CONTEXT, ENDING, BEGINNING, BARE, SHAPE, VOWEL, TOKEN, PLACE, TRIPLE, WHOLE, DROP = range(1, 12)


Keys: TypeAlias = "array[int]"
"""Unsigned integers of 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class InputKeys:
    """What is known of an input: chains of keys, each more specific than the one before."""

    chains: tuple[Keys, ...]
    features: Keys


def describe(x: Numbers, layout: Layout, vowels: frozenset[int]) -> InputKeys:
    """Describe an input by the keys of its endings, beginnings, sounds and tokens.

    Parameters
    ----------
    x : Numbers
    layout : Layout
    vowels : frozenset of int
        See `vowels_of`; if it is empty, nothing is said about sounds.

    Returns
    -------
    InputKeys
    """
    begin, end = layout.stem(x)
    stem, size = x[begin:end], end - begin
    context = _hash(CONTEXT, (begin, *x[:begin], *x[end:]))
    endings, beginnings, bare = _mixed(ENDING, context), _mixed(BEGINNING, context), BARE
    by_ending, by_beginning, by_bare = [0, context], [0, context], [0]
    for k in range(min(size, LONGEST_ENDING)):
        endings, bare = _mixed(endings, stem[-1 - k]), _mixed(bare, stem[-1 - k])
        by_ending.append(endings)
        by_bare.append(bare)
    for k in range(min(size, LONGEST_BEGINNING)):
        beginnings = _mixed(beginnings, stem[k])
        by_beginning.append(beginnings)
    by_ending.append(_hash(WHOLE, (context, *stem)))
    features = [*by_ending[1:7], *by_bare[1:6], *by_beginning[2:5]]
    features += [_hash(TOKEN, (token,)) for token in set(x)]
    features += [_hash(PLACE, (context, k, stem[-k])) for k in range(2, min(size, 4) + 1)]
    features += [_hash(TRIPLE, stem[k : k + 3]) for k in range(size - 2)]
    by_shape, by_vowel = [0], [0]
    if vowels and size:
        shape = [token in vowels for token in stem]
        whole = _hash(SHAPE, (context, size <= LONGEST_SHAPE, *shape[-LONGEST_SHAPE:]))
        part = _hash(SHAPE, (context, 2, *shape[-3:]))
        sounds = [token for token in stem if token in vowels][-2:] or [0]
        vowel = _hash(VOWEL, (context, sounds[-1]))
        by_shape += [context, part, whole, _mixed(whole, stem[-1])]
        both = _mixed(vowel, stem[-1])
        by_vowel += [context, vowel, _mixed(vowel, -1 - shape[-1]), both, _mixed(both, sounds[0])]
        features += [part, whole, _mixed(part, stem[-1]), vowel, by_vowel[3]]
    chains = (by_ending, by_beginning, by_bare, by_shape, by_vowel)
    return InputKeys(tuple(array("Q", chain) for chain in chains), array("Q", features))


def vowels_of(stems: Iterable[Numbers]) -> frozenset[int]:
    """Which tokens are vowels, by Sukhotin's algorithm: vowels stand next to consonants.

    For tokens that are no letters or sounds the classes mean nothing, and none is a vowel.

    Examples
    --------
    >>> stems = ["banana", "tomato", "potato", "papaya", "melon"]
    >>> "".join(map(chr, sorted(vowels_of(tuple(map(ord, stem)) for stem in stems))))
    'aeo'
    """
    beside: defaultdict[int, Counter[int]] = defaultdict(Counter)
    lengths = []
    for stem in stems:
        lengths.append(len(stem))
        for a, b in pairwise(stem):
            if a != b:
                beside[a][b] += 1
                beside[b][a] += 1
    if not lengths or np.mean(lengths) < 3 or len(beside) > MOST_SOUNDS:
        return frozenset()
    excess = {token: sum(counts.values()) for token, counts in beside.items()}
    vowels = set()
    while excess:
        token = max(excess, key=lambda t: (excess[t], -t))
        if excess.pop(token) <= 0:
            break
        vowels.add(token)
        for other, count in beside[token].items():
            if other in excess:
                excess[other] -= 2 * count
    return frozenset(vowels)


def drop_key(operation: int, dropped: Numbers | None) -> int:
    """The key of an operation that drops these tokens of the stem.

    Parameters
    ----------
    operation : int
    dropped : Numbers or None

    Returns
    -------
    int
    """
    return _hash(DROP, (operation, *(dropped or ())))


def find(keys: IntArray, wanted: IntArray) -> tuple[IntArray, BoolArray]:
    """Look keys up.

    Parameters
    ----------
    keys : array of int
        Sorted.
    wanted : array of int, shape (m,)

    Returns
    -------
    place : array of int, shape (m,)
        Where each wanted key is, if it is there.
    known : bool array of shape (m,)
        Which of them are there.
    """
    if len(keys) == 0:
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


def known_levels(
    chains: Sequence[Keys], keys: IntArray
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Follow chains from general keys to specific ones, all chains together.

    Parameters
    ----------
    chains : sequence of Keys
    keys : array of int
        The keys that are known, sorted.

    Yields
    ------
    level : int
    rows : array of int
        The chains whose key at this level is known.
    places : array of int
        Where it is among the known ones.
    """
    for level in range(max(map(len, chains), default=0)):
        long_enough = np.array([i for i, chain in enumerate(chains) if len(chain) > level])
        wanted = np.array([chains[i][level] for i in long_enough], dtype=np.uint64)
        place, known = find(keys, wanted)
        if known.any():
            yield level, long_enough[known], place[known]


def _mixed(key: int, *numbers: int) -> int:
    """A hash of a hash and further numbers; the same on every machine."""
    for number in numbers:
        key = ((key ^ (number & BITS)) * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & BITS
        key ^= key >> 29
    return key


def _hash(kind: int, numbers: Iterable[int]) -> int:
    return _mixed(0, kind, *numbers)
