"""Lists of candidates as choice points."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setlearn.scorers.candidates import CandidateTrees
from setlearn.trie import END

N_CHOICES = 5
SEQUENCES = st.lists(st.integers(1, N_CHOICES - 1), max_size=4).map(tuple)
LISTS = st.lists(
    st.dictionaries(SEQUENCES, st.floats(0, 1), max_size=6).map(lambda d: list(d.items())),
    min_size=1,
    max_size=4,
)


def paths(lists):
    """All sequences with the memberships along their path, the end symbol's last."""
    trees = CandidateTrees.of(lists, N_CHOICES)
    for sample, candidates in enumerate(lists):
        for sequence, probability in candidates:
            step, row, along = trees.start(), sample, []
            for token in sequence:
                along.append(step.nodes.membership[row, token])
                step = trees.advance(step, np.array([row]), np.array([token]))
                row = 0
            yield probability, [*along, step.nodes.membership[row, END]]


@given(LISTS)
def test_membership_falls_along_each_path_to_the_probability_of_the_candidate(lists):
    for probability, along in paths(lists):
        assert along[-1] == pytest.approx(probability, abs=1e-12)
        assert all(a >= b - 1e-12 for a, b in pairwise(along))
        assert 0 <= min(along) <= max(along) <= 1


@given(LISTS)
def test_a_prefix_has_the_highest_probability_below_it(lists):
    nodes = CandidateTrees.of(lists, N_CHOICES).start().nodes
    for sample, candidates in enumerate(lists):
        for token in range(1, N_CHOICES):
            below = [p for sequence, p in candidates if sequence[:1] == (token,)]
            assert nodes.membership[sample, token] == max(below, default=0)


def test_prefixes_of_no_candidate_have_no_probability():
    trees = CandidateTrees.of([[((1, 2), 0.5)]], N_CHOICES)
    step = trees.advance(trees.start(), np.array([0, 0]), np.array([3, 1]))
    assert step.nodes.membership.tolist() == [[0] * 5, [0, 0, 0.5, 0, 0]]
    assert not trees.advance(step, np.array([0]), np.array([2])).nodes.membership.any()


def test_tokens_that_the_vocabulary_lacks_are_left_out():
    step = CandidateTrees.of([[((1, -2), 0.9), ((7,), 0.8), ((2,), 0.1)]], N_CHOICES).start()
    assert step.nodes.membership.tolist() == [[0, 0, 0.1, 0, 0]]


def test_no_candidates_at_all():
    assert not CandidateTrees.of([[], []], N_CHOICES).start().nodes.membership.any()
