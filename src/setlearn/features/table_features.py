"""Texts and tables as scikit-learn users have them, turned into a matrix of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from setlearn.errors import DataError, KindError, ParameterError, SetlearnWarning, warn_user
from setlearn.features.cells import Kind
from setlearn.features.column_guesses import HARMLESS, LIKE, guess_columns
from setlearn.features.columns import Column, as_rows, column_notes, join_names, read_columns
from setlearn.features.encoders import guess_text_features
from setlearn.features.feature_reader import FeatureReader
from setlearn.features.text_terms import TextFeatures
from setlearn.files import Row
from setlearn.missing_values import is_missing
from setlearn.nodes import FloatArray
from setlearn.savable import savable

__all__ = ["TableFeatures", "is_table"]

CATEGORY_TYPES = ("categor", "enum")
"""How the names begin that pandas and polars have for columns of categories."""

TEXT_COLUMN = "text"
"""The name of the only column if inputs are plain texts."""


@savable(parts={"reader_": (FeatureReader,)})
class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Turn a list of texts, or a table with columns of several kinds, into a matrix.

    Numbers stay as they are, with the median for missing ones. A category becomes one feature per
    value, a text TF-IDF weights of its words, a date the time and where in the year, the week and
    the day it is. The matrix is sparse if there are texts, bags or lists of tokens. In a sparse
    matrix each column is scaled, so that all of them count alike.

    Columns are found by their names. Their order does not matter, and columns that were not there
    in training are not read.

    Parameters
    ----------
    kinds : mapping from names of columns to kinds, optional
        "number", "category", "text", "date", "vector", "bag", "tokens" or "ignored". Other
        columns are read by their values.
    text : {"subwords", "tfidf", "words", "chars"}, optional
        How texts become features: by TF-IDF of words, pairs of words and parts of words
        ("subwords"), of words and pairs of words alone ("tfidf"), of parts of words alone
        ("chars"), or by which words occur ("words"). By default "chars" for texts without spaces,
        else "subwords", or "tfidf" if there are more than 5000 texts or they are long.

    Attributes
    ----------
    columns_ : tuple of Column
        All columns, also those that are ignored.
    notes_ : list of str
        How each column is read, in words.
    has_columns_ : bool
        Whether X was a table, not a list of texts.
    reader_ : FeatureReader

    Examples
    --------
    >>> from setlearn.features import TableFeatures
    >>> table = [{"size": 3.0, "colour": "red"}, {"size": 5.0, "colour": "blue"}] * 5
    >>> features = TableFeatures().fit(table)
    >>> features.notes_
    ['size: number', 'colour: category (2 different)']
    >>> features.transform([{"colour": "red", "size": None}])
    array([[3., 0., 1.]])
    """

    def __init__(
        self, kinds: Mapping[str, Kind] | None = None, *, text: TextFeatures | None = None
    ) -> None:
        self.kinds = kinds
        self.text = text

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what each column holds.

        Parameters
        ----------
        X : list of texts, DataFrame, list of dicts, or 2-d array of objects
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        DataError
            If no column can be read.
        KindError
            If X is a single text or record.
        ParameterError
        """
        if self.text is not None and self.text not in get_args(TextFeatures):
            names = ", ".join(get_args(TextFeatures))
            raise ParameterError(f"text must be one of {names}, got {self.text!r}")
        rows = _rows_of(X)
        kinds: Mapping[str, Kind] = {str(name): kind for name, kind in (self.kinds or {}).items()}
        self.has_columns_ = not _holds_texts(X)
        if not self.has_columns_:  # texts even if they repeat, as categories do
            kinds = {TEXT_COLUMN: "text", **kinds}
        columns = guess_columns(rows, given=kinds, declared=_declared_categories(X))
        inputs = read_columns(columns)
        if not inputs:
            raise DataError(
                f"X has no column to learn from: {'; '.join(column_notes(columns))}; pass other "
                "columns, or say how to read one with TableFeatures(kinds=...)"
            )
        texts = {
            column.name: self.text or guess_text_features(column.cells(rows), len(rows))
            for column in inputs
            if column.kind == "text"
        }
        self.columns_ = columns
        self.reader_ = FeatureReader.fit(rows, inputs, texts)
        self.notes_ = column_notes(columns)
        _warn_of_doubts(columns)
        return self

    def transform(self, X: Any) -> FloatArray | sparse.csr_array:
        """Return the features of each row.

        Parameters
        ----------
        X : as in ``fit``

        Returns
        -------
        array or csr_array of shape (n_samples, n_features)

        Raises
        ------
        DataError
            If a column is missing, or holds something of another kind than in training.
        """
        # In a pipeline it is given folds and batches, and would warn of each of them.
        return self.reader_.read(self.rows(X), warn_of_unseen=False)

    def rows(self, X: Any) -> list[Row]:
        """X as the rows that ``reader_`` reads.

        Parameters
        ----------
        X : as in ``fit``

        Returns
        -------
        list of Row
        """
        check_is_fitted(self, "reader_")
        return _rows_of(X, self.reader_.columns)

    @property
    def column_names(self) -> list[str] | None:
        """The columns of the table that it was fitted on; None if it was a list of texts."""
        return [column.name for column in self.columns_] if self.has_columns_ else None

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features: by their column and, where it has several, what they stand for."""
        check_is_fitted(self, "reader_")
        return np.array([name for e in self.reader_.encoders for name in e.names()], dtype=object)


