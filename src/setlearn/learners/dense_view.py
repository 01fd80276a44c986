"""A dense table made from sparse features, for models that cannot read many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD

from setlearn.errors import ParameterError
from setlearn.nodes import FloatArray, IntArray
from setlearn.savable import savable

__all__ = ["DenseView", "stored_features"]

MOST_DIRECTIONS = 30
"""The largest number of features that stand for all words together."""


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class DenseView:
    """Some features of a sparse matrix as they are, and a summary of all others.

    The summary consists of the coordinates in the directions in which the others vary most
    (truncated singular value decomposition).

    Examples
    --------
    >>> from scipy import sparse
    >>> X = sparse.csr_array([[7.0, 1.0, 1.0], [8.0, 2.0, 2.0], [9.0, 0.0, 0.0]])
    >>> view = DenseView.fit(X, [0])
    >>> np.abs(view.of(X)).round(2)[:, :2]
    array([[7.  , 1.41],
           [8.  , 2.83],
           [9.  , 0.  ]])
    """

    kept: IntArray  # (k,)
    directions: FloatArray  # (features, m), with zeros for features that are kept

    @classmethod
    def fit(cls, X: Any, kept: Any) -> DenseView:
        """Find the directions.

        Parameters
        ----------
        X : sparse array of shape (n, features)
        kept : sequence of int
            The features that stay as they are, which the learner calls ``dense_features``.

        Returns
        -------
        DenseView

        Raises
        ------
        ParameterError
            If X has no such features.
        """
        n, n_features = X.shape
        is_mask = any(isinstance(k, bool | np.bool_) for k in kept)
        if is_mask or not set(kept) <= set(range(n_features)):
            raise ParameterError(
                f"dense_features must be numbers of features from 0 to {n_features - 1}, got "
                f"{kept!r:.80}"
            )
        kept = np.unique(np.asarray(kept, dtype=np.int64))
        others = np.setdiff1d(np.arange(n_features), kept)
        if len(others) == 1:  # which needs no summary
            kept, others = np.arange(n_features), others[:0]
        n_directions = min(MOST_DIRECTIONS, n, len(others)) if X[:, others].count_nonzero() else 0
        directions = np.zeros((n_features, n_directions), dtype=np.float32)
        if n_directions:
            summary = TruncatedSVD(n_directions, random_state=0).fit(X[:, others])
            directions[others] = summary.components_.T
        return cls(kept, directions)

    def of(self, X: Any) -> FloatArray:
        """The dense table of these rows, (n, k + m)."""
        return np.hstack([X[:, self.kept].toarray(), X @ self.directions])


def stored_features(X: Any) -> list[int]:
    """Find the features of a sparse X that are numbers rather than words.

    They store a value for each row, and not only positive ones, as words do that all texts have.

    Parameters
    ----------
    X : sparse array of shape (n, features)

    Returns
    -------
    list of int
    """
    counts = np.bincount(X.indices, minlength=X.shape[1])
    stored = np.flatnonzero(counts == X.shape[0])
    numbers: list[int] = stored[(X[:, stored].toarray() <= 0).any(axis=0)].tolist()
    return numbers
