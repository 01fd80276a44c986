"""Reads the rows of a table as a matrix of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from setlearn.errors import UnseenValueWarning, warn_user
from setlearn.features.cells import Cell
from setlearn.features.columns import Column, check_columns
from setlearn.features.encoders import Encoder, fit_encoder
from setlearn.features.text_terms import TextFeatures
from setlearn.files import Row
from setlearn.nodes import FloatArray
from setlearn.savable import savable

__all__ = ["FeatureReader"]

SPARSE_KINDS = ("text", "bag", "tokens")
"""Kinds with so many features that the matrix must be sparse."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class FeatureReader:
    """Reads records as a matrix with one block of features per column.

    The matrix is dense, with unscaled numbers, unless there are texts, bags or lists of tokens.
    Learners compare sparse rows by their angle and do not scale them, so in a sparse matrix with
    several columns each block is scaled.

    Examples
    --------
    >>> rows = [Row("", {"size": 3.0, "colour": "red"}), Row("", {"size": None, "colour": "blue"})]
    >>> columns = [Column("size", "number"), Column("colour", "category")]
    >>> FeatureReader.fit(rows, columns).read(rows)
    array([[3., 0., 1.],
           [3., 1., 0.]])
    """

    encoders: tuple[Encoder, ...]
    is_dense: bool = False  # True in some models of older versions, which have words as numbers

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
        text : mapping from names to {"subwords", "tfidf", "words", "chars"}, optional
            How columns of texts become features. The default is "tfidf".

        Returns
        -------
        FeatureReader
        """
        return cls(tuple(fit_encoder(rows, column, text or {}) for column in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return tuple(encoder.column for encoder in self.encoders)

    @property
    def dense_features(self) -> list[int] | None:
        """Which features of a sparse matrix are no words or tokens; None if there are none."""
        if not self.is_sparse:
            return None
        widths = [len(encoder.names()) for encoder in self.encoders]
        is_dense = np.repeat([c.kind not in SPARSE_KINDS for c in self.columns], widths)
        return np.flatnonzero(is_dense).tolist() or None

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is sparse."""
        return not self.is_dense and any(column.kind in SPARSE_KINDS for column in self.columns)

    def read(
        self, rows: Sequence[Row], *, warn_of_unseen: bool = True
    ) -> FloatArray | sparse.csr_array:
        """Return the features of each row.

        Parameters
        ----------
        rows : sequence of Row
        warn_of_unseen : bool, default=True
            Whether to warn of categories that training has not seen, of dates far outside of its
            range, and of numbers where it had texts, once for all rows.

        Returns
        -------
        array or csr_array of shape (n_rows, n_features)
        """
        check_columns(self.columns, rows)
        cells = [encoder.column.cells(rows) for encoder in self.encoders]
        blocks = [e.encode(column) for e, column in zip(self.encoders, cells, strict=True)]
        if warn_of_unseen:
            self._warn_of_unseen(cells)
        if not self.is_sparse:
            return np.hstack(
                [b.toarray() if isinstance(b, sparse.csr_array) else b for b in blocks]
            )
        if len(blocks) > 1:
            blocks = [e.scale(b) for e, b in zip(self.encoders, blocks, strict=True)]
        stored = [_all_stored(b) if isinstance(b, np.ndarray) else b for b in blocks]
        features = sparse.csr_array(sparse.hstack(stored, format="csr"))
        if features.nnz <= np.iinfo(np.int32).max:  # trees of scikit-learn take no larger indices
            features.indices = features.indices.astype(np.int32, copy=False)
            features.indptr = features.indptr.astype(np.int32, copy=False)
        return features

    def _warn_of_unseen(self, cells: Sequence[Sequence[Cell]]) -> None:
        unseen: dict[type[UnseenValueWarning], dict[str, dict[int, str]]] = {}
        for encoder, column in zip(self.encoders, cells, strict=True):
            if new := encoder.unseen(column):
                unseen.setdefault(encoder.unseen_warning, {})[encoder.column.name] = new
        for warning, columns in unseen.items():
            samples = sorted({number for new in columns.values() for number in new})
            values = {name: [*dict.fromkeys(new.values())] for name, new in columns.items()}
            warn_user(warning(samples, values))


def _all_stored(block: FloatArray) -> sparse.csr_array:
    """Numbers as a sparse matrix that stores zeros too, by which learners know dense columns."""
    n, width = block.shape
    where = (block.ravel(), np.tile(np.arange(width), n), np.arange(n + 1) * width)
    return sparse.csr_array(where, shape=block.shape)
