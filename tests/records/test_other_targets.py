"""Sets that are written in another way, or in other columns, than those of training."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from setlearn import SetClassifier
from setlearn.errors import DataError, ParameterError
from setlearn.files import Row, open_rows, write_rows
from setlearn.records import TargetReader, plan_records, record_model_for
from setlearn.rules import Threshold
from tests.records.table import rows_of

PLAIN = SetClassifier(LogisticRegression(C=100), rule=Threshold(0.5))
X = [[1, 0], [0, 1], [1, 1], [0, 0]] * 5


def fitted(y, **options):
    rows = rows_of(x=X, y=y * 5)
    return plan_records(rows, task="labels", **options).fit(rows, PLAIN)


@pytest.fixture(scope="module")
def flagged():
    flags = {"is_red": ["1", "0", "1", "0"] * 5, "is_blue": ["0", "1", "1", "0"] * 5}
    rows = rows_of(x=X, **flags)
    return plan_records(rows, target="is_*").fit(rows, PLAIN)


@pytest.fixture(scope="module")
def on_indicator():
    return record_model_for(PLAIN.fit(np.array(X), np.array(X)), Row("", {"x": [0, 1]}))[0]


@pytest.mark.parametrize("y", [[["a"], ["b"], ["a", "b"], []], [[3], [5], [3, 5], []]])
def test_answers_in_a_table_are_read_as_the_lists_of_training_are(tmp_path, y):
    model = fitted(y)
    answers = model.predict(X[:4])
    assert answers == [frozenset(one) for one in y]
    write_rows(tmp_path / "a.csv", [{"x": 0, "y": answer} for answer in answers])
    rows = list(open_rows(tmp_path / "a.csv"))
    assert model.true_sets(rows) == answers == model.known_sets(rows, "y")


def test_labels_that_were_texts_are_known_as_numbers():
    model = fitted(["3", "5", "3;5", None])
    assert model.true_sets([{"y": [3, 7]}]) == [{"3", 7}]


def test_elements_are_known_by_their_spelling(on_indicator):
    assert on_indicator.as_elements([["0", 1, "2"]]) == [{0, 1, "2"}]
    assert on_indicator.known_sets([{"known": "0;1"}], "known") == [{0, 1}]


def test_one_element_a_cell_stays_so_for_texts():
    model = fitted(["a;b", "c", "c", "a;b"], separator="")
    assert model.true_sets([{"y": "a;b"}]) == [{"a;b"}]


def test_known_labels_of_flags_are_written_in_one_cell(flagged):
    assert flagged.known_sets([{"known": "is_red;is_blue"}], "known") == [{"is_red", "is_blue"}]


def read(model, record, target=None, separator=None):
    row = Row("line 2", record)
    return model.reading_targets(row, target, separator).true_sets([row])[0]


def test_sets_may_stand_elsewhere(flagged):
    model = fitted(["a;b", "b", "a", None])
    assert read(model, {"y": "a;b"}) == {"a", "b"}
    assert read(model, {"truth": "a;b"}, ["tr*"]) == {"a", "b"}
    assert read(model, {"y": "a|b"}, None, "|") == {"a", "b"}
    assert read(model, {"truth": "a;b"}, ["truth"], "") == {"a;b"}
    assert read(model, {"b": "0", "a": "1"}, ["b", "a"]) == {"a"}
    assert read(model, {"b": "0", "a": "1", "c": "yes"}, ["?"]) == {"a", "c"}
    assert read(flagged, {"is_red": 1, "is_blue": 0}) == {"is_red"}
    assert read(flagged, {"tags": "is_red;is_blue"}, ["tags"]) == {"is_red", "is_blue"}


def test_columns_are_the_labels_of_an_indicator_by_name_or_by_place(on_indicator):
    assert read(on_indicator, {"1": 1, "0": 0}, ["1", "0"]) == {1}
    assert read(on_indicator, {"is_a": 1, "is_b": 0}, ["is_*"]) == {0}


@pytest.mark.parametrize(
    ("target", "separator", "error", "message"),
    [
        (["is_red"], None, DataError, "none for is_blue among is_red; name all of them"),
        (["is_r*"], None, DataError, "none for is_blue among is_red"),
        (["other", "more"], None, DataError, "none for is_blue, is_red among other, more"),
        (["is_*"], ";", ParameterError, r"one column per label \(is_red, is_blue\), got ';'"),
        (None, ";", ParameterError, "one column per label .* got ';'"),
        (["tags"], None, DataError, "there is no column 'tags'"),
    ],
)
def test_what_does_not_fit_is_refused(flagged, target, separator, error, message):
    row = Row("line 2", {"is_red": "1", "is_blue": "0", "other": "1", "more": "0"})
    with pytest.raises(error, match=message):
        flagged.reading_targets(row, target, separator)


def test_sequences_have_no_columns_of_their_own():
    usual = TargetReader(("y",), ";", "sequences")
    row = Row("", {"a": "1", "b": "0"})
    assert usual.for_other_columns(row, ["a*"], None, []).read(row) == {"1"}
    with pytest.raises(
        ParameterError, match="one column per label cannot hold sequences, got a, b"
    ):
        usual.for_other_columns(row, ["a", "b"], None, [])
