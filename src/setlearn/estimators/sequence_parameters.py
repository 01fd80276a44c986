"""What the parameters of `SequenceSetGenerator` mean, checked before anything costly starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import clone

from setlearn.errors import DataError, KindError, ParameterError, SetlearnWarning, warn_user
from setlearn.generate import Bounds
from setlearn.parameter_checks import check_count
from setlearn.rules import Auto, ExpectedF, Margin, OnSequences, Rule, Threshold
from setlearn.set_reading import LabelSets
from setlearn.token_guesses import guess_tokens
from setlearn.trie import Trie
from setlearn.vocabulary import Split, Tokeniser, Vocabulary

__all__ = [
    "FEW",
    "as_list",
    "check_bounds",
    "check_inputs",
    "check_lengths",
    "check_rule",
    "default_rule",
    "learned_bounds",
    "tokenisers_of",
    "warn_of_numbers",
]

FEW = 200
"""With fewer samples, too few are held out to compare rules or scorers on them."""

ROOM = 4
"""How many times as many prefixes of one length as any training set a predicted set may have."""

LEAST_WIDTH = 16
"""Prefixes of each length that a predicted set may have at least."""

LONGER = 4
"""One token for so many tokens of the longest sequence, and one more, may be added to it."""

LEAST_SIZE = 64
"""Sequences that a predicted set may have at least, if training sets are not larger."""


def tokenisers_of(
    tokens: Split | tuple[Split | None, Split | None] | None, X: Any, y: Any
) -> tuple[Tokeniser, Tokeniser]:
    """How inputs are split into tokens, and how elements are.

    Parameters
    ----------
    tokens : way to split, pair of such ways, or None
        What is None is guessed from the data.
    X : list of inputs, or a numeric array
    y : list of sets

    Returns
    -------
    of_inputs, of_elements : Tokeniser

    Raises
    ------
    ParameterError
        If ``tokens`` is something else.
    """
    pair = tokens if isinstance(tokens, tuple | list) else (tokens, tokens)
    if len(pair) != 2:
        raise ParameterError(
            f"tokens must be one way to split or a pair (for inputs, for elements), got {pair!r}"
        )
    guessed = guess_tokens(X, y) if None in pair else pair
    # Where there are no texts to split, it does not matter how they would be split.
    of_inputs, of_elements = (
        given or guess or "char" for given, guess in zip(pair, guessed, strict=True)
    )
    return Tokeniser(of_inputs), Tokeniser(of_elements)


def default_rule(gives_marginals: bool, n_samples: int) -> Rule:
    """The rule that goes with the meaning of the scores, and with the number of samples.

    Marginals are probabilities to be in the set: which way to choose by them is best depends on
    the data, if there are enough to tell. Scores that share a probability of 1 differ by how many
    sequences lie below each choice, and ratios separate right from wrong where differences do not.

    Parameters
    ----------
    gives_marginals : bool
    n_samples : int
        A part of them is held out, to choose the rule on.

    Returns
    -------
    Rule
    """
    if not gives_marginals:
        return Margin(space="log")
    if n_samples < FEW:
        return ExpectedF(min_size=None)
    return Auto(
        [
            OnSequences(Threshold("tuned", min_size=None)),
            ExpectedF(min_size=None),
            ExpectedF(min_size=None, calibrate=True),
            ExpectedF(joint=True, min_size=None),
            OnSequences(Margin(space="log")),
        ]
    )


def check_rule(
    rule: Any, n_positions: int, *, gives_marginals: bool, gives_examples: bool, n_samples: int
) -> Rule:
    """A fresh copy of the rule, checked for sequences.

    Parameters
    ----------
    rule : Rule or None
        None stands for `default_rule`.
    n_positions : int
        The largest depth of a choice point, plus one.
    gives_marginals : bool
        Whether a score is the sequence's own probability to be in the set.
    gives_examples : bool
        Whether the scorer knows whole sets that an input may have.
    n_samples : int
        The number of samples to fit it on.

    Returns
    -------
    Rule

    Raises
    ------
    ParameterError
        If it is no rule, has a parameter out of range, or needs what the scorer does not give.
    """
    if rule is None:
        return default_rule(gives_marginals, n_samples)
    if not isinstance(rule, Rule):
        raise ParameterError(f"rule must be one of setlearn.rules such as Margin(), got {rule!r}")
    rule.check_parameters(n_positions)
    if rule.needs_marginals and not gives_marginals:
        raise ParameterError(
            f"{rule!r} needs each sequence's own probability to be in the set, but the scores of "
            'this network are shares of 1; use a network with loss="node", or another rule such '
            'as Margin(space="log")'
        )
    if rule.requires_examples and not gives_examples:
        raise ParameterError(
            f'{rule!r} needs a scorer that knows whole sets, such as "analogy" or a mixture with '
            "it, as by default; use one, or the same rule with joint=False"
        )
    new_rule: Rule = clone(rule)
    return new_rule


def check_bounds(max_length: int | None, max_size: int | None, max_nodes: int | None) -> None:
    """Raise unless the bounds are counts, or None if they are learned from the training data.

    Parameters
    ----------
    max_length, max_size, max_nodes : int or None

    Raises
    ------
    ParameterError
    """
    given = {"max_length": max_length, "max_size": max_size, "max_nodes": max_nodes}
    for name, value in given.items():
        if value is not None:
            check_count(name, value)


def check_lengths(sets: LabelSets, vocabulary: Vocabulary, max_length: int | None) -> None:
    """Raise, naming the sample, if a sequence is longer than allowed.

    Parameters
    ----------
    sets : list of frozenset
        One set of sequences per sample.
    vocabulary : Vocabulary
    max_length : int or None
        The largest number of tokens; None allows any.

    Raises
    ------
    DataError
    """
    if max_length is None:
        return
    for index, elements in enumerate(sets):
        for element in elements:
            length = vocabulary.length(element)
            if length > max_length:
                raise DataError(
                    f"sample {index} of y holds {element!r}, which has {length} tokens, but "
                    f"max_length is {max_length}; raise it or leave the sequence out"
                )


def learned_bounds(trie: Trie, *, longer: bool = False) -> Bounds:
    """Bounds from training trees: the longest sequence, the largest set, the widest level.

    Parameters
    ----------
    trie : Trie
        The trees of the training sets.
    longer : bool, default=False
        Whether sequences may be somewhat longer than any that was seen.

    Returns
    -------
    Bounds
    """
    longest = max(int(trie.depth.max()), 1)
    widest = int(np.bincount(trie.sample * (longest + 1) + trie.depth).max())
    width = max(ROOM * widest, LEAST_WIDTH)
    longest += longer * (longest // LONGER + 1)
    max_size = max(2 * int(trie.set_sizes().max()), LEAST_SIZE)
    return Bounds(longest, max_size, width * (longest + 1))


def check_inputs(X: Any) -> None:
    """Refuse lists that would be read as tokens, but can hardly be meant so.

    These are vectors of numbers, and lists of one text each, as the rows of a table are.

    Raises
    ------
    DataError
    """
    if isinstance(X, np.ndarray) or len(X) == 0:
        return
    if _are_vectors(X):
        raise DataError(
            f"each input is a list of numbers, such as {X[0]!r:.60}, and all are equally long, but "
            "the numbers of lists are read as tokens; pass a numeric array such as "
            "numpy.array(X), or texts if tokens are meant"
        )
    if len(X) == 1:
        return
    texts = {x[0] for x in X if isinstance(x, list | tuple) and len(x) == 1 and _is_text(x[0])}
    if len(texts) == len(X):
        raise DataError(
            f"each input is a list with one text, such as [{X[0][0]!r:.60}], which would be one "
            "token, and no two are equal; pass the texts themselves, of a table a single column "
            'such as table["text"]'
        )


def warn_of_numbers(X: Any, sets: LabelSets) -> None:
    """Warn if tokens of inputs or elements are floats that do not recur.

    Parameters
    ----------
    X : list of inputs, or a numeric array
    sets : list of frozenset
        One set of sequences per sample.
    """
    if not isinstance(X, np.ndarray) and all(isinstance(x, list | tuple) for x in X):
        _warn_of_floats("inputs", X)
    _warn_of_floats("elements of y", (chain.from_iterable(y) for y in sets))  # type: ignore[arg-type]  # of sequences


def _warn_of_floats(name: str, samples: Iterable[Iterable[Any]]) -> None:
    """Warn if most tokens of these samples are floats that only one sample has."""
    counts: Counter[Any] = Counter()
    for sample in samples:
        tokens = list(sample)
        if not all(isinstance(token, float | np.floating) for token in tokens):
            return
        counts.update(set(tokens))
    recurring = sum(count for count in counts.values() if count > 1)
    if 2 * recurring < counts.total():
        warn_user(
            SetlearnWarning(
                f"the {name} consist of numbers such as {next(iter(counts))!r}, most of which "
                "occur in one sample only; each number is a token, and others than those of "
                "training are not known; round the numbers, or write them as texts"
            )
        )


def _are_vectors(X: Any) -> bool:
    """Whether inputs are equally long lists of numbers, and not all of these are whole ones."""
    first = X[0]
    while isinstance(first, list | tuple | np.ndarray) and len(first):
        first = first[0]
    if not isinstance(first, int | float | np.number):
        return False
    try:
        array = np.array(X)
    except ValueError:  # lists of different lengths
        return False
    return array.ndim > 1 and array.dtype.kind == "f"


def _is_text(token: Any) -> bool:
    return isinstance(token, str) and len(token.split()) > 1


def as_list(values: Any, name: str) -> Any:
    """A list of samples, or a numeric array as it is; tables and series become arrays.

    Parameters
    ----------
    values : iterable or array
    name : str
        What errors call the argument.

    Returns
    -------
    list, tuple, or array of numbers

    Raises
    ------
    KindError
        If the values have no order or are no collection: a string, a set, a mapping, a number.
    """
    if isinstance(values, list | tuple):
        return values
    if hasattr(values, "__array__") and np.ndim(values) > 0:
        array = np.asarray(values)
        return array if array.dtype.kind in "biuf" else array.tolist()
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise KindError(
            f"{name} is the {type(values).__name__} {values!r:.60}, not a list of samples; "
            "put the samples in a list, in order"
        )
    return list(values)
