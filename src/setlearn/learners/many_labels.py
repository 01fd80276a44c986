"""A learner for very many labels: it scores the probable ones of each row, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from setlearn.errors import DataError
from setlearn.learners.blas_threads import few_threads
from setlearn.learners.label_evidence import Evidence, LabelEvidence
from setlearn.learners.label_learner import READING, LabelLearner, refuse_gaps_in_sparse
from setlearn.learners.pair_boosting import PairBoosting
from setlearn.learners.row_draws import drawn_folds
from setlearn.learners.similarity import unit_rows
from setlearn.nodes import FloatArray, IntArray
from setlearn.parameter_checks import check_count
from setlearn.progress import progress
from setlearn.savable import savable
from setlearn.sparse_entries import entries_in

__all__ = ["ListedHeldOut", "ManyLabels"]

LISTED, LISTED_PER_MEMBER = 50, 6
"""Labels that each source lists by default, or a multiple of the mean size of the sets."""
HELD_OUT_PAIRS, FOLDS = 400_000, 4
"""Rows are held out, a fourth of all at a time at most, until so many pairs are listed for them."""
CALIBRATION_FOLDS = 3
LEAST_PROBABILITY = 1e-6
"""No label is more certain than this, or 1 less this."""
BLOCK_ROWS = 2000
"""Rows that are scored together. Scores do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedHeldOut:
    """What a learner lists for training rows as if it had not seen them."""

    rows: IntArray  # (m,) which training rows, ascending
    probabilities: sparse.csr_array  # (m, labels)


