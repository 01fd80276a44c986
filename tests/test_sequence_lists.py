"""Finished sequences as choice points, and whole sets of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.rules import ExpectedF
from setlearn.sequence_lists import SequenceLists
from tests.reference import expected_f as reference

AB, A, B, C = (1, 2), (1,), (2,), (3,)


def test_each_sample_has_its_sequences_and_then_the_known_ones():
    sample, membership = np.array([0, 0, 2]), np.array([0.9, 0.2, 0.5])
    lists = SequenceLists.of(sample, membership, 3, np.array([1, 0, 2]))
    nodes = lists.nodes
    assert nodes.probabilities.tolist() == [
        [0.9, 0.2, 0.9, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.5, 0.0, 0.5, 0.5],
    ]
    assert nodes.available.tolist() == [
        [True, True, True, False],
        [False] * 4,
        [True, False, True, True],
    ]
    assert nodes.known.tolist() == [
        [False, False, True, False],
        [False] * 4,
        [False, False, True, True],
    ]
    assert lists.of_each(nodes.probabilities == 0.5).tolist() == [False, False, True]


def test_sets_with_a_sequence_that_is_not_listed_are_left_out():
    lists = SequenceLists.of(np.array([0, 0, 1]), np.array([0.6, 0.5, 0.4]), 2)
    sets = [{frozenset({AB, A}): 0.5, frozenset({A, C}): 0.4}, {frozenset(): 0.3}]
    examples = lists.with_examples([AB, A, B], sets).nodes.examples
    assert examples.sets.toarray().tolist() == [[True, True], [False, False]]
    assert examples.weights.toarray().tolist() == [[0.5, 0], [0, 0.3]]


def test_sets_say_nothing_if_most_of_them_are_left_out():
    """The empty set is always possible, which is no reason for it."""
    lists = SequenceLists.of(np.array([0, 1]), np.array([0.6, 0.6]), 2)
    most, half = ({frozenset({A, C}): w, frozenset(): 0.4} for w in (0.6, 0.4))
    examples = lists.with_examples([A, A], [most, half]).nodes.examples
    assert examples.weights.toarray().tolist() == [[0], [0.4]]


def test_known_sequences_are_in_their_own_columns():
    lists = SequenceLists.of(np.array([0, 1]), np.array([0.6, 0.5]), 2, np.array([1, 1]))
    sets = [{frozenset({A, C}): 1.0}, {frozenset({C}): 0.5, frozenset({B}): 0.5}]
    examples = lists.with_examples([A, B], sets, [{C}, {C}]).nodes.examples
    assert examples.sets.toarray().astype(int).tolist() == [[1, 1], [0, 1], [1, 0]]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_joint_choice_is_the_best_of_all_sets(data):
    """Against the literal expected F, with sets given as sequences rather than columns."""
    listed = sorted(data.draw(st.sets(st.integers(1, 5), min_size=1, max_size=4)))
    score = st.floats(0.02, 0.98)
    membership = np.sort(data.draw(st.lists(score, min_size=len(listed), max_size=len(listed))))
    any_set = st.frozensets(st.sampled_from([(k,) for k in range(1, 6)]), max_size=4)
    sets = data.draw(st.dictionaries(any_set, st.floats(0.1, 1.0), max_size=6))
    lists = SequenceLists.of(np.zeros(len(listed), np.intp), membership[::-1], 1)
    nodes = lists.with_examples([(k,) for k in listed], [sets]).nodes
    kept = frozenset(np.flatnonzero(ExpectedF(joint=True).choose(nodes)[0]).tolist())
    column = {(token,): place for place, token in enumerate(listed)}
    possible = {s: w for s, w in sets.items() if s <= column.keys()}
    if sum(possible.values()) < sum(sets.values()) / 2:
        possible = {}
    truths = [frozenset(column[y] for y in s) for s in possible]
    p = membership[::-1]
    distribution = reference.weighted(truths, [*possible.values()], p) if possible else None
    if distribution is None:
        distribution = reference.independent(p)
    best = reference.best(len(listed), distribution, 1.0)
    assert reference.expected_f(kept, distribution, 1.0) >= best - 1e-9
