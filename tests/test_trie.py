"""Prefix trees in arrays against prefix trees by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.errors import ParameterError
from setlearn.nodes import Nodes
from setlearn.rules import Margin
from setlearn.trie import END, Sequences, Trie
from tests.reference import sequences as reference
from tests.table_scorer import TableScorer

sequence = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)
sets_of_sequences = st.lists(st.sets(sequence, max_size=5), min_size=1, max_size=6)


def trie_of(sets):
    return Trie.of(Sequences.of([[list(s) for s in sorted(one)] for one in sets]), len(sets))


def prefixes(trie):
    found = []
    for node in range(len(trie)):
        prefix, at = (), node
        while trie.parent[at] >= 0:
            prefix, at = (int(trie.token[at]), *prefix), trie.parent[at]
        found.append((int(trie.sample[node]), prefix))
    return found


def as_dict(trie):
    names = prefixes(trie)
    nodes = {name: {} for name in names}
    edges = zip(trie.edge_node, trie.edge_token, trie.edge_count, strict=True)
    for node, token, count in edges:
        nodes[names[node]][int(token)] = int(count)
    return nodes


@settings(max_examples=500, deadline=None)
@given(sets_of_sequences)
def test_the_arrays_hold_the_tree(sets):
    trie = trie_of(sets)
    assert as_dict(trie) == reference.trie_nodes(sets)
    assert [len(prefix) for _, prefix in prefixes(trie)] == trie.depth.tolist()
    assert (np.diff(trie.sample) >= 0).all()


@settings(max_examples=300, deadline=None)
@given(sets_of_sequences, st.data())
def test_take_is_the_trie_of_the_taken(sets, data):
    samples = data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=1, max_size=8))
    part = trie_of(sets).take(np.array(samples))
    assert as_dict(part) == reference.trie_nodes([sets[s] for s in samples])


@settings(max_examples=300, deadline=None)
@given(sets_of_sequences)
def test_levels_follow_the_parents(sets):
    trie = trie_of(sets)
    levels = trie.levels()
    assert np.concatenate([level.nodes for level in levels]).shape == (len(trie),)
    for depth, level in enumerate(levels):
        assert (trie.depth[level.nodes] == depth).all()
        if depth:
            above = levels[depth - 1].nodes
            assert (above[level.parent] == trie.parent[level.nodes]).all()


@settings(max_examples=300, deadline=None)
@given(sets_of_sequences, st.integers(0, 20), st.integers(0, 6))
def test_child_finds_the_edge_or_says_no(sets, node, token):
    trie = trie_of(sets)
    node %= len(trie)
    names = prefixes(trie)
    [found] = trie.child(np.array([node]), np.array([token]))
    below = (names[node][0], (*names[node][1], token))
    assert found == (names.index(below) if below in names else -1)
    assert trie.child(np.array([-1]), np.array([1])).tolist() == [-1]


@settings(max_examples=200, deadline=None)
@given(sets_of_sequences)
def test_sequences_come_back(sets):
    coded = Sequences.of([[list(s) for s in sorted(one)] for one in sets])
    assert coded.as_sets(len(sets)) == [frozenset(one) for one in sets]


def test_right_choices_include_the_end():
    trie = trie_of([{(1, 2), (1,)}, set()])
    mask = trie.right_choices(3).toarray()
    assert mask[trie.roots].tolist() == [[False, True, False], [True, False, False]]
    at_1 = trie.child(trie.roots[:1], np.array([1]))
    assert mask[at_1].tolist() == [[True, False, True]]
    assert END == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sets(sequence, max_size=4), min_size=2, max_size=5), st.integers(0, 99))
def test_lambdas_are_those_of_algorithm_3(sets, seed):
    """One λ_j a position, each from the nodes at that depth alone."""
    scorer, trie = TableScorer(5, seed), trie_of(sets)
    scores = np.array([scorer.probabilities(s, prefix) for s, prefix in prefixes(trie)])
    right = trie.right_choices(5)
    rule = Margin(min_size=1).fit(Nodes(trie.sample, trie.depth, scores), right)
    lam = np.atleast_1d(rule.lam_)
    for position, rows in reference.algorithm_3_terms(scorer.probabilities, sets).items():
        P = np.array([p for p, _ in rows])
        mask = np.array([[k in choices for k in range(5)] for _, choices in rows])
        alone = Margin(min_size=1).fit(Nodes.roots(P), mask)
        assert lam[position] == pytest.approx(alone.lam_, abs=1e-9)


def test_given_lambdas_must_cover_the_positions():
    trie = trie_of([{(1, 2, 3)}])
    nodes = Nodes(trie.sample, trie.depth, np.full((len(trie), 4), 0.25))
    with pytest.raises(ParameterError, match="lam has 2 values"):
        Margin([0.1, 0.2]).fit(nodes, trie.right_choices(4))
