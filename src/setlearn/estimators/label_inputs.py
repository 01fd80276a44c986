"""Inputs of a classifier of label sets: what is checked here, and what is left to the learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples

from setlearn.errors import DataError, KindError, SetlearnWarning, warn_user
from setlearn.estimators.argument_checks import check_not_empty
from setlearn.features import TableFeatures
from setlearn.features.column_guesses import is_id_name
from setlearn.features.columns import join_names
from setlearn.learners.input_range import check_range

__all__ = ["check_inputs", "check_numbers", "one_sample", "refuse_candidates", "set_columns"]


def check_inputs(estimator: BaseEstimator, X: Any, *, reset: bool, allow_nan: bool) -> Any:
    """Check the numbers in X; everything else is passed on as it is.

    Texts, and tables that hold more than numbers, are left to the learner, such as a pipeline
    with a vectoriser or an encoder.

    Parameters
    ----------
    estimator : BaseEstimator
        Where the features are recorded or compared.
    X : inputs
    reset : bool
        Whether to record the features rather than compare them.
    allow_nan : bool

    Returns
    -------
    X, ready for the learner

    Raises
    ------
    DataError, KindError
        If X cannot be used.
    """
    if isinstance(X, str | bytes):
        raise KindError(f"X is the single text {X!r}; pass a list of texts, such as [{X!r}]")
    if isinstance(X, np.ma.MaskedArray):
        X = np.where(np.ma.getmaskarray(X), np.nan, X.data)
    try:
        check_not_empty(_num_samples(X))
        if _is_learners_own(X):
            if reset:
                set_columns(estimator, None)
            elif hasattr(estimator, "n_features_in_"):
                raise DataError(
                    f"X holds texts or records such as {next(iter(X))!r:.60}, but the model was "
                    f"fitted on {estimator.n_features_in_} features; pass rows with these"
                )
            return X
        _refuse_series_of_lists(X)
        numeric = _numeric(X)
        if numeric:
            _refuse_ragged(X)
            checked = check_array(
                X,
                accept_sparse=("csr", "csc"),
                ensure_all_finite="allow-nan" if allow_nan and not sparse.issparse(X) else True,
                estimator=estimator,
                input_name="X",
                dtype="numeric",
            )
        _check_feature_names(estimator, X, reset=reset)
        _check_n_features(estimator, checked if numeric else X, reset=reset)
        if reset and numeric:
            _warn_of_ids(X)
    except TypeError as error:
        raise KindError(str(error)) from error
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(_with_cure(error)) from error
    # A learner that selects columns by name needs the table itself.
    return X if hasattr(X, "columns") or not numeric else checked


def refuse_candidates(X: Any, y: Any) -> None:
    """Raise if X holds pairs of a text and a list, and y what is chosen from the lists.

    Parameters
    ----------
    X : inputs
    y : targets

    Raises
    ------
    KindError
    """
    if not isinstance(X, list | tuple) or not isinstance(y, list | tuple) or len(X) != len(y):
        return
    if all(
        isinstance(x, list | tuple)
        and len(x) == 2
        and isinstance(x[0], str)
        and isinstance(x[1], list | tuple)
        and isinstance(chosen, set | frozenset | list | tuple)
        and set(map(str, chosen)) <= set(map(str, x[1]))
        for x, chosen in zip(X, y, strict=True)
    ):
        raise KindError(
            f"X holds pairs such as {X[0]!r:.60}, and y what is chosen from their lists; use "
            "SetSelector, or pass a DataFrame for sets of labels"
        )


def check_numbers(learner: BaseEstimator, X: Any, features: TableFeatures | None) -> None:
    """Raise unless X holds numbers that a learner can read in single precision, if it does so.

    Parameters
    ----------
    learner : BaseEstimator
    X : inputs
        As the learner is given them.
    features : TableFeatures or None
        What has made X of a table.

    Raises
    ------
    DataError
        It names the columns.
    """
    if not getattr(learner, "single_precision", False) or sparse.issparse(X):
        return
    if hasattr(X, "columns"):
        _refuse_other_kinds(X)
    names = getattr(X, "columns", None) if features is None else features.get_feature_names_out()
    check_range(X, None if names is None else list(names))


def set_columns(estimator: BaseEstimator, names: Sequence[str] | None) -> None:
    """Record the columns of a table, or with None that inputs have none.

    Parameters
    ----------
    estimator : BaseEstimator
    names : sequence of str or None
    """
    for name in ("feature_names_in_", "n_features_in_"):
        if hasattr(estimator, name):
            delattr(estimator, name)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)


def one_sample(x: Any) -> Any:
    """A single input as a batch of one."""
    if isinstance(x, str | Mapping):
        return [x]
    if hasattr(x, "to_frame") and not hasattr(x, "columns"):  # a row of a DataFrame
        return x.to_frame().T.infer_objects()
    is_sparse = bool(sparse.issparse(x))
    if is_sparse:
        x = x.reshape((1, -1)) if x.ndim == 1 else x  # a row of a sparse array has one dimension
    elif not hasattr(x, "columns") and np.ndim(x) == 1:
        if isinstance(x, list) and len(x) == 1 and isinstance(x[0], str):
            return x
        x = np.asarray(x)[None, :]
    n_samples = _num_samples(x)
    if n_samples != 1:
        raise DataError(f"trace shows one sample, got {n_samples}; pass a single row such as X[0]")
    return x


def _is_learners_own(X: Any) -> bool:
    """Whether the samples are texts, or mappings as for DictVectorizer."""
    if isinstance(X, list | tuple):
        return all(isinstance(x, str | Mapping) for x in X)
    if sparse.issparse(X) or hasattr(X, "columns") or not hasattr(X, "__array__"):
        return False
    array = np.asarray(X)
    return array.ndim == 1 and len(array) > 0 and all(isinstance(x, str) for x in array.tolist())


def _numeric(X: Any) -> bool:
    if hasattr(X, "columns"):
        return all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes)
    if sparse.issparse(X):
        return True
    if isinstance(X, np.ndarray) and X.ndim == 2:
        strings = X.dtype.kind == "O" and any(isinstance(x, str) for x in X.flat)
        return X.dtype.kind not in "US" and not strings
    return True


def _warn_of_ids(X: Any) -> None:
    """Warn of columns of numbers that are ids by their names, but are learned from."""
    ids = [name for name in getattr(X, "columns", ()) if is_id_name(name)]
    if ids:
        warn_user(
            SetlearnWarning(
                f"X has columns that are ids by their names: {join_names(ids)}; they are learned "
                "from, so drop them if they say nothing about y"
            )
        )


def _refuse_other_kinds(table: Any) -> None:
    """Raise if a column of a DataFrame does not hold numbers."""
    for name in table.columns:
        if not _holds_numbers(table[name]):
            first = str(table[name].to_numpy()[0])
            raise DataError(
                f"column {name!r} of X holds values such as {first!r}, but the learner reads "
                "numbers; pass numbers, with nan for those that are missing, or fit with "
                "setlearn.features.TableFeatures() before the learner in a pipeline"
            )


def _holds_numbers(column: Any) -> bool:
    """Whether a column of pandas or polars holds numbers; None among them is a missing one."""
    if getattr(column.dtype, "kind", "O") in "biuf":
        return True
    values = column.to_numpy()
    if values.dtype.kind != "O":
        return values.dtype.kind in "biuf"
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _with_cure(error: ValueError) -> str:
    """scikit-learn's message, and what to do where it does not say so."""
    message = str(error)
    if "features, but" in message:
        return f"{message} Pass the features that fit was given, in the same order."
    if "feature names should match" in message:
        return f"{message.rstrip()}\nPass X[model.feature_names_in_], with the columns of fit."
    if "contains NaN" in message:
        return f"{message.splitlines()[0]} Fill the gaps, or leave out these samples."
    return message


def _refuse_series_of_lists(X: Any) -> None:
    """Raise for one column of lists, which may be tokens, or y in the place of X."""
    if getattr(X, "ndim", 0) != 1 or sparse.issparse(X):
        return
    first = np.asarray(X)[0]
    if isinstance(first, list | tuple | set | frozenset | np.ndarray):
        raise DataError(
            f"each sample of X is a {type(first).__name__}, such as {first!r:.60}; pass a table "
            'with this column, such as pd.DataFrame({"tokens": X}), or check that X and y are not '
            "swapped"
        )


def _refuse_ragged(X: Any) -> None:
    if not isinstance(X, list | tuple):
        return
    if not all(isinstance(x, list | tuple | np.ndarray) for x in X):
        return
    widths = [len(x) for x in X]
    for row, width in enumerate(widths):
        if width != widths[0]:
            raise DataError(
                f"X is ragged: row {row} has {width} values but row 0 has {widths[0]}; "
                "pass the same features for every sample"
            )
