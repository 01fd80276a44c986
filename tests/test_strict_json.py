"""The one strict reader of JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setlearn.strict_json import StrictJsonError, parse_strict_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=20,
)


@given(VALUES)
def test_what_json_writes_is_read_back(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert parse_strict_json(text) == parse_strict_json(text.encode()) == value


BROKEN = {
    b"\xff": "not UTF-8",
    b'"\xed\xa0\x80"': "not UTF-8",  # a surrogate in UTF-8
    b"": "broken at character 0",
    b"[1,": "broken at character 3",
    b"[1] 2": "broken at character 4",
    b"'secret'": "broken at character 0",
    b"[NaN]": "NaN and Infinity",
    b"-Infinity": "NaN and Infinity",
    b"1e400": "too large",
    b"-1e400": "too large",
    b"9" * 5000: "too large",
    b'{"secret": 1, "secret": 2}': "the same key twice",
    b'[{"b": {"secret": 1, "secret": 1}}]': "the same key twice",
    rb'"secret\ud800"': "contains a lone surrogate",
    rb'{"secret\udfff": 1}': "contains a lone surrogate",
    b"[" * 201 + b"]" * 201: "nested more than 200 deep",
    b"[" * 100_000: "nested more than 200 deep",
    b'{"a":' * 100_000: "nested more than 200 deep",
}


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: repr(content[:20]))
def test_anything_else_is_refused_without_repeating_it(content):
    with pytest.raises(StrictJsonError, match=BROKEN[content]) as caught:
        parse_strict_json(content)
    assert "secret" not in str(caught.value)


def test_the_place_is_named():
    with pytest.raises(StrictJsonError) as caught:
        parse_strict_json('{\n "a": 1,\n "b" 2}')
    assert (caught.value.position, caught.value.line, caught.value.column) == (16, 3, 6)
    with pytest.raises(StrictJsonError) as caught:
        parse_strict_json(b"[1, \xff]")
    assert (caught.value.position, caught.value.line) == (4, None)


@pytest.mark.parametrize(("text", "depth"), [("1", 0), ("[]", 1), ('{"a": [1, [2]]}', 3)])
def test_depth_counts_lists_and_objects(text, depth):
    assert parse_strict_json(text, max_depth=depth) == json.loads(text)
    if depth:
        with pytest.raises(StrictJsonError, match="nested"):
            parse_strict_json(text, max_depth=depth - 1)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0, -1])
def test_whole_numbers_of_so_many_bits(number):
    assert parse_strict_json(str(number), integer_bits=64) == number


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400])
def test_whole_numbers_of_more_bits(number):
    assert parse_strict_json(str(number)) == number
    with pytest.raises(StrictJsonError, match="more than 64 bits"):
        parse_strict_json(str(number), integer_bits=64)


def test_surrogates_where_they_are_allowed():
    assert parse_strict_json(r'["\ud800"]', allow_surrogates=True) == ["\ud800"]
    assert parse_strict_json(r'"\ud83d\ude00"') == "😀"  # a pair is a character
