"""Grow sets of sequences, all samples together, level by level: the only loop over depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from setlearn.nodes import (
    BoolArray,
    ExampleSets,
    FloatArray,
    IntArray,
    Nodes,
    Step,
    best_of_each_sample,
)
from setlearn.rules.base import Rule
from setlearn.savable import savable
from setlearn.scorers.base import Scorer
from setlearn.sequence_lists import SequenceLists
from setlearn.trie import END, Sequences, Trie

__all__ = ["MOST_SCORES", "Bounds", "Generated", "GrownLevel", "Watch", "generate"]


MOST_TOGETHER = 256
"""Samples that are generated together; more would not be faster."""

MOST_LISTED = 1024
"""Samples for which lists are held together, so that those in need of more make full batches."""

MOST_PREFIXES = 131_072
"""Prefixes that all samples generated together may have, which keeps memory flat."""

MOST_SCORES = 32_000_000
"""Scores of choices that are held together: 256 MB."""


@savable()
@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a set may grow; what lies beyond is cut off, and the sample is marked as truncated.

    ``max_length`` tokens per sequence, ``max_size`` sequences per sample, and ``max_nodes``
    prefixes per sample. All lengths have an equal share of these, and at least one prefix: the most
    probable ones of each length.
    """

    max_length: int
    max_size: int
    max_nodes: int

    @property
    def width(self) -> int:
        """How many prefixes of each length a sample may have."""
        return max(self.max_nodes // (self.max_length + 1), 1)

    def together(self, n_choices: int) -> int:
        """How many samples can be generated together in bounded memory."""
        by_scores = MOST_SCORES // (self.width * n_choices)
        return max(min(MOST_TOGETHER, MOST_PREFIXES // self.max_nodes, by_scores), 1)

    def listed_together(self, n_choices: int, n_lists: int) -> int:
        """For how many samples lists of whole sequences can be held in bounded memory.

        Parameters
        ----------
        n_choices : int
        n_lists : int
            How many lists each sample has.

        Returns
        -------
        int
            May be 0 if they are very long.
        """
        tokens = n_lists * self.max_size * (self.max_length + 1)
        return min(MOST_LISTED, MOST_SCORES // max(self.width * n_choices, tokens))


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """Finished sequences, by sample and then best first."""

    sample: IntArray  # (m,)
    tokens: IntArray  # (m, longest), filled up with END after the last token
    probability: FloatArray  # (m,) the product of all choices, the end symbol included
    truncated: BoolArray  # (n_samples,) whether a limit cut something off
    example_sets: Sequence[ExampleSets] | None = None  # of each sample, if the rule uses them

    def sequences(self) -> Sequences:
        """The same sequences, concatenated."""
        is_token = self.tokens != END
        return Sequences(self.sample, is_token.sum(axis=1), self.tokens[is_token])

    def tuples(self) -> list[tuple[int, ...]]:
        """The tokens of each sequence."""
        return _tuples(self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class GrownLevel:
    """One level as it grew, for traces."""

    nodes: Nodes
    prefix: IntArray  # (n, depth)
    kept: BoolArray  # (n, V) what the rule follows and can still enter the set
    least: FloatArray  # (n,) the membership below which a prefix can no longer enter it
    parent: IntArray  # the row of this level that each node of the next level continues
    token: IntArray  # the choice that leads to it; accepted choices missing here were cut off


@dataclass(slots=True, eq=False)
class Watch:
    """How sets grew, for traces."""

    levels: list[GrownLevel] = field(default_factory=list)
    finished: Nodes = field(init=False)
    """The choice points of the finished sequences, one per sample."""


def generate(
    scorer: Scorer,
    rule: Rule,
    X: Any,
    bounds: Bounds,
    *,
    known: Trie | None = None,
    watch: Watch | None = None,
) -> Generated:
    """Run Algorithm 4 for all samples at once.

    The rule decides on the frontier which tokens may follow each prefix. An accepted end symbol
    closes the prefix into a sequence; at the root it means that the set may be empty, and adds
    nothing.

    Parameters
    ----------
    scorer : Scorer
    rule : Rule
    X : inputs, as ``scorer.start`` takes them
    bounds : Bounds
    known : Trie, optional
        The trees of known sequences. Their choices are in the memory of each node from the
        start, and they are never returned; the tree grows along them only where ``rule.grow``
        follows them.
    watch : Watch, optional
        Is told how the sets grew, for traces.

    Returns
    -------
    Generated
    """
    step, example_sets = _first_step(scorer, rule, X)
    n_samples = len(step.nodes)
    cut_off_before = np.zeros(n_samples, bool) if step.truncated is None else step.truncated
    prefix = np.empty((n_samples, 0), dtype=np.intp)
    # The node of the known trees that each prefix has reached, or -1.
    known_node: IntArray = np.empty(0, np.intp) if known is None else known.roots
    best_cut_off = np.full(n_samples, -1.0)  # the membership of the best prefix that was cut off
    closed: list[tuple[IntArray, IntArray, FloatArray]] = []
    for depth in range(bounds.max_length + 1):
        nodes = _with_known(step.nodes, known, known_node)
        available = nodes.available
        if not rule.takes_padding:
            nodes = replace(nodes, available=None)
        kept = rule.grown(nodes)
        if available is not None:
            kept &= available
        membership = nodes.membership
        closes = kept[:, END] & (depth > 0)
        if nodes.known is not None:
            closes &= ~nodes.known[:, END]
        closed.append((nodes.sample[closes], prefix[closes], membership[closes, END]))
        # Prefixes that can no longer enter the set are not followed.
        least = rule.least_useful(*_scores(closed), n_samples)[nodes.sample]
        kept[:, END + 1 :] &= membership[:, END + 1 :] >= least[:, None]
        parent, token = _open_choices(kept)
        sample, score = nodes.sample[parent], membership[parent, token]
        room = 0 if depth == bounds.max_length else bounds.width
        fits = best_of_each_sample(sample, score, room)
        np.maximum.at(best_cut_off, sample[~fits], score[~fits])
        parent, token = parent[fits], token[fits]
        if watch is not None:
            watch.levels.append(GrownLevel(nodes, prefix, kept, least, parent, token))
        if len(parent) == 0:
            break
        step = scorer.advance(step, parent, token)
        prefix = np.column_stack([prefix[parent], token])
        if known is not None:
            known_node = known.child(known_node[parent], token)
    finished = _AllFinished.of(closed, n_samples, known, example_sets)
    if watch is not None:
        watch.finished = finished.lists.nodes
    grown = _chosen(finished, best_cut_off, bounds.max_size, rule)
    cut_off = grown.truncated | cut_off_before
    return replace(grown, truncated=cut_off, example_sets=example_sets)


def _first_step(scorer: Scorer, rule: Rule, X: Any) -> tuple[Step, Sequence[ExampleSets] | None]:
    """Score the roots, with whole sets if the rule uses them; a scorer may know none."""
    if not rule.uses_examples:
        return scorer.start(X), None
    step: Step = getattr(scorer, "start_with_examples", scorer.start)(X)
    none: list[ExampleSets] = [{} for _ in range(len(step.nodes))]
    return step, none if step.example_sets is None else step.example_sets


def _tuples(tokens: IntArray) -> list[tuple[int, ...]]:
    """The tokens of each row up to the end."""
    return [tuple(row[row != END].tolist()) for row in tokens]


def _with_known(nodes: Nodes, known: Trie | None, known_node: IntArray) -> Nodes:
    """The frontier with the known sequences' next choices in its memory."""
    if known is None:
        return nodes
    mask = np.zeros(nodes.probabilities.shape, dtype=bool)
    rows = np.flatnonzero(known_node >= 0)
    mask[rows] = known.right_choices(nodes.n_choices)[known_node[rows]].toarray()
    probabilities = nodes.probabilities
    if nodes.depth.max(initial=0) == 0:
        # In a known tree, END at the root means that nothing is known. If something is known, the
        # set is not empty.
        mask[:, END] = False
        probabilities = probabilities.copy()
        probabilities[mask.any(axis=1), END] = 0
    if nodes.available is not None:
        mask &= nodes.available
    return replace(nodes, probabilities=probabilities, known=mask)


def _open_choices(kept: BoolArray) -> tuple[IntArray, IntArray]:
    """Rows and tokens of all accepted choices except the end symbol."""
    row, token = np.nonzero(kept)
    goes_on = token != END
    return row[goes_on], token[goes_on]


def _scores(closed: list[tuple[IntArray, IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    """The sample and the probability of every sequence that is finished."""
    return np.concatenate([s for s, _, _ in closed]), np.concatenate([p for _, _, p in closed])


@dataclass(frozen=True, slots=True, eq=False)
class _AllFinished:
    """All finished sequences, by sample and best first."""

    tokens: IntArray  # (m, longest)
    score: FloatArray  # (m,)
    lists: SequenceLists

    @classmethod
    def of(
        cls,
        closed: list[tuple[IntArray, IntArray, FloatArray]],
        n_samples: int,
        known: Trie | None,
        example_sets: Sequence[ExampleSets] | None,
    ) -> _AllFinished:
        longest = closed[-1][1].shape[1]
        tokens = np.concatenate(
            [
                np.pad(t, ((0, 0), (0, longest - t.shape[1])), constant_values=END)
                for _, t, _ in closed
            ]
        )
        sample, score = _scores(closed)
        order = np.lexsort((-score, sample))
        sample, tokens, score = sample[order], tokens[order], score[order]
        n_known = None if known is None else known.set_sizes()
        lists = SequenceLists.of(sample, score, n_samples, n_known)
        if example_sets is not None:
            sequences = _tuples(tokens)
            known_sets = () if known is None else known.as_sets()
            lists = lists.with_examples(sequences, example_sets, known_sets)
        return cls(tokens, score, lists)


def _chosen(
    finished: _AllFinished, best_cut_off: FloatArray, max_size: int, rule: Rule
) -> Generated:
    """The finished sequences that the rule chooses."""
    sample, tokens, score = finished.lists.sample, finished.tokens, finished.score
    chosen = finished.lists.of_each(rule.selected(finished.lists.nodes))
    # A sequence that was cut off matters only if it could have entered the set.
    truncated = best_cut_off >= rule.least_useful(sample, score, len(best_cut_off))
    if rule.chooses_sequences:
        truncated &= best_cut_off >= _least_chosen(sample, score, chosen, len(best_cut_off))
    sample, tokens, score = sample[chosen], tokens[chosen], score[chosen]
    fits = best_of_each_sample(sample, score, max_size)
    truncated[sample[~fits]] = True
    return Generated(sample[fits], tokens[fits], score[fits], truncated)


def _least_chosen(
    sample: IntArray, score: FloatArray, chosen: BoolArray, n_samples: int
) -> FloatArray:
    """The lowest score of what was chosen; where nothing was, the best of what was not."""
    least, best = np.full(n_samples, np.inf), np.zeros(n_samples)
    np.minimum.at(least, sample[chosen], score[chosen])
    np.maximum.at(best, sample, score)
    return np.where(np.isinf(least), best, least)
