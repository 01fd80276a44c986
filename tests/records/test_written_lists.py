"""Lists in cells, as other programs write them."""

import io

import numpy as np
import pandas as pd
import pytest

from setlearn.errors import DataError
from setlearn.features import as_rows
from setlearn.records import guess_targets
from setlearn.written_lists import written_list

TAGS = ["sun", "the sea", "it's", 'a "word"', "x, y", "a;b"]


@pytest.mark.parametrize(
    "text",
    [
        '["sun", "the sea", "it\'s", "a \\"word\\"", "x, y", "a;b"]',
        str(TAGS),
        str(tuple(TAGS)),
        str(set(TAGS)),
        str(frozenset(TAGS)),
        str(np.array(TAGS)),
        str(np.array(TAGS, dtype=object)),
        f"  {TAGS}\n",
        str(list(np.array(TAGS))),  # np.str_('sun')
    ],
    ids=range(9),  # sets are written in any order
)
def test_elements_are_the_same_however_they_are_written(text):
    assert sorted(written_list(text, "tags")) == sorted(TAGS)


def test_numbers_and_odd_texts():
    assert written_list(str(np.array([1, 20, -3])), "y") == [1, 20, -3]
    assert written_list(str(list(np.array([1.5, 2e9]))), "y") == [1.5, 2e9]
    assert written_list("['a', '', 'b']", "y") == ["a", "", "b"]
    assert written_list(r"['a\d', 'b']", "y") == [r"a\d", "b"]


@pytest.mark.parametrize("text", ["[]", "set()", "frozenset()", "()", str(np.array([]))])
def test_nothing_is_an_empty_list(text):
    assert written_list(text, "tags") == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "sun", "[draft]", "(see below)", "{x}", "['a'", "a, b", "{'a': 1}", "[a, b]"),
        *("f('a')", "[__import__('os')]", "[1 + 2]", "['a' + 'b']"),
        *("['a' 'b', 'c']", "{{}}", "{{1}}", "{'a', ['b']}"),
        "['" + "a" * 200_000 + "']",
    ],
    ids=lambda text: text[:20],
)
def test_other_texts_are_no_lists(text):
    assert written_list(text, "tags") is None


def test_lists_that_json_cannot_hold_are_an_error():
    with pytest.raises(DataError, match="line 3: 'tags' is a list that cannot be read"):
        written_list('["a", NaN]', "line 3: 'tags'")


def test_a_table_that_pandas_wrote_is_read_as_it_was():
    sets = [["sun", "sea"], ["sea"], [], ["it's", "sun"]] * 3
    file = io.StringIO(pd.DataFrame({"x": range(12), "tags": sets}).to_csv(index=False))
    rows = as_rows(pd.read_csv(file))
    reader, notes = guess_targets(rows)
    assert [reader.read(row) for row in rows] == [frozenset(tags) for tags in sets]
    assert notes[-1] == "tags: labels (3 different)"
