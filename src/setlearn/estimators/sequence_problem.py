"""What `SequenceSetGenerator.fit` is given, how it is split, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from setlearn.errors import ParameterError
from setlearn.generate import Bounds
from setlearn.networks.training_settings import Training, hold_out
from setlearn.nodes import IntArray
from setlearn.rules import Rule
from setlearn.scorers.base import TokenScorer
from setlearn.sequence_inputs import sample_keys, token_lists
from setlearn.trie import Sequences, Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

if TYPE_CHECKING:
    from setlearn.estimators.scorer_sources import ScorerSource

__all__ = ["FittedScorer", "SampleSplit", "SequenceProblem"]

HELD_OUT = (0.1, 0.2)
"""The least and the largest share of samples that is held out if something is learned from them."""

ENOUGH_HELD_OUT = (100, 1000)
"""If the least share is more than the first number, it is enough; more than the second is never
held out."""


@dataclass(frozen=True, slots=True, eq=False)
class SequenceProblem:
    """Inputs and sets of sequences, with what is to be fitted on them."""

    X: Any
    input_tokeniser: Tokeniser
    vocabulary: Vocabulary
    sequences: Sequences
    trie: Trie
    rule: Rule
    bounds: Bounds
    training: Training

    def part(self, samples: IntArray) -> tuple[Any, Trie]:
        """The inputs and trees of some samples."""
        return _safe_indexing(self.X, samples), self.trie.take(samples)

    def surplus(self) -> int | None:
        """How many tokens a sequence has more than its input, at most; None without copies."""
        if self.vocabulary.n_stand_ins == 0 or len(self.sequences.length) == 0:
            return None
        length = self._input_lengths()
        return int((self.sequences.length - length[self.sequences.sample]).max())

    def longest_input(self) -> int | None:
        """The number of tokens of the longest input; None if it is not known how they are read."""
        return None if self.vocabulary.inputs is None else int(self._input_lengths().max())

    def _input_lengths(self) -> IntArray:
        return np.array([len(tokens) for tokens in token_lists(self.X, self.input_tokeniser)])

    def with_time(self, share: float) -> SequenceProblem:
        """The same problem with a share of the time, if that is limited."""
        seconds = self.training.max_seconds
        if seconds is None:
            return self
        return replace(self, training=clone(self.training).set_params(max_seconds=share * seconds))

    def split(self, source: ScorerSource, rng: np.random.RandomState) -> SampleSplit:
        """Choose the samples to train on, and those to hold out.

        Parameters
        ----------
        source : ScorerSource
            What is to be fitted.
        rng : RandomState

        Returns
        -------
        SampleSplit

        Raises
        ------
        ParameterError
            If nothing is left to train on.
        """
        everything: IntArray = np.arange(self.trie.n_samples)
        if not source.learns:
            return SampleSplit(everything[:0], everything)
        needed = self.rule.needs_fit or source.needs_held_out(self.training)
        # Samples with the same input stay together: what was seen in training is no test.
        _, first, group = np.unique(sample_keys(self.X), return_index=True, return_inverse=True)
        share = self._held_out_share(needed=needed)
        split = SampleSplit(*hold_out(first[group], share, rng))
        if len(split.train) == 0:
            raise ParameterError(
                f"validation is {share}, which holds out all {len(everything)} samples, so there "
                "is nothing to train on; lower it"
            )
        return split

    def _held_out_share(self, *, needed: bool) -> float:
        """The share of samples to hold out: as given, or some if something is learned from them."""
        if self.training.validation is not None:
            return self.training.validation
        if not needed:
            return 0.0
        n, (least, largest), (enough, most) = self.trie.n_samples, HELD_OUT, ENOUGH_HELD_OUT
        return min(max(least, min(largest, enough / n)), most / n)


@dataclass(frozen=True, slots=True, eq=False)
class SampleSplit:
    """Which samples to train on, and which to hold out."""

    train: IntArray
    held_out: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class FittedScorer:
    """A scorer, how its training went, and what stands for it on held-out samples.

    The judge has not seen these samples. It is the scorer itself, unless that was fitted again on
    all samples.
    """

    scorer: TokenScorer
    history: list[Any]
    judge: TokenScorer
    unfinished: str | None = None
    """Why the training should have been longer, if it seems so."""

    can_continue: bool = True
    """Whether the scorer has the network that this is about."""
