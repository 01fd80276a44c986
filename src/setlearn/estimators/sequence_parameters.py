"""What the parameters of SequenceSetGenerator mean, checked before anything costly starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.generate import Bounds
from setlearn.label_sets import LabelSets
from setlearn.networks import network_named
from setlearn.networks.training_settings import TrainingPlan
from setlearn.rules import Margin, Rule, Threshold
from setlearn.scorers.base import Loss
from setlearn.trie import Trie
from setlearn.vocabulary import Split, Tokeniser, Vocabulary

__all__ = [
    "check_bounds",
    "check_lengths",
    "check_samples",
    "default_rule",
    "held_out_share",
    "learned_bounds",
    "listed",
    "loss_of",
    "new_rule",
    "plan_of",
    "recipe_of",
    "tokenisers_of",
]

PASSES = 20
"""How often a network without early stopping sees each sample, at the least."""

ROOM = 4
"""How many times as many prefixes as the largest training set a predicted set may have."""


def tokenisers_of(tokens: Split | tuple[Split, Split]) -> tuple[Tokeniser, Tokeniser]:
    """How inputs are split, and how elements are."""
    pair = tokens if isinstance(tokens, tuple | list) else (tokens, tokens)
    if len(pair) != 2:
        raise ParameterError(
            f"tokens must be one way to split or a pair (of inputs, of elements), got {pair!r}"
        )
    return Tokeniser(pair[0]), Tokeniser(pair[1])


def recipe_of(network: Any) -> Any:
    """The recipe that a name stands for, or the given one."""
    if isinstance(network, str):
        return network_named(network)
    if isinstance(network, type) or not hasattr(network, "build"):
        raise ParameterError(
            "a network of your own is an object with a method build(n_choices=, n_tokens=, "
            f"n_features=, copies=None), got {network!r}; see setlearn.networks.LSTM"
        )
    return network


def default_rule(loss: Loss) -> Rule:
    """The rule that goes with a loss.

    After "node" the scores are probabilities to be in the set. After "sequence" those of right
    choices differ by how many sequences lie below each, and ratios can be told apart where
    differences cannot.
    """
    return Threshold(0.5) if loss == "node" else Margin(space="log")


def loss_of(loss: Loss | None, recipe: Any) -> Loss:
    """The loss that is asked for, or the one that suits the network."""
    chosen: Loss = getattr(recipe, "loss", "sequence") if loss is None else loss
    if chosen not in ("node", "sequence"):
        raise ParameterError(f'loss must be "node", "sequence" or None, got {chosen!r}')
    return chosen


def plan_of(parameters: Any, recipe: Any, n_samples: int) -> TrainingPlan:
    """How to train: what is given, and else what suits the network."""
    names = ("batch_size", "learning_rate", "weight_decay", "max_steps")
    asked = {name: getattr(parameters, name) for name in names}
    given = {name: value for name, value in asked.items() if value is not None}
    suits = getattr(recipe, "suited_training", None) or network_named("lstm").suited_training
    plan = TrainingPlan(**{**suits, **given}, clip=parameters.clip, patience=parameters.patience)
    if asked["max_steps"] is None and plan.schedule == "one-cycle":
        # Nothing tells such a plan when to stop, so it must be long enough for the data.
        plan = replace(plan, max_steps=max(plan.max_steps, plan.steps_for(PASSES, n_samples)))
    return plan


def held_out_share(validation: float | None, plan: TrainingPlan, rule: Rule) -> float:
    """The share that is asked for, or a fifth if something is learned from it."""
    if validation is not None:
        return validation
    return 0.2 if rule.needs_fit or plan.schedule == "constant" else 0.0


def new_rule(rule: Rule | None, n_positions: int, loss: Loss) -> Rule:
    """A fresh copy of the rule, its parameters checked for sequences of that many positions."""
    if rule is None:
        return default_rule(loss)
    if not isinstance(rule, Rule):
        raise ParameterError(f"rule must be one of setlearn.rules such as Margin(), got {rule!r}")
    rule.check_parameters(n_positions)
    if rule.needs_marginals and loss == "sequence":
        raise ParameterError(
            f"{rule!r} needs each sequence's own probability to be in the set, and after "
            'loss="sequence" scores are shares of 1; use loss="node", or another rule such as '
            'Margin(space="log")'
        )
    fresh: Rule = clone(rule)
    return fresh


def check_bounds(max_length: int | None, max_size: int, max_nodes: int | None) -> None:
    """Raise unless the bounds are counts, or None where they are learned."""
    given = {"max_length": max_length, "max_size": max_size, "max_nodes": max_nodes}
    for name, value in given.items():
        if value is None and name != "max_size":
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ParameterError(f"{name} must be a whole number from 1 up, got {value!r}")


def check_lengths(sets: LabelSets, vocabulary: Vocabulary, max_length: int | None) -> None:
    """Raise, naming the sample, if a sequence is longer than it may be."""
    if max_length is None:
        return
    for index, elements in enumerate(sets):
        for element in elements:
            length = vocabulary.length(element)
            if length > max_length:
                raise DataError(
                    f"sample {index} of y holds {element!r}, which has {length} tokens, but "
                    f"max_length is {max_length}; raise it or leave the sequence out"
                )


def check_samples(n_inputs: int, n_sets: int) -> None:
    """Raise unless there is one set an input, and at least one of them."""
    if n_inputs != n_sets:
        raise DataError(
            f"X has {n_inputs} samples but y has {n_sets} sets; give one set a sample, "
            "an empty one where there is nothing"
        )
    if n_inputs == 0:
        raise DataError("there is no training data: X holds 0 samples; give at least one")


def learned_bounds(trie: Trie, max_size: int) -> Bounds:
    """As long as the longest training sequence, and some times as large as the largest tree."""
    largest = int(np.bincount(trie.sample).max())
    return Bounds(max(int(trie.depth.max()), 1), max_size, ROOM * largest)


def listed(values: Any, name: str) -> Any:
    """A list of samples, or a numeric array as it is; tables and series become arrays."""
    if isinstance(values, list | tuple):
        return values
    if hasattr(values, "__array__") and np.ndim(values) > 0:
        array = np.asarray(values)
        return array if array.dtype.kind in "biuf" else array.tolist()
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise KindError(
            f"{name} is the {type(values).__name__} {values!r:.60}, not a list of samples; "
            "put them in a list, in order"
        )
    return list(values)
