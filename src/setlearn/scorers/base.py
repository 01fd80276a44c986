"""What a scorer is: a model of P(next choice | x, prefix), in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.utils import _safe_indexing

from setlearn.nodes import ExampleSets, IntArray, Nodes, Step, joined_nodes
from setlearn.scorers.candidates import Candidate, Listing
from setlearn.trie import Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["MOST_IN_A_BATCH", "Scorer", "TokenScorer"]


@runtime_checkable
class Scorer(Protocol):
    """Scores choice points in batches: the roots first, then what lies below kept choices.

    Any object with these two methods can be passed to `SequenceSetGenerator` as ``network``,
    trained or not. Choices are numbered: 0 is the end symbol, and token k of the vocabulary has
    the number k + 1. These further members are used where they exist:

    ``vocabulary``
        A `setlearn.vocabulary.Vocabulary`, or an object with the same methods, that turns
        sequences into numbers and back. By default it is learned from the training sets.
    ``bind(vocabulary, tokeniser)``
        Called before ``fit``, with the vocabulary of the elements and the `Tokeniser` of the
        inputs, for scorers that must know which choice equals which token of an input.
    ``fit(X, trie)``
        Trains the scorer on inputs and the prefix trees of their sets (`setlearn.trie.Trie`). It
        is called on a copy unless the scorer is fitted already, which is decided as scikit-learn
        does: by ``__sklearn_is_fitted__`` or attributes that end with an underscore.
    ``check(X)``
        Raises an error if such inputs cannot be fitted. A mixture asks before it trains anything.
    ``candidates(X)``
        Lists all sequences that are possible for each input, with their probabilities. A mixture
        then takes these lists, and never asks for other sequences.
    ``example_sets(X)``
        Lists whole sets that each input may have, as `setlearn.nodes.ExampleSets`.
        ``ExpectedF(joint=True)`` takes from them which sequences occur together.
    ``listing(X)``
        Returns both of them as a `setlearn.scorers.candidates.Listing`, for scorers that compute
        them from the same things. A mixture then asks for neither of them alone: it wants whole
        sets only for some of the inputs.
    ``copies_tokens``
        True if the scorer copies tokens of its input, also those that training has not seen. If
        training data show that tokens are copied, the vocabulary passed to ``bind`` then has
        stand-ins for such tokens: choices after those of its own tokens.
    ``fits_fast``
        True if ``fit`` takes so little time that it is called once more, on all samples, after
        the rule was fitted on held-out ones.
    ``gives_marginals``
        True if the membership of a finished sequence is its own probability to be in the set.
        False, the default, if the choices of a prefix share a probability of 1.

    Examples
    --------
    A scorer that knows two tokens, "a" and "b", and likes sequences of two of them:

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes, Step
    >>> class TwoTokens:
    ...     def start(self, X):
    ...         return Step(Nodes.roots(np.tile([0.0, 0.6, 0.4], (len(X), 1))))
    ...     def advance(self, step, parent, token):
    ...         nodes = step.nodes
    ...         depth = nodes.depth[parent] + 1
    ...         row = np.where(depth[:, None] < 2, [0.0, 0.6, 0.4], [1.0, 0.0, 0.0])
    ...         way = nodes.membership[parent, token]
    ...         return Step(Nodes(nodes.sample[parent], depth, row, prefix_probability=way))
    >>> isinstance(TwoTokens(), Scorer)
    True
    """

    def start(self, X: Any) -> Step:
        """Score the root of every sample."""
        ...

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the points below: each takes one choice ``token`` at row ``parent`` of ``step``.

        Parameters
        ----------
        step : Step
            What ``start`` or ``advance`` returned for the level above.
        parent : array of int, shape (m,)
            The row of ``step.nodes`` that each new prefix continues.
        token : array of int, shape (m,)
            The choice that leads there, never the end symbol.

        Returns
        -------
        Step
            One row per new prefix, in the same order.
        """
        ...


MOST_IN_A_BATCH = 64
"""Samples that are scored together unless fewer are asked for."""


