"""For one input all the right sequences, without knowing how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from setlearn.errors import (
    DataError,
    KindError,
    NotFittedError,
    ParameterError,
    TruncationWarning,
    UnknownLabelWarning,
)
from setlearn.estimators.sequence_parameters import (
    check_bounds,
    check_lengths,
    check_samples,
    held_out_share,
    learned_bounds,
    listed,
    loss_of,
    new_rule,
    plan_of,
    recipe_of,
    tokenisers_of,
)
from setlearn.estimators.sequence_trace import SequenceTrace, grow_trace
from setlearn.generate import Bounds, Generated, GrownLevel, generate
from setlearn.metrics import mean_f1
from setlearn.rules import Rule
from setlearn.scorers.base import Loss
from setlearn.scorers.classifiers import with_seeds
from setlearn.sequence_inputs import NumericReader, learn_inputs
from setlearn.set_reading import LabelSets, check_one_kind
from setlearn.trie import END, Trie
from setlearn.vocabulary import Split, Vocabulary, read_elements

__all__ = ["SequenceSetGenerator"]

MOST_TOGETHER = 256
"""Samples that are generated together at the most; more would not be faster."""

MOST_PREFIXES = 65_536
"""Prefixes that all samples generated together may have, which keeps memory flat."""


class SequenceSetGenerator(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Predict a set of sequences for each input.

    A network scores how a sequence may go on, and a rule decides at each prefix which of the
    choices to keep; the kept ones grow a prefix tree, level by level, until the end symbol. The
    network is trained on the prefix trees of the true sets, the rule on held-out samples.

    Parameters
    ----------
    network : "transformer", "lstm", a Transformer(...), LSTM(...) or a recipe of your own
        "lstm" is the paper's encoder–decoder. A recipe has a method ``build(n_choices=,
        n_tokens=, n_features=, copies=)`` that returns a ``SequenceNetwork``.
    rule : Rule, optional
        Which choices to keep. ``Margin()``, one λ a position, is the paper's SSG-S. By default
        ``Threshold(0.5)`` after the loss "node", every sequence that is rather in the set than
        not, and ``Margin(space="log")`` after "sequence".
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
    loss : {"node", "sequence"}, optional
        "node" teaches all right choices of a prefix at once, each by itself: then a sequence's
        probability to be in the set is the product along its path, whatever else is in the set.
        "sequence" is the paper's, one choice among all. By default what suits the network:
        "node" for the transformer, "sequence" for the LSTM.
    batch_size, learning_rate, weight_decay, max_steps : numbers, optional
        How to train: by default what suits the network, for the LSTM as in the paper. Training
        ends after ``max_steps`` batches; the transformer's learning rate goes up and down once
        in that time, by default 2000 batches or 20 passes over the data, whichever is more.
    patience : int, default=10
        At a constant learning rate (the LSTM's), training also ends when the held-out sets have
        not become better that many times in a row.
    clip : float, default=1.0
        The largest norm of the gradient.
    validation : float, optional
        Share of the samples that is held out, for early stopping and for the rule. With 0 all
        are trained on, and the rule learns from scores of samples that the network has seen; so
        it is where fewer than 8 samples would be held out. By default 0.2 if something is
        learned from them, and else 0: the transformer neither stops early nor, with its own
        rule, needs any.
    checkpoint : folder, optional
        Where to keep the state of training. A fit that was killed goes on from there; this needs
        a ``random_state``.
    unknown : {"error", "ignore"}, default="error"
        What to do with known sequences in ``complete`` that hold tokens never seen in training;
        ignored ones are counted in a warning.
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
        For each epoch ``loss``, ``held_out_f1``, ``seconds`` and more. Where nothing was held
        out, the figures called so are of training samples.
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
        network: Any = "transformer",
        rule: Rule | None = None,
        *,
        tokens: Split | tuple[Split, Split] = "char",
        max_length: int | None = None,
        max_size: int = 64,
        max_nodes: int | None = None,
        loss: Loss | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        max_steps: int | None = None,
        patience: int = 10,
        clip: float = 1.0,
        validation: float | None = None,
        checkpoint: str | Path | None = None,
        unknown: Literal["error", "ignore"] = "error",
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
        self.loss = loss
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.clip = clip
        self.max_steps = max_steps
        self.patience = patience
        self.validation = validation
        self.checkpoint = checkpoint
        self.unknown = unknown
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

        X, recipe = listed(X, "X"), recipe_of(self.network)
        loss, plan = loss_of(self.loss, recipe), plan_of(self, recipe, len(X))
        of_inputs, of_elements = tokenisers_of(self.tokens)
        check_bounds(self.max_length, self.max_size, self.max_nodes)
        self._check_choices()
        sets = read_elements(listed(y, "y"), of_elements, "y")
        reader = learn_inputs(X, of_inputs)
        inputs = reader.read(X)
        check_samples(len(inputs), len(sets))
        vocabulary = Vocabulary.learn(sets, of_elements)
        check_lengths(sets, vocabulary, self.max_length)
        sequences = vocabulary.encode(sets)
        trie = Trie.of(sequences, len(sets))
        rule = new_rule(self.rule, int(trie.depth.max()) + 1, loss)
        bounds = learned_bounds(trie, self.max_size)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        network = new_network(recipe, reader, inputs, vocabulary, self.device, seed)
        training = SequenceTraining(network, inputs, sequences, trie, bounds, loss)
        training.hold_out(held_out_share(self.validation, plan, rule), rng)
        rule.check_samples(len(training.held_out))
        checkpoint = None if self.checkpoint is None else Path(self.checkpoint)
        history = training.fit(plan, rng, checkpoint=checkpoint, verbose=self.verbose)
        scorer = SequenceScorer(network, loss)
        unseen = training.held_out if len(training.held_out) else np.arange(len(inputs))
        if self.random_state is not None:
            rule = with_seeds(rule, rng)
        if rule.needs_fit:
            rule.fit(*scorer.gold_nodes(inputs, trie, unseen))
        # All at once, so that a fit that fails leaves the model of the one before whole.
        self.reader_, self.vocabulary_, self.learned_bounds_ = reader, vocabulary, bounds
        self.network_, self.scorer_, self.rule_ = network, scorer, rule
        self.history_, self.held_out_ = history, training.held_out
        return self

    def with_rule(self, rule: Rule, X: Any, y: Any) -> Self:
        """A copy of this fitted model with another rule, learned from these samples.

        The network stays as it is, so they should be samples that it was not trained on:
        ``held_out_`` says which those of ``fit`` were.
        """
        self._check_fitted()
        sets = read_elements(listed(y, "y"), self.vocabulary_.tokeniser, "y")
        self._check_kind(sets, "y")
        inputs = self.reader_.read(listed(X, "X"))
        check_samples(len(inputs), len(sets))
        _, unseen = self.vocabulary_.split_unseen(sets)
        if unseen:
            index, element = unseen[0]
            raise DataError(
                f"sample {index} of y holds {element!r}, which has a token never seen in "
                "training, so the network cannot score it; leave it out"
            )
        trie = Trie.of(self.vocabulary_.encode(sets), len(sets))
        other = copy(self)
        other.rule = rule
        other.rule_ = new_rule(rule, int(trie.depth.max()) + 1, self.scorer_.loss)
        other.rule_.check_samples(len(inputs))
        if other.rule_.needs_fit:
            other.rule_.fit(*self.scorer_.gold_nodes(inputs, trie, np.arange(len(inputs))))
        return other

    def predict(self, X: Any) -> list[frozenset[Any]]:
        """The set of each input."""
        return self._sets(X, None)

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
        X, sets = listed(X, "X"), self._known_sets(known)
        if len(sets) != len(X):
            raise DataError(
                f"X has {len(X)} samples but known has {len(sets)} sets; give one set a sample, "
                "an empty one where nothing is known"
            )
        return self._sets(X, sets)

    def trace(self, x: Any, known: Any = ()) -> SequenceTrace:
        """Tell how the set of one input grew: what was kept, rejected and why, or cut off.

        Parameters
        ----------
        x : a single input
        known : sequences that are in the memory from the start
        """
        self._check_fitted()
        sets = self._known_sets([known])
        numeric = isinstance(self.reader_, NumericReader)
        inputs = self.reader_.read(np.asarray(x)[None] if numeric else [x])
        levels: list[GrownLevel] = []
        trie = self._known_trie(sets) if sets[0] else None
        found = generate(self.scorer_, self.rule_, inputs, self._bounds(), known=trie, watch=levels)
        [ranked] = self._decoded(found, 1)
        result, truncated = _set_of(ranked), bool(found.truncated[0])
        return grow_trace(levels, self.rule_, self.vocabulary_, result, truncated)

    def score(self, X: Any, y: Any) -> float:
        """Mean F1 of the predicted sets."""
        self._check_fitted()
        true = read_elements(listed(y, "y"), self.vocabulary_.tokeniser, "y")
        return mean_f1(true, self.predict(X))

    def _sets(self, X: Any, known: LabelSets | None) -> list[frozenset[Any]]:
        return [_set_of(ranked) for ranked in self._ranked(X, known)]

    def _ranked(self, X: Any, known: LabelSets | None) -> Iterator[list[tuple[Any, float]]]:
        """Generate chunk by chunk, so that memory does not grow with the number of samples."""
        self._check_fitted()
        X, bounds = listed(X, "X"), self._bounds()
        truncated = np.zeros(len(X), dtype=bool)
        together = min(max(MOST_PREFIXES // bounds.max_nodes, 1), MOST_TOGETHER)
        for first in range(0, len(X), MOST_TOGETHER):
            inputs = self.reader_.read(X[first : first + MOST_TOGETHER])
            for rows in self.scorer_.chunks(inputs, np.arange(len(inputs)), together):
                trie = None if known is None else self._known_trie([known[first + r] for r in rows])
                found = generate(self.scorer_, self.rule_, inputs.part(rows), bounds, known=trie)
                truncated[first + rows] = found.truncated
                yield from self._decoded(found, len(rows))
        self.truncated_ = truncated
        if truncated.any():
            warnings.warn(
                f"{truncated.sum()} of {len(X)} predicted sets were cut off at a bound "
                f"(max_length={bounds.max_length}, max_size={bounds.max_size}, "
                f"max_nodes={bounds.max_nodes}); truncated_ says which",
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
        sets = read_elements(listed(known, "known"), self.vocabulary_.tokeniser, "known")
        self._check_kind(sets, "known")
        sets, unseen = self.vocabulary_.split_unseen(sets)
        if unseen:
            what = (
                f"{len(unseen)} known sequence(s) hold tokens never seen in training, such as "
                f"{unseen[0][1]!r} of sample {unseen[0][0]}"
            )
            if self.unknown == "error":
                raise DataError(
                    f'{what}; leave them out, or set unknown="ignore" (--unknown ignore)'
                )
            warnings.warn(f"{what}; they were ignored", UnknownLabelWarning, stacklevel=3)
        return sets

    def _known_trie(self, sets: LabelSets) -> Trie:
        return Trie.of(self.vocabulary_.encode(sets), len(sets))

    def _check_kind(self, sets: LabelSets, name: str) -> None:
        kind, ours = check_one_kind(sets, name), self.vocabulary_.kind
        if kind not in (None, ours):
            raise KindError(
                f"{name} holds {kind.__name__}s but the model's elements are "
                f"{ours.__name__}s; give the same kind"
            )

    def _check_choices(self) -> None:
        if self.unknown not in ("error", "ignore"):
            raise ParameterError(f'unknown must be "error" or "ignore", got {self.unknown!r}')
        if self.checkpoint is not None and self.random_state is None:
            raise ParameterError(
                "a checkpoint can only be resumed by a run with the same seed; "
                "set random_state to a number"
            )

    def _bounds(self) -> Bounds:
        """The bounds of now: what is given, and else what was learned."""
        check_bounds(self.max_length, self.max_size, self.max_nodes)
        learned = self.learned_bounds_
        return Bounds(
            self.max_length or learned.max_length,
            self.max_size,
            self.max_nodes or learned.max_nodes,
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "rule_"):
            raise NotFittedError("this SequenceSetGenerator is not fitted; call fit(X, y) first")


def _set_of(ranked: list[tuple[Any, float]]) -> frozenset[Any]:
    return frozenset(element for element, _ in ranked)
