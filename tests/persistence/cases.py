"""What a case of a saved model is, and all that it can be asked: the same in every process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Case:
    """How to fit a model, and inputs and known sets to ask it about."""

    fit: Callable[[], Any]
    X: Any
    known: Any = None


def answers(model, case):
    """All answers of a model as plain JSON, floats to the last digit."""
    results = {
        "predict": as_json(model.predict(case.X)),
        "ranked": as_json(
            [[(spelled(e), p) for e, p in row] for row in model.predict_ranked(case.X)]
        ),
        "trace": str(model.trace(first(case.X))),
    }
    if hasattr(model, "predict_proba"):
        results["proba"] = as_json(model.predict_proba(case.X))
    if case.known is not None:
        results["complete"] = as_json(model.complete(case.X, case.known))
    return results


def first(X):
    """The first sample by itself."""
    return X.iloc[[0]] if hasattr(X, "iloc") else X[[0]] if sparse.issparse(X) else X[0]


def as_json(value):
    """A value with its kind, such that equal JSON means equal values of equal kinds."""
    if sparse.issparse(value):
        return [type(value).__name__, value.dtype.str, value.toarray().tolist()]
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.str if value.dtype != object else "O", as_json(value.tolist())]
    if isinstance(value, set | frozenset):
        return [type(value).__name__, sorted(map(spelled, value))]
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    return value if isinstance(value, float | int | str) else repr(value)


def spelled(element):
    """An element as text, the same in every process: sets have no order of their own."""
    if isinstance(element, frozenset):
        return f"frozenset({sorted(map(spelled, element))})"
    if isinstance(element, tuple):
        return f"({', '.join(map(spelled, element))})"
    return repr(element)
