"""Training samples with hidden tokens, from which a network learns what stand-ins are.

No training sample has a token that training has not seen. So some samples get a copy in which
tokens that the input shares with its set are replaced by stand-ins, in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setlearn.nodes import IntArray
from setlearn.sequence_inputs import Inputs
from setlearn.trie import END, Sequences

__all__ = ["HiddenTokens", "share_with_rare_tokens"]

LEAST_COPIES, MOST_COPIES = 0.05, 0.5
"""The least and the largest number of copies, as a share of the number of training samples."""

ENOUGH_COPIES = 64
"""With fewer copies than this, their share is larger: nothing is learned from a handful."""


@dataclass(frozen=True, slots=True, eq=False)
class HiddenTokens:
    """Replaces tokens of samples by stand-ins.

    Parameters
    ----------
    copies : array of int, shape (n_tokens,)
        The choice that is the same token as each input id, END for none. The last ones are those
        of stand-ins.
    n_stand_ins : int
    in_order : bool
        Whether the tokens of each sequence must ascend, as they do in sets of sets.
    """

    copies: IntArray
    n_stand_ins: int
    in_order: bool

    def add_copies(
        self,
        inputs: Inputs,
        sequences: Sequences,
        samples: IntArray,
        rng: np.random.RandomState,
    ) -> tuple[Inputs, Sequences]:
        """Append copies with hidden tokens of some of the samples.

        How many there are follows from how often a new input will have a new token, by the
        estimate of Good and Turing: the share of samples with a token that no other sample has.

        Parameters
        ----------
        inputs : Inputs
        sequences : Sequences
        samples : array of int
            The samples that may be copied.
        rng : RandomState

        Returns
        -------
        inputs : Inputs
        sequences : Sequences
            Those given, and then those of the copies.
        """
        first_stand_in = len(self.copies) - self.n_stand_ins
        share = max(share_with_rare_tokens(inputs.part(samples), first_stand_in), LEAST_COPIES)
        wanted = max(share * len(samples), ENOUGH_COPIES)
        n_copies = int(np.ceil(min(wanted, MOST_COPIES * len(samples))))
        starts = np.searchsorted(sequences.sample, np.arange(len(inputs) + 1))
        token_start = np.concatenate([[0], np.cumsum(sequences.length)])
        input_start = np.concatenate([[0], np.cumsum(inputs.length)])
        ids: IntArray = inputs.values.astype(np.int64)
        values, tokens = [ids], [sequences.tokens]
        sample, length, input_length = [sequences.sample], [sequences.length], [inputs.length]
        n_made = 0
        for index in rng.permutation(samples):
            if n_made == n_copies:
                break
            rows = slice(starts[index], starts[index + 1])
            x = ids[input_start[index] : input_start[index + 1]]
            y = sequences.tokens[token_start[rows.start] : token_start[rows.stop]]
            shared = np.setdiff1d(np.intersect1d(self.copies[x], y), [END])
            free = np.setdiff1d(np.arange(first_stand_in, len(self.copies)), x)[::-1]
            if len(shared) == 0 or len(free) == 0:
                continue
            hidden_x, hidden_y = self._hidden(x, y, shared, free, rng)
            if self.in_order:
                hidden_y = _ascending(hidden_y, sequences.length[rows])
            values.append(hidden_x)
            tokens.append(hidden_y)
            sample.append(np.full(rows.stop - rows.start, len(inputs) + n_made))
            length.append(sequences.length[rows])
            input_length.append(inputs.length[[index]])
            n_made += 1
        return (
            Inputs(np.concatenate(input_length), np.concatenate(values)),
            Sequences(np.concatenate(sample), np.concatenate(length), np.concatenate(tokens)),
        )

    def _hidden(
        self,
        x: IntArray,
        y: IntArray,
        shared: IntArray,
        free: IntArray,
        rng: np.random.RandomState,
    ) -> tuple[IntArray, IntArray]:
        """Replace some of the shared tokens, from one to all of them, by random free stand-ins."""
        count = rng.randint(min(len(shared), len(free))) + 1
        stand_in = rng.permutation(free)[:count]  # input ids
        hidden_x, hidden_y = x.copy(), y.copy()
        for token, new in zip(rng.permutation(shared), stand_in, strict=False):
            hidden_x[self.copies[x] == token] = new
            hidden_y[y == token] = self.copies[new]
        return hidden_x, hidden_y


def share_with_rare_tokens(inputs: Inputs, first_stand_in: int) -> float:
    """The share of samples with a token that occurs in no other sample, or has a stand-in.

    Parameters
    ----------
    inputs : Inputs
        Of tokens.
    first_stand_in : int
        The input id of the first stand-in; the others follow.

    Returns
    -------
    float

    Examples
    --------
    >>> share_with_rare_tokens(Inputs(np.array([2, 1, 2]), np.array([1, 2, 1, 3, 3])), 4)
    0.6666666666666666
    """
    sample = np.repeat(np.arange(len(inputs)), inputs.length)
    pairs = np.unique(np.column_stack([inputs.values, sample]), axis=0)
    token, place, count = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    is_rare = (count == 1) | (token >= first_stand_in)
    return len(np.unique(pairs[is_rare[place], 1])) / len(inputs)


def _ascending(tokens: IntArray, length: IntArray) -> IntArray:
    """Concatenated sequences, each with its tokens in ascending order."""
    sequence = np.repeat(np.arange(len(length)), length)
    return tokens[np.lexsort((tokens, sequence))]
