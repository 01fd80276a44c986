"""Predict sets: unordered, of varying size, whose elements are labels, sequences or candidates."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setlearn.estimators.sequence_set_generator import SequenceSetGenerator
    from setlearn.estimators.set_classifier import SetClassifier
    from setlearn.estimators.set_selector import SetSelector
    from setlearn.persistence import load, save

__all__ = ["SequenceSetGenerator", "SetClassifier", "SetSelector", "load", "save"]
__version__ = "0.1.0"

# Loaded when first asked for: scikit-learn's parts and torch are slow to import.
_HOMES = {
    "SequenceSetGenerator": "setlearn.estimators.sequence_set_generator",
    "SetClassifier": "setlearn.estimators.set_classifier",
    "SetSelector": "setlearn.estimators.set_selector",
    "load": "setlearn.persistence",
    "save": "setlearn.persistence",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'setlearn' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