@savable(parts={"evidence_": (LabelEvidence,), "ranker_": (PairBoosting, None)})
class ManyLabels(LabelLearner):
    """The probable labels of each row, out of very many: thousands, or a million.

    Two sources list labels for a row. A tree of labels finds them by linear models
    (`setlearn.learners.label_tree`), and the most similar training rows name their own labels
    (`setlearn.learners.near_rows`). What both say about a label is turned into its probability by
    gradient boosting, which is trained on training rows that the sources have not seen. Time and
    memory grow with the size of the data and the number of labels that occur in it, but not with
    their product.

    Sparse rows of whole numbers are taken for counts, and features that most rows have count less
    (idf). Other sparse rows are taken as they are, but no value counts more than 1. Dense rows are
    standardised, and may have gaps (NaN), which count as the mean of their feature. All rows are
    then scaled to length 1.

    Parameters
    ----------
    n_listed : int, optional
        How many labels each of the two sources lists for a row. All others have probability 0. By
        default 50, or six times the mean size of the sets if that is more.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array
        The classes or, for an indicator matrix, the numbers of its columns.
    n_listed_ : int
    evidence_ : LabelEvidence
        The two sources.
    ranker_ : PairBoosting or None
        Turns what they say into probabilities. None if there are too few rows to hold some out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> counts = np.random.default_rng(0).poisson(0.1, size=(200, 40))
    >>> X = sparse.csr_array(counts)
    >>> model = ManyLabels(random_state=0).fit(X, X > 0)  # each feature has a label
    >>> counts[0].nonzero()[0]
    array([ 5,  8, 24, 34])
    >>> (model.predict_listed(X[:1]).toarray()[0] > 0.5).nonzero()[0]
    array([ 5,  8, 24, 34])
    """

    short_name: ClassVar[str] = "many-labels"

    ranker_: PairBoosting | None
    scaler_: StandardScaler | None
    weights_: FloatArray | None

    def __init__(
        self,
        n_listed: int | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_listed = n_listed
        self.random_state = random_state

    def fit_held_out(self, X: Any, y: Any, sample_weight: Any = None) -> ListedHeldOut:
        """Fit, and answer for training rows as if they had been left out.

        The boosting needs such answers too, so this takes no longer than ``fit``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        y : array or sparse matrix of shape (n, labels), or array of shape (n,)
            An indicator matrix, or one class per row.
        sample_weight : array of shape (n,), optional
            How much each row counts in the models; to similar rows its vote counts as any other.

        Returns
        -------
        ListedHeldOut
            For all rows, or for some thousands of them.
        """
        rows, Y, weight, counted = self._read(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with few_threads(0):  # many small products
            return self._fit_read(rows, Y, weight, counted, seed)

    def predict_listed(self, X: Any) -> sparse.csr_array:
        """The probabilities of the labels that are listed for each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)

        Returns
        -------
        csr_array of shape (n, labels)
            Labels without an entry are improbable. Entries lie strictly between 0 and 1.
        """
        check_is_fitted(self, "evidence_")
        X = validate_data(self, X, reset=False, **READING)
        if self.scaler_ is None or sparse.issparse(X):
            assert_all_finite(X, input_name="X")
        n = X.shape[0]
        blocks = [sparse.csr_array((0, len(self.evidence_.share_)))]
        with few_threads(0):
            for start in range(0, n, BLOCK_ROWS):
                rows = self._scaled(X[start : start + BLOCK_ROWS])
                evidence = self.evidence_.collect(rows, self.n_listed_)
                blocks.append(self._listed(evidence, self._ranked(evidence), rows.shape[0]))
        return sparse.csr_array(sparse.vstack(blocks))

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label (n, labels), or of each class if y was 1-d.

        This is dense, and so too large for very many labels; `predict_listed` is not.
        """
        probabilities: FloatArray = self.predict_listed(X).toarray()
        probabilities = np.maximum(probabilities, LEAST_PROBABILITY)
        if self.plain_:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[sparse.csr_array, sparse.csr_array, FloatArray, IntArray]:
        """Check the arguments of fit: rows of length 1, indicator, weights, and what remains.

        Rows of weight 0 are left out.
        """
        if self.n_listed is not None:
            check_count("n_listed", self.n_listed)
        refuse_gaps_in_sparse(X)
        if sparse.issparse(y):
            X = validate_data(self, X, ensure_min_samples=2, **READING)
            check_consistent_length(X, y)
            Y = sparse.csr_array(y, dtype=np.float64)  # type: ignore[call-overload]  # any kind
            if not np.isin(Y.data, (0, 1)).all():
                raise DataError("y must hold 0 and 1 only; leave out samples with unknown entries")
            self.plain_, self.classes_ = False, np.arange(Y.shape[1])
        else:
            X, y = validate_data(self, X, y, multi_output=True, ensure_min_samples=2, **READING)
            Y = sparse.csr_array(self._read_targets(y), dtype=np.float64)
        Y.eliminate_zeros()
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        counted = np.flatnonzero(weight)
        if len(counted) < 2:
            raise DataError(
                f"{len(counted)} sample(s) have a weight above 0, and 2 are needed; pass more"
            )
        self._fit_scale(X[counted])
        return self._scaled(X[counted]), Y[counted], weight[counted], counted

    def _fit_scale(self, X: Any) -> None:
        """Learn how features are scaled: by their spread or size, or by how rare they are."""
        self.scaler_ = self.weights_ = None
        if not sparse.issparse(X):
            self.scaler_ = StandardScaler().fit(X)
            return
        rows: Any = sparse.csr_array(X)  # type: ignore[call-overload]  # of any kind
        if (rows.data == np.floor(rows.data)).all():
            n_rows = np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1])
            self.weights_ = np.log((1 + rows.shape[0]) / (1 + n_rows)) + 1
        else:
            largest = abs(rows).max(axis=0).toarray().ravel()
            self.weights_ = 1 / np.maximum(1, largest)

    def _scaled(self, X: Any) -> sparse.csr_array:
        """Rows of length 1, in single precision."""
        if self.scaler_ is None:
            assert self.weights_ is not None
            return unit_rows(X @ sparse.diags_array(self.weights_)).astype(np.float32)
        dense = X.toarray() if sparse.issparse(X) else X  # type: ignore[attr-defined]
        standardised = np.nan_to_num(self.scaler_.transform(dense))  # a gap becomes the mean
        return unit_rows(standardised).astype(np.float32)

    def _fit_read(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        weight: FloatArray,
        counted: IntArray,
        seed: int,
    ) -> ListedHeldOut:
        """Fit on what `_read` returns."""
        n = X.shape[0]
        self.n_listed_ = self.n_listed or max(LISTED, int(LISTED_PER_MEMBER * Y.nnz / n))
        wanted = max(1, HELD_OUT_PAIRS // (2 * self.n_listed_))  # rows
        n_folds = min(n, max(FOLDS, n // wanted))
        n_parts = int(np.clip(round(wanted * n_folds / n), 1, n_folds))
        fold = drawn_folds(n, n_folds)
        held_out = [np.flatnonzero(fold == k) for k in range(n_parts)]
        parts = []
        with progress("fitting", [n - len(rows) for rows in held_out] + [n]) as advance:
            for rows in held_out:
                others = np.setdiff1d(np.arange(n), rows)
                part = LabelEvidence().fit(X[others], Y[others], weight[others], seed)
                of_part = part.collect(X[rows], self.n_listed_)
                parts.append(of_part._replace(row=rows[of_part.row]))
                advance()
            self.evidence_ = LabelEvidence().fit(X, Y, weight, seed)
        rows = np.sort(np.concatenate(held_out))
        evidence = _joined(parts)
        right = entries_in(self._listed(evidence, evidence.likely, n), Y)
        self.ranker_, probabilities = None, evidence.likely
        if 0 < right.sum() < len(right) and len(rows) >= CALIBRATION_FOLDS:
            self.ranker_ = PairBoosting(random_state=seed)
            place = np.searchsorted(rows, evidence.row)
            group = drawn_folds(len(rows), CALIBRATION_FOLDS)[place]
            of_pairs = None if (weight == weight[0]).all() else weight[evidence.row]
            probabilities = self.ranker_.fit_held_out(evidence.features, right, group, of_pairs)
        return ListedHeldOut(counted[rows], self._listed(evidence, probabilities, n)[rows])

    def _ranked(self, evidence: Evidence) -> FloatArray:
        """The probability of each pair."""
        if self.ranker_ is None or not len(evidence.row):
            return evidence.likely
        probabilities: FloatArray = self.ranker_.predict_proba(evidence.features)[:, 1]
        return probabilities

    def _listed(self, evidence: Evidence, probabilities: FloatArray, n: int) -> sparse.csr_array:
        """Probabilities of pairs as a matrix (n, labels)."""
        bounded = np.clip(probabilities, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        shape = (n, len(self.evidence_.share_))
        return sparse.csr_array((bounded, (evidence.row, evidence.label)), shape=shape)


def _joined(parts: list[Evidence]) -> Evidence:
    """The evidence of all parts, row by row."""
    joined = Evidence(*map(np.concatenate, zip(*parts, strict=True)))
    order = np.lexsort((joined.label, joined.row))
    return Evidence._make(values[order] for values in joined)