class TokenScorer(ABC):
    """A scorer with a vocabulary, which reads inputs as users pass them, batch by batch."""

    vocabulary: Vocabulary

    @property
    def n_features(self) -> int | None:
        """How many numbers each input has; None for texts and tokens."""
        return None

    @property
    def reads_token_lists(self) -> bool:
        """Whether inputs are lists of tokens rather than texts, as far as that is known."""
        return False

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Describe the scorer in a few words and numbers."""

    @property
    @abstractmethod
    def gives_marginals(self) -> bool:
        """Whether a finished sequence's membership is its own probability to be in the set."""

    def within(self, bounds: Any, *, thorough: bool = False) -> TokenScorer:
        """The scorer for predictions within these `Bounds`, if it searches by itself.

        Parameters
        ----------
        bounds : Bounds
        thorough : bool, default=False
            Whether sequences are wanted that are clearly improbable.

        Returns
        -------
        TokenScorer
        """
        return self

    @property
    def lists_all(self) -> bool:
        """Whether it knows only whole sequences: those that it does not list are impossible."""
        return False

    def candidates(self, X: Any) -> list[list[Candidate]]:
        """The sequences that it lists for each input; none unless `lists_all`.

        Parameters
        ----------
        X : list of inputs, or a numeric array

        Returns
        -------
        list of list of Candidate
        """
        return [[] for _ in range(len(X))]

    def batches(self, X: Any, most: int = MOST_IN_A_BATCH) -> Iterator[tuple[IntArray, Any]]:
        """Read inputs in batches that can be scored at once; by default slices of X as they are.

        Parameters
        ----------
        X : list of inputs, or a numeric array
        most : int
            The most samples in a batch.

        Yields
        ------
        samples : array of int
            Which rows of X the batch holds. Batches may take rows in another order, but not far
            ahead.
        inputs : object
            What ``start`` takes.
        """
        for first in range(0, len(X), most):
            part = X[first : first + most]
            yield np.arange(first, first + len(part)), part

    @abstractmethod
    def start(self, X: Any) -> Step:
        """Score the root of every sample of a batch."""

    @property
    def gives_examples(self) -> bool:
        """Whether it knows whole sets that an input may have."""
        return False

    def example_sets(self, X: Any) -> list[ExampleSets]:
        """Whole sets that each input of a batch may have; none unless it ``gives_examples``."""
        return [{} for _ in range(len(X))]

    def listing(self, X: Any) -> Listing:
        """The candidates of a batch, and whole sets for those inputs that want them."""
        return Listing(
            self.candidates(X), lambda places: self.example_sets(_safe_indexing(X, places))
        )

    def start_with_examples(self, X: Any) -> Step:
        """Score the roots, and add whole sets to the step."""
        return replace(self.start(X), example_sets=self.example_sets(X))

    @abstractmethod
    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes that continue those of a step by one token.

        Parameters
        ----------
        step : Step
        parent : array of int, shape (m,)
            The row of ``step.nodes`` that each new prefix continues.
        token : array of int, shape (m,)
            The token that it adds.

        Returns
        -------
        Step
            One row per new prefix, in the order of ``parent``.
        """

    def as_batch(self, x: Any) -> Any:
        """A single input as a batch of one; by default a list or an array."""
        return [x] if self.n_features is None else np.asarray(x)[None]

    def score_trees(self, X: Any, trie: Trie) -> Nodes:
        """Score every node of the true trees of these inputs, in the order of the trie.

        Parameters
        ----------
        X : list of inputs, or a numeric array
        trie : Trie
            One tree per input.

        Returns
        -------
        Nodes
        """
        return self._score_batches(self.batches(X), trie)

    def _score_batches(self, batches: Iterable[tuple[IntArray, Any]], trie: Trie) -> Nodes:
        """Score the trees batch by batch; each batch says which samples it holds."""
        parts = []
        for samples, inputs in batches:
            nodes = self._score_batch(inputs, trie.take(samples))
            parts.append(replace(nodes, sample=samples[nodes.sample]))
        joined = joined_nodes(parts)
        is_sorted = (np.diff(joined.sample) >= 0).all()
        return joined if is_sorted else joined[np.argsort(joined.sample, kind="stable")]

    def _score_batch(self, inputs: Any, trie: Trie) -> Nodes:
        """Level by level: all true prefixes of one length in one call."""
        step = self.start(inputs)
        levels = trie.levels()
        steps = [step.nodes]
        for level in levels[1:]:
            step = self.advance(step, level.parent, level.token)
            steps.append(step.nodes)
        by_level = joined_nodes(steps)
        place = np.argsort(np.concatenate([level.nodes for level in levels]), kind="stable")
        return by_level[place]
