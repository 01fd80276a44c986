"""Any rule for labels, applied to whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

from sklearn.base import clone

from setlearn.errors import ParameterError
from setlearn.nodes import BoolArray, IntArray, Mask, Nodes
from setlearn.rules.base import Rule
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.rules.steps import Steps
from setlearn.rules.threshold import Threshold
from setlearn.savable import savable

__all__ = ["OnSequences"]


@savable(parts={"rule": (Rule, None), "rule_": (Rule, None)})
class OnSequences(ChoosesSequences):
    """Let a rule decide on whole sequences, as if each of them were a label.

    Most rules decide at each prefix of a sequence, as in the paper. With this one, all probable
    sequences are generated first. The rule then decides by their probabilities, and it is fitted
    on such lists. For labels nothing changes.

    Parameters
    ----------
    rule : Rule, optional
        By default ``Threshold("tuned", min_size=None)``.

    Attributes
    ----------
    rule_ : the fitted rule

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> from setlearn.rules import Margin, OnSequences
    >>> rule = OnSequences(Margin(0.3, min_size=1))
    >>> rule.accept(Nodes.roots(np.array([[0.5, 0.1, 0.3]])))
    array([[ True, False,  True]])
    """

    def __init__(self, rule: Rule | None = None) -> None:
        self.rule = rule

    @property
    def inner(self) -> Rule:
        """The rule that decides: fitted, or as it was given."""
        if hasattr(self, "rule_"):
            return self.rule_
        return Threshold("tuned", min_size=None) if self.rule is None else self.rule

    @property
    def needs_fit(self) -> bool:
        """Whether the inner rule does."""
        return self.inner.needs_fit

    @property
    def needs_marginals(self) -> bool:
        """Whether the inner rule does."""
        return self.inner.needs_marginals

    @property
    def uses_examples(self) -> bool:
        """Whether the inner rule does."""
        return self.inner.uses_examples

    @property
    def requires_examples(self) -> bool:
        """Whether the inner rule does."""
        return self.inner.requires_examples

    @property
    def is_monotone(self) -> bool:
        """Whether the inner rule is."""
        return self.inner.is_monotone

    @property
    def adjustable(self) -> tuple[str, ...]:  # type: ignore[override]  # of the inner rule
        """The parameters of the inner rule that can be changed without a new fit."""
        return self.inner.adjustable

    def check_samples(self, n_unseen: int) -> None:
        """Raise if that many samples are too few for the inner rule."""
        self.inner.check_samples(n_unseen)

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless the inner rule is one, with parameters in range."""
        if self.rule is not None and not isinstance(self.rule, Rule):
            raise ParameterError(f"rule must be a rule such as Margin(), got {self.rule!r}")
        self.inner.check_parameters()

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Fit a copy of the inner rule.

        Parameters
        ----------
        nodes : Nodes
            One choice point per sample, whose choices are sequences.
        positive : mask of shape (n, V)

        Returns
        -------
        self
        """
        self.check_parameters()
        given = Threshold("tuned", min_size=None) if self.rule is None else self.rule
        self.rule_: Rule = clone(given).fit(nodes, positive)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what the inner rule keeps."""
        if self.needs_fit:
            self._check_fitted("rule_")
        return self.inner.accept(nodes)

    def adjusted(self, **parameters: Any) -> Self:
        """Copy the rule with other parameters of the inner rule, without a new fit."""
        if "rule" in parameters:
            raise ParameterError(f"rule={parameters['rule']!r} needs a new fit")
        rule = copy(self)
        adjusted = self.inner.adjusted(**parameters)
        if hasattr(self, "rule_"):
            rule.rule_ = adjusted
        else:
            rule.rule = adjusted
        return rule

    def adjustable_values(self) -> dict[str, Any]:
        """The values of the parameters in ``adjustable``."""
        return self.inner.adjustable_values()

    def facts(self) -> dict[str, Any]:
        """What the inner rule has learned."""
        return self.inner.facts()

    def learned_numbers(self) -> dict[str, float]:
        """The fractions that the inner rule has learned."""
        return self.inner.learned_numbers()

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """Show the steps of the inner rule."""
        if self.needs_fit:
            self._check_fitted("rule_")
        return self.inner.steps(node, names)

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The numbers that the inner rule compares."""
        return self.inner.figures(node, choice, memory)

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say why the inner rule did not keep a choice."""
        return self.inner.reason_against(node, choice, name)

    def reasons_not_chosen(
        self, node: Nodes, left_out: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Say why the inner rule leaves some sequences out."""
        return [
            self.inner.reason_against(node, int(place), name)
            for place, name in zip(left_out, names, strict=True)
        ]
