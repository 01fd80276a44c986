"""How near predicted sets of sequences come to the true ones, edit by edit."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from scipy.optimize import linear_sum_assignment

from setlearn.errors import KindError
from setlearn.metrics._reading import check_lengths, sample_mean
from setlearn.nodes import FloatArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.set_reading import LabelSets, Samples, check_one_kind, read_sets_of_sequences

__all__ = ["matched_edit_distance", "mean_edit_distance"]

Ids: TypeAlias = dict[Hashable, int]


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """All edit distances of one sample, true sequences by predicted ones."""

    distances: IntArray  # (n_true, n_predicted)
    true_lengths: IntArray
    predicted_lengths: IntArray

    def mean(self) -> float:
        """Average over all pairs; nan where there is none."""
        return float(self.distances.mean()) if self.distances.size else float("nan")

    def matched(self) -> float:
        """Take the cost of the best one-to-one assignment, divided by the larger set's size."""
        n_true, n_predicted = self.distances.shape
        size = max(n_true, n_predicted)
        if not size:
            return 0.0
        # Padding the smaller side with "unmatched" is enough: leaving two sequences both
        # unmatched never costs less than turning one into the other.
        costs = np.zeros((size, size), dtype=np.int64)
        costs[:n_true, :n_predicted] = self.distances
        costs[:n_true, n_predicted:] = _unmatched(self.true_lengths)[:, None]
        costs[n_true:, :n_predicted] = _unmatched(self.predicted_lengths)
        return float(costs[linear_sum_assignment(costs)].sum() / size)


def mean_edit_distance(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Edit distance averaged over all pairs (true, predicted), then over samples.

    This is the paper's mED, for comparison with it. A perfect answer does not score 0 if sets
    have more than one element; `matched_edit_distance` mends that.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets of sequences
        A sequence is a string, read by character, or a tuple or list of hashable tokens. It may
        also be a set of tokens, which is read in one order: numbers by value, then strings,
        then the rest.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts; all the same by default.

    Returns
    -------
    float
        0 or more. Samples with an empty set on either side have no pair and are left out; nan
        if none is left.

    Examples
    --------
    >>> mean_edit_distance([{"10551", "2"}], [{"1055"}])
    2.5
    >>> mean_edit_distance([{"10551", "2"}], [{"10551", "2"}])
    2.5
    """
    pairings = pair_sequences(*read_sequence_sets(Y_true, Y_pred))
    return sample_mean(mean_distances(pairings), sample_weight)


def matched_edit_distance(
    Y_true: Samples, Y_pred: Samples, *, sample_weight: ArrayLike | None = None
) -> float:
    """Edit distance under the best one-to-one assignment, averaged over samples.

    Takes what `mean_edit_distance` takes. A sequence left unmatched costs its length (at least
    1, so that a surplus empty sequence is no perfect answer), and the sum is divided by the
    larger set's size. It is 0 only if all sets are equal.

    Examples
    --------
    >>> matched_edit_distance([{"10551", "2"}], [{"10551", "2"}])
    0.0
    >>> matched_edit_distance([{"10551", "2"}], [{"1055"}])
    1.0
    >>> matched_edit_distance([{("turn", "left"), ("stop",)}], [{("turn", "right"), ("stop",)}])
    0.5
    """
    pairings = pair_sequences(*read_sequence_sets(Y_true, Y_pred))
    return sample_mean(matched_distances(pairings), sample_weight)


def read_sequence_sets(Y_true: Samples, Y_pred: Samples) -> tuple[LabelSets, LabelSets]:
    """Read both sides as sets of strings, of tuples, or of frozensets."""
    true = read_sets_of_sequences(Y_true, "Y_true")
    predicted = read_sets_of_sequences(Y_pred, "Y_pred")
    check_lengths(len(true), len(predicted))
    kinds = {check_one_kind(true, "Y_true"), check_one_kind(predicted, "Y_pred")} - {None}
    if len(kinds) > 1:
        # ("a", "b") and "ab" are no edit apart and yet not equal: no figure would be right.
        names = sorted(kind.__name__ for kind in kinds if kind is not None)
        raise KindError(
            f"sequences must be of one kind in Y_true and Y_pred, got {' and '.join(names)}; "
            "turn them all into tuples, say"
        )
    return true, predicted


def pair_sequences(true: LabelSets, predicted: LabelSets) -> list[Pairing]:
    """Compute the edit distances of every sample."""
    ids = _token_ids(chain(*true, *predicted))
    return [
        _pair([_encode(t, ids) for t in trues], [_encode(p, ids) for p in predictions])
        for trues, predictions in zip(true, predicted, strict=True)
    ]


def mean_distances(pairings: list[Pairing]) -> FloatArray:
    """One mean over all pairs a sample, nan where there is no pair."""
    return np.array([pairing.mean() for pairing in pairings])


def matched_distances(pairings: list[Pairing]) -> FloatArray:
    """One matched distance a sample."""
    return np.array([pairing.matched() for pairing in pairings])


def _pair(true: list[list[int]], predicted: list[list[int]]) -> Pairing:
    distances = cdist(true, predicted, scorer=Levenshtein.distance, dtype=np.int64)
    return Pairing(distances, _lengths(true), _lengths(predicted))


def _lengths(sequences: list[list[int]]) -> IntArray:
    return np.array([len(sequence) for sequence in sequences], dtype=np.int64)


def _unmatched(lengths: IntArray) -> IntArray:
    return np.maximum(lengths, 1)


def _token_ids(sequences: Iterable[Any]) -> Ids:
    """Give ids to tokens, equal ones alike, in an order that owes nothing to the hash seed.

    The edit distance itself must see numbers only: rapidfuzz takes ``"a"`` and 97 for equal.
    """
    tokens = set(chain.from_iterable(sequences))
    return {token: rank for rank, token in enumerate(sorted(tokens, key=canonical_rank))}


def _encode(sequence: Any, ids: Ids) -> list[int]:
    codes = [ids[token] for token in sequence]
    return sorted(codes) if isinstance(sequence, frozenset) else codes
