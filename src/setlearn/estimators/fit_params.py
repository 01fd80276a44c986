"""Where the extra arguments of ``fit``, such as sample weights, go."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import _check_sample_weight, has_fit_parameter

from setlearn.errors import DataError, ParameterError

__all__ = ["params_for_learner"]


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
