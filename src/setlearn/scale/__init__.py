"""Prediction and training on many machines, with Ray: ``pip install 'setlearn[ray]'``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setlearn.scale.batch_predictor import BatchPredictor
    from setlearn.scale.prediction import predict
    from setlearn.scale.training import fit

__all__ = ["BatchPredictor", "fit", "predict"]

# Loaded when first asked for: each brings along much that the others do not need.
_HOMES = {
    "BatchPredictor": "setlearn.scale.batch_predictor",
    "fit": "setlearn.scale.training",
    "predict": "setlearn.scale.prediction",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'setlearn.scale' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
