"""The base of all rules: they learn from scored choice points, then keep some choices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from setlearn.errors import NotFittedError, ParameterError
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes
from setlearn.rules.candidate_score import CandidateScore
from setlearn.rules.steps import Pick, Steps, best_first

__all__ = ["Rule"]

SPELLED = {"choice_floor": "floor", "lam": "λ"}
"""Parameters that people know by another name."""


class Rule(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """Decides which choices to keep at each choice point.

    A rule is a scikit-learn estimator over choice points: ``__init__`` only stores, ``fit``
    learns attributes that end in an underscore, ``clone`` and ``set_params`` work. Any rule
    works with any scorer.

    Examples
    --------
    A rule of your own is a class with two methods:

    >>> class HalfOfTheBest(Rule):
    ...     def fit(self, nodes, positive):
    ...         return self
    ...     def accept(self, nodes):
    ...         kept = nodes.probabilities > nodes.probabilities.max(axis=1, keepdims=True) / 2
    ...         return nodes.completed(kept)  # known choices are in it, padding is not
    >>> HalfOfTheBest().accept(Nodes.roots(np.array([[0.5, 0.1, 0.4]])))
    array([[ True, False,  True]])
    """

    adjustable: ClassVar[tuple[str, ...]] = ()
    """The parameters of a fitted rule that can be changed without a new fit."""

    @property
    def needs_fit(self) -> bool:
        """Whether ``accept`` needs a ``fit`` before; a rule with all numbers given does not."""
        return True

    @property
    def uses_examples(self) -> bool:
        """Whether it makes use of whole training sets, where the scorer provides them."""
        return False

    @property
    def requires_examples(self) -> bool:
        """Whether it cannot work without whole training sets."""
        return False

    @property
    def needs_marginals(self) -> bool:
        """Whether each score must be a choice's own probability, not a share of 1."""
        return False

    @property
    def chooses_sequences(self) -> bool:
        """Whether it decides among finished sequences, not at each prefix.

        Then it is fitted on lists of them: one choice point per sample, with sequences as choices.
        """
        return False

    @property
    def keeps_improbable(self) -> bool:
        """Whether it may keep sequences however improbable they are, as `TopK` does."""
        return False

    @property
    def takes_padding(self) -> bool:
        """Whether it works where some choices of some points are not available."""
        return True

    @property
    def is_monotone(self) -> bool:
        """Whether a choice is never kept while a more probable one is not, known ones aside."""
        return False

    @property
    def chosen(self) -> Rule:
        """The rule that decides in the end; itself, unless it selects among others."""
        return self

    @property
    def candidate_scores(self) -> Mapping[str, CandidateScore] | None:
        """The cross-validated score of each candidate, if it selects among others."""
        return None

    def check_samples(self, n_unseen: int) -> None:
        """Raise if that many samples, which the scorer has not seen, are too few to fit on."""

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range; called before anything costly is done.

        ``n_positions`` is the largest depth of the choice points plus 1; for labels it is 1.
        """

    @abstractmethod
    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Learn from choice points.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V), dense or sparse
            The right choices at each choice point.

        Returns
        -------
        self
        """

    @abstractmethod
    def accept(self, nodes: Nodes) -> BoolArray:
        """The memory Z at the end of each choice point's process, as a mask (n, V).

        Choices that were known from the start are in it; padding is not.
        """

    def accepted(self, nodes: Nodes) -> BoolArray:
        """What `accept` keeps, checked. Predictors call this, because rules may be users' own.

        Raises
        ------
        ParameterError
            If ``accept`` does not return a mask of the right shape.
        """
        return self._checked("accept", nodes)

    def grown(self, nodes: Nodes) -> BoolArray:
        """What `grow` follows, checked in the same way."""
        return self._checked("grow", nodes)

    def selected(self, nodes: Nodes) -> BoolArray:
        """What `choose` keeps, checked in the same way."""
        return self._checked("choose", nodes)

    def _checked(self, method: str, nodes: Nodes) -> BoolArray:
        mask = np.asarray(getattr(self, method)(nodes))
        if mask.dtype != bool or mask.shape != nodes.probabilities.shape:
            raise ParameterError(
                f"the rule {self!r} must answer with a bool array of shape "
                f"{nodes.probabilities.shape}, one row per choice point; got {mask.dtype} of "
                f"shape {mask.shape}; correct its method {method}"
            )
        return mask

    def grow(self, nodes: Nodes) -> BoolArray:
        """Which choices a tree of sequences follows, as a mask (n, V).

        What is accepted, but known choices only where they would be accepted anyway. A rule that
        decides on finished sequences follows all choices that might matter instead, and
        ``choose`` decides in the end.
        """
        kept = self.accepted(nodes)
        if nodes.known is None:
            return kept
        return kept & (~nodes.known | self.accepted(replace(nodes, known=None)))

    def least_nodes(self, max_length: int, n_known: int = 0) -> int:
        """The prefixes per sample that a search for sequences needs at least.

        Parameters
        ----------
        max_length : int
            Tokens of the longest sequence.
        n_known : int, default=0
            How many sequences of the sample are known.

        Returns
        -------
        int
        """
        return 0

    def least_useful(self, sample: IntArray, membership: FloatArray, n_samples: int) -> FloatArray:
        """The membership below which nothing that is still growing can enter the set.

        Parameters
        ----------
        sample : int array of shape (m,)
            The sample of each sequence that is finished so far.
        membership : array of shape (m,)
            Its probability.
        n_samples : int

        Returns
        -------
        array of shape (n_samples,)
            By default 0: everything may matter.
        """
        return np.zeros(n_samples)

    def choose(self, nodes: Nodes) -> BoolArray:
        """Which of the finished sequences to keep; by default all.

        Parameters
        ----------
        nodes : Nodes
            One choice point per sample. Its choices are the finished sequences, best first, and
            then those that are known.

        Returns
        -------
        bool array of shape (n, V)
        """
        return np.ones(nodes.probabilities.shape, dtype=bool)

    def adjusted(self, **parameters: Any) -> Self:
        """Copy the rule with other parameters, without a new fit.

        Parameters
        ----------
        **parameters : dict
            New values. A rule that needs no fit takes any of its parameters, a fitted one
            those in ``adjustable``.

        Returns
        -------
        Rule
            A copy. What was learned for the other parameters stays.

        Raises
        ------
        ParameterError
            If the rule has no such parameter, if a value is out of range, or if a new fit is
            needed.

        Examples
        --------
        >>> from setlearn.rules import TopK
        >>> TopK(3).adjusted(k=5)
        TopK(k=5)
        """
        own = self.get_params(deep=False)
        for name in parameters:
            if name not in own:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {sorted(own)}"
                )
        changed = {
            name: new for name, new in parameters.items() if not np.array_equal(own[name], new)
        }
        rule = copy(self).set_params(**changed)
        rule.check_parameters()
        for name, new in changed.items():
            learned = new is None or isinstance(new, str)
            if rule.needs_fit and (name not in self.adjustable or learned):
                raise ParameterError(
                    f"{name}={new!r} needs a new fit; without one, numbers can be set for "
                    f"{sorted(self.adjustable)}"
                )
            if hasattr(rule, f"{name}_"):
                setattr(rule, f"{name}_", new)
        adjusted: Self = rule
        return adjusted

    def adjustable_values(self) -> dict[str, Any]:
        """The values of the parameters in ``adjustable``, learned or given.

        Examples
        --------
        >>> from setlearn.rules import Threshold
        >>> Threshold(0.4, min_size=1).adjustable_values()
        {'cut': 0.4, 'min_size': 1}
        """
        given = self.get_params(deep=False)
        return {name: getattr(self, f"{name}_", given[name]) for name in self.adjustable}

    def facts(self) -> dict[str, Any]:
        """What was learned for the parameters, as plain numbers for model cards."""
        learned = {name: getattr(self, f"{name}_", None) for name in self.get_params(deep=False)}
        return {
            SPELLED.get(name, name): np.asarray(value).tolist()
            for name, value in learned.items()
            if value is not None
        }

    def learned_numbers(self) -> dict[str, float]:
        """The fractions among ``facts()`` that were learned, not given.

        Examples
        --------
        >>> from setlearn.rules import Threshold
        >>> nodes = Nodes.roots(np.array([[0.4, 0.1, 0.3], [0.1, 0.6, 0.2]]))
        >>> right = np.array([[True, False, True], [False, True, False]])
        >>> Threshold("tuned", min_size=1).fit(nodes, right).learned_numbers()
        {'cut': 0.25}
        """
        parameters = self.get_params(deep=False).items()
        given = {SPELLED.get(n, n) for n, v in parameters if not (v is None or isinstance(v, str))}
        return {
            name: value
            for name, value in self.facts().items()
            if isinstance(value, float) and name not in given
        }

    def steps(self, node: Nodes, names: Sequence[str]) -> Steps:
        """Show how the set at one choice point was built, best choice first.

        This serves every rule that decides on all choices at once. Each pick carries the
        ``figures`` that decided on it, and no penalties. `Margin` shows its own process.

        Parameters
        ----------
        node : Nodes
            A single choice point.
        names : sequence of str
            The names of the choices.

        Returns
        -------
        Steps
        """
        scores = node.probabilities[0]
        known = node.known_mask()[0]
        kept = self.accepted(node)[0] & ~known
        memory = tuple(np.flatnonzero(known).tolist())
        refused = ~kept & ~known if node.available is None else node.available[0] & ~kept & ~known
        picks = []
        for winner in best_first(scores, kept):
            figures = self.figures(node, winner, memory)
            memory += (winner,)
            picks.append(Pick(scores, None, winner, True, memory, figures))
        reason = "every choice is in the set"
        if refused.any():
            runner_up = best_first(scores, refused)[0]
            figures = self.figures(node, runner_up, memory)
            picks.append(Pick(scores, None, runner_up, False, memory, figures))
            reason = self.reason_against(node, runner_up, names[runner_up])
        return Steps(tuple(picks), reason, tuple(picks[0].figures) if picks else ())

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The numbers that this rule compares when it decides on a choice.

        Parameters
        ----------
        node : Nodes
            A single choice point.
        choice : int
        memory : sequence of int
            The choices that are in the set already.

        Returns
        -------
        dict
            The same names for all choices.
        """
        return {"probability": float(node.probabilities[0, choice])}

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say in one line why a choice was not kept.

        Parameters
        ----------
        node : Nodes
            A single choice point.
        choice : int
        name : str
            The name of the choice.

        Returns
        -------
        str
        """
        return f"{name} at {node.probabilities[0, choice]:.4g} is not kept by {self!r}"

    def reasons_not_followed(
        self, nodes: Nodes, row: IntArray, choice: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Say in one line each why `grow` does not follow some choices of a tree.

        Parameters
        ----------
        nodes : Nodes
            All choice points of one sample at one depth.
        row, choice : int arrays of shape (m,)
            The choice point of each such choice, and its column.
        names : sequence of m str

        Returns
        -------
        list of m str
        """
        return [
            self.reason_against(nodes[r : r + 1], int(c), name)
            for r, c, name in zip(row, choice, names, strict=True)
        ]

    def reasons_not_chosen(
        self, node: Nodes, left_out: IntArray, names: Sequence[str]
    ) -> list[str]:
        """Say in one line each why `choose` leaves out some finished sequences of one sample.

        Parameters
        ----------
        node : Nodes
            A single choice point, as ``choose`` takes it.
        left_out : int array of shape (m,)
            The places of the sequences that were left out.
        names : sequence of m str

        Returns
        -------
        list of m str
        """
        return [
            f"{name} at {node.probabilities[0, place]:.4g} is not chosen by {self!r}"
            for place, name in zip(left_out, names, strict=True)
        ]

    def _check_fitted(self, attribute: str) -> None:
        try:
            check_is_fitted(self, attribute)
        except Exception as error:
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted; call fit(nodes, positive) first, "
                "or fit the estimator that holds it"
            ) from error
