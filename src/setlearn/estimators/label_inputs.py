"""What a label learner is given: X, checked before a learner fails on it, and fit parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    _num_samples,
    has_fit_parameter,
)

from setlearn.errors import DataError, KindError, ParameterError

__all__ = ["check_inputs", "one_sample", "params_for_learner"]


def check_inputs(estimator: BaseEstimator, X: Any, *, reset: bool, allow_nan: bool) -> Any:
    """X ready for the learner: numbers checked, everything else passed on as it is.

    Texts, and tables that hold more than numbers, are the learner's own business (a pipeline
    with a vectoriser or an encoder). ``reset`` records the features, else they are compared.
    """
    if isinstance(X, str | bytes):
        raise KindError(f"X is the single text {X!r}; give a list of texts, such as [{X!r}]")
    try:
        if _num_samples(X) == 0:
            raise DataError("X holds 0 samples; give at least one")
        if _is_learners_own(X):
            return X
        numeric = _numeric(X)
        if numeric:
            _refuse_ragged(X)
            checked = check_array(
                X,
                accept_sparse=("csr", "csc"),
                ensure_all_finite="allow-nan" if allow_nan else True,
                estimator=estimator,
                input_name="X",
                dtype="numeric",
            )
        _check_feature_names(estimator, X, reset=reset)
        _check_n_features(estimator, checked if numeric else X, reset=reset)
    except TypeError as error:
        raise KindError(str(error)) from error
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(_with_cure(error)) from error
    # A learner that selects columns by name needs the table itself.
    return X if hasattr(X, "columns") or not numeric else checked


def one_sample(x: Any) -> Any:
    """A single input as a batch of one."""
    if isinstance(x, str):
        return [x]
    if hasattr(x, "to_frame") and not hasattr(x, "columns"):  # a row of a DataFrame
        return x.to_frame().T.infer_objects()
    thin = bool(sparse.issparse(x))
    if thin:
        x = x.reshape((1, -1)) if x.ndim == 1 else x  # a row of a sparse array has no second one
    elif not hasattr(x, "columns") and np.ndim(x) == 1:
        if isinstance(x, list) and len(x) == 1 and isinstance(x[0], str):
            return x
        x = np.asarray(x)[None, :]
    n_samples = _num_samples(x)
    if n_samples != 1:
        raise DataError(
            f"trace tells of one sample, got {n_samples}; pass a single row such as X[0]"
        )
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


def _with_cure(error: ValueError) -> str:
    """scikit-learn's own words, and what to do where they do not say so."""
    said = str(error)
    if "features, but" in said:
        return f"{said} Give the features that fit was given, in their order."
    return said


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
                "give every sample the same features"
            )


def params_for_learner(
    owner: BaseEstimator,
    learner: BaseEstimator,
    X: Any,
    sample_weight: Any,
    fit_params: dict[str, Any],
) -> dict[str, Any]:
    """What the learner's ``fit`` is to get: routed by scikit-learn, or passed on as it is."""
    params = dict(fit_params)
    if sample_weight is not None:
        try:
            params["sample_weight"] = _check_sample_weight(sample_weight, X)
        except ValueError as error:
            raise DataError(str(error)) from error
    if not params:
        return {}
    if _routing_is_enabled():
        return dict(process_routing(owner, "fit", **params).estimator.fit)
    if "sample_weight" in params:
        _address_weights(learner, params)
    return params


def _routing_is_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config()["enable_metadata_routing"])


def _address_weights(learner: BaseEstimator, params: dict[str, Any]) -> None:
    """Name the step of a pipeline that the weights are for; refuse them where none takes them."""
    prefix, final = "", learner
    while isinstance(final, Pipeline):
        name, final = final.steps[-1]
        prefix += f"{name}__"
    if not has_fit_parameter(final, "sample_weight"):
        raise ParameterError(
            f"sample_weight was given but {type(final).__name__} takes none; "
            "leave it out or use a learner that does, such as LogisticRegression()"
        )
    params[f"{prefix}sample_weight"] = params.pop("sample_weight")
