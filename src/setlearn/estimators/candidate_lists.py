"""Lists of probable sequences, on which rules are fitted and networks are evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from setlearn.generate import Bounds, Generated, generate
from setlearn.nodes import BoolArray, FloatArray, IntArray, Mask, Nodes
from setlearn.rules import Threshold
from setlearn.rules.auto import cross_validated_f1
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.scorers.base import TokenScorer
from setlearn.trie import Trie

__all__ = ["candidate_lists", "f1_of_lists", "probable_sequences"]


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
