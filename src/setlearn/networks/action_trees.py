"""Trees of actions: how a transducer writes sequences, on which it is trained.

An action writes a token at a position of the input, or is ADVANCE, which moves on to the next
position. The last one, ADVANCE at the last position, is the end of the sequence.
"""

from __future__ import annotations

import numpy as np

from setlearn.networks.action_scorer import ADVANCE
from setlearn.networks.alignment import Pairs, align
from setlearn.nodes import IntArray
from setlearn.sequence_inputs import Inputs
from setlearn.trie import END, Sequences, Trie

__all__ = ["action_trie", "written_tokens"]


def action_trie(
    inputs: Inputs,
    sequences: Sequences,
    copies: IntArray,
    n_choices: int,
    rng: np.random.RandomState,
) -> Trie:
    """The trees of the actions that write sequences, aligned with their inputs.

    Parameters
    ----------
    inputs : Inputs
    sequences : Sequences
    copies : array of int, shape (n_tokens,)
        The choice that is the same as each token of inputs, END for none.
    n_choices : int
    rng : RandomState

    Returns
    -------
    Trie
    """
    # A sample without sequences still has one way: to write nothing.
    empty = np.setdiff1d(np.arange(len(inputs)), sequences.sample)
    sample = np.concatenate([sequences.sample, empty])
    length = np.concatenate([sequences.length, np.zeros(len(empty), np.intp)])
    inside = np.arange(int(length.max(initial=0))) < length[:, None]
    target = np.zeros(inside.shape, dtype=np.intp)
    target[inside] = sequences.tokens
    pairs = _framed_pairs(inputs, sample, target, length, n_tokens=len(copies))
    spelled = np.concatenate([np.where(copies == END, -1, copies), [-1, -1]])
    position = align(pairs, spelled, n_choices, rng)[inside]

    n_advances = inputs.length[sample] + 1  # without the last
    n_actions = n_advances + length
    start = np.cumsum(n_actions) - n_actions
    actions = np.full(int(n_actions.sum()), ADVANCE)
    owner = np.repeat(np.arange(len(sample)), length)
    number = np.arange(len(owner)) - (np.cumsum(length) - length)[owner]
    actions[start[owner] + number + position] = sequences.tokens
    order = np.argsort(sample, kind="stable")
    by_sample = np.concatenate([actions[start[row] : start[row] + n_actions[row]] for row in order])
    return Trie.of(Sequences(sample[order], n_actions[order], by_sample), len(inputs))


def _framed_pairs(
    inputs: Inputs, sample: IntArray, target: IntArray, length: IntArray, *, n_tokens: int
) -> Pairs:
    """Outputs and inputs, with a position before the first token of an input and after its last."""
    values, n_values = inputs.take(sample)
    if values.ndim == 3:  # numbers have no tokens, so all positions look the same
        values = np.zeros(values.shape[:2], dtype=np.intp)
    source = np.pad(values.astype(np.intp), ((0, 0), (1, 1)), constant_values=n_tokens)
    source[np.arange(len(source)), n_values + 1] = n_tokens + 1
    return Pairs(source, n_values + 2, target, length)


def written_tokens(trie: Trie) -> tuple[IntArray, IntArray]:
    """What each node of a tree has written, and where it stands; ADVANCE moves on, if it occurs.

    Returns
    -------
    position : array of int, shape (nodes,)
    written : array of int, shape (nodes, longest)
        The tokens, after zeros.
    """
    position = np.zeros(len(trie), dtype=np.intp)
    count = np.zeros(len(trie), dtype=np.intp)
    levels = trie.levels()[1:]
    for level in levels:
        above = trie.parent[level.nodes]
        advances = level.token == ADVANCE
        position[level.nodes] = position[above] + advances
        count[level.nodes] = count[above] + ~advances
    written = np.zeros((len(trie), max(int(count.max()), 1)), dtype=np.intp)
    for level in levels:
        above = written[trie.parent[level.nodes]]
        moved = np.column_stack([above[:, 1:], level.token])
        written[level.nodes] = np.where((level.token == ADVANCE)[:, None], above, moved)
    return position, written
