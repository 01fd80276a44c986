"""What rules are fitted and networks are evaluated on: lists of probable sequences, or trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from setlearn.generate import Bounds, Generated, generate
from setlearn.nodes import BoolArray, ExampleSets, FloatArray, IntArray, Mask, Nodes
from setlearn.rules import Rule, Threshold
from setlearn.rules.auto import cross_validated
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.scorers.base import TokenScorer
from setlearn.sequence_lists import SequenceLists
from setlearn.trie import Trie

__all__ = ["candidate_lists", "f1_of_lists", "probable_sequences", "rule_data", "scored_trees"]


class _KeepAll(ChoosesSequences):
    """Keep every sequence that is found."""

    def __init__(self, with_examples: bool = False) -> None:
        self.with_examples = with_examples

    @property
    def uses_examples(self) -> bool:
        return self.with_examples

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        return nodes.completed(np.ones(nodes.probabilities.shape, dtype=bool))


def probable_sequences(
    scorer: TokenScorer, inputs: Any, bounds: Bounds, *, with_examples: bool = False
) -> Generated:
    """Generate all probable sequences of a batch.

    Parameters
    ----------
    scorer : TokenScorer
    inputs : object
        What ``scorer.start`` takes.
    bounds : Bounds
    with_examples : bool, default=False
        Whether to add whole sets of sequences, as far as the scorer knows some.

    Returns
    -------
    Generated
    """
    return generate(scorer, _KeepAll(with_examples), inputs, bounds)


def candidate_lists(
    scorer: TokenScorer,
    batches: Iterable[tuple[IntArray, Any]],
    trie: Trie,
    bounds: Bounds,
    *,
    with_examples: bool = False,
) -> tuple[Nodes, BoolArray]:
    """Generate all probable sequences of some samples, and say which are right.

    Parameters
    ----------
    scorer : TokenScorer
    batches : iterable of pairs
        Which samples of ``trie`` a batch holds, and what ``scorer.start`` takes.
    trie : Trie
        The trees of the true sets.
    bounds : Bounds
    with_examples : bool, default=False
        Whether to add whole sets, if the scorer knows some.

    Returns
    -------
    nodes : Nodes
        One choice point per sample. Its choices are the sequences that were found, best first, and
        then, with probability 0, the true ones that were not.
    right : bool array of the same shape
    """
    n = trie.n_samples
    found: list[tuple[IntArray, FloatArray, BoolArray]] = []
    sequences: list[tuple[int, ...]] = []
    example_sets: list[ExampleSets] = [{} for _ in range(n)]
    with_examples = with_examples and scorer.gives_examples
    for samples, inputs in batches:
        grown = probable_sequences(scorer, inputs, bounds, with_examples=with_examples)
        right = trie.take(samples).holds(grown.sequences())
        found.append((samples[grown.sample], grown.probability, right))
        if grown.example_sets is not None:
            sequences += grown.tuples()
            for sample, sets in zip(samples, grown.example_sets, strict=True):
                example_sets[sample] = sets
    sample, probability, right = (np.concatenate(part) for part in zip(*found, strict=True))
    missing = trie.set_sizes() - np.bincount(sample[right], minlength=n)
    sample = np.concatenate([sample, np.repeat(np.arange(n), missing)])
    probability = np.concatenate([probability, np.zeros(missing.sum())])
    right = np.concatenate([right, np.ones(missing.sum(), dtype=bool)])
    order = np.lexsort((-probability, sample))
    lists = SequenceLists.of(sample[order], probability[order], n)
    if with_examples:
        sequences += [()] * int(missing.sum())  # which no set holds
        lists = lists.with_examples([sequences[k] for k in order], example_sets)
    is_right = np.zeros(lists.nodes.probabilities.shape, dtype=bool)
    is_right[lists.sample, lists.rank] = right[order]
    return lists.nodes, is_right


def f1_of_lists(nodes: Nodes, right: BoolArray) -> FloatArray:
    """The F1 of a cut through lists of probable sequences, as if they were predicted.

    Each third of the samples has the cut that is best for the others.

    Parameters
    ----------
    nodes : Nodes
    right : bool array of the same shape

    Returns
    -------
    array of shape (n_samples,)
        In no particular order.
    """
    cut = Threshold("tuned", min_size=None)
    folds = nodes.folds(np.random.RandomState(0))
    return np.concatenate([f1 for _, f1 in cross_validated(cut, nodes, right, folds)])


def scored_trees(scorer: TokenScorer, X: Any, trie: Trie) -> tuple[Nodes, Mask]:
    """The scored nodes of true trees, and the right choices at each.

    Parameters
    ----------
    scorer : TokenScorer
    X : list of inputs, or a numeric array
    trie : Trie
        One tree per input.

    Returns
    -------
    nodes : Nodes
        One row per node of the trees.
    right : sparse array of bool, shape (n, V)
        The choices that continue or end a sequence of the set.
    """
    return scorer.score_trees(X, trie), trie.right_choices(scorer.vocabulary.n_choices)


def rule_data(
    rule: Rule, scorer: TokenScorer, X: Any, trie: Trie, bounds: Bounds
) -> tuple[Nodes, Mask]:
    """What to fit a rule on: lists of sequences if it chooses among them, otherwise true trees.

    Parameters
    ----------
    rule : Rule
    scorer : TokenScorer
    X : list of inputs, or a numeric array
    trie : Trie
        One tree per input.
    bounds : Bounds

    Returns
    -------
    nodes : Nodes
    right : mask of the same shape
    """
    if rule.chooses_sequences:
        batches = scorer.batches(X, bounds.together(scorer.vocabulary.n_choices))
        return candidate_lists(scorer, batches, trie, bounds, with_examples=rule.uses_examples)
    nodes, right = scored_trees(scorer, X, trie)
    # To such a rule, a choice that is not available is one with probability 0.
    return nodes if rule.takes_padding else replace(nodes, available=None), right
