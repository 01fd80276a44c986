"""The contract of all set predictors: one base and one set of verbs.

`SetClassifier`, `SequenceSetGenerator` and a model that reads records share it, so that the
command line, the server, the experiments and user code never ask which one they hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _is_fitted

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.features.feature_reader import FeatureReader
from setlearn.metrics import mean_f1
from setlearn.nodes import Mask, Nodes
from setlearn.parameter_checks import check_count
from setlearn.rules import Rule
from setlearn.scorers.classifiers import with_seeds

__all__ = [
    "InputLayout",
    "Ranking",
    "RuleHolder",
    "SetPredictor",
    "Task",
    "Trace",
    "Unknown",
    "check_not_empty",
    "check_same_length",
    "check_top",
    "check_unknown",
]

Task: TypeAlias = Literal["labels", "sequences"]
"""What the elements of the sets are."""

Unknown: TypeAlias = Literal["error", "ignore"]
"""What to do with known elements that were never seen in training."""


class InputLayout(NamedTuple):
    """What a fitted predictor reads.

    Attributes
    ----------
    n_features : int or None
        How many numbers each input has; None if inputs are texts or lists of tokens.
    tokens : bool
        Whether inputs are lists of tokens rather than texts.
    names : list of str or None
        The names of the columns that the predictor was fitted on, if it knows them.
    """

    n_features: int | None
    tokens: bool = False
    names: list[str] | None = None


class Ranking(list[tuple[Any, float]]):
    """Elements with their scores, best first.

    Attributes
    ----------
    truncated : bool
        Whether a limit cut something off, so that elements may be missing.
    """

    def __init__(
        self, elements: Iterable[tuple[Any, float]] = (), *, truncated: bool = False
    ) -> None:
        super().__init__(elements)
        self.truncated = truncated


class Trace(Protocol):
    """How one set was built, step by step. Print it, or use ``to_dict`` for JSON."""

    @property
    def result(self) -> frozenset[Hashable]:
        """The predicted set, with the known elements."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether a limit cut something off."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for ``json.dumps``."""
        ...


class SetPredictor(ABC):
    """Predicts a set for each input. See the methods for the verbs that all predictors share."""

    elements_recur: ClassVar[bool] = True
    """Whether the elements to predict are expected in training, so that a fair evaluation holds
    samples out by their elements rather than at random."""

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether training can be resumed from a checkpoint."""
        return False

    @property
    @abstractmethod
    def task(self) -> Task:
        """What the elements of the sets are."""

    @property
    @abstractmethod
    def elements_(self) -> list[Hashable] | None:
        """All elements that a set may hold, where they can be listed."""

    @property
    def element_split(self) -> Any:
        """How elements that are texts are split into tokens; None if they are not."""
        return None

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """Predict the set of each input, in the kind of container that ``fit`` was given."""

    @abstractmethod
    def predict_sets(self, X: Any) -> list[frozenset[Any]]:
        """Predict the set of each input, always as frozensets."""

    @abstractmethod
    def predict_ranked(self, X: Any, *, top: int | None = None) -> list[Ranking]:
        """List elements with their scores, best first.

        Parameters
        ----------
        X : inputs, as in ``predict``
        top : int, optional
            List that many of the best elements, whether the rule keeps them or not. By default
            the elements of the predicted set.

        Returns
        -------
        list of Ranking
            One list of ``(element, score)`` per input.
        """

    @abstractmethod
    def complete(self, X: Any, known: Any, *, unknown: Unknown = "error") -> Any:
        """Given these elements, what else? A known element is never repeated.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : iterable of sets
            The known elements, one set per input.
        unknown : {"error", "ignore"}, default="error"
            What to do with known elements never seen in training; ignored ones are counted in a
            warning.

        Returns
        -------
        sets
            The other elements of each set, in the kind of container that ``fit`` was given.

        Raises
        ------
        DataError
            If there is not one known set per input, or known elements were never seen in training
            and ``unknown`` is "error".
        """

    @abstractmethod
    def complete_ranked(
        self, X: Any, known: Any, *, top: int | None = None, unknown: Unknown = "error"
    ) -> list[Ranking]:
        """List what else may be in each set, with scores, best first.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : iterable of sets
            The known elements, one set per input. They are never listed.
        top : int, optional
            List that many of the best other elements, whether the rule keeps them or not. By
            default those that ``complete`` answers.
        unknown : {"error", "ignore"}, default="error"
            As in ``complete``.

        Returns
        -------
        list of Ranking
            One list of ``(element, score)`` per input.

        Raises
        ------
        DataError
            As in ``complete``.
        """

    @abstractmethod
    def trace(self, x: Any, known: Any = (), *, unknown: Unknown = "error") -> Trace:
        """Show step by step how the set of one input is built, and why it ends there.

        Parameters
        ----------
        x : a single input
        known : iterable of elements, default=()
            Elements that are in the memory from the start.
        unknown : {"error", "ignore"}, default="error"
            What to do with known elements never seen in training.

        Returns
        -------
        Trace
            Print it, or use its ``to_dict``.
        """

    @abstractmethod
    def with_rule(self, rule: Rule, X: Any = None, y: Any = None) -> Self:
        """A copy of this fitted predictor with the same scores under another rule.

        Parameters
        ----------
        rule : Rule
            A rule that is fitted, or needs no fit, is taken as it is.
        X, y : inputs and sets, optional
            The samples to fit the rule on; they should be new to the model. By default the
            held-out scores that ``fit`` has kept are used. A loaded model has none.

        Returns
        -------
        a predictor of the same class

        Raises
        ------
        ParameterError
            If the rule needs a fit and there are no samples for it.
        """

    @abstractmethod
    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        """Scored choice points and their right choices: what rules are fitted on.

        Parameters
        ----------
        X, y : inputs and sets, optional
            By default those that ``fit`` has kept, scored by a model that had not seen them.

        Returns
        -------
        nodes : Nodes
        positive : mask of shape (n, choices)

        Raises
        ------
        ParameterError
            If only one of X and y is given, or none is and ``fit`` has kept nothing.
        """

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Describe the fitted predictor in a few words and numbers, for model cards."""

    @abstractmethod
    def choice_names(self) -> list[str]:
        """Names of the choices at a choice point: labels, or tokens and the end symbol."""

    @abstractmethod
    def as_elements(self, sets: Any) -> list[frozenset[Hashable]]:
        """Sets as people write them, or as ``complete`` answers, as frozensets.

        Elements are spelled as predictions spell them.
        """

    def as_true_sets(self, sets: Any) -> list[frozenset[Hashable]]:
        """True sets as predictions are compared with them: by default as `as_elements` does."""
        return self.as_elements(sets)

    @abstractmethod
    def input_layout(self) -> InputLayout:
        """What the fitted predictor reads."""

    def without_reader(self) -> tuple[FeatureReader | None, Self]:
        """What reads the rows of tables, and the same predictor for the matrix that it returns.

        Returns
        -------
        reader : FeatureReader or None
            None, the default, if the predictor does not read tables.
        predictor : SetPredictor
        """
        return None, self

    def score(self, X: Any, y: Any) -> float:
        """Mean F1 of the predicted sets.

        Parameters
        ----------
        X : inputs, as in ``predict``
        y : iterable of sets
            The true sets.

        Returns
        -------
        float
            From 0 to 1.
        """
        return mean_f1(self.as_true_sets(y), self.predict_sets(X))


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


def check_both(X: Any, y: Any) -> None:
    """Raise unless there are inputs and sets to fit a rule on.

    Parameters
    ----------
    X : inputs or None
    y : sets or None

    Raises
    ------
    ParameterError
        If one of them is None.
    """
    if X is None or y is None:
        missing, given = ("X", "y") if X is None else ("y", "X")
        raise ParameterError(
            f"a rule is fitted on X and y, but only {given} was given; pass {missing} too"
        )


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


def check_unknown(unknown: object) -> None:
    """Raise unless the value says what to do with unknown elements."""
    if unknown not in ("error", "ignore"):
        raise ParameterError(f'unknown must be "error" or "ignore", got {unknown!r}')


def check_top(top: object) -> None:
    """Raise unless the value is None or a count."""
    if top is not None:
        check_count("top", top)


def check_not_empty(n_samples: int) -> None:
    """Raise if X holds no samples."""
    if n_samples == 0:
        raise DataError("X holds 0 samples; pass at least one")


def check_same_length(n_inputs: int, n_sets: int, name: str = "y") -> None:
    """Raise unless there is one set per input.

    Parameters
    ----------
    n_inputs, n_sets : int
    name : str
        What the sets are called in messages.

    Raises
    ------
    DataError
    """
    if n_inputs != n_sets:
        raise DataError(
            f"X has {n_inputs} samples but {name} has {n_sets} sets; pass one set per sample, "
            "an empty one where there is nothing"
        )
