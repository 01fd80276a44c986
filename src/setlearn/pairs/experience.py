"""What training says about candidates: how often each was right, and for which queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.pairs.text_pairs import ReadTexts
from setlearn.pairs.text_views import spelled
from setlearn.savable import savable

__all__ = ["Experience"]

WORD_PENALTY = 3.0
"""The inverse strength of the penalty on the weights of words, as in scikit-learn."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class Experience:
    """Counts of candidates, the queries for which they were right, and weights of their words.

    For samples of training it must come from other samples: a candidate that was seen once would
    tell its own answer.

    Attributes
    ----------
    keys : array of shape (candidates,)
        What candidates are recognised by: the first 8 bytes of a hash, ascending.
    right, wrong : array of shape (candidates,)
        How often each candidate was in the set, and how often not.
    topics : array of shape (candidates, directions)
        The sum of the topics of queries for which it was right, less those for which it was not.
    usual_topics : array of shape (directions,)
        The mean of all queries, from which topics are counted.
    word_columns : array of shape (words,)
    word_weights : array of shape (words,)
    """

    names: ClassVar[tuple[str, ...]] = ("odds", "seen", "words_odds", "query_votes", "query_share")

    keys: IntArray
    right: FloatArray
    wrong: FloatArray
    topics: FloatArray
    usual_topics: FloatArray
    word_columns: IntArray
    word_weights: FloatArray

    @classmethod
    def learn(cls, texts: ReadTexts, right: BoolArray, rows: BoolArray) -> Experience:
        """Learn from some of the rows.

        Parameters
        ----------
        texts : ReadTexts
        right, rows : array of bool of shape (n_rows,)
            Which candidates are in the sets of their samples, and which rows to learn from.

        Returns
        -------
        Experience
        """
        lists = texts.lists
        n = len(lists.candidates)
        which, sample, is_right = lists.which[rows], lists.sample[rows], right[rows]
        counts = [np.bincount(which[part], minlength=n) for part in (is_right, ~is_right)]
        signs = sparse.csr_array(
            (np.where(is_right, 1, -1).astype(np.float32), (which, sample)), shape=(n, len(lists))
        )
        usual = texts.queries.topics.mean(axis=0)
        order = np.argsort(keys := _keys(lists.candidates))
        columns, weights = _word_weights(texts.candidates.words, *counts)
        return cls(
            keys[order],
            counts[0][order].astype(np.float32),
            counts[1][order].astype(np.float32),
            (signs @ (texts.queries.topics - usual).astype(np.float32))[order],
            usual,
            columns,
            weights,
        )

    def features(self, texts: ReadTexts) -> FloatArray:
        """What is known about the candidates of each row, (n_rows, features)."""
        lists = texts.lists
        place, is_known = self._places(lists.candidates)
        which, sample = lists.which, lists.sample
        right, wrong = (
            np.where(is_known, counts[place], 0)[which] for counts in (self.right, self.wrong)
        )
        share = (self.right.sum() + 1) / (self.right.sum() + self.wrong.sum() + 2)
        odds = np.log((right + share) / (wrong + 1 - share)) - np.log(share / (1 - share))
        by_words = texts.candidates.words[:, self.word_columns] @ self.word_weights
        votes = np.zeros(len(which), dtype=np.float32)
        known = is_known[which]
        votes[known] = np.einsum(
            "nd,nd->n",
            self.topics[place[which[known]]],
            (texts.queries.topics[sample[known]] - self.usual_topics).astype(np.float32),
        )
        seen = right + wrong
        return np.column_stack([odds, np.log1p(seen), by_words[which], votes, votes / (seen + 1)])

    def _places(self, candidates: Sequence[Any]) -> tuple[IntArray, BoolArray]:
        """Where each candidate is, and whether it is there at all."""
        keys = _keys(candidates)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, self.keys[place] == keys


def _keys(candidates: Sequence[Any]) -> IntArray:
    digests = b"".join(blake2b(_bytes(c), digest_size=8).digest() for c in candidates)
    return np.frombuffer(digests, dtype=np.int64)


def _bytes(candidate: Any) -> bytes:
    if isinstance(candidate, tuple):
        return b"\0".join(map(_bytes, candidate)) + b"\0"
    return spelled(candidate).encode(errors="surrogatepass")


def _word_weights(
    words: sparse.csr_array, right: IntArray, wrong: IntArray
) -> tuple[IntArray, FloatArray]:
    """A logistic regression on words: which columns have weights, and the weights."""
    seen = np.flatnonzero(right + wrong)
    if not right.any() or not wrong.any():
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    part = words[seen]
    columns = np.unique(part.indices)
    model = LogisticRegression(C=WORD_PENALTY, solver="liblinear", random_state=0)
    part = part[:, columns]
    model.fit(
        sparse.csr_matrix(sparse.vstack([part, part])),
        np.repeat([1, 0], len(seen)),
        sample_weight=np.concatenate([right[seen], wrong[seen]]),
    )
    return columns, model.coef_.ravel().astype(np.float32)
