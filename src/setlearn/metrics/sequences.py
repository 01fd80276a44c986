"""Edit distances between true and predicted sets of sequences."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from scipy.optimize import linear_sum_assignment

from setlearn.errors import KindError, ParameterError
from setlearn.metrics._reading import check_lengths, sample_mean
from setlearn.nodes import FloatArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.set_reading import LabelSets, Samples, check_one_kind, read_sets_of_sequences
from setlearn.token_guesses import NAMED_SPLITS, TokenSplit

__all__ = ["matched_edit_distance", "mean_edit_distance"]

Ids: TypeAlias = dict[Hashable, int]

StringSplit: TypeAlias = TokenSplit | Callable[[str], Sequence[str]] | None
"""How strings are split into the tokens that edit distances count; None is by character."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """The edit distances of one sample between true and predicted sequences."""

    distances: IntArray  # (n_true, n_predicted)
    true_lengths: IntArray
    predicted_lengths: IntArray

    def mean(self) -> float:
        """Return the mean over all pairs; nan if there is none."""
        return float(self.distances.mean()) if self.distances.size else float("nan")

    def matched(self) -> float:
        """Return the cost of the best one-to-one assignment, divided by the larger set size."""
        n_true, n_predicted = self.distances.shape
        size = max(n_true, n_predicted)
        if not size:
            return 0.0
        # It is enough to pad the smaller side with "unmatched": leaving two sequences unmatched
        # never costs less than turning one into the other.
        costs = np.zeros((size, size), dtype=np.int64)
        costs[:n_true, :n_predicted] = self.distances
        costs[:n_true, n_predicted:] = _unmatched(self.true_lengths)[:, None]
        costs[n_true:, :n_predicted] = _unmatched(self.predicted_lengths)
        return float(costs[linear_sum_assignment(costs)].sum() / size)


def mean_edit_distance(
    Y_true: Samples,
    Y_pred: Samples,
    *,
    sample_weight: ArrayLike | None = None,
    tokens: StringSplit = None,
) -> float:
    """Edit distance averaged over all pairs (true, predicted), then over samples.

    This is the paper's mED, for comparison with the paper. A perfect prediction does not score 0
    if sets have more than one element; use `matched_edit_distance` to avoid that.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets of sequences
        A sequence is a string, or a tuple or list of hashable tokens. It may also be a set of
        tokens, which is read in a fixed order: numbers by value, then strings, then all others.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.
    tokens : {"char", "word", "text"} or function, optional
        How strings are split into the tokens that are counted, by default into characters. A
        `SequenceSetGenerator` has what it uses in ``tokens_[1]``.

    Returns
    -------
    float
        0 or more. Samples with an empty set on either side have no pair and are left out. The
        result is nan if no sample is left.

    Raises
    ------
    DataError
        If the two sides differ in length, there are no samples, or the weights cannot be used.
    KindError
        If an element is not a sequence, or sequences are of different kinds.
    ParameterError
        If strings cannot be split in this way.

    Examples
    --------
    >>> mean_edit_distance([{"10551", "2"}], [{"1055"}])
    2.5
    >>> mean_edit_distance([{"10551", "2"}], [{"10551", "2"}])
    2.5
    """
    pairings = pair_sequences(*read_sequence_sets(Y_true, Y_pred), tokens)
    return sample_mean(mean_distances(pairings), sample_weight)


def matched_edit_distance(
    Y_true: Samples,
    Y_pred: Samples,
    *,
    sample_weight: ArrayLike | None = None,
    tokens: StringSplit = None,
) -> float:
    """Edit distance under the best one-to-one assignment, averaged over samples.

    An unmatched sequence costs its length (at least 1, so that a superfluous empty sequence also
    costs something). The sum is divided by the size of the larger set.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets of sequences
        As for `mean_edit_distance`.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each sample; equal by default.
    tokens : {"char", "word", "text"} or function, optional
        As for `mean_edit_distance`.

    Returns
    -------
    float
        0 or more. It is 0 only if all sets are equal.

    Raises
    ------
    DataError, KindError, ParameterError
        As for `mean_edit_distance`.

    Examples
    --------
    >>> matched_edit_distance([{"10551", "2"}], [{"10551", "2"}])
    0.0
    >>> matched_edit_distance([{"10551", "2"}], [{"1055"}])
    1.0
    >>> matched_edit_distance([{("turn", "left"), ("stop",)}], [{("turn", "right"), ("stop",)}])
    0.5
    >>> matched_edit_distance([{"turn left", "stop"}], [{"turn right", "stop"}], tokens="word")
    0.5
    """
    pairings = pair_sequences(*read_sequence_sets(Y_true, Y_pred), tokens)
    return sample_mean(matched_distances(pairings), sample_weight)


def read_sequence_sets(Y_true: Samples, Y_pred: Samples) -> tuple[LabelSets, LabelSets]:
    """Read both sides as sets of strings, of tuples, or of frozensets.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets of sequences
        As for `mean_edit_distance`.

    Returns
    -------
    true, predicted : list of frozenset
        One set per sample.

    Raises
    ------
    DataError
        If the two sides differ in length, or there are no samples.
    KindError
        If an element is not a sequence, or sequences are of different kinds.
    """
    true = read_sets_of_sequences(Y_true, "Y_true")
    predicted = read_sets_of_sequences(Y_pred, "Y_pred")
    check_lengths(len(true), len(predicted))
    kinds = {check_one_kind(true, "Y_true"), check_one_kind(predicted, "Y_pred")} - {None}
    if len(kinds) > 1:
        # ("a", "b") and "ab" differ, but their edit distance would be 0.
        names = sorted(kind.__name__ for kind in kinds if kind is not None)
        raise KindError(
            f"sequences must be of one kind in Y_true and Y_pred, got {' and '.join(names)}; "
            "convert them all, for example to tuples"
        )
    return true, predicted


def pair_sequences(
    true: LabelSets, predicted: LabelSets, tokens: StringSplit = None
) -> list[Pairing]:
    """Compute the edit distances of every sample.

    Parameters
    ----------
    true, predicted : list of frozenset
        The sets of sequences.
    tokens : {"char", "word", "text"} or function, optional
        How strings are split into tokens.

    Returns
    -------
    list of Pairing
        The distances, one table per sample.

    Raises
    ------
    ParameterError
        If strings cannot be split in this way.
    """
    true_sequences, predictions = (_sequences(sets, tokens) for sets in (true, predicted))
    ids = _token_ids(chain(*true_sequences, *predictions))
    return [
        _pair([_encode(t, ids) for t in of_true], [_encode(p, ids) for p in of_predicted])
        for of_true, of_predicted in zip(true_sequences, predictions, strict=True)
    ]


def _sequences(sets: LabelSets, tokens: StringSplit) -> list[list[Any]]:
    """The sequences of each set, with strings split into tokens."""
    if not (tokens is None or callable(tokens) or tokens in NAMED_SPLITS):
        raise ParameterError(
            f'tokens must be "char", "word", "text", a function of a text or None, got {tokens!r}'
        )
    split = tokens if callable(tokens) else NAMED_SPLITS[tokens or "char"]
    return [[split(e) if isinstance(e, str) else e for e in elements] for elements in sets]


def mean_distances(pairings: list[Pairing]) -> FloatArray:
    """Return the mean over all pairs of each sample; nan where there is no pair."""
    return np.array([pairing.mean() for pairing in pairings])


def matched_distances(pairings: list[Pairing]) -> FloatArray:
    """Return the matched distance of each sample."""
    return np.array([pairing.matched() for pairing in pairings])


def _pair(true: list[list[int]], predicted: list[list[int]]) -> Pairing:
    distances = cdist(true, predicted, scorer=Levenshtein.distance, dtype=np.int64)
    return Pairing(distances, _lengths(true), _lengths(predicted))


def _lengths(sequences: list[list[int]]) -> IntArray:
    return np.array([len(sequence) for sequence in sequences], dtype=np.int64)


def _unmatched(lengths: IntArray) -> IntArray:
    return np.maximum(lengths, 1)


def _token_ids(sequences: Iterable[Any]) -> Ids:
    """Number the tokens in an order that does not depend on the hash seed.

    The edit distance is computed on these numbers: rapidfuzz treats ``"a"`` and 97 as equal.
    """
    tokens = set(chain.from_iterable(sequences))
    return {token: rank for rank, token in enumerate(sorted(tokens, key=canonical_rank))}


def _encode(sequence: Any, ids: Ids) -> list[int]:
    codes = [ids[token] for token in sequence]
    return sorted(codes) if isinstance(sequence, frozenset) else codes
