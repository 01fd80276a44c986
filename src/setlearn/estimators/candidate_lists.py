"""What rules are fitted and networks are evaluated on: lists of probable sequences, or trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from setlearn.generate import Bounds, Generated, generate
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes
from setlearn.rules import Rule, Threshold
from setlearn.rules.auto import cross_validated_f1
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.scorers.base import TokenScorer
from setlearn.trie import Trie

__all__ = ["candidate_lists", "f1_of_lists", "probable_sequences", "rule_data", "scored_trees"]


class _KeepAll(ChoosesSequences):
    """Keep every sequence that is found."""

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        return nodes.completed(np.ones(nodes.probabilities.shape, dtype=bool))


def probable_sequences(scorer: TokenScorer, inputs: Any, bounds: Bounds) -> Generated:
    """Generate all probable sequences of a batch.

    Parameters
    ----------
    scorer : TokenScorer
    inputs : object
        What ``scorer.start`` takes.
    bounds : Bounds

    Returns
    -------
    Generated
    """
    return generate(scorer, _KeepAll(), inputs, bounds)


def candidate_lists(
    scorer: TokenScorer, batches: Iterable[tuple[IntArray, Any]], trie: Trie, bounds: Bounds
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

    Returns
    -------
    nodes : Nodes
        One choice point per sample. Its choices are the sequences that were found, best first, and
        then, with probability 0, the true ones that were not.
    right : bool array of the same shape
    """
    lists: list[tuple[IntArray, FloatArray, BoolArray]] = []
    for samples, inputs in batches:
        found = probable_sequences(scorer, inputs, bounds)
        right = trie.take(samples).holds(found.sequences())
        lists.append((samples[found.sample], found.probability, right))
    sample, probability, right = (np.concatenate(part) for part in zip(*lists, strict=True))
    n = trie.n_samples
    missing = trie.set_sizes() - np.bincount(sample[right], minlength=n)
    sample = np.concatenate([sample, np.repeat(np.arange(n), missing)])
    probability = np.concatenate([probability, np.zeros(missing.sum())])
    right = np.concatenate([right, np.ones(missing.sum(), dtype=bool)])
    order = np.lexsort((-probability, sample))
    count = np.bincount(sample, minlength=n)
    row = sample[order]
    rank = np.arange(len(row)) - (np.cumsum(count) - count)[row]
    shape = (n, max(int(count.max(initial=0)), 1))
    scores, is_right, listed = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
    scores[row, rank], is_right[row, rank] = probability[order], right[order]
    listed[row, rank] = True
    return Nodes.roots(scores, available=listed), is_right


def f1_of_lists(nodes: Nodes, right: BoolArray) -> float:
    """The mean F1 of a cut through lists of probable sequences, as if they were predicted.

    Each third of the samples has the cut that is best for the others.

    Parameters
    ----------
    nodes : Nodes
    right : bool array of the same shape

    Returns
    -------
    float
    """
    cut = Threshold("tuned", min_size=None)
    folds = nodes.folds(np.random.RandomState(0))
    return float(cross_validated_f1(cut, nodes, right, folds).mean)


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
        return candidate_lists(scorer, batches, trie, bounds)
    nodes, right = scored_trees(scorer, X, trie)
    # To such a rule, a choice that is not available is one with probability 0.
    return nodes if rule.takes_padding else replace(nodes, available=None), right
