"""Features of pairs of texts: what they say themselves, and what training says about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setlearn.candidate_lists import CandidateLists
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.pairs.text_views import TextViews, Views
from setlearn.savable import savable

__all__ = ["ReadTexts", "TextPairs"]

LEAST = 1e-9
"""What is divided by is at least this."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadTexts:
    """Lists whose texts were read: each different candidate once, and each query."""

    lists: CandidateLists
    candidates: Views
    queries: Views

    def __getitem__(self, samples: slice | IntArray) -> ReadTexts:
        return ReadTexts(self.lists[samples], self.candidates, self.queries[samples])


@savable(parts={"views_": (TextViews,)})
class TextPairs:
    """What the texts of query and candidates say about each pair, without training.

    Most features compare query and candidate. Others compare a candidate with its own list: one
    that is like all others says little, and so does one whose words all others have.
    """

    def fit(self, lists: CandidateLists) -> ReadTexts:
        """Learn how frequent words are, and read the texts.

        Parameters
        ----------
        lists : CandidateLists

        Returns
        -------
        ReadTexts
        """
        self.views_ = TextViews()
        n = len(lists.candidates)
        views = self.views_.fit([*lists.candidates, *(lists.queries or ())])
        return ReadTexts(lists, views[:n], views[n:])

    def read(self, lists: CandidateLists) -> ReadTexts:
        """Read the texts of other lists.

        Parameters
        ----------
        lists : CandidateLists

        Returns
        -------
        ReadTexts
        """
        candidates = self.views_.transform(lists.candidates)
        return ReadTexts(lists, candidates, self.views_.transform(lists.queries or ()))

    def features(self, texts: ReadTexts) -> FloatArray:
        """The features of all pairs.

        Parameters
        ----------
        texts : ReadTexts

        Returns
        -------
        array of shape (n_rows, 15)
        """
        return _features(texts.lists, texts.candidates[texts.lists.which], texts.queries)

    def likeness(self, texts: ReadTexts, known: BoolArray) -> FloatArray:
        """How similar each candidate is to those of its list that are known to be in the set.

        Parameters
        ----------
        texts : ReadTexts
        known : array of bool of shape (n_rows,)

        Returns
        -------
        array of shape (n_rows, 3)
            The mean over known words and topics, and the most similar topics; 0 where nothing is
            known.
        """
        return _likeness(texts.lists, texts.candidates[texts.lists.which], known)


def _features(lists: CandidateLists, candidates: Views, queries: Views) -> FloatArray:
    sample = lists.sample
    asked = queries[sample]
    is_there, is_asked = _as_ones(candidates.present), _as_ones(asked.present)
    weight, asked_weight = candidates.present.sum(axis=1), asked.present.sum(axis=1)
    n_words = np.diff(candidates.present.indptr)
    shared = _dots(candidates.present, is_asked)
    # Sums over the list of each row, from which the row itself is taken out below.
    members = _members(lists)
    others = np.maximum(lists.sizes - 1, 1)[sample]
    in_list = sparse.csr_array(members @ is_there)  # (samples, columns)
    by_weight = is_there.multiply(1 / np.maximum(weight, LEAST)[:, None])
    in_list_by_weight = sparse.csr_array(members @ by_weight)
    rarity = in_list.copy()
    rarity.data = np.log((1 + np.repeat(lists.sizes, np.diff(in_list.indptr))) / (1 + in_list.data))
    words_of_list = sparse.csr_array(members @ candidates.words)
    topics_of_list = (members @ candidates.topics)[sample]
    is_any = weight > 0
    columns = (
        _dots(candidates.words, asked.words),
        _dots(candidates.neighbours, asked.neighbours),
        _dots(candidates.pieces, asked.pieces),
        (candidates.topics * asked.topics).sum(axis=1),
        shared / np.maximum(weight, LEAST),  # how much of the candidate is in the query
        shared / np.maximum(asked_weight, LEAST),  # and the other way round
        weight - shared,
        np.log1p(n_words),
        np.log1p(np.diff(asked.present.indptr)),
        weight / np.maximum(n_words, 1),  # how rare its words are
        _dots_with_lists(is_there, rarity, sample) / np.maximum(n_words, 1),  # in the list
        # How much of the candidate is in the others, and of the others in it.
        (_dots_with_lists(candidates.present, in_list, sample) / np.maximum(weight, LEAST) - is_any)
        / others,
        (_dots_with_lists(candidates.present, in_list_by_weight, sample) - is_any) / others,
        (_dots_with_lists(candidates.words, words_of_list, sample) - is_any) / others,
        ((candidates.topics * topics_of_list).sum(axis=1) - is_any) / others,
    )
    return np.column_stack(columns)


def _likeness(lists: CandidateLists, candidates: Views, known: BoolArray) -> FloatArray:
    sample = lists.sample
    members = _members(lists, known)
    n_known = np.maximum(members.sum(axis=1), 1)[sample]
    words = sparse.csr_array(members @ candidates.words)
    topics = (members @ candidates.topics)[sample]
    most = np.zeros(lists.n_rows)
    for start, stop in zip(lists.first[:-1], lists.first[1:], strict=True):
        rows, given = candidates.topics[start:stop], known[start:stop]
        if given.any():
            most[start:stop] = (rows @ rows[given].T).max(axis=1)
    return np.column_stack(
        [
            _dots_with_lists(candidates.words, words, sample) / n_known,
            (candidates.topics * topics).sum(axis=1) / n_known,
            most,
        ]
    )


def _members(lists: CandidateLists, counted: BoolArray | None = None) -> sparse.csr_array:
    """The matrix (samples, rows) that adds up the rows of each sample."""
    ones = np.ones(lists.n_rows) if counted is None else counted.astype(float)
    where = (ones.astype(np.float32), np.arange(lists.n_rows), lists.first)
    return sparse.csr_array(where, shape=(len(lists), lists.n_rows))


def _dots(a: sparse.csr_array, b: sparse.csr_array) -> FloatArray:
    """The products of rows that belong together, (n,)."""
    return np.asarray(a.multiply(b).sum(axis=1)).ravel()


def _dots_with_lists(
    rows: sparse.csr_array, lists: sparse.csr_array, sample: IntArray
) -> FloatArray:
    """The product of each row with that of its list, (n,).

    The rows of lists are not repeated for each candidate: they hold the words of all of them, so
    time and memory would grow with the square of their length.
    """
    lists.sort_indices()
    n_columns = rows.shape[1]
    list_of_entry = np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr))
    keys = list_of_entry * n_columns + lists.indices
    row_of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    wanted = sample[row_of_entry] * n_columns + rows.indices
    place = np.searchsorted(keys, wanted)
    place[place == len(keys)] = 0
    found = keys[place] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
    products = rows.data[found].astype(np.float64) * lists.data[place[found]]
    totals: FloatArray = np.zeros(rows.shape[0])
    np.add.at(totals, row_of_entry[found], products)
    return totals


def _as_ones(matrix: sparse.csr_array) -> sparse.csr_array:
    ones = matrix.copy()
    ones.data = np.ones_like(ones.data)
    return ones
