"""Sizes of true and predicted sets, side by side."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn.errors import DataError, ParameterError
from setlearn.metrics import size_table

sizes = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(sizes, st.integers(1, 8))
@settings(max_examples=100, deadline=None)
def test_every_sample_is_counted_in_its_cell(pairs, most):
    true, predicted = ([set(range(size)) for size in side] for side in zip(*pairs, strict=True))
    table = size_table(true, predicted, most=most)
    assert len(table.counts) == len(table.sizes) == 1 + min(most, max(map(max, pairs)))
    for row, counts in enumerate(table.counts):
        for column, count in enumerate(counts):
            here = [(min(t, most), min(p, most)) == (row, column) for t, p in pairs]
            assert count == sum(here)


@pytest.mark.parametrize(
    ("largest", "names"), [(1, ["0", "1"]), (2, ["0", "1", "2+"]), (5, ["0", "1", "2+"])]
)
def test_only_the_group_of_large_sets_has_a_plus(largest, names):
    assert list(size_table([set(range(largest))], [set()], most=2).sizes) == names


def test_empty_sets_alone_make_a_table_of_one_cell():
    table = size_table([set(), set()], [set(), set()])
    assert table.to_dict() == {"sizes": ["0"], "counts": [[2]]}


def test_indicators_are_read():
    true, predicted = np.eye(3, dtype=int), np.ones((3, 3), int)
    table = size_table(sparse.csr_array(true), predicted)
    assert table.counts[1][3] == 3
    assert json.loads(json.dumps(table.to_dict()))["counts"][1] == [0, 0, 0, 3]


def test_the_table_shows_sums():
    lines = str(size_table([{1}, {1}, {1, 2}], [{1}, set(), {3}])).splitlines()
    assert lines[0].split()[-4:] == ["0", "1", "2", "all"]
    assert [line.split() for line in lines[1:]] == [
        ["0", "0", "0", "0", "0"],
        ["1", "1", "1", "0", "2"],
        ["2", "0", "1", "0", "1"],
        ["all", "1", "2", "0", "3"],
    ]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("most", [0, -1, 2.0, "3", True])
def test_refusals_of_most(most):
    with pytest.raises(ParameterError, match="most must be a whole number of 1 or more, got"):
        size_table([{1}], [{1}], most=most)


def test_sides_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="Y_true has 1 samples but Y_pred has 2"):
        size_table([{1}], [{1}, {2}])
