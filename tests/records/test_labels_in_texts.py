"""Texts with labels of a model that does not say how its sets are written."""

import pytest

from setlearn import SetClassifier, load, save
from setlearn.files import Row
from setlearn.records import record_model_for
from setlearn.rules import TopK

X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 3
SETS = [{"eco", "gift"}, {"Rome, Italy"}, {"last season", "eco"}, {"gift"}] * 3


@pytest.fixture(scope="module")
def model():
    plain = SetClassifier(rule=TopK(1), random_state=0).fit(X, SETS)
    return record_model_for(plain, Row("", {"a": 1.0, "b": 1.0, "tags": ""}))[0]


def read(model, text):
    return set(model.true_sets([{"a": 1.0, "b": 1.0, "tags": text}])[0])


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("eco, gift", {"eco", "gift"}),
        ("eco|last season", {"eco", "last season"}),
        ("eco gift", {"eco", "gift"}),
        ("last season", {"last season"}),
        ("Rome, Italy", {"Rome, Italy"}),
        ("Rome, Italy; eco", {"Rome, Italy", "eco"}),
        ("eco, dragon", {"eco", "dragon"}),
        ("big dragon", {"big dragon"}),
        ("big, dragon", {"big, dragon"}),
        ("['eco', 'gift']", {"eco", "gift"}),
        ("", set()),
    ],
)
def test_texts_are_split_where_the_parts_are_labels(model, text, labels):
    assert read(model, text) == labels


def test_numbers_are_found_by_their_spelling():
    plain = SetClassifier(rule=TopK(1), random_state=0).fit(X, [{1, 2}, {2}, {3}, {1}] * 3)
    model, _ = record_model_for(plain, Row("", {"a": 1.0, "b": 1.0, "tags": ""}))
    assert read(model, "1, 3") == {1, 3}


def test_a_given_separator_is_used(model):
    row = Row("", {"a": 1.0, "b": 1.0, "tags": "eco, gift"})
    assert model.reading_targets(row, None, "").true_sets([row]) == [{"eco, gift"}]
    renamed = Row("", {"a": 1.0, "b": 1.0, "truth": "eco, gift"})
    assert model.reading_targets(renamed, ["truth"], None).true_sets([renamed]) == [{"eco", "gift"}]


def test_it_is_saved_with_the_model(model, tmp_path):
    save(model, tmp_path / "model")
    assert read(load(tmp_path / "model"), "eco, gift") == {"eco", "gift"}
