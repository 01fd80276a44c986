"""Encoders: each turns one column of a table into features."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from setlearn.errors import (
    DataError,
    DateRangeWarning,
    NumbersForTextsWarning,
    UnseenCategoryWarning,
    UnseenValueWarning,
)
from setlearn.features.cells import Cell, is_missing_word
from setlearn.features.columns import Column
from setlearn.features.text_terms import TextFeatures, TextTerms
from setlearn.files import Row
from setlearn.missing_values import lower_medians
from setlearn.nodes import FloatArray
from setlearn.savable import savable
from setlearn.token_guesses import are_spaced

__all__ = [
    "Encoder",
    "KeyEncoder",
    "NumericEncoder",
    "TextEncoder",
    "fit_encoder",
    "guess_text_features",
]

DATE_PARTS = ("years", "year_x", "week_x", "day_x", "year_y", "week_y", "day_y")
"""The features of a date: years since 2000, and points on circles."""

WIDTHS = {"number": 1, "date": len(DATE_PARTS)}
"""How many features columns of these kinds have; vectors may have any number."""

FAR_OUTSIDE = 0.1
"""A date is far outside of the range of training if it is further away than this share of it."""

LONG_TEXT, MANY_TEXTS = 500, 5000
"""With more texts than this, or more characters in a text, there are enough words; their parts
would take several times longer."""


class Encoder(Protocol):
    """Turns the cells of one column into features."""

    unseen_warning: ClassVar[type[UnseenValueWarning]]
    """What to warn with if there are unseen values."""

    @property
    def column(self) -> Column:
        """The column that is read."""
        ...

    def encode(self, cells: Sequence[Cell]) -> Any:
        """Return the features, (n, width), dense or sparse."""
        ...

    def unseen(self, cells: Sequence[Cell]) -> dict[int, str]:
        """The values to warn of, by the positions of their cells."""
        ...

    def scale(self, features: Any) -> Any:
        """Scale features so that columns of all kinds have the same weight."""
        ...

    def names(self) -> list[str]:
        """Name the features."""
        ...


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class NumericEncoder:
    """Keeps numbers and vectors as they are, and dates as points; gaps become the median.

    The time of a date is kept within the range of training; its season, weekday and hour are free.
    """

    unseen_warning: ClassVar[type[UnseenValueWarning]] = DateRangeWarning
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
        width = WIDTHS.get(column.kind, 0)
        if not width:
            width = next((len(cell.vector()) for cell in cells if not cell.missing), 0)
        numbers = _numbers(column, cells, width)  # (n, width)
        low, high = np.fmin.reduce(numbers, axis=0), np.fmax.reduce(numbers, axis=0)
        if column.kind != "date" and len(cells) > 1:
            low, high = _usual_range(numbers, low, high)
        return cls(column, lower_medians(numbers), np.nan_to_num(low), np.nan_to_num(high))

    def encode(self, cells: Sequence[Cell]) -> FloatArray:
        """Return the numbers, (n, width)."""
        numbers = _numbers(self.column, cells, len(self.median))
        if self.column.kind == "date":
            numbers[:, 0] = np.clip(numbers[:, 0], self.low[0], self.high[0])
        return np.where(np.isnan(numbers), self.median, numbers)

    def unseen(self, cells: Sequence[Cell]) -> dict[int, str]:
        """The dates that are far outside of the range of training."""
        if self.column.kind != "date":
            return {}
        years = _numbers(self.column, cells, len(self.median))[:, 0]
        margin = FAR_OUTSIDE * (self.high[0] - self.low[0])
        outside = (years < self.low[0] - margin) | (years > self.high[0] + margin)  # not nan
        return {number: str(cells[number].value) for number in np.flatnonzero(outside).tolist()}

    def scale(self, features: FloatArray) -> FloatArray:
        """Scale to 0 for the lowest training value and 1 for the highest, outliers aside."""
        span = self.high / 2 - self.low / 2  # halves, because the whole may overflow
        inside = np.clip(features, self.low, self.high)
        return (inside / 2 - self.low / 2) / np.where(span > 0, span, 1.0)

    def names(self) -> list[str]:
        """The column's own name, or one with the number or the part for each feature."""
        name, width = self.column.name, len(self.median)
        if self.column.kind == "number":
            return [name]
        parts = DATE_PARTS if self.column.kind == "date" else range(width)
        return [f"{name}_{part}" for part in parts]


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class KeyEncoder:
    """One feature per category, token or name in a bag; those not seen in training are dropped."""

    unseen_warning: ClassVar[type[UnseenValueWarning]] = UnseenCategoryWarning
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

    def unseen(self, cells: Sequence[Cell]) -> dict[int, str]:
        """The categories that are no keys; new tokens and names in bags are nothing unusual."""
        if self.column.kind != "category":
            return {}
        seen = set(self.keys)
        return {
            number: text
            for number, cell in enumerate(cells)
            if not (cell.missing or is_missing_word(cell.value))
            and (text := cell.text()) not in seen
        }

    def scale(self, features: sparse.csr_array) -> sparse.csr_array:
        """Scale each row to length 1."""
        return _unit_rows(features)

    def names(self) -> list[str]:
        """The column's name with each key."""
        return [f"{self.column.name}_{key}" for key in self.keys]


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class TextEncoder:
    """Turns texts into weights of their terms; a missing text has none."""

    unseen_warning: ClassVar[type[UnseenValueWarning]] = NumbersForTextsWarning
    column: Column
    vectoriser: Any  # TextTerms; in older models, a vectoriser of scikit-learn
    had_numbers: bool = True
    """Whether some cells held numbers in training, or it is not known, as in older models."""

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell], features: TextFeatures) -> TextEncoder:
        """Learn the words.

        Parameters
        ----------
        column : Column
        cells : sequence of Cell
            The training texts.
        features : {"subwords", "tfidf", "words", "chars"}

        Returns
        -------
        TextEncoder

        Raises
        ------
        DataError
            If the texts contain no words.
        """
        texts = [cell.text_or_empty() for cell in cells]
        if not any(text.strip() for text in texts):
            raise DataError(
                f"column {column.name!r} is empty in all {len(cells)} rows, so there is nothing to "
                "learn from; pass texts, or leave the column out"
            )
        try:
            terms = TextTerms(features).fit(texts)
        except ValueError:  # scikit-learn's error for texts without a word
            raise DataError(
                f"column {column.name!r} has no words to learn from in {len(cells)} rows; "
                'use text="chars", or leave the column out',
                advice={"text": "chars"},
            ) from None
        return cls(column, terms, bool(_no_texts(cells)))

    def encode(self, cells: Sequence[Cell]) -> sparse.csr_array:
        """Return the weights of the terms, (n, terms)."""
        texts = [cell.text_or_empty() for cell in cells]
        return sparse.csr_array(self.vectoriser.transform(texts))

    def unseen(self, cells: Sequence[Cell]) -> dict[int, str]:
        """Numbers, if training had texts alone."""
        return {} if self.had_numbers else _no_texts(cells)

    def scale(self, features: sparse.csr_array) -> sparse.csr_array:
        """Scale each row to length 1."""
        return _unit_rows(features)

    def names(self) -> list[str]:
        """The column's name with each word."""
        return [f"{self.column.name}_{word}" for word in self.vectoriser.get_feature_names_out()]


