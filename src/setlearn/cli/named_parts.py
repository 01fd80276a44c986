"""Learners, rules and kinds by the names that people give them on the command line."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setlearn.cli.fit_options import Learner, Learning, Network
from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.records import RecordPlan
    from setlearn.rules import Rule

__all__ = [
    "RULES",
    "default_notes",
    "kinds_named",
    "model_for",
    "rule_named",
    "tokens_named",
]

LEARNER, NETWORK = Learner.mixture, Network.transformer
"""What is taken where nothing is said."""

RULES = {
    "auto": "Auto",
    "expected-f": "ExpectedF",
    "lambda-cnn": "LambdaCNN",
    "lambda-rnn": "LambdaRNN",
    "lambda-set": "LambdaSet",
    "margin": "Margin",
    "risk-control": "RiskControl",
    "threshold": "Threshold",
    "top-k": "TopK",
}


def rule_named(text: str | None) -> Rule | None:
    """The rule of that name, with settings behind a colon: ``threshold:cut=0.4,min_size=1``."""
    if text is None:
        return None
    import setlearn.rules as rules

    name, _, settings = text.partition(":")
    if name not in RULES:
        raise ParameterError(f"there is no rule {name!r}; choose among {', '.join(RULES)}")
    kind: Callable[..., Rule] = getattr(rules, RULES[name])
    given = dict(_setting(part) for part in settings.split(",") if part.strip())
    try:
        return kind(**given)
    except TypeError as error:
        raise ParameterError(
            f"the rule {name} does not take that ({error}); see help(setlearn.rules.{RULES[name]})"
        ) from error


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.strip().partition("=")
    if not equals:
        raise ParameterError(
            f"a rule's setting is written name=value, got {text.strip()!r}; "
            "as in --rule threshold:cut=0.4"
        )
    try:
        return name, literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a word, such as space=log


def model_for(plan: RecordPlan, learning: Learning, *, verbose: bool) -> Any:
    """The model that was asked for, not fitted yet; what does not go with the task is refused."""
    from setlearn import SequenceSetGenerator, SetClassifier
    from setlearn.learners import learner_named
    from setlearn.networks import Training

    if plan.task == "labels":
        _refuse(plan, {"--network": learning.network, "--max-steps": learning.max_steps})
        learner = learning.learner or LEARNER
        return SetClassifier(
            None if learner == LEARNER else learner_named(learner.value),
            rule_named(learning.rule),
            conditional=learning.conditional,
            n_jobs=learning.jobs or 1,
            random_state=learning.seed,
            verbose=verbose,
        )
    _refuse(
        plan,
        {
            "--learner": learning.learner,
            "--conditional": learning.conditional or None,
            "--jobs": learning.jobs,
        },
    )
    return SequenceSetGenerator(
        (learning.network or NETWORK).value,
        rule_named(learning.rule),
        tokens=plan.tokens or "char",
        training=Training(max_steps=learning.max_steps, verbose=verbose),
        random_state=learning.seed,
    )


def default_notes(plan: RecordPlan, learning: Learning) -> list[str]:
    """Which model is taken where nothing was said, for people."""
    if plan.task == "labels":
        return [] if learning.learner else [f"learner: {LEARNER.value} (by default)"]
    return [] if learning.network else [f"network: {NETWORK.value} (by default)"]


def kinds_named(texts: Sequence[str]) -> dict[str, Any]:
    """What ``--kind column=kind`` says."""
    pairs = [text.rpartition("=") for text in texts]
    for text, (name, equals, _) in zip(texts, pairs, strict=True):
        if not (name and equals):
            raise ParameterError(f"--kind is written column=kind, got {text!r}")
    return {name: kind for name, _, kind in pairs}


def tokens_named(text: str | None) -> Any:
    """What ``--tokens`` says: one way to split, or a pair."""
    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(","))
    if len(parts) > 2 or not {"char", "word"}.issuperset(parts):
        raise ParameterError(f"--tokens is char or word, or a pair such as char,word; got {text!r}")
    return parts[0] if len(parts) == 1 else parts


def _refuse(plan: RecordPlan, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if value is not None:
            other = "sequences" if plan.task == "labels" else "labels"
            raise ParameterError(
                f"{name} is for {other}, but the elements here are {plan.task}; leave it out, or "
                f"say --task {other}"
            )
