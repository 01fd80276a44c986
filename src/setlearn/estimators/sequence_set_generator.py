"""For one input all the right sequences, without knowing how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from setlearn.errors import (
    DataError,
    KindError,
    NotFittedError,
    ParameterError,
    TruncationWarning,
)
from setlearn.estimators.sequence_trace import SequenceTrace, grow_trace
from setlearn.generate import Bounds, Generated, GrownLevel, generate
from setlearn.label_sets import LabelSets
from setlearn.metrics import mean_f1
from setlearn.networks.recipes import LSTM
from setlearn.nodes import IntArray
from setlearn.rules import Margin, Rule
from setlearn.scorers.learners import with_seeds
from setlearn.sequence_inputs import Inputs, learn_inputs
from setlearn.sequence_sets import check_one_kind
from setlearn.trie import END, Trie
from setlearn.vocabulary import Split, Tokeniser, Vocabulary, read_elements

if TYPE_CHECKING:
    from setlearn.networks.training import Plan

__all__ = ["SequenceSetGenerator"]

RECIPES = {"lstm": LSTM}
MOST_TOGETHER = 256
"""Samples that are generated together at the most; more would not be faster."""

MOST_PREFIXES = 65_536
"""Prefixes that all samples generated together may have, which keeps memory flat."""

ROOM = 4
"""How many times as many prefixes as the largest training set a predicted set may have."""


class SequenceSetGenerator(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Predict a set of sequences for each input.

    A network scores how a sequence may go on, and a rule decides at each prefix which of the
    choices to keep; the kept ones grow a prefix tree, level by level, until the end symbol. The
    network is trained on the prefix trees of the true sets, the rule on held-out samples.

    Parameters
    ----------
    network : "lstm", LSTM(...) or a recipe of your own, default="lstm"
        The paper's encoder–decoder. A recipe has a method ``build(n_choices=, n_tokens=,
        n_features=)`` that returns a ``SequenceNetwork``.
    rule : Rule, optional
        Which choices to keep. ``Margin()``, one λ a position, is the paper's SSG-S. The default
        is ``Margin(space="log")``: the probabilities of right choices differ by how many
        sequences lie below each, and ratios can be told apart where differences cannot.
    tokens : "char", "word", function, or a pair of them, default="char"
        How texts become tokens; a pair speaks of inputs and of elements. Inputs and elements
        that are lists or tuples of tokens are taken as they are.
    max_length : int, optional
        Tokens of the longest sequence. By default the longest seen in training.
    max_size : int, default=64
        How many sequences a sample may have. The most probable ones stay; ``truncated_`` and a
        warning tell of it.
    max_nodes : int, optional
        How many prefixes on the way to them a sample may have, likewise. By default four times
        as many as the largest set seen in training has.
    batch_size, learning_rate, weight_decay, clip : training as in the paper: Adam, batches of 15
    max_steps, patience : int
        Training ends after ``max_steps`` batches, or when the held-out sets have not become
        better ``patience`` times in a row.
    validation : float, default=0.2
        Share of the samples that is held out, for early stopping and for the rule. With 0 all
        are trained on, and the rule learns from scores of samples that the network has seen.
    checkpoint : folder, optional
        Where to keep the state of training. A fit that was killed goes on from there.
    device : str, default="auto"
        "auto" takes CUDA or MPS where there is one.
    random_state : int or RandomState, optional
    verbose : bool, default=True
        Show a progress bar on stderr; quiet without a terminal.

    Attributes
    ----------
    rule_ : the fitted rule
    network_ : the trained network
    vocabulary_ : tokens of the sequences
    held_out_ : array of int
        Which samples of ``fit`` the network was not trained on; the rule learned from them.
    history_ : list of dicts
        For each epoch ``loss``, ``held_out_f1``, ``seconds`` and more.
    truncated_ : array of bool
        Of the last prediction: which sets were cut off at a bound.

    Examples
    --------
    >>> from setlearn import SequenceSetGenerator
    >>> X = ["ab", "cd", "ef"] * 5
    >>> Y = [{x, x[::-1]} for x in X]
    >>> model = SequenceSetGenerator(validation=0, max_steps=150, random_state=0).fit(X, Y)
    >>> sorted(model.predict(["cd"])[0])
    ['cd', 'dc']
    """

    def __init__(
        self,
        network: Any = "lstm",
        rule: Rule | None = None,
        *,
        tokens: Split | tuple[Split, Split] = "char",
        max_length: int | None = None,
        max_size: int = 64,
        max_nodes: int | None = None,
        batch_size: int = 15,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        clip: float = 1.0,
        max_steps: int = 6000,
        patience: int = 10,
        validation: float = 0.2,
        checkpoint: str | Path | None = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = True,
    ) -> None:
        self.network = network
        self.rule = rule
        self.tokens = tokens
        self.max_length = max_length
        self.max_size = max_size
        self.max_nodes = max_nodes
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.clip = clip
        self.max_steps = max_steps
        self.patience = patience
        self.validation = validation
        self.checkpoint = checkpoint
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from inputs and sets of sequences.

        Parameters
        ----------
        X : list of strings, list of token lists, or a numeric array
        y : iterable of sets of sequences
            Strings, tuples of tokens, or frozensets of tokens (sets of sets). Empty sets are
            ordinary answers.
        """
        # torch is loaded only where a network is really used.
        from setlearn.estimators.sequence_training import SequenceTraining, new_network
        from setlearn.scorers.sequences import SequenceScorer

        recipe, rule, plan = self._recipe(), self._new_rule(), self._plan()
        of_inputs, of_elements = self._tokenisers()
        X = _listed(X)
        sets = read_elements(_listed(y), of_elements, "y")
        self.reader_ = learn_inputs(X, of_inputs)
        inputs = self.reader_.read(X)
        _check_samples(len(inputs), len(sets))
        self.vocabulary_ = Vocabulary.learn(sets, of_elements)
        self._check_bounds(sets)
        sequences = self.vocabulary_.encode(sets)
        trie = Trie.of(sequences, len(sets))
        self.bounds_ = self._bounds(trie)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        n_choices = self.vocabulary_.n_choices
        self.network_ = new_network(recipe, self.reader_, inputs, n_choices, self.device, seed)
        training = SequenceTraining(self.network_, inputs, sequences, trie, self.bounds_)
        checkpoint = None if self.checkpoint is None else Path(self.checkpoint)
        self.history_ = training.fit(
            plan, self.validation, rng, checkpoint=checkpoint, verbose=self.verbose
        )
        self.held_out_ = training.held_out
        self.scorer_ = SequenceScorer(self.network_)
        unseen = self.held_out_ if len(self.held_out_) else np.arange(len(inputs))
        if self.random_state is not None:
            rule = with_seeds(rule, rng)
        self.rule_ = self._fit_rule(rule, inputs, trie, unseen)
        return self

    def with_rule(self, rule: Rule, X: Any, y: Any) -> Self:
        """A copy of this fitted model with another rule, learned from these samples.

        The network stays as it is, so they should be samples that it was not trained on:
        ``held_out_`` says which those of ``fit`` were.
        """
        self._check_fitted()
        X, sets = _listed(X), read_elements(_listed(y), self.vocabulary_.tokeniser, "y")
        inputs = self.reader_.read(X)
        _check_samples(len(inputs), len(sets))
        trie = Trie.of(self.vocabulary_.encode(sets), len(sets))
        other = copy(self)
        other.rule = rule
        other.rule_ = self._fit_rule(other._new_rule(), inputs, trie, np.arange(len(inputs)))
        return other

    def _fit_rule(self, rule: Rule, inputs: Inputs, trie: Trie, samples: IntArray) -> Rule:
        return rule.fit(*self.scorer_.gold_nodes(inputs, trie, samples)) if rule.learns else rule

    def predict(self, X: Any) -> list[frozenset[Any]]:
        """The set of each input."""
        return [frozenset(element for element, _ in elements) for elements in self._ranked(X, None)]

    def predict_ranked(self, X: Any) -> list[list[tuple[Any, float]]]:
        """The sequences of each predicted set with their probabilities, best first.

        The probability of a sequence is the product of its choices, the end included.
        """
        return list(self._ranked(X, None))

    def complete(self, X: Any, known: Any) -> list[frozenset[Any]]:
        """Given these sequences, what else? Never repeats a known one.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : one set of sequences an input
        """
        self._check_fitted()
        X, sets = _listed(X), self._known_sets(known)
        if len(sets) != len(X):
            raise DataError(
                f"X has {len(X)} samples but known has {len(sets)} sets; give one set a sample, "
                "an empty one where nothing is known"
            )
        return [frozenset(element for element, _ in elements) for elements in self._ranked(X, sets)]

    def trace(self, x: Any, known: Any = ()) -> SequenceTrace:
        """Tell how the set of one input grew: what was kept, rejected and why, or cut off.

        Parameters
        ----------
        x : a single input
        known : sequences that are in the memory from the start
        """
        self._check_fitted()
        sets = self._known_sets([known])
        X = x[None] if isinstance(x, np.ndarray) else [x]
        levels: list[GrownLevel] = []
        inputs = self.reader_.read(X)
        trie = self._known_trie(sets) if sets[0] else None
        found = generate(self.scorer_, self.rule_, inputs, self.bounds_, known=trie, watch=levels)
        [elements] = self._decoded(found, 1)
        result = frozenset(element for element, _ in elements)
        return grow_trace(levels, self.rule_, self.vocabulary_, result, bool(found.truncated[0]))

    def score(self, X: Any, y: Any) -> float:
        """Mean F1 of the predicted sets."""
        self._check_fitted()
        true = read_elements(_listed(y), self.vocabulary_.tokeniser, "y")
        return mean_f1(true, self.predict(X))

    def _sets(self, X: Any, known: LabelSets | None) -> list[frozenset[Any]]:
        return [frozenset(element for element, _ in ranked) for ranked in self._ranked(X, known)]

    def _ranked(self, X: Any, known: LabelSets | None) -> Iterator[list[tuple[Any, float]]]:
        """Generate chunk by chunk, so that memory does not grow with the number of samples."""
        self._check_fitted()
        X = _listed(X)
        truncated = np.zeros(len(X), dtype=bool)
        together = min(max(MOST_PREFIXES // self.bounds_.max_nodes, 1), MOST_TOGETHER)
        for first in range(0, len(X), together):
            rows = slice(first, first + together)
            inputs = self.reader_.read(X[rows])
            trie = None if known is None else self._known_trie(known[rows])
            found = generate(self.scorer_, self.rule_, inputs, self.bounds_, known=trie)
            truncated[rows] = found.truncated
            yield from self._decoded(found, len(inputs))
        self.truncated_ = truncated
        if truncated.any():
            warnings.warn(
                f"{truncated.sum()} of {len(X)} predicted sets were cut off at a bound "
                f"(max_length={self.bounds_.max_length}, max_size={self.max_size}, "
                f"max_nodes={self.bounds_.max_nodes}); truncated_ says which",
                TruncationWarning,
                stacklevel=4,
            )

    def _decoded(self, found: Generated, n_samples: int) -> list[list[tuple[Any, float]]]:
        answers: list[list[tuple[Any, float]]] = [[] for _ in range(n_samples)]
        length = (found.tokens != END).sum(axis=1)
        for sample, ids, n, probability in zip(
            found.sample, found.tokens, length, found.probability, strict=True
        ):
            element = self.vocabulary_.decode(ids[:n].tolist())
            answers[sample].append((element, float(probability)))
        return answers

    def _known_sets(self, known: Any) -> LabelSets:
        sets = read_elements(_listed(known), self.vocabulary_.tokeniser, "known")
        kind = check_one_kind(sets, "known")
        if kind not in (None, self.vocabulary_.kind):
            raise KindError(
                f"known holds {kind.__name__}s but the model's elements are "
                f"{self.vocabulary_.kind.__name__}s; give the same kind"
            )
        return sets

    def _known_trie(self, sets: LabelSets) -> Trie:
        return Trie.of(self.vocabulary_.encode(sets), len(sets))

    def _tokenisers(self) -> tuple[Tokeniser, Tokeniser]:
        pair = self.tokens if isinstance(self.tokens, tuple | list) else (self.tokens, self.tokens)
        if len(pair) != 2:
            raise ParameterError(
                f"tokens must be one way to split or a pair (of inputs, of elements), got {pair!r}"
            )
        return Tokeniser(pair[0]), Tokeniser(pair[1])

    def _recipe(self) -> Any:
        recipe = self.network
        if isinstance(recipe, str):
            if recipe not in RECIPES:
                raise ParameterError(
                    f"network must be one of {sorted(RECIPES)} or a recipe, got {recipe!r}"
                )
            return RECIPES[recipe]()
        if not hasattr(recipe, "build"):
            raise ParameterError(
                f"a network of your own needs a method build(n_choices=, n_tokens=, n_features=), "
                f"got {recipe!r}; see setlearn.networks.LSTM"
            )
        return recipe

    def _new_rule(self) -> Rule:
        if self.rule is not None and not isinstance(self.rule, Rule):
            raise ParameterError(
                f"rule must be one of setlearn.rules such as Margin(), got {self.rule!r}"
            )
        if self.rule is None:
            return Margin(space="log")
        self.rule.check_parameters()
        rule: Rule = clone(self.rule)
        return rule

    def _plan(self) -> Plan:
        from setlearn.networks.training import Plan

        return Plan(
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            clip=self.clip,
            max_steps=self.max_steps,
            patience=self.patience,
        )

    def _check_bounds(self, sets: LabelSets) -> None:
        for name in ("max_size", "max_nodes", "max_length"):
            value = getattr(self, name)
            learned = value is None and name != "max_size"
            if not learned and (not isinstance(value, int | np.integer) or value < 1):
                raise ParameterError(f"{name} must be a whole number from 1 up, got {value!r}")
        for index, elements in enumerate(sets):
            for element in elements:
                length = self.vocabulary_.length(element)
                if self.max_length is not None and length > self.max_length:
                    raise DataError(
                        f"sample {index} of y holds {element!r}, which has {length} tokens, but "
                        f"max_length is {self.max_length}; raise it or leave the sequence out"
                    )

    def _bounds(self, trie: Trie) -> Bounds:
        longest = int(trie.depth.max())
        largest = int(np.bincount(trie.sample).max())
        return Bounds(
            self.max_length or max(longest, 1), self.max_size, self.max_nodes or ROOM * largest
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "rule_"):
            raise NotFittedError("this SequenceSetGenerator is not fitted; call fit(X, y) first")


def _listed(values: Any) -> Any:
    """A list, or a numeric array as it is; tables and series become arrays."""
    if isinstance(values, list | tuple | str | bytes | dict | set | frozenset):
        return values  # what is wrong with some of these, their readers say
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        return array if array.dtype.kind in "biuf" else array.tolist()
    return list(values) if isinstance(values, Iterable) else values


def _check_samples(n_inputs: int, n_sets: int) -> None:
    if n_inputs != n_sets:
        raise DataError(
            f"X has {n_inputs} samples but y has {n_sets} sets; give one set a sample, "
            "an empty one where there is nothing"
        )
    if n_inputs == 0:
        raise DataError("there is no training data: X holds 0 samples; give at least one")