def _no_texts(cells: Sequence[Cell]) -> dict[int, str]:
    """The values that are no texts, by the positions of their cells."""
    return {
        k: str(cell.value)
        for k, cell in enumerate(cells)
        if not cell.missing and not isinstance(cell.value, str)
    }


def fit_encoder(rows: Sequence[Row], column: Column, text: Mapping[str, TextFeatures]) -> Encoder:
    """Fit the encoder that suits the kind of a column.

    Parameters
    ----------
    rows : sequence of Row
        The training rows.
    column : Column
    text : mapping from names to {"subwords", "tfidf", "words", "chars"}
        How columns of texts become features. The default is "tfidf".

    Returns
    -------
    Encoder
    """
    cells = column.cells(rows)
    if column.kind in ("number", "date", "vector"):
        return NumericEncoder.fit(column, cells)
    if column.kind == "text":
        return TextEncoder.fit(column, cells, text.get(column.name, "tfidf"))
    return KeyEncoder.fit(column, cells)


def guess_text_features(cells: Sequence[Cell], n_rows: int) -> TextFeatures:
    """Choose words for texts with spaces, with their parts if that is fast, else parts alone.

    Parameters
    ----------
    cells : sequence of Cell
        All texts, or some of them.
    n_rows : int
        The number of all texts.

    Returns
    -------
    TextFeatures

    Examples
    --------
    >>> spaced = [Cell("row 0", "title", "sun over the sea"), Cell("row 1", "title", "night")]
    >>> guess_text_features(spaced, 2), guess_text_features(spaced, 10_000)
    ('subwords', 'tfidf')
    >>> guess_text_features([Cell("row 0", "title", "sunset")], 1)
    'chars'
    """
    texts = [text for cell in cells if (text := cell.text_or_empty())]
    if not are_spaced(texts):
        return "chars"
    is_long = sum(map(len, texts)) > LONG_TEXT * len(texts)
    return "tfidf" if is_long or n_rows > MANY_TEXTS else "subwords"


def _unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """Scale each row to length 1; rows without features stay as they are."""
    from sklearn.preprocessing import normalize

    return sparse.csr_array(normalize(features)) if features.shape[1] else features


def _usual_range(
    numbers: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The range of numbers (n, width), without those far outside of where 98 % of them are.

    A single huge number would otherwise leave no difference between all others.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns without a number
        first, last = np.nanquantile(numbers, [0.01, 0.99], axis=0)
        span = last - first
        has_span = span > 0
        return (
            np.where(has_span, np.fmax(low, first - span), low),
            np.where(has_span, np.fmin(high, last + span), high),
        )


def _numbers(column: Column, cells: Sequence[Cell], width: int) -> FloatArray:
    """Return all numbers, (n, width), with nan for missing ones."""
    numbers = np.full((len(cells), width), np.nan)
    for row, cell in enumerate(cells):
        if column.kind in WIDTHS:
            numbers[row] = cell.number() if column.kind == "number" else cell.time()
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