def is_table(X: Any) -> bool:
    """Whether inputs are texts, or a table that holds more than numbers.

    Parameters
    ----------
    X : inputs

    Returns
    -------
    bool

    Raises
    ------
    KindError
        If X is a lazy table of polars, which has no rows yet.

    Examples
    --------
    >>> is_table(["a text", "another"]), is_table([[1.0, 2.0]])
    (True, False)
    """
    if sparse.issparse(X):
        return False
    if type(X).__name__ == "LazyFrame":
        raise KindError("X is a LazyFrame, whose rows are not read yet; pass X.collect()")
    if hasattr(X, "columns"):
        return any(getattr(kind, "kind", "O") not in "biuf" for kind in _dtypes(X))
    if isinstance(X, list | tuple):
        return any(isinstance(x, str | Mapping) for x in X) or any(
            isinstance(value, str) for x in X if isinstance(x, list | tuple) for value in x
        )
    array = np.asarray(X)
    if array.dtype.kind == "O":
        kinds = str if array.ndim > 1 else (str, Mapping)
        return any(isinstance(value, kinds) for value in array.flat)
    return array.dtype.kind in "UM"


def _dtypes(frame: Any) -> Sequence[Any]:
    """The types of the columns, as NumPy knows them where it does; polars has its own."""
    kinds = list(frame.dtypes)
    is_numeric = [getattr(kind, "is_numeric", None) for kind in kinds]
    return [
        np.dtype(float) if callable(numeric) and numeric() else kind
        for kind, numeric in zip(kinds, is_numeric, strict=True)
    ]


def _rows_of(X: Any, columns: Sequence[Column] = ()) -> list[Row]:
    """The rows of a table, or texts as rows of a single column."""
    if isinstance(X, str | bytes | Mapping) or not hasattr(X, "__len__"):
        raise KindError(f"X is the single value {X!r:.60}; pass a list of them, or a table")
    if len(X) == 0:
        raise DataError("X has no rows; pass at least one sample")
    if hasattr(X, "columns"):
        twice = [name for name, count in Counter(map(str, X.columns)).items() if count > 1]
        if twice:
            raise DataError(f"X has several columns called {twice[0]!r}; rename all but one")
        return as_rows(X.to_dicts() if hasattr(X, "to_dicts") else X, columns)
    if _holds_texts(X):
        return as_rows(list(X), columns or [Column(TEXT_COLUMN, "text")])
    _check_records(X)
    return as_rows([_record(x) for x in X], columns)


def _record(x: Any) -> Any:
    """A row of a list as a record, by the numbers of its values if they have no names."""
    return x if isinstance(x, Mapping) else dict(enumerate(x))


def _check_records(X: Any) -> None:
    """Raise if some sample is no record; among texts, the first one that is none is named."""
    rows = [x for x in X if isinstance(x, list | tuple)]
    if len({len(row) for row in rows}) > 1:
        raise DataError(
            f"samples of X are lists of different lengths, such as {rows[0]!r:.60}; pass rows with "
            "the same columns, or, if they are lists of tokens, a table with one column of them, "
            'such as pd.DataFrame({"tokens": X})'
        )
    holds_texts = any(isinstance(x, str) for x in X)
    usual = str if holds_texts else Mapping | list | tuple | np.ndarray
    for row, x in enumerate(X):
        if not isinstance(x, usual) and not (holds_texts and is_missing(x)):
            problem = "; others are texts" if holds_texts else ""
            raise KindError(
                f"sample {row} of X is {x!r:.60}{problem}; pass a text for each sample, or a dict "
                "or a list for each"
            )


def _holds_texts(X: Any) -> bool:
    """Whether X is a list, an array or a series of texts, some of which may be missing."""
    if hasattr(X, "columns"):
        return False
    return all(isinstance(x, str) or is_missing(x) for x in X)


def _declared_categories(X: Any) -> list[str]:
    if not hasattr(X, "columns"):
        return []
    pairs = zip(X.columns, X.dtypes, strict=True)
    return [str(name) for name, kind in pairs if str(kind).lower().startswith(CATEGORY_TYPES)]


def _warn_of_doubts(columns: Sequence[Column]) -> None:
    """Warn of columns that might hold something, but are not read, or not as what they look like.

    A kind that was given leaves no doubt.
    """
    ignored = [column for column in columns if column.kind == "ignored"]
    ignored = [column for column in ignored if column.remark not in HARMLESS]
    if ignored:
        warn_user(
            SetlearnWarning(
                f"columns of X that are not read: {join_names([c.note for c in ignored])}; drop "
                "them, or say how to read them with TableFeatures(kinds=...)"
            )
        )
    doubtful = [column for column in columns if column.remark.startswith(LIKE)]
    if doubtful:
        notes = join_names([column.note for column in doubtful])
        warn_user(
            SetlearnWarning(
                f"columns of X that may be misread: {notes}. If they are texts, say so with "
                "TableFeatures(kinds=...)"
            )
        )
