"""Edit distances between sets of sequences."""

from __future__ import annotations

from itertools import permutations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.metrics import matched_edit_distance, mean_edit_distance
from setlearn.metrics.sequences import _encode, _token_ids
from setlearn.ordering import canonical_rank

strings = st.text("abc", max_size=4)
string_sets = st.frozensets(strings, max_size=4)
tokens = st.sampled_from([0, 1, "1", "a", 97, (1,), -1, -2, None, frozenset({1}), 2.5])
tuple_sets = st.frozensets(st.lists(tokens, max_size=3).map(tuple), max_size=3)
set_sets = st.frozensets(st.frozensets(tokens, max_size=3), max_size=3)
any_sets = st.one_of(*(st.tuples(s, s) for s in (string_sets, tuple_sets, set_sets)))


def edit_distance(a, b):
    """The textbook recursion, to hold the fast one against."""
    if not a or not b:
        return len(a) + len(b)
    return min(
        edit_distance(a[1:], b) + 1,
        edit_distance(a, b[1:]) + 1,
        edit_distance(a[1:], b[1:]) + (a[0] != b[0]),
    )


def matched_by_brute_force(true, predicted):
    fewer, more = sorted([list(true), list(predicted)], key=len)
    padded = fewer + [None] * (len(more) - len(fewer))

    def cost(a, b):
        return max(1, len(b)) if a is None else edit_distance(a, b)

    totals = (sum(map(cost, order, more)) for order in permutations(padded))
    return min(totals) / max(1, len(more))


@given(string_sets, string_sets)
@example(frozenset(), frozenset({""}))
def test_matched_distance_is_the_best_of_all_assignments(true, predicted):
    expected = matched_by_brute_force(true, predicted)
    assert matched_edit_distance([true], [predicted]) == pytest.approx(expected)


@given(string_sets, string_sets)
def test_mean_distance_is_over_all_pairs(true, predicted):
    pairs = [edit_distance(t, p) for t in true for p in predicted]
    expected = sum(pairs) / len(pairs) if pairs else nan
    assert mean_edit_distance([true], [predicted]) == pytest.approx(expected, nan_ok=True)


@given(any_sets)
def test_matched_distance_is_zero_only_for_equal_sets_and_symmetric(pair):
    true, predicted = pair
    distance = matched_edit_distance([true], [predicted])
    assert (distance == 0) == (true == predicted)
    assert distance == matched_edit_distance([predicted], [true])


@pytest.mark.parametrize(
    ("true", "predicted"),
    [(("a",), (97,)), ((1,), ("1",)), ((1,), ((1,),)), (("1",), ((1,),)), ((-1,), (-2,))],
)
def test_tokens_that_only_look_alike_are_one_edit_apart(true, predicted):
    assert mean_edit_distance([{true}], [{predicted}]) == 1
    assert matched_edit_distance([{true}], [{predicted}]) == 1


def test_equal_tokens_of_different_types_are_equal():
    assert matched_edit_distance([{(1, 2.0, True)}], [{(1.0, np.int64(2), 1)}]) == 0


def test_long_sequences_and_many_tokens():
    true, predicted = tuple(range(70_000, 71_000)), tuple(range(70_001, 71_001))
    assert mean_edit_distance([{true}], [{predicted}]) == 2


def test_sets_of_sets_are_read_in_one_order():
    members = frozenset({"b", "a", 10, 2, (1,), frozenset({"z", "y"}), None, 2.5})
    ids = _token_ids([members])
    by_id = sorted(ids, key=ids.__getitem__)
    assert by_id == [2, 2.5, 10, "a", "b", (1,), frozenset({"y", "z"}), None]
    assert _encode(members, ids) == list(range(len(members)))


@given(st.sets(st.recursive(tokens, lambda inner: st.frozensets(inner, max_size=3)), min_size=2))
def test_different_tokens_never_share_a_rank(distinct):
    assert len(set(map(canonical_rank, distinct))) == len(distinct)


def test_order_cannot_matter_in_sets_of_sets():
    words = [f"word {i}" for i in range(50)]
    reversed_words = words[::-1]
    forward, backward = [[set(words), {"x"}]], [[{"x"}, set(reversed_words)]]
    assert matched_edit_distance(forward, backward) == 0
    assert matched_edit_distance(forward, [[{"x"}, set(words[1:])]]) == 0.5


def test_lists_are_sequences_and_repeats_count_once():
    assert matched_edit_distance([[["a", "b"], ["a", "b"]]], [{("a", "b")}]) == 0


def test_samples_without_a_pair_are_left_out_of_the_mean():
    true, predicted = [{"ab"}, set(), {"a"}, set()], [{"a"}, {"abc"}, set(), set()]
    assert mean_edit_distance(true, predicted) == 1
    assert isnan(mean_edit_distance([set(), {"a"}], [{"a"}, set()]))
    assert matched_edit_distance(true, predicted) == (1 + 3 + 1 + 0) / 4


def test_weights():
    true, predicted = [{"aa"}, {"b"}, {"c"}], [{"a"}, {"bbbb"}, set()]
    assert mean_edit_distance(true, predicted, sample_weight=[3, 1, 9]) == (3 + 3) / 4
    assert matched_edit_distance(true, predicted, sample_weight=[2, 1, 1]) == (2 + 3 + 1) / 4
    assert isnan(mean_edit_distance(true, predicted, sample_weight=[0, 0, 1]))


@pytest.mark.parametrize("metric", [mean_edit_distance, matched_edit_distance])
@pytest.mark.parametrize(
    ("true", "predicted", "error", "message"),
    [
        ([{"a"}, "ab"], [{"a"}, {"b"}], KindError, "sample 1 of Y_true is the str 'ab'"),
        ([{"a"}], [{5}], KindError, "sample 0 of Y_pred holds the int 5, which is not a sequence"),
        ([{"a"}], [{b"a"}], KindError, "which is not a sequence"),
        ([{("a", "b")}], [{"ab"}], KindError, "one kind .* got str and tuple"),
        ([[([],)]], [{("a",)}], KindError, "sample 0 of Y_true holds .* hashed"),
        (np.eye(2), [{"a"}], KindError, "Y_true is a matrix"),
        ([{"a"}], [{"a"}, {"b"}], DataError, "Y_true has 1 samples but Y_pred has 2"),
        ([], [], DataError, "0 samples"),
    ],
)
def test_refusals(metric, true, predicted, error, message):
    with pytest.raises(error, match=message):
        metric(true, predicted)


def test_strings_are_split_as_asked():
    true, predicted = [{"turn left", "stop"}], [{"turn right", "stop"}]
    as_tuples = ([{tuple(e.split()) for e in sets[0]}] for sets in (true, predicted))
    assert matched_edit_distance(true, predicted, tokens="word") == 0.5
    assert mean_edit_distance(true, predicted, tokens=str.split) == mean_edit_distance(*as_tuples)
    assert matched_edit_distance(true, predicted) == matched_edit_distance(
        true, predicted, tokens="char"
    )
    assert matched_edit_distance([{("a b",)}], [{("a c",)}], tokens="word") == 1.0
    with pytest.raises(ParameterError, match=r"tokens must be .* got 'syllable'"):
        mean_edit_distance(true, predicted, tokens="syllable")
