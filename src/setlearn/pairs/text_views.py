"""Texts as rows of matrices: by their words, pairs of words, pieces of words and topics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from setlearn.errors import KindError
from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["TextViews", "Views", "kind_of_texts", "spelled"]

WORD = re.compile(r"\w+|[^\w\s]+")
N_COLUMNS = 2**18
"""Words are hashed into so many columns: new words have a place too, and no word is stored."""
PIECE_LENGTHS = (3, 4)
DIRECTIONS = 64
LEAST_TEXTS = 2
"""A word counts for topics if so many texts have it."""
LEVELS = ("words", "neighbours", "pieces")


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """Some texts, as rows of several matrices. All rows have length 1, or 0 if there is nothing.

    Attributes
    ----------
    words, neighbours, pieces : csr_array of shape (n, columns)
    topics : array of shape (n, directions)
    present : csr_array of shape (n, columns)
        Which words occur, each with the weight that tells rare words from frequent ones.
    """

    words: sparse.csr_array
    neighbours: sparse.csr_array
    pieces: sparse.csr_array
    topics: FloatArray
    present: sparse.csr_array

    def __getitem__(self, rows: slice | IntArray) -> Views:
        return Views(
            self.words[rows],
            self.neighbours[rows],
            self.pieces[rows],
            self.topics[rows],
            self.present[rows],
        )


@savable()
class TextViews:
    """Turns texts, or lists of tokens, into `Views`.

    *Words* are weighted by TF-IDF, and so are *neighbours*, which are pairs of adjacent words, and
    *pieces*, which are parts of three and four characters of a word, so that "number" is similar to
    "numbers". *Topics* are the coordinates in the 64 directions in which the words of training
    vary most.
    """

    def fit(self, texts: Sequence[Any]) -> Views:
        """Learn how frequent words are, and the topics.

        Parameters
        ----------
        texts : sequence of str, or of sequences of tokens

        Returns
        -------
        Views
            Those of the texts.
        """
        counts = _counts(texts)
        n_texts = {level: _text_counts(matrix) for level, matrix in counts.items()}
        self.idf_ = np.stack(
            [np.log((1 + len(texts)) / (1 + n_texts[level])) + 1 for level in LEVELS]
        ).astype(np.float32)
        self.topic_columns_: IntArray = np.flatnonzero(n_texts["words"] >= LEAST_TEXTS)
        words = self._weighted(counts["words"], 0)[:, self.topic_columns_]
        n_directions = min(DIRECTIONS, *(size - 1 for size in words.shape))
        self.directions_: FloatArray = np.zeros((words.shape[1], 0), dtype=np.float32)
        if n_directions > 0:
            summary = TruncatedSVD(n_directions, random_state=0).fit(words)
            self.directions_ = summary.components_.T.astype(np.float32)
        return self._views(counts)

    def transform(self, texts: Sequence[Any]) -> Views:
        """The views of other texts.

        Parameters
        ----------
        texts : sequence of str, or of sequences of tokens

        Returns
        -------
        Views
        """
        return self._views(_counts(texts))

    def _views(self, counts: dict[str, sparse.csr_array]) -> Views:
        words, neighbours, pieces = (
            self._weighted(counts[level], k) for k, level in enumerate(LEVELS)
        )
        topics = words[:, self.topic_columns_] @ self.directions_
        present = counts["words"].copy()
        present.data = self.idf_[0][present.indices]
        return Views(words, neighbours, pieces, _unit_rows(topics), present)

    def _weighted(self, counts: sparse.csr_array, level: int) -> sparse.csr_array:
        weighted = counts.copy()
        weighted.data = (1 + np.log(weighted.data)) * self.idf_[level][weighted.indices]
        return sparse.csr_array(_unit_rows(weighted))


def _unit_rows(rows: Any) -> Any:
    """Scale each row to length 1; there may be no rows or no columns."""
    return normalize(rows) if all(rows.shape) else rows


def kind_of_texts(values: Sequence[Any], name: str) -> str | None:
    """Whether values are all texts or all lists of tokens; None if there are none.

    Parameters
    ----------
    values : sequence
    name : str
        What they are called in messages.

    Returns
    -------
    {"texts", "lists of tokens", None}
        Numbers count as texts, such as the numbers of products.

    Raises
    ------
    KindError
        If there are other values, or both kinds.
    """
    kinds = set()
    for value in values:
        if isinstance(value, list | tuple):
            kinds.add("lists of tokens")
        elif isinstance(value, str | int | float | np.number):
            kinds.add("texts")
        else:
            raise KindError(
                f"{name} of X such as {value!r:.60} are no texts and no lists of tokens; pass "
                "features=, a function that turns a query and its candidates into numbers"
            )
    if len(kinds) > 1:
        raise KindError(f"some {name} of X are texts and others are lists of tokens; pass one kind")
    return next(iter(kinds), None)


def spelled(value: Any) -> str:
    """A text or number as a text: 5, 5.0 and "5" are the same, as files write all of them."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)


def _tokens(text: Any) -> list[str]:
    if isinstance(text, str):
        return WORD.findall(text.lower())
    return [*map(str, text)] if isinstance(text, list | tuple) else [spelled(text)]


def _counts(texts: Sequence[Any]) -> dict[str, sparse.csr_array]:
    """How often each word, pair of words and piece occurs, (n, columns) each."""
    vectoriser = CountVectorizer(analyzer=_tokens, dtype=np.float32)
    if not any(map(_tokens, texts)):
        nothing: Any = sparse.csr_array((len(texts), N_COLUMNS), dtype=np.float32)
        return dict.fromkeys(LEVELS, nothing)
    by_word = sparse.csr_array(vectoriser.fit_transform(texts))  # (n, different words)
    words = vectoriser.get_feature_names_out().tolist()
    neighbours = _hashed([f"{a} {b}" for a, b in pairwise(_tokens(text))] for text in texts)
    counts = {
        "words": by_word @ _hashed([word] for word in words),
        "neighbours": neighbours,
        "pieces": by_word @ _hashed(map(_pieces, words)),
    }
    return {level: _narrow(matrix) for level, matrix in counts.items()}


def _pieces(word: str) -> list[str]:
    bounded = f" {word} "
    return [bounded[k : k + n] for n in PIECE_LENGTHS for k in range(len(bounded) - n + 1)]


def _hashed(features: Iterator[list[str]] | Any) -> sparse.csr_array:
    hasher = FeatureHasher(N_COLUMNS, input_type="string", alternate_sign=False, dtype=np.float32)
    return sparse.csr_array(hasher.transform(features))


def _narrow(matrix: Any) -> sparse.csr_array:
    """The same matrix with sorted indices of 32 bits, which scikit-learn asks for."""
    narrow: sparse.csr_array = sparse.csr_array(matrix)
    narrow.sum_duplicates()
    narrow.indices, narrow.indptr = narrow.indices.astype(np.int32), narrow.indptr.astype(np.int32)
    return narrow


def _text_counts(counts: sparse.csr_array) -> IntArray:
    """The number of texts that have each column, (columns,)."""
    return np.bincount(counts.indices, minlength=N_COLUMNS)
