"""How the cells of one column become features: numbers, keys, or the words of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from setlearn.nodes import FloatArray
from setlearn.records.cells import Cell
from setlearn.records.columns import Column
from setlearn.savable import savable

__all__ = ["Encoder", "KeyEncoder", "NumericEncoder", "unit_rows"]


class Encoder(Protocol):
    """A column that has been learned."""

    @property
    def column(self) -> Column:
        """The column that is read."""
        ...

    def encode(self, cells: Sequence[Cell]) -> Any:
        """Features as they are, (n, width), dense or sparse."""
        ...

    def level(self, features: Any) -> Any:
        """The same on a scale on which columns of all kinds count alike."""
        ...


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class NumericEncoder:
    """A number or a vector as it is; what is missing is the median."""

    column: Column
    median: FloatArray  # (width,)
    low: FloatArray  # (width,)
    high: FloatArray  # (width,)

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell]) -> NumericEncoder:
        """Learn the width, and where the values lie."""
        width = 1
        if column.kind == "vector":
            width = next((len(cell.vector()) for cell in cells if not cell.missing), 0)
        ordered = np.sort(_numbers(column, cells, width), axis=0)  # nan comes last
        count = (~np.isnan(ordered)).sum(axis=0)
        place = np.arange(width)
        # The lower one of two middle values, as their mean may be out of a float's range.
        median = np.nan_to_num(ordered[np.maximum(count - 1, 0) // 2, place])
        high = np.nan_to_num(ordered[np.maximum(count - 1, 0), place])
        return cls(column, median, np.nan_to_num(ordered[0]), high)

    def encode(self, cells: Sequence[Cell]) -> FloatArray:
        """Numbers, (n, width)."""
        numbers = _numbers(self.column, cells, len(self.median))
        return np.where(np.isnan(numbers), self.median, numbers)

    def level(self, features: FloatArray) -> FloatArray:
        """From 0 for the lowest training value to 1 for the highest."""
        span = self.high / 2 - self.low / 2  # halves, as the whole may be out of a float's range
        inside = np.clip(features, self.low, self.high)
        return (inside / 2 - self.low / 2) / np.where(span > 0, span, 1.0)


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class KeyEncoder:
    """A feature for each category, token or name in a bag; those never seen count nothing."""

    column: Column
    keys: tuple[str, ...]

    @classmethod
    def fit(cls, column: Column, cells: Sequence[Cell]) -> KeyEncoder:
        """Learn the keys."""
        return cls(column, tuple(sorted({key for cell in cells for key in _weights(column, cell)})))

    def encode(self, cells: Sequence[Cell]) -> sparse.csr_array:
        """Weights of the keys, (n, keys)."""
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

    def level(self, features: sparse.csr_array) -> sparse.csr_array:
        """Rows of length 1."""
        return unit_rows(features)


def unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """The rows brought to length 1, but for those without any features."""
    from sklearn.preprocessing import normalize

    return sparse.csr_array(normalize(features)) if features.shape[1] else features


def _numbers(column: Column, cells: Sequence[Cell], width: int) -> FloatArray:
    """All numbers, (n, width), with nan for missing ones."""
    numbers = np.full((len(cells), width), np.nan)
    for row, cell in enumerate(cells):
        if column.kind == "number":
            numbers[row] = cell.number()
            continue
        if cell.missing:
            continue
        vector = cell.vector()
        if len(vector) != width:
            raise cell.refused(f"has {len(vector)} numbers where others have {width}")
        numbers[row] = vector
    return numbers


def _weights(column: Column, cell: Cell) -> Mapping[str, float]:
    if cell.missing:
        return {}
    if column.kind == "bag":
        return cell.bag()
    return Counter(cell.tokens()) if column.kind == "tokens" else {cell.text(): 1.0}
