"""What the large parts of a model must be, so that it can be used as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setlearn.errors import ModelError
from setlearn.persistence.registry import name_of
from setlearn.rules.base import Rule

__all__ = ["check_structure"]

RULE = "Rule"
"""Any rule, also one of a user's own, which the registry does not know."""

NOTHING = "None"

PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Completion": {"rule": (RULE,), "scores": ("ConditionalScores",)},
    "RecordModel": {
        "model": ("SequenceSetGenerator", "SetClassifier"),
        "reader": ("FeatureReader", "TextReader"),
        "targets": ("TargetReader",),
    },
    "SequenceSetGenerator": {
        "learned_bounds_": ("Bounds",),
        "rule_": (RULE,),
        "scorer_": ("SequenceScorer",),
    },
    "SequenceScorer": {
        "reader": ("NumericReader", "TokenReader"),
        "vocabulary": ("Vocabulary",),
    },
    "SetClassifier": {
        "completion_": ("Completion", NOTHING),
        "rule_": (RULE,),
        "scorer_": ("MarginalScorer", "SoftmaxScorer"),
        "space_": ("LabelSpace",),
    },
}
"""Of which classes the parts of a model may be, by the class that has them."""


def check_structure(model: Any) -> None:
    """Raise unless every large part of a model is of a class that belongs there."""
    name = name_of(model) or ""
    for attribute, kinds in PARTS.get(name, {}).items():
        part = getattr(model, attribute)
        if _kind(part) not in kinds:
            raise ModelError(
                f"the model's {name} has a {type(part).__name__} as {attribute}, where only "
                f"{' or '.join(kinds)} belongs; it is damaged, or was not written by setlearn"
            )
        check_structure(part)


def _kind(part: Any) -> str | None:
    if part is None:
        return NOTHING
    return RULE if isinstance(part, Rule) else name_of(part)
