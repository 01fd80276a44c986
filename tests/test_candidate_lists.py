"""Queries with candidates, and matrices, as rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from setlearn.candidate_lists import read_candidate_lists
from setlearn.errors import DataError, KindError

PAIRS = [("a", ["x", "y", "x"]), ("b", []), ("c", ["y", ("z", "w"), 3])]


def test_each_candidate_is_there_once():
    lists = read_candidate_lists(PAIRS)
    assert len(lists) == 3
    assert lists.sizes.tolist() == [2, 0, 3]
    assert [lists.of(k) for k in range(3)] == [["x", "y"], [], ["y", ("z", "w"), 3]]
    assert lists.candidates == ["x", "y", ("z", "w"), 3]
    assert lists.place.tolist() == [0, 1, 0, 1, 2]
    mask, others = lists.mask([{"y"}, set(), {3, "y"}], "y")
    assert others == []
    assert lists.sets(mask) == [{"y"}, frozenset(), {3, "y"}]


@pytest.mark.parametrize("samples", [slice(1, 3), np.array([1, 2]), np.array([False, True, True])])
def test_some_samples(samples):
    part = read_candidate_lists(PAIRS)[samples]
    assert part.queries == ["b", "c"]
    assert [part.of(k) for k in range(2)] == [[], ["y", ("z", "w"), 3]]


def test_blocks_bound_the_padded_size():
    lists = read_candidate_lists([("q", list(range(n))) for n in (1, 2, 9, 1, 1, 0, 3)])
    assert [*lists.blocks(6)] == [slice(0, 2), slice(2, 3), slice(3, 6), slice(6, 7)]
    assert [*lists.blocks(100)] == [slice(0, 7)]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_with_a_column_of_lists(frame):
    table = frame({"question": ["a", "b"], "answers": [["x", "y"], ["z"]]})
    lists = read_candidate_lists(table)
    assert lists.queries == ["a", "b"]
    assert [lists.of(k) for k in range(2)] == [["x", "y"], ["z"]]


def test_matrices_have_rows_for_candidates():
    lists = read_candidate_lists([np.ones((2, 3)), pd.DataFrame(np.zeros((1, 3)))])
    assert [lists.of(k) for k in range(2)] == [[0, 1], [0]]
    assert lists.matrix.tolist() == [[1] * 3, [1] * 3, [0] * 3]
    part = lists[np.array([1])]
    assert part.matrix.tolist() == [[0] * 3]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("abc", KindError, "single value 'abc'"),
        ([], DataError, "X holds 0 samples"),
        (["abc"], KindError, r"sample 0 of X is 'abc'; pass a pair \(query, candidates\)"),
        ([("a", ["b"]), ("a",)], DataError, "sample 1 of X has 1 parts"),
        ([("a", "bcd")], KindError, "has 'bcd' for its candidates; pass a list"),
        ([("a", [{"b": 1}])], KindError, "cannot be an element of a set"),
        ([("a", ["b", None])], DataError, "has an empty or missing candidate"),
        ([(None, ["b"])], DataError, "sample 0 of X has an empty query, or none"),
        ([("a", ["b"]), np.ones((1, 2))], KindError, "sample 1 of X is .*pair"),
        ([np.ones((1, 2)), ("a", ["b"])], KindError, "sample 1 of X is .*a matrix with one row"),
        ([np.ones((1, 2)), np.ones((1, 3))], DataError, "sample 1 of X has 3 features.*has 2"),
        ([np.full((1, 2), np.inf)], DataError, "sample 0 of X holds infinity"),
        ([np.array([["a", "b"]])], DataError, "sample 0 of X is no matrix of numbers"),
        (pd.DataFrame({"a": ["b"]}), DataError, "X has 1 columns; pass a table with a column"),
    ],
)
def test_other_inputs_are_refused(X, error, message):
    with pytest.raises(error, match=message):
        read_candidate_lists(X)


def test_elements_that_are_no_candidates_are_named():
    lists = read_candidate_lists(PAIRS)
    with pytest.raises(DataError, match="sample 1 of y holds 'x', which is not among the 0 cand"):
        lists.mask([set(), {"x"}, set()], "y")
    mask, others = lists.mask([{"q", "x"}, {"x"}, set()], "known", ignore_others=True)
    assert sorted(others) == ["q", "x"]
    assert mask.tolist() == [True, False, False, False, False]
