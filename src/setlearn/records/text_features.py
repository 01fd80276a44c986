"""A column of texts as features: TF-IDF of words, which words occur, or TF-IDF of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from setlearn.errors import DataError
from setlearn.records.cells import Cell
from setlearn.records.columns import Column
from setlearn.records.encoders import unit_rows
from setlearn.savable import savable

__all__ = ["TextEncoder", "TextFeatures", "read_text"]

TextFeatures: TypeAlias = Literal["tfidf", "words", "chars"]
"""TF-IDF of words and pairs of words, which words occur, or TF-IDF of pieces of words."""

WORD = r"\b\w+\b"
ROWS_FOR_RARE = 1000
"""From so many texts on, a word that occurs in one of them alone is left out."""


def read_text(cell: Cell) -> str:
    """The text of a cell, "" where it is missing."""
    return "" if cell.missing else cell.text()


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TextEncoder:
    """A text by a vectoriser of scikit-learn; a missing one has no features."""

    column: Column
    vectoriser: Any

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell], features: TextFeatures) -> TextEncoder:
        """Learn the words."""
        vectoriser = _vectoriser(features, 1 if len(cells) < ROWS_FOR_RARE else 2)
        try:
            vectoriser.fit([read_text(cell) for cell in cells])
        except ValueError:  # all that scikit-learn says of texts without a word
            raise DataError(
                f"column {column.name!r} has no words to learn from in {len(cells)} rows; "
                'use text="chars", or leave the column out'
            ) from None
        return cls(column, vectoriser)

    def encode(self, cells: Sequence[Cell]) -> sparse.csr_array:
        """Weights of the words, (n, words)."""
        return sparse.csr_array(self.vectoriser.transform([read_text(cell) for cell in cells]))

    def level(self, features: sparse.csr_array) -> sparse.csr_array:
        """Rows of length 1."""
        return unit_rows(features)


def _vectoriser(features: TextFeatures, fewest: int) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if features == "words":
        return CountVectorizer(binary=True, token_pattern=WORD, min_df=fewest, dtype=np.float64)
    if features == "chars":
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=fewest
        )
    return TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORD, sublinear_tf=True, min_df=fewest)
