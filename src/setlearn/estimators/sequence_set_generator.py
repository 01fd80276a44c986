"""For one input all the right sequences, without knowing how many there are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_random_state

from setlearn.copied_tokens import stand_ins_of
from setlearn.errors import (
    ConvergenceWarning,
    DataError,
    ParameterError,
    SetlearnWarning,
    warn_user,
)
from setlearn.estimators.argument_checks import check_same_length
from setlearn.estimators.candidate_lists import rule_data
from setlearn.estimators.continued_training import continued, kept_split
from setlearn.estimators.scorer_choice import scorer_source
from setlearn.estimators.scorer_sources import ScorerSource
from setlearn.estimators.sequence_parameters import (
    as_list,
    check_bounds,
    check_inputs,
    check_lengths,
    check_rule,
    learned_bounds,
    tokenisers_of,
    warn_of_numbers,
)
from setlearn.estimators.sequence_predictor import SequencePredictor, check_targets
from setlearn.estimators.sequence_problem import SequenceProblem
from setlearn.generate import Bounds
from setlearn.networks.training_settings import Training, TrainsNetwork
from setlearn.nodes import IntArray
from setlearn.progress import say_before_progress
from setlearn.rules import Rule
from setlearn.savable import savable
from setlearn.scorers.base import TokenScorer
from setlearn.sequence_inputs import is_numeric, sample_keys
from setlearn.token_guesses import split_phrase
from setlearn.trie import Trie
from setlearn.vocabulary import Split, read_elements

__all__ = ["SequenceSetGenerator"]


@savable(
    is_model=True,
    skipped=("fitted_settings_", "rule_samples_"),
    parts={"learned_bounds_": (Bounds,), "rule_": (Rule,), "scorer_": (TokenScorer,)},
)
class SequenceSetGenerator(TrainsNetwork, SequencePredictor, BaseEstimator):  # type: ignore[misc]  # no types
    """Predict a set of sequences for each input.

    A scorer, such as a network, says how probable each continuation of a prefix is, and a rule
    decides which to keep. The kept ones grow a prefix tree, level by level, until the end symbol.
    Networks are trained on the prefix trees of the true sets, the rule is fitted on held-out
    samples.

    Parameters
    ----------
    network : str, recipe, scorer, or a list of these, optional
        Gives the scores. By default a mixture that suits the data: `AnalogyScorer`, a network,
        and for outputs that follow their inputs from left to right also `AlignedTrees` and
        `JointNgrams`, with weights that are learned on held-out samples. A list makes a mixture
        of its members. Each of them is a name ("transformer", "transducer", "analogy", "trees",
        "ngrams", or "lstm", the paper's encoder–decoder); a recipe such as
        ``Transformer(width=32)``, or one of your own with a method
        ``build(n_choices=, n_tokens=, n_features=, copies=)`` that returns a ``SequenceNetwork``;
        or any scorer, trained or not: an object with the methods of `setlearn.scorers.Scorer`.
    rule : Rule, optional
        Which choices to keep. ``Margin()``, one λ per position, is the paper's SSG-S. By default,
        where scores are probabilities to be in the set (mixtures, loss "node"), ``ExpectedF`` for
        fewer than 200 samples, and otherwise the best of several rules on held-out samples: a
        cut, the set with the highest expected F1, and a margin, all of them on whole sequences.
        ``Margin(space="log")`` where the choices of a prefix share a probability of 1.
    tokens : "char", "word", "text", function, or a pair of them, optional
        How texts are split into tokens; a pair is for inputs and for elements. "text" splits
        sentences into words and punctuation marks. By default this is
        guessed from the data, see ``tokens_``. Inputs and elements that are lists or tuples of
        tokens are taken as they are.
    max_length : int, optional
        Tokens of the longest sequence. By default that of the longest seen in training, and a
        quarter more if the rule decides on whole sequences. For inputs that are longer than any in
        training, sequences may then be longer in proportion.
    max_size : int, optional
        How many sequences a set may have. The most probable ones stay, and a warning is given. By
        default 64, or twice as many as the largest set seen in training has.
    max_nodes : int, optional
        How many prefixes a sample may have on the way to them, in equal shares for all lengths. By
        default four times as many of each length as any set seen in training has, and at least 16.
    training : Training, optional
        How to train: steps, learning rate, held-out share, device, checkpoints. What is left
        open suits the network: for the LSTM as in the paper; for the others a number of steps that
        grows with the square root of the number of samples, with a learning rate that rises and
        falls once. ``training__max_seconds=60`` works in ``set_params`` and in searches.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the network that is trained already, with a new schedule of
        ``training``. What was held out stays held out. The samples may not hold new tokens.
    random_state : int or RandomState, optional
    max_steps : int, optional
        .. deprecated:: 0.1
           Use ``training=Training(max_steps=...)``.

    Attributes
    ----------
    rule_ : the fitted rule
    scorer_ : the fitted scorer
    network_ : the trained network, if ``network`` is a single one
    vocabulary_ : tokens of the sequences
    tokens_ : pair of "char", "word", "text", function or None
        How the texts of inputs and of elements are split: as given, or as guessed. Texts with
        spaces are split into words if their words recur. None for what is no text.
    held_out_ : array of int
        Which samples of ``fit`` the network was not trained on; the rule was fitted on them. If
        fewer than 8 would be held out, none are, and the rule was fitted on the training samples.
    held_out_keys_ : array of int
        One number per held-out sample, by which a fit with ``warm_start`` recognises it.
    rule_samples_ : tuple or None
        A scorer that has not seen these samples, their inputs and their trees, for `with_rule`.
        They are not saved.
    surplus_ : int or None
        How many tokens a sequence has more than its input, at most; None if no tokens are copied.
    longest_input_ : int or None
        Tokens of the longest training input; None for numbers.
    history_ : list of dicts
        For each evaluation ``loss``, ``held_out_f1``, ``seconds`` and more. ``judged`` says how
        many samples the figures are of, the same number in all evaluations of a training, and
        ``held_out_seen`` whether they are training samples, because nothing was held out. In a
        mixture, ``part`` is the place of the network among the scorers that were fitted.

    Examples
    --------
    >>> from setlearn import SequenceSetGenerator
    >>> from setlearn.networks import Training
    >>> X = ["ab", "cd", "ef"] * 5
    >>> Y = [{x, x[::-1]} for x in X]
    >>> training = Training(validation=0, max_steps=150)
    >>> model = SequenceSetGenerator("transformer", training=training, random_state=0).fit(X, Y)
    >>> sorted(model.predict(["cd"])[0])
    ['cd', 'dc']
    """

    held_out_: IntArray
    held_out_keys_: IntArray

    def __init__(
        self,
        network: Any = None,
        rule: Rule | None = None,
        *,
        tokens: Split | tuple[Split | None, Split | None] | None = None,
        max_length: int | None = None,
        max_size: int | None = None,
        max_nodes: int | None = None,
        training: Training | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_steps: int | None = None,
    ) -> None:
        self.network = network
        self.rule = rule
        self.tokens = tokens
        self.max_length = max_length
        self.max_size = max_size
        self.max_nodes = max_nodes
        self.training = training
        self.warm_start = warm_start
        self.random_state = random_state
        self.max_steps = max_steps

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether training can be resumed from a checkpoint: that of a network can."""
        return scorer_source(self.network).trains_network

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network on the trees of the sets, then fit the rule on held-out samples.

        Parameters
        ----------
        X : list of strings, list of token lists, or a numeric array
        y : iterable of sets of sequences
            Strings, tuples of tokens, or frozensets of tokens (sets of sets). Empty sets are
            ordinary answers.

        Returns
        -------
        self
        """
        source = self._source()
        problem = self._read_problem(X, y, source)
        tokens = _splits_in(problem)
        say_before_progress(split_phrase(*tokens), verbose=problem.training.verbose_by_default)
        rng = check_random_state(self.random_state)
        split = problem.split(source, rng)
        if self._continues:
            split = kept_split(split, problem.X, self.held_out_, self.held_out_keys_)
        problem.rule.check_samples(len(split.held_out))
        fitted = source.fit(problem, split, rng)
        rule, held_out = self._seeded(problem.rule), split.held_out
        if rule.needs_fit:
            samples = held_out if len(held_out) else np.arange(problem.trie.n_samples)
            bounds = self._bounds(rule, learned=problem.bounds)
            rule.fit(*rule_data(rule, fitted.judge, *problem.part(samples), bounds))
        # All at once, so that a fit that fails leaves the model of the one before whole.
        self.scorer_, self.learned_bounds_ = fitted.scorer, problem.bounds
        self.history_, self.held_out_ = fitted.history, held_out
        self.held_out_keys_ = sample_keys(_safe_indexing(problem.X, held_out))
        self.tokens_, self.surplus_ = tokens, problem.surplus()
        self.longest_input_ = problem.longest_input()
        kept = (fitted.judge, *problem.part(held_out))
        self.rule_samples_ = kept if len(held_out) else None
        self._set_rule(rule)
        if rule.requires_examples and not fitted.scorer.gives_examples:
            warn_user(
                SetlearnWarning(
                    "joint=True has no effect: analogy, which knows whole sets, was dropped from "
                    "the mixture, because it adds nothing on held-out samples"
                )
            )
        if fitted.unfinished is not None:
            limits = [n for n in ("max_steps", "max_seconds") if f"raise {n}" in fitted.unfinished]
            advice: dict[str, Any] = dict.fromkeys(limits)
            remedy = (
                "if the other scorers are not enough: this network was dropped from the mixture, "
                "because so far it adds nothing to them"
            )
            if fitted.can_continue:
                remedy = "or continue it by another fit with warm_start=True"
                advice |= {"warm_start": None}
            message = f"{fitted.unfinished} of the training, {remedy}"
            warn_user(ConvergenceWarning(message, advice=advice))
        return self

    @property
    def _continues(self) -> bool:
        """Whether ``fit`` goes on with what is trained already."""
        return self.warm_start and hasattr(self, "scorer_")

    def _source(self) -> ScorerSource:
        """Where the scorer comes from: what is trained already, or something new."""
        source = scorer_source(self.network)
        if not self._continues:
            return source
        if not hasattr(self, "held_out_keys_"):
            raise ParameterError(
                "this model was fitted with an older version, which did not keep what is needed "
                "to continue its training; fit a new model instead (warm_start=False)",
                advice={"warm_start": False},
            )
        return continued(source, self.scorer_, self.tokens_)

    def _read_problem(self, X: Any, y: Any, source: ScorerSource) -> SequenceProblem:
        """Read and check everything before anything costly starts."""
        X, y, training = as_list(X, "X"), as_list(y, "y"), self._training()
        check_inputs(X)
        tokens = source.tokens if self.tokens is None else self.tokens
        of_inputs, of_elements = tokenisers_of(tokens, X, y)
        check_bounds(self.max_length, self.max_size, self.max_nodes)
        training.plan({})  # its numbers are checked even if no network is trained
        if training.checkpoint is not None and self.random_state is None:
            raise ParameterError(
                "a checkpoint can only be resumed by a run with the same seed; "
                "set random_state to a number"
            )
        sets = read_elements(y, of_elements, "y")
        check_same_length(len(X), len(sets))
        if len(X) == 0:
            raise DataError("there is no training data: X holds 0 samples; pass at least one")
        warn_of_numbers(X, sets)
        vocabulary = source.vocabulary
        if vocabulary is None:
            vocabulary = source.learned_vocabulary(X, sets, of_inputs, of_elements)
        stand_ins = stand_ins_of(X, vocabulary)
        check_targets(sets, vocabulary, stand_ins)
        check_lengths(sets, vocabulary, self.max_length)
        sequences = vocabulary.encode(sets, stand_ins)
        trie = Trie.of(sequences, len(sets))
        n_positions = int(trie.depth.max()) + 1
        rule = check_rule(
            self.rule,
            n_positions,
            gives_marginals=source.gives_marginals,
            # A mixture may have dropped the part that gives them.
            gives_examples=scorer_source(self.network).gives_examples and not is_numeric(X),
            n_samples=len(sets),
        )
        # A rule for prefixes knows nothing of positions that training did not have.
        bounds = learned_bounds(trie, longer=rule.chooses_sequences)
        return SequenceProblem(X, of_inputs, vocabulary, sequences, trie, rule, bounds, training)

    def _training(self) -> Training:
        training = super()._training()
        if self.max_steps is None:
            return training
        message = "max_steps is deprecated since setlearn 0.1; use training=Training(max_steps=...)"
        warn_user(FutureWarning(message))
        with_steps: Training = clone(training).set_params(max_steps=self.max_steps)
        return with_steps


def _splits_in(problem: SequenceProblem) -> tuple[Split | None, Split | None]:
    """How inputs and elements are split, None where they are no texts."""
    X, vocabulary = problem.X, problem.vocabulary
    inputs_are_texts = isinstance(X, list | tuple) and any(isinstance(x, str) for x in X)
    return (
        problem.input_tokeniser.split if inputs_are_texts else None,
        vocabulary.tokeniser.split if vocabulary.kind is str else None,
    )
