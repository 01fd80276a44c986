"""Generation, all samples at once, against the literal Algorithm 4, one sample at a time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.generate import Bounds, Watch, generate
from setlearn.nodes import Nodes
from setlearn.rules import Margin, Threshold, TopK
from setlearn.trie import END, Sequences, Trie
from tests.reference import sequences as reference
from tests.reference.labels import algorithm_1
from tests.table_scorer import TableScorer

FREE = 10**9
lambdas = st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.4, 0.6]), min_size=1, max_size=4)


def as_sets(found, n_samples):
    return found.sequences().as_sets(n_samples)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 4),
    lambdas,
    st.sampled_from([None, 8]),
    st.sampled_from([0.0, 0.5]),
)
def test_generation_is_algorithm_4(seed, n_samples, n_choices, max_length, lam, levels, rho):
    scorer = TableScorer(n_choices, seed, levels)
    bounds = Bounds(max_length, FREE, FREE)
    found = generate(scorer, Margin(lam, rho=rho), n_samples, bounds)
    expected = [
        reference.algorithm_4(
            lambda prefix, s=sample: scorer.probabilities(s, prefix), lam, max_length, rho=rho
        )
        for sample in range(n_samples)
    ]
    assert as_sets(found, n_samples) == expected


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), lambdas, st.data())
def test_generation_with_known_sequences_is_algorithm_4(seed, n_choices, lam, data):
    scorer, max_length = TableScorer(n_choices, seed), 3
    sequence = st.lists(st.integers(1, n_choices - 1), min_size=1, max_size=max_length).map(tuple)
    known = data.draw(st.lists(st.sets(sequence, max_size=3), min_size=2, max_size=2))
    trie = Trie.of(Sequences.of([[list(k) for k in sorted(s)] for s in known]), 2)
    found = generate(scorer, Margin(lam), 2, Bounds(max_length, FREE, FREE), known=trie)
    expected = [
        reference.algorithm_4(
            lambda prefix, s=sample: scorer.probabilities(s, prefix), lam, max_length, known[sample]
        )
        for sample in range(2)
    ]
    assert as_sets(found, 2) == expected
    assert all(not found & given for found, given in zip(expected, known, strict=True))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.3, 0.5]))
def test_labels_are_sequences_of_length_1(seed, n_labels, lam):
    """Labels as sequences: a token, then the end with certainty."""
    table = TableScorer(n_labels + 1, seed)

    class LabelsAsSequences(TableScorer):
        def probabilities(self, sample, prefix):
            if prefix:
                return np.eye(n_labels + 1)[0]
            return table.probabilities(sample, prefix)

    found = generate(LabelsAsSequences(n_labels + 1, seed), Margin(lam), 3, Bounds(1, FREE, FREE))
    roots = Nodes.roots(np.array([table.probabilities(s, ()) for s in range(3)]))
    labels = Margin(lam).accept(roots)
    expected = [{(int(k),) for k in np.flatnonzero(row) if k != 0} for row in labels]
    assert as_sets(found, 3) == expected
    assert expected[0] == {(k,) for k in algorithm_1(roots.probabilities[0], lam) if k != 0}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), lambdas)
def test_probabilities_are_products_and_come_best_first(seed, lam):
    scorer = TableScorer(4, seed)
    found = generate(scorer, Margin(lam), 2, Bounds(3, FREE, FREE))
    sequences = found.sequences()
    rows = np.split(sequences.tokens, np.cumsum(sequences.length)[:-1]) if len(found.sample) else []
    for sample, row, probability in zip(found.sample, rows, found.probability, strict=True):
        expected = reference.path_probability(
            lambda prefix, s=sample: scorer.probabilities(s, prefix), tuple(row.tolist())
        )
        assert probability == pytest.approx(expected)
    for sample in range(2):
        mine = found.probability[found.sample == sample]
        assert (np.diff(mine) <= 1e-12).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_max_size_keeps_the_best_and_says_so(seed, max_size):
    scorer, rule = TableScorer(3, seed), Margin(0.6)
    everything = generate(scorer, rule, 3, Bounds(3, FREE, FREE))
    some = generate(scorer, rule, 3, Bounds(3, max_size, FREE))
    for sample in range(3):
        whole = everything.probability[everything.sample == sample]
        kept = some.probability[some.sample == sample]
        assert kept == pytest.approx(whole[:max_size])
        assert some.truncated[sample] == (everything.truncated[sample] or len(whole) > max_size)


def test_a_rule_that_keeps_everything_is_bounded_and_flagged():
    scorer = TableScorer(30, seed=1)
    watch = Watch()
    found = generate(scorer, Threshold(0.0), 4, Bounds(6, 64, 200), watch=watch)
    assert found.truncated.all()
    assert np.bincount(found.sample, minlength=4).max() <= 64
    n_prefixes = sum(np.bincount(level.nodes.sample, minlength=4) for level in watch.levels)
    assert n_prefixes.max() <= 200


def test_an_accepted_end_at_the_root_alone_is_the_empty_set():
    class Ends(TableScorer):
        def probabilities(self, sample, prefix):
            return np.array([0.9, 0.05, 0.05])

    found = generate(Ends(3, 0), Margin(0.1), 2, Bounds(3, FREE, FREE))
    assert len(found.sample) == 0
    assert not found.truncated.any()


class ThreeIsNotAvailable(TableScorer):
    """Choice 3 is padding everywhere, and no set is empty."""

    def _step(self, prefixes, before):
        step = super()._step(prefixes, before)
        available = np.tile([True, True, True, False], (len(prefixes), 1))
        scores = np.where(available, step.nodes.probabilities, 0)
        scores[:, END] *= step.nodes.depth > 0
        return replace(step, nodes=replace(step.nodes, probabilities=scores, available=available))


@pytest.mark.parametrize("rule", [Threshold(0.05), TopK(4)], ids=repr)
def test_known_sequences_that_are_not_available_change_nothing(rule):
    scorer, bounds = ThreeIsNotAvailable(4, 0), Bounds(3, FREE, FREE)
    trie = Trie.of(Sequences.of([[[3], [3, 1]], [[3, 3, 3]]]), 2)
    found = as_sets(generate(scorer, rule, 2, bounds, known=trie), 2)
    assert found == as_sets(generate(scorer, rule, 2, bounds), 2)
    assert all(found)
    assert not {3} & {token for sequences in found for s in sequences for token in s}


def test_any_rule_grows_sequences():
    found = generate(TableScorer(4, 3), TopK(2), 2, Bounds(3, FREE, FREE))
    assert len(found.sample) > 0
