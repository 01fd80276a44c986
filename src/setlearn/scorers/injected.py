"""A scorer that the user passed, with what it returns checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np

from setlearn.copied_tokens import stand_ins_of
from setlearn.errors import DataError
from setlearn.nodes import BoolArray, ExampleSets, FloatArray, IntArray, Nodes, Step
from setlearn.savable import savable
from setlearn.scorers.base import MOST_IN_A_BATCH, Scorer, TokenScorer
from setlearn.scorers.candidates import Candidate, Listing
from setlearn.sequence_lists import check_example_sets
from setlearn.vocabulary import Vocabulary

__all__ = ["InjectedScorer"]

ROUNDING = 1e-5
"""How far a probability in single precision may lie outside of [0, 1]."""


@savable(parts={"vocabulary": (Vocabulary,)})
class InjectedScorer(TokenScorer):
    """A scorer that the user passed, behind the interface of ours.

    Parameters
    ----------
    scorer : Scorer
    vocabulary : Vocabulary
    n_features : int, optional
        How many numbers each input has. By default inputs are no rows of an array.
    reads_token_lists : bool, default=False
        Whether inputs are lists of tokens.
    """

    n_features: int | None = None
    reads_token_lists: bool = False

    def __init__(
        self,
        scorer: Scorer,
        vocabulary: Vocabulary,
        n_features: int | None = None,
        reads_token_lists: bool = False,
    ) -> None:
        self.scorer = scorer
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.reads_token_lists = reads_token_lists

    @classmethod
    def for_inputs(cls, scorer: Scorer, vocabulary: Vocabulary, X: Any) -> Self:
        """Wrap a scorer that reads inputs like these.

        Parameters
        ----------
        scorer : Scorer
        vocabulary : Vocabulary
        X : list of inputs, or a numeric array

        Returns
        -------
        InjectedScorer
        """
        if isinstance(X, np.ndarray):
            return cls(scorer, vocabulary, n_features=X.shape[-1])
        return cls(scorer, vocabulary, reads_token_lists=isinstance(X[0], list | tuple))

    def facts(self) -> dict[str, Any]:
        """The class of the scorer."""
        return {"scorer": type(self.scorer).__name__}

    @property
    def gives_marginals(self) -> bool:
        """What the scorer says of itself; scores are shares of 1 if it says nothing."""
        return bool(getattr(self.scorer, "gives_marginals", False))

    @property
    def lists_all(self) -> bool:
        """Whether the scorer lists candidates."""
        return hasattr(self.scorer, "candidates")

    def candidates(self, X: Any) -> list[list[Candidate]]:
        """Those of the scorer, checked."""
        if not self.lists_all:
            return super().candidates(X)
        lists = self.scorer.candidates(X)  # type: ignore[attr-defined]  # it has: see above
        return self._checked_candidates(lists, X)

    def _checked_candidates(self, lists: list[list[Candidate]], X: Any) -> list[list[Candidate]]:
        if len(lists) != len(X):
            raise DataError(
                f"{type(self.scorer).__name__}.candidates must return one list per input, got "
                f"{len(lists)} for {len(X)} inputs"
            )
        probabilities = np.array([p for candidates in lists for _, p in candidates], np.float64)
        checked = iter(self._in_range(probabilities, "probabilities", "candidates").tolist())
        return [[(y, next(checked)) for y, _ in candidates] for candidates in lists]

    @property
    def gives_examples(self) -> bool:
        """Whether the scorer has the method."""
        return hasattr(self.scorer, "example_sets")

    def example_sets(self, X: Any) -> list[ExampleSets]:
        """Those of the scorer, checked."""
        if not self.gives_examples:
            return super().example_sets(X)
        sets = self.scorer.example_sets(X)  # type: ignore[attr-defined]  # it has: see above
        return self._checked_sets(sets, len(X))

    def _checked_sets(self, sets: Any, n_inputs: int) -> list[ExampleSets]:
        check_example_sets(sets, n_inputs, type(self.scorer).__name__)
        return list(sets)

    def listing(self, X: Any) -> Listing:
        """That of the scorer, checked."""
        if not hasattr(self.scorer, "listing"):
            return super().listing(X)
        listing = self.scorer.listing(X)
        return Listing(
            self._checked_candidates(listing.candidates, X),
            lambda places: self._checked_sets(listing.example_sets(places), len(places)),
        )

    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Any]]:
        """Slices of X, with as many features as in training."""
        for samples, part in super().batches(X, most):
            self._check_features(part)
            yield samples, part

    def start(self, X: Any) -> Step:
        """Score the root of every sample."""
        sample = np.arange(len(X))
        n_used = np.array([len(tokens) for tokens in stand_ins_of(X, self.vocabulary)])
        available = self.vocabulary.available(n_used)
        depth = np.zeros_like(sample)
        return self._checked(self.scorer.start(X), sample, depth, available, "start")

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below."""
        below = self.scorer.advance(step, parent, token)
        nodes, available = step.nodes, None
        if self.vocabulary.n_stand_ins and nodes.available is not None:
            available = nodes.available[parent]
        depth = nodes.depth[parent] + 1
        return self._checked(below, nodes.sample[parent], depth, available, "advance")

    def as_batch(self, x: Any) -> Any:
        """A list or an array of one input."""
        batch = super().as_batch(x)
        self._check_features(batch)
        return batch

    def _check_features(self, X: Any) -> None:
        if self.n_features is None:
            return
        if not isinstance(X, np.ndarray) or X.shape[-1] != self.n_features:
            given = f"shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__
            raise DataError(
                f"this model was fitted on an array with {self.n_features} features, got {given}; "
                "pass the same features in the same order"
            )

    def _checked(
        self,
        step: Any,
        sample: IntArray,
        depth: IntArray,
        available: BoolArray | None,
        method: str,
    ) -> Step:
        """The step with rounding errors taken off its probabilities; wrong ones are refused.

        Stand-ins that are not ``available`` get the probability 0.
        """
        nodes = getattr(step, "nodes", None)
        shape = getattr(getattr(nodes, "probabilities", None), "shape", None)
        wanted = (len(sample), self.vocabulary.n_choices)
        if not isinstance(nodes, Nodes) or shape != wanted:
            raise DataError(
                f"{type(self.scorer).__name__}.{method} must return a Step whose nodes have "
                f"probabilities of shape {wanted} (prefixes, tokens and the end symbol), got "
                f"{type(step).__name__} with shape {shape}"
            )
        for name, right in (("sample", sample), ("depth", depth)):
            if not np.array_equal(getattr(nodes, name), right):
                raise DataError(
                    f"{type(self.scorer).__name__}.{method} must return one node per prefix, in "
                    f"their order, with {name} {right.tolist()!r:.60}, got "
                    f"{getattr(nodes, name).tolist()!r:.60}; take it from step.nodes"
                )
        scores = self._in_range(nodes.probabilities, "probabilities", method)
        before = nodes.prefix_probability
        if before is not None:
            before = self._in_range(before, "prefix_probability", method)
        nodes = replace(nodes, probabilities=scores, prefix_probability=before)
        if available is not None:
            nodes = replace(nodes, probabilities=scores * available, available=available)
        checked: Step = replace(step, nodes=nodes)
        return checked

    def _in_range(self, values: FloatArray, name: str, method: str) -> FloatArray:
        wrong = values[~((values >= -ROUNDING) & (values <= 1 + ROUNDING))]
        if len(wrong):
            raise DataError(
                f"{type(self.scorer).__name__}.{method} must return {name} from 0 to 1, got "
                f"{wrong[0]:.6g} ({len(wrong)} of {values.size} values are wrong); turn scores "
                "into probabilities, for example with a softmax"
            )
        return np.clip(values, 0, 1)
