"""From records to the X of an estimator: features for labels, texts or tokens for sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from setlearn.files import Row
from setlearn.nodes import FloatArray
from setlearn.records.columns import Column
from setlearn.records.encoders import Encoder, KeyEncoder, NumericEncoder
from setlearn.records.text_features import TextEncoder, TextFeatures, read_text
from setlearn.savable import savable

__all__ = ["FeatureReader", "RecordReader", "TextReader"]

THIN = ("text", "bag", "tokens")
"""Kinds with so many features that the matrix must be sparse."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class FeatureReader:
    """Records as a matrix, a block of features for each column.

    It is dense, with numbers as they are, unless a column is a text, a bag or a list of tokens.
    Learners compare sparse rows by their angle and do not scale them; so there, if columns share
    the matrix, each block is brought to one scale.

    Examples
    --------
    >>> rows = [Row("", {"size": 3.0, "colour": "red"}), Row("", {"size": None, "colour": "blue"})]
    >>> columns = [Column("size", "number"), Column("colour", "category")]
    >>> FeatureReader.fit(rows, columns).read(rows)
    array([[3., 0., 1.],
           [3., 1., 0.]])
    """

    encoders: tuple[Encoder, ...]

    @classmethod
    def fit(
        cls,
        rows: Sequence[Row],
        columns: Sequence[Column],
        text: Mapping[str, TextFeatures] | None = None,
    ) -> FeatureReader:
        """Learn how to read these columns; ``text`` tells by name how texts are read."""
        return cls(tuple(_fit_encoder(rows, column, text or {}) for column in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return tuple(encoder.column for encoder in self.encoders)

    def read(self, rows: Sequence[Row]) -> FloatArray | sparse.csr_array:
        """The features of each row."""
        blocks = [encoder.encode(encoder.column.cells(rows)) for encoder in self.encoders]
        if not any(column.kind in THIN for column in self.columns):
            return np.hstack(
                [b.toarray() if isinstance(b, sparse.csr_array) else b for b in blocks]
            )
        if len(blocks) > 1:
            blocks = [e.level(b) for e, b in zip(self.encoders, blocks, strict=True)]
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TextReader:
    """Records as one text or one list of tokens each, as sequence models read them.

    Examples
    --------
    >>> TextReader(Column("word", "text")).read([Row("", {"word": "sea"})])
    ['sea']
    """

    column: Column

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return (self.column,)

    def read(self, rows: Sequence[Row]) -> list[Any]:
        """The text or the tokens of each row; what is missing is empty."""
        cells = self.column.cells(rows)
        if self.column.kind == "tokens":
            return [[] if cell.missing else cell.tokens() for cell in cells]
        return [read_text(cell) for cell in cells]


RecordReader: TypeAlias = FeatureReader | TextReader


def _fit_encoder(rows: Sequence[Row], column: Column, text: Mapping[str, TextFeatures]) -> Encoder:
    cells = column.cells(rows)
    if column.kind in ("number", "vector"):
        return NumericEncoder.fit(column, cells)
    if column.kind == "text":
        return TextEncoder.fit(column, cells, text.get(column.name, "tfidf"))
    return KeyEncoder.fit(column, cells)
