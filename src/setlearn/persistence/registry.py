"""The classes that a saved model may name: this table, and no other.

A name in a file is only ever looked up here. What a file says is never imported.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from setlearn.errors import ModelError

__all__ = ["class_named", "name_of", "new_object", "state_of"]

HOMES = {
    "Auto": "setlearn.rules.auto",
    "Bounds": "setlearn.generate",
    "CityBlock": "setlearn.learners.kernel_ridge",
    "Column": "setlearn.records.columns",
    "Completion": "setlearn.estimators.completion",
    "ConditionalScores": "setlearn.estimators.completion",
    "Cosine": "setlearn.learners.kernel_ridge",
    "ExpectedF": "setlearn.rules.expected_f",
    "FeatureReader": "setlearn.records.readers",
    "KernelLabels": "setlearn.learners.kernel_ridge",
    "KeyEncoder": "setlearn.records.encoders",
    "LSTM": "setlearn.networks.lstm",
    "LabelSpace": "setlearn.estimators.label_space",
    "LambdaCNN": "setlearn.rules.lambda_cnn",
    "LambdaRNN": "setlearn.rules.lambda_rnn",
    "LambdaSet": "setlearn.rules.lambda_set",
    "LinearLabels": "setlearn.learners.set_mixture",
    "Margin": "setlearn.rules.margin",
    "MarginalScorer": "setlearn.scorers.labels",
    "MeanF1": "setlearn.rules.auto",
    "NumericEncoder": "setlearn.records.encoders",
    "NumericReader": "setlearn.sequence_inputs",
    "Pipeline": "sklearn.pipeline",
    "Platt": "setlearn.learners.kernel_ridge",
    "RecordModel": "setlearn.records.model",
    "RiskControl": "setlearn.rules.risk_control",
    "SequenceScorer": "setlearn.scorers.sequences",
    "SequenceSetGenerator": "setlearn.estimators.sequence_set_generator",
    "SequenceSigmoidNetwork": "setlearn.learners.sequence_sigmoid_network",
    "SetClassifier": "setlearn.estimators.set_classifier",
    "SetForest": "setlearn.learners.set_forest",
    "SetMixture": "setlearn.learners.set_mixture",
    "SigmoidNetwork": "setlearn.learners.sigmoid_network",
    "SoftmaxScorer": "setlearn.scorers.labels",
    "TargetReader": "setlearn.records.targets",
    "TextEncoder": "setlearn.records.text_features",
    "TextReader": "setlearn.records.readers",
    "Threshold": "setlearn.rules.threshold",
    "TokenReader": "setlearn.sequence_inputs",
    "Tokeniser": "setlearn.vocabulary",
    "TopK": "setlearn.rules.top_k",
    "Training": "setlearn.networks.training_settings",
    "Transformer": "setlearn.networks.transformer",
    "Vocabulary": "setlearn.vocabulary",
}

SET_ELSEWHERE: dict[str, set[str]] = {}
"""Attributes that are neither parameters nor learned (which end with an underscore)."""

NOT_SAVED = {
    # A saved model is no training run, and what the last prediction left behind is not its own.
    "SequenceSetGenerator": {"rule_samples_"},
    "SetClassifier": {"rule_samples_"},
    "Training": {"checkpoint"},
}


def name_of(thing: object) -> str | None:
    """The name of an object's class in this table; None if it has no place there."""
    kind = type(thing)
    home = HOMES.get(kind.__name__)
    return kind.__name__ if home is not None and kind.__module__ == home else None


def class_named(name: object) -> type[Any]:
    """The class of that name."""
    if not isinstance(name, str) or name not in HOMES:
        raise ModelError(
            f"the model names the class {name!r:.80}, which this version of setlearn does not "
            "know; it was written by a later version, or not by setlearn"
        )
    found: type[Any] = getattr(import_module(HOMES[name]), name)
    return found


def state_of(thing: Any) -> dict[str, Any]:
    """The attributes of an object that make it what it is."""
    if isinstance(thing, tuple):
        state: dict[str, Any] = thing._asdict()  # type: ignore[attr-defined]  # a named tuple
    elif is_dataclass(thing):
        state = {field.name: getattr(thing, field.name) for field in fields(thing)}
    else:
        state = dict(vars(thing))
    stays = NOT_SAVED.get(type(thing).__name__, set())
    return {name: value for name, value in state.items() if name not in stays}


def new_object(name: str, state: dict[str, Any]) -> Any:
    """An object of the class of that name with these attributes; no ``__init__`` is run.

    A parameter that is not among them has its default: it was not saved, or it was not there
    when the model was.
    """
    kind = class_named(name)
    if issubclass(kind, tuple):
        return kind(**state)
    parameters = signature(kind).parameters
    known = set(parameters) | SET_ELSEWHERE.get(name, set())
    strange = [one for one in state if one not in known and not _is_learned(one)]
    defaults = {one: told.default for one, told in parameters.items() if one not in state}
    needed = [one for one, default in defaults.items() if default is Parameter.empty]
    if strange or needed:
        raise ModelError(
            f"the model's {name} has the attributes {sorted(state)}, which do not fit; "
            "it was written by another version, or it is damaged"
        )
    thing = object.__new__(kind)
    for attribute, value in {**defaults, **state}.items():
        object.__setattr__(thing, attribute, value)  # frozen ones are set in the same way
    return thing


def _is_learned(attribute: str) -> bool:
    return attribute.isidentifier() and attribute.endswith("_") and attribute[0] != "_"
