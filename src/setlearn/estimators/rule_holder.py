"""What set predictors with a rule of their own have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _is_fitted

from setlearn.errors import NotFittedError, ParameterError
from setlearn.estimators.base import SetPredictor
from setlearn.nodes import Mask, Nodes
from setlearn.rules import Rule
from setlearn.scorers.classifiers import with_seeds

__all__ = ["RuleHolder"]


class RuleHolder(SetPredictor):
    """A set predictor that holds its rule itself: what `with_rule` needs is the same for all.

    ``rule`` is the rule that was asked for, ``rule_`` the fitted one. A change of ``rule``, or of
    another parameter in ``fixed_after_fit``, is refused by all verbs, because it could not be
    honoured without a new fit.
    """

    fixed_after_fit: ClassVar[Mapping[str, str]] = {
        "rule": "call fit again, or use with_rule(rule), which keeps the scores"
    }
    """Parameters that must not change after ``fit``, and what to do instead."""

    rule: Any
    rule_: Rule
    rule_scores_: Any
    random_state: Any

    @abstractmethod
    def _new_rule(self, rule: Any) -> Rule:
        """A fresh copy of a rule that was checked for working with this fitted predictor."""

    def with_rule(self, rule: Rule, X: Any = None, y: Any = None) -> Self:
        self._check_fitted()
        new_rule, other = self._new_rule(rule), copy(self)
        if X is None and y is None and isinstance(rule, Rule) and _is_fitted(rule):
            new_rule = copy(rule)
        elif new_rule.needs_fit:
            new_rule = self._seeded(new_rule)
            nodes, positive = self._rule_data(new_rule, X, y)
            new_rule.check_samples(len(np.unique(nodes.sample)))
            other._fit_rule(new_rule, nodes, positive)
        other.rule = rule
        other._set_rule(new_rule)
        return other

    def _rule_data(self, rule: Rule, X: Any, y: Any) -> tuple[Nodes, Mask]:
        """What to fit a rule on: by default the choice points."""
        return self.choice_points(X, y)

    def _kept_samples(self) -> Any:
        """What ``fit`` has kept to fit other rules on."""
        kept = getattr(self, "rule_samples_", None)
        if kept is None:
            raise ParameterError(
                f"this {type(self).__name__} has kept no held-out scores to fit a rule on (it was "
                "loaded, or was fitted with a rule that needs none, or they were too many); pass X "
                "and y with samples that the learner has not seen"
            )
        return kept

    def _seeded(self, rule: Rule) -> Rule:
        """A rule whose seeds follow from ``random_state`` alone.

        So `with_rule` gives what a fit with the same rule would have given.
        """
        if self.random_state is None:
            return rule
        seeded: Rule = with_seeds(rule, check_random_state(self.random_state))
        return seeded

    def _fit_rule(self, rule: Rule, nodes: Nodes, positive: Mask) -> None:
        """Fit another rule on the scores of this predictor."""
        rule.fit(nodes, positive)

    def _set_rule(self, rule: Rule) -> None:
        """Take a fitted rule; `Auto` leaves its winner and the scores of all candidates."""
        self.rule_ = rule.chosen
        self.rule_scores_ = rule.candidate_scores
        self.fitted_settings_ = self._fixed_settings()

    def _rule_facts(self) -> dict[str, Any]:
        """What the rule has learned and, if it was selected among others, their scores."""
        facts = self.rule_.facts()
        if self.rule_scores_:
            facts["rules tried"] = {name: str(score) for name, score in self.rule_scores_.items()}
        return facts

    def _check_fitted(self) -> None:
        if not hasattr(self, "rule_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit(X, y) first")
        # They are not saved, but `load` describes a model at once: they are still as saved.
        settings = self._fixed_settings()
        fitted_settings = vars(self).setdefault("fitted_settings_", settings)
        for name, cure in self.fixed_after_fit.items():
            if settings[name] != fitted_settings[name]:
                raise ParameterError(
                    f"the {name} was changed to {getattr(self, name)!r:.200} after fit, but the "
                    f"fitted model still uses the former {name}; {cure}"
                )

    def _fixed_settings(self) -> dict[str, Any]:
        """The parameters in ``fixed_after_fit`` as values that can be compared later."""
        return {"rule": _settings(self.rule)}


def _settings(value: Any, path: str = "rule") -> dict[str, Any]:
    """All settings of a rule by where they stand, with those of rules inside it."""
    if isinstance(value, BaseEstimator):
        parts = value.get_params(deep=False)
    elif isinstance(value, list | tuple):
        parts = dict(enumerate(value))
    else:
        return {path: value.tolist() if isinstance(value, np.ndarray | np.generic) else value}
    settings: dict[str, Any] = {path: type(value)}
    for name, part in parts.items():
        settings |= _settings(part, f"{path}.{name}")
    return settings
