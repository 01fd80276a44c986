"""From records to the X of an estimator: features for labels, texts or tokens for sequences.

An encoder turns one column into features; a reader turns whole records into inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from setlearn.errors import DataError
from setlearn.files import Row
from setlearn.nodes import FloatArray
from setlearn.records.cells import Cell
from setlearn.records.columns import Column
from setlearn.savable import savable

__all__ = [
    "Encoder",
    "FeatureReader",
    "JoinedTextReader",
    "KeyEncoder",
    "NumericEncoder",
    "RecordReader",
    "TextEncoder",
    "TextFeatures",
    "TextReader",
    "lacks_input",
]

TextFeatures: TypeAlias = Literal["tfidf", "words", "chars"]
"""TF-IDF of words and pairs of words, which words occur, or TF-IDF of character n-grams."""

WORD = r"\b\w+\b"
ROWS_FOR_RARE_WORDS = 1000
"""From this number of texts on, words that occur in only one text are left out."""

SPARSE_KINDS = ("text", "bag", "tokens")
"""Kinds with so many features that the matrix must be sparse."""


class Encoder(Protocol):
    """Turns the cells of one column into features."""

    @property
    def column(self) -> Column:
        """The column that is read."""
        ...

    def encode(self, cells: Sequence[Cell]) -> Any:
        """Return the features, (n, width), dense or sparse."""
        ...

    def scale(self, features: Any) -> Any:
        """Scale features so that columns of all kinds have the same weight."""
        ...


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class NumericEncoder:
    """Keeps numbers and vectors as they are; missing numbers become the median."""

    column: Column
    median: FloatArray  # (width,)
    low: FloatArray  # (width,)
    high: FloatArray  # (width,)

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell]) -> NumericEncoder:
        """Learn the width and the range of the values.

        Parameters
        ----------
        column : Column
        cells : sequence of Cell
            The training values.

        Returns
        -------
        NumericEncoder
        """
        width = 1
        if column.kind == "vector":
            width = next((len(cell.vector()) for cell in cells if not cell.missing), 0)
        ordered = np.sort(_numbers(column, cells, width), axis=0)  # (n, width), nan at the end
        count = (~np.isnan(ordered)).sum(axis=0)
        position = np.arange(width)
        # The lower of the two middle values, because their mean may overflow.
        median = np.nan_to_num(ordered[np.maximum(count - 1, 0) // 2, position])
        high = np.nan_to_num(ordered[np.maximum(count - 1, 0), position])
        return cls(column, median, np.nan_to_num(ordered[0]), high)

    def encode(self, cells: Sequence[Cell]) -> FloatArray:
        """Return the numbers, (n, width)."""
        numbers = _numbers(self.column, cells, len(self.median))
        return np.where(np.isnan(numbers), self.median, numbers)

    def scale(self, features: FloatArray) -> FloatArray:
        """Scale to 0 for the lowest training value and 1 for the highest."""
        span = self.high / 2 - self.low / 2  # halves, because the whole may overflow
        inside = np.clip(features, self.low, self.high)
        return (inside / 2 - self.low / 2) / np.where(span > 0, span, 1.0)


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class KeyEncoder:
    """One feature per category, token or name in a bag; those not seen in training are dropped."""

    column: Column
    keys: tuple[str, ...]

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell]) -> KeyEncoder:
        """Learn the keys.

        Parameters
        ----------
        column : Column
        cells : sequence of Cell
            The training values.

        Returns
        -------
        KeyEncoder
        """
        return cls(column, tuple(sorted({key for cell in cells for key in _weights(column, cell)})))

    def encode(self, cells: Sequence[Cell]) -> sparse.csr_array:
        """Return the weights of the keys, (n, keys)."""
        number = {key: k for k, key in enumerate(self.keys)}
        indices, data, indptr = [], [], [0]
        for cell in cells:
            for key, weight in _weights(self.column, cell).items():
                if key in number:
                    indices.append(number[key])
                    data.append(weight)
            indptr.append(len(indices))
        parts = (np.array(data, dtype=np.float64), np.array(indices, dtype=np.int32), indptr)
        features = sparse.csr_array(parts, shape=(len(cells), len(self.keys)))
        features.sort_indices()
        return features

    def scale(self, features: sparse.csr_array) -> sparse.csr_array:
        """Scale each row to length 1."""
        return _unit_rows(features)


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TextEncoder:
    """Turns texts into features with a vectoriser of scikit-learn; a missing text has none."""

    column: Column
    vectoriser: Any

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell], features: TextFeatures) -> TextEncoder:
        """Learn the words.

        Parameters
        ----------
        column : Column
        cells : sequence of Cell
            The training texts.
        features : {"tfidf", "words", "chars"}

        Returns
        -------
        TextEncoder

        Raises
        ------
        DataError
            If the texts contain no words.
        """
        vectoriser = _vectoriser(features, 1 if len(cells) < ROWS_FOR_RARE_WORDS else 2)
        try:
            vectoriser.fit([cell.text_or_empty() for cell in cells])
        except ValueError:  # scikit-learn's error for texts without a word
            raise DataError(
                f"column {column.name!r} has no words to learn from in {len(cells)} rows; "
                'use text="chars", or leave the column out',
                advice={"text": "chars"},
            ) from None
        return cls(column, vectoriser)

    def encode(self, cells: Sequence[Cell]) -> sparse.csr_array:
        """Return the weights of the words, (n, words)."""
        texts = [cell.text_or_empty() for cell in cells]
        return sparse.csr_array(self.vectoriser.transform(texts))

    def scale(self, features: sparse.csr_array) -> sparse.csr_array:
        """Scale each row to length 1."""
        return _unit_rows(features)


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class FeatureReader:
    """Reads records as a matrix with one block of features per column.

    The matrix is dense, with unscaled numbers, unless a column is a text, a bag or a list of
    tokens. Learners compare sparse rows by their angle and do not scale them, so in a sparse
    matrix with several columns each block is scaled.

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
        """Learn how to read these columns.

        Parameters
        ----------
        rows : sequence of Row
            The training rows.
        columns : sequence of Column
            The columns to read.
        text : mapping from names to {"tfidf", "words", "chars"}, optional
            How columns of texts become features. The default is "tfidf".

        Returns
        -------
        FeatureReader
        """
        return cls(tuple(_fit_encoder(rows, column, text or {}) for column in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return tuple(encoder.column for encoder in self.encoders)

    def read(self, rows: Sequence[Row]) -> FloatArray | sparse.csr_array:
        """Return the features of each row."""
        blocks = [encoder.encode(encoder.column.cells(rows)) for encoder in self.encoders]
        if not any(column.kind in SPARSE_KINDS for column in self.columns):
            return np.hstack(
                [b.toarray() if isinstance(b, sparse.csr_array) else b for b in blocks]
            )
        if len(blocks) > 1:
            blocks = [e.scale(b) for e, b in zip(self.encoders, blocks, strict=True)]
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TextReader:
    """Reads each record as one text or one list of tokens, the inputs of sequence models.

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
        """Return the text or the tokens of each row; a missing value is an error."""
        _check_inputs(self.columns, rows)
        cells = self.column.cells(rows)
        return [cell.tokens() if self.column.kind == "tokens" else cell.text() for cell in cells]


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class JoinedTextReader:
    """Reads several columns as one text, with a space between them.

    Examples
    --------
    >>> reader = JoinedTextReader((Column("lemma", "text"), Column("tense", "text")))
    >>> reader.read([Row("", {"lemma": "go", "tense": "past"})])
    ['go past']
    """

    columns: tuple[Column, ...]

    def read(self, rows: Sequence[Row]) -> list[str]:
        """Return the text of each row; a missing value is empty, but its space stays.

        If all values are missing, that is an error.
        """
        _check_inputs(self.columns, rows)
        texts = [[cell.text_or_empty() for cell in column.cells(rows)] for column in self.columns]
        return list(map(" ".join, zip(*texts, strict=True)))


def lacks_input(columns: Sequence[Column], row: Row) -> bool:
    """Say whether a row has no value in any of these columns.

    Parameters
    ----------
    columns : sequence of Column
    row : Row

    Returns
    -------
    bool
    """
    return all(cell.missing for column in columns for cell in column.cells([row]))


def _check_inputs(columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Raise, naming the row, if one has no input: nothing can be predicted from it."""
    for row in rows:
        if lacks_input(columns, row):
            names = " and ".join(repr(column.name) for column in columns)
            raise DataError(
                f"{row.place}: there is no input, because "
                f"{f'column {names} is' if len(columns) == 1 else f'the columns {names} are'} "
                "empty; fill it in, or leave the row out",
                advice={"skip_bad": True},
            )


RecordReader: TypeAlias = FeatureReader | TextReader | JoinedTextReader


def _fit_encoder(rows: Sequence[Row], column: Column, text: Mapping[str, TextFeatures]) -> Encoder:
    cells = column.cells(rows)
    if column.kind in ("number", "vector"):
        return NumericEncoder.fit(column, cells)
    if column.kind == "text":
        return TextEncoder.fit(column, cells, text.get(column.name, "tfidf"))
    return KeyEncoder.fit(column, cells)


def _unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """Scale each row to length 1; rows without features stay as they are."""
    from sklearn.preprocessing import normalize

    return sparse.csr_array(normalize(features)) if features.shape[1] else features


def _numbers(column: Column, cells: Sequence[Cell], width: int) -> FloatArray:
    """Return all numbers, (n, width), with nan for missing ones."""
    numbers = np.full((len(cells), width), np.nan)
    for row, cell in enumerate(cells):
        if column.kind == "number":
            numbers[row] = cell.number()
            continue
        if cell.missing:
            continue
        vector = cell.vector()
        if len(vector) != width:
            raise cell.error(f"has {len(vector)} numbers where others have {width}")
        numbers[row] = vector
    return numbers


def _weights(column: Column, cell: Cell) -> Mapping[str, float]:
    if cell.missing:
        return {}
    if column.kind == "bag":
        return cell.bag()
    return Counter(cell.tokens()) if column.kind == "tokens" else {cell.text(): 1.0}


def _vectoriser(features: TextFeatures, min_df: int) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if features == "words":
        return CountVectorizer(binary=True, token_pattern=WORD, min_df=min_df, dtype=np.float64)
    if features == "chars":
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=min_df
        )
    return TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORD, sublinear_tf=True, min_df=min_df)
