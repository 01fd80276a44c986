"""Tokens that sequences copy from their inputs, also those that training has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from itertools import chain
from typing import Any

from setlearn.ordering import canonical_rank
from setlearn.sequence_inputs import is_numeric, token_lists
from setlearn.set_reading import LabelSets
from setlearn.vocabulary import InputTokens, StandIns, Tokeniser, Vocabulary

__all__ = ["stand_ins_of", "unseen_tokens", "with_input_tokens"]

LEAST_COPIED = 0.2
"""There are stand-ins if at least this share of the tokens of sequences is in their own inputs."""

MOST_STAND_INS = 16

MOST_ADDED = 500
"""Tokens of inputs that become choices although no training sequence has them, the most frequent
ones. There may also be as many of them as the sequences have tokens."""


def with_input_tokens(
    vocabulary: Vocabulary, X: Any, sets: LabelSets, tokeniser: Tokeniser, *, can_copy: bool
) -> Vocabulary:
    """Add to a vocabulary which tokens training has seen, and stand-ins for others if they help.

    There are stand-ins if a fair share of the tokens of sequences also occurs in their own inputs:
    as many as an input has different tokens at most, but not more than 16. Then tokens that only
    inputs have become choices too, since they may be copied from the next input. If they are too
    many, the rare ones have stand-ins, as tokens that training has not seen.

    Parameters
    ----------
    vocabulary : Vocabulary
    X : list of texts or token lists, or numeric array
        The training inputs. For numbers nothing is added.
    sets : list of frozenset
        The training sets.
    tokeniser : Tokeniser
        Splits inputs.
    can_copy : bool
        Whether the scorer can make use of stand-ins.

    Returns
    -------
    Vocabulary

    Examples
    --------
    >>> char = Tokeniser("char")
    >>> X, sets = ["ab", "cdc"], [frozenset({"ba"}), frozenset({"dc"})]
    >>> vocabulary = Vocabulary.learn(sets, char)
    >>> with_input_tokens(vocabulary, X, sets, char, can_copy=True).n_stand_ins
    2
    """
    if is_numeric(X):
        return vocabulary
    inputs = [frozenset(tokens) for tokens in token_lists(X, tokeniser)]
    seen = frozenset(vocabulary.tokens).union(*inputs)
    n_stand_ins = 0
    if can_copy and _share_of_copied(vocabulary, inputs, sets) >= LEAST_COPIED:
        n_stand_ins = min(max(map(len, inputs)), MOST_STAND_INS)
        count = Counter(chain.from_iterable(inputs))
        others = seen.difference(vocabulary.tokens)
        frequent = sorted(others, key=lambda token: (-count[token], canonical_rank(token)))
        vocabulary = vocabulary.extended(frequent[: max(MOST_ADDED, len(vocabulary.tokens))])
    known = InputTokens(tokeniser, tuple(sorted(seen, key=canonical_rank)), n_stand_ins)
    return replace(vocabulary, inputs=known)


def _share_of_copied(
    vocabulary: Vocabulary, inputs: list[frozenset[Hashable]], sets: LabelSets
) -> float:
    """The share of the tokens of sequences that also occur in their own inputs."""
    n_tokens = n_copied = 0
    for of_input, elements in zip(inputs, sets, strict=True):
        for element in elements:
            tokens = vocabulary.split(element)
            n_tokens += len(tokens)
            n_copied += sum(token in of_input for token in tokens)
    return n_copied / max(n_tokens, 1)


def unseen_tokens(X: Any, vocabulary: Vocabulary) -> list[tuple[Hashable, ...]]:
    """Find the tokens of inputs that training has not seen.

    Parameters
    ----------
    X : list of inputs, or a numeric array
    vocabulary : Vocabulary

    Returns
    -------
    list of tuples
        The different ones of each input, by first occurrence. None are found if the vocabulary
        does not know the training inputs.
    """
    known = vocabulary.inputs
    if known is None:
        return [()] * len(X)
    seen = frozenset(known.seen)
    return [
        tuple(dict.fromkeys(token for token in tokens if token not in seen))
        for tokens in token_lists(X, known.tokeniser)
    ]


def stand_ins_of(X: Any, vocabulary: Vocabulary) -> list[StandIns]:
    """Find the tokens of inputs that stand-ins stand for: those that are no choices.

    Parameters
    ----------
    X : list of inputs, or a numeric array
    vocabulary : Vocabulary

    Returns
    -------
    list of tuples
        Those of each input, in the order of the stand-ins.
    """
    if vocabulary.n_stand_ins == 0:
        return [()] * len(X)
    assert vocabulary.inputs is not None  # else there are no stand-ins
    return vocabulary.stand_ins(token_lists(X, vocabulary.inputs.tokeniser))
