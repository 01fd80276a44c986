"""What all scorers have in common that list whole sequences, instead of growing them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from setlearn.errors import DataError, NotFittedError
from setlearn.nodes import IntArray, Step
from setlearn.scorers.candidates import Candidate, CandidateTrees
from setlearn.sequence_inputs import is_numeric, token_lists
from setlearn.trie import Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

__all__ = ["ListingScorer"]


class ListingScorer(BaseEstimator, ABC):  # type: ignore[misc]  # no types
    """A scorer that lists candidates for each input, from texts or lists of tokens.

    Subclasses have the parameter ``random_state``.
    """

    gives_marginals: ClassVar[bool] = True
    copies_tokens: ClassVar[bool] = True
    fits_fast: ClassVar[bool] = True

    random_state: int | np.random.RandomState | None
    vocabulary_: Vocabulary
    tokeniser_: Tokeniser

    def bind(self, vocabulary: Vocabulary, tokeniser: Tokeniser) -> Self:
        """Take the tokens of elements, and the way inputs are split into tokens.

        Parameters
        ----------
        vocabulary : Vocabulary
        tokeniser : Tokeniser

        Returns
        -------
        self
        """
        self.vocabulary_, self.tokeniser_ = vocabulary, tokeniser
        return self

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The tokens of elements, once they are known."""
        return getattr(self, "vocabulary_", None)

    def fit(self, X: Any, trie: Trie) -> Self:
        """Learn from training inputs and their sets.

        Parameters
        ----------
        X : list of strings or of token lists
        trie : Trie
            The trees of their sets.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If the inputs are numbers.
        NotFittedError
            If ``bind`` was not called before.
        ParameterError
        """
        self.check(X)
        if not hasattr(self, "vocabulary_"):
            raise NotFittedError(
                f"{type(self).__name__} needs the tokens of elements; call bind(vocabulary, "
                "tokeniser) before fit, or pass the scorer to SequenceSetGenerator"
            )
        tokens = token_lists(X, self.tokeniser_)
        self._learn(tokens, trie, check_random_state(self.random_state))
        return self

    def check(self, X: Any) -> None:
        """Raise if a parameter is out of range, or the inputs are not of a kind that it reads.

        Parameters
        ----------
        X : list of inputs, or a numeric array

        Raises
        ------
        DataError, ParameterError
        """
        self._check_parameters()
        self._refuse_numbers(X)

    def _refuse_numbers(self, X: Any) -> None:
        if is_numeric(X):
            raise DataError(
                f"{type(self).__name__} reads texts or lists of tokens, got an array of shape "
                f"{np.shape(X)}; use a network for numbers"
            )

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ParameterError if a parameter is out of range."""

    @abstractmethod
    def _learn(self, X: list[Sequence[Any]], trie: Trie, rng: np.random.RandomState) -> None:
        """Learn from inputs that are split into tokens."""

    @abstractmethod
    def candidates(self, X: Any) -> list[list[Candidate]]:
        """List the sequences that each set may hold.

        Parameters
        ----------
        X : list of strings or of token lists

        Returns
        -------
        list of list of tuple
            Pairs of a sequence of choices and its probability, best first. The empty sequence
            stands for the empty set. A sequence with a number above all choices cannot be written.
        """

    def start(self, X: Any) -> Step:
        """Score the root of every sample."""
        return CandidateTrees.of(self.candidates(X), self.vocabulary_.n_choices).start()

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the prefixes below.

        Parameters
        ----------
        step : Step
        parent : array of int, shape (m,)
        token : array of int, shape (m,)

        Returns
        -------
        Step
        """
        return CandidateTrees.advance(step, parent, token)

    def _token_lists(self, X: Any) -> list[Sequence[Any]]:
        """Inputs split into tokens; numbers are refused."""
        self._refuse_numbers(X)
        return token_lists(X, self.tokeniser_)
