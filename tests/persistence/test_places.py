"""Every value of a model has a place of its own in the files, whatever its keys are called."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn.persistence.decoding import decode
from setlearn.persistence.encoding import encode

KEYS = st.sampled_from(
    [
        "a",
        "b",
        "a.b",
        "a/b",
        ".",
        "/",
        "",
        "0",
        "1",
        "data",
        "%2E",
        "%",
        "!",
        "!dict",
        "\ud800",
        "ä",
    ]
)
NUMBERS = st.integers(-9, 9)
ARRAYS = st.one_of(
    st.lists(NUMBERS, min_size=1, max_size=3).map(lambda row: np.array(row, dtype=float)),
    NUMBERS.map(lambda number: sparse.csr_array([[number, 1.0]])),
)


VALUES = st.recursive(
    ARRAYS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.lists(parts, max_size=3).map(tuple),
        st.dictionaries(KEYS, parts, max_size=4),
        st.dictionaries(NUMBERS | KEYS, parts, max_size=4),
        st.dictionaries(st.tuples(KEYS, NUMBERS), parts, max_size=3),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_no_two_arrays_share_a_place(value):
    data = encode(value)
    assert same(decode(data), value)
    assert len(data.tensors) == count(value)


def count(value):
    """How many arrays there are in a value, three of them in a sparse matrix."""
    if isinstance(value, np.ndarray):
        return 1
    if sparse.issparse(value):
        return 3
    return sum(map(count, value.values() if isinstance(value, dict) else value))


def same(left, right):
    if type(left) is not type(right):
        return False
    if sparse.issparse(left):
        return np.array_equal(left.toarray(), right.toarray())
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    return len(left) == len(right) and all(map(same, left, right))


def test_arrays_in_arrays_of_objects():
    inner = [np.array([1.0]), np.array([2.0, 3.0])]
    array = np.empty(2, dtype=object)
    array[:] = inner
    again = decode(encode({"x": array}))["x"]
    assert all(map(same, again, inner))


def test_an_array_that_is_shared_stays_shared():
    shared = np.arange(3.0)
    data = encode({"a.b": shared, "a": {"b": shared, "c": np.arange(3.0)}})
    again = decode(data)
    assert len(data.tensors) == 2
    assert again["a.b"] is again["a"]["b"]
    assert again["a"]["c"] is not again["a.b"]
