"""Texts and tables become numbers; columns are found by name, and what is wrong has a place."""

import warnings
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from setlearn.errors import DataError, ParameterError, SetlearnError, SetlearnWarning
from setlearn.features import TableFeatures, is_table

TEXTS = ["sun over the sea", "a city at night", "sun on the city", "the night sea", "sun", "sea"]
TABLE = {
    "price": [3.5, None, 4.0, 8.5, 9.0, 1.0],
    "colour": ["red", "blue", None, "red", "blue", "red"],
    "title": TEXTS,
    "day": ["2024-01-01", "2023-05-06", None, "2020-02-29", "2021-07-01", "2022-12-31"],
}
KINDS = {"price": "number", "colour": "category", "title": "text", "day": "date"}


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def frames():
    days = [None if day is None else date.fromisoformat(day) for day in TABLE["day"]]
    yield "dicts", [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    yield "pandas", pd.DataFrame(TABLE)
    yield "pandas with its own types", pd.DataFrame(TABLE).convert_dtypes()
    yield "pandas with time stamps", pd.DataFrame({**TABLE, "day": pd.to_datetime(TABLE["day"])})
    yield "polars", pl.DataFrame(TABLE)
    yield "polars with dates", pl.DataFrame({**TABLE, "day": days})


FRAMES = dict(frames())


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_all_tables_with_the_same_values_have_the_same_features(frame):
    assert is_table(frame)
    features = TableFeatures(KINDS).fit(frame)
    expected = TableFeatures(KINDS).fit_transform(FRAMES["dicts"])
    assert dense(features.transform(frame)) == pytest.approx(dense(expected))
    assert len(features.get_feature_names_out()) == expected.shape[1]


@pytest.mark.parametrize(
    "texts", [TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, object), pd.Series(TEXTS)]
)
def test_texts_may_be_in_any_kind_of_list(texts):
    assert is_table(texts)
    assert (TableFeatures().fit_transform(texts) != TableFeatures().fit_transform(TEXTS)).nnz == 0


def test_texts_that_repeat_are_still_texts():
    features = TableFeatures(text="tfidf").fit(["good film", "bad film"] * 20)
    assert features.transform(["bad good"]).nnz == 2


def test_short_texts_have_parts_of_words_and_many_texts_have_not():
    features = TableFeatures().fit(["good film", "bad film"] * 20)
    assert {"good film", "film", " goo", "oo"} <= {
        *features.reader_.encoders[0].vectoriser.get_feature_names_out()
    }
    many = TableFeatures().fit(["good film", "bad film"] * 3000)
    assert {*many.get_feature_names_out()} == {
        *TableFeatures(text="tfidf").fit(["good film", "bad film"]).get_feature_names_out()
    }
    long = TableFeatures().fit(["good film " * 120, "bad film"] * 20)
    assert "text_oo" not in long.get_feature_names_out()


def test_a_missing_text_has_no_words():
    features = TableFeatures(text="tfidf").fit([*TEXTS, None])
    assert np.diff(features.transform([None, "sun", "", float("nan")]).indptr).tolist() == [
        *(0, 1, 0, 0)
    ]


def test_columns_are_found_by_name():
    frame = FRAMES["pandas"]
    features = TableFeatures(KINDS).fit(frame)
    moved = frame[["title", "day", "price", "colour"]].assign(other=1)
    assert (features.transform(moved) != features.transform(frame)).nnz == 0
    with pytest.raises(DataError, match="there is no column 'price'; did you mean 'prize'"):
        features.transform(frame.rename(columns={"price": "prize"}))


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("price", "cheap", "holds 'cheap', which is not a finite number"),
        ("price", float("inf"), "holds inf, which is not a finite number"),
        ("title", ["a"], "which is not a text"),
        ("day", "soon", "holds 'soon', which is not a date such as 2024-05-31"),
        ("day", "2023-02-30", "which is not a date"),
        ("day", "30.02.2023", "which is not a date"),
    ],
)
def test_a_value_of_another_kind_is_an_error_with_its_place(column, value, problem):
    features = TableFeatures(KINDS).fit(FRAMES["dicts"])
    rows = [dict(row) for row in FRAMES["dicts"]]
    rows[3][column] = value
    with pytest.raises(DataError, match=f"record 3: column '{column}' .*{problem}"):
        features.transform(rows)


def test_dates_are_points_in_time_and_on_circles():
    days = [date(2024, 1, 1), datetime(2024, 1, 1), np.datetime64("2024-01-01"), "2024-01-01"]
    days += [datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2024-01-01T00:00:00Z"]
    features = TableFeatures({"day": "date"}).fit([{"day": day} for day in [*days, "2024-12-31"]])
    rows = features.transform([{"day": day} for day in days])
    assert np.ptp(rows, axis=0) == pytest.approx(0)
    assert rows[0] == pytest.approx([24, 1, 1, 1, 0, 0, 0])  # a Monday
    dotted = features.transform([{"day": "1.1.2024"}, {"day": "01.01.2024 00:00"}])
    assert dotted == pytest.approx(rows[:2])
    names = features.get_feature_names_out().tolist()
    later = features.transform([{"day": "2024-07-01 12:00"}])[0]
    assert dict(zip(names, later, strict=True))["day_years"] == pytest.approx(24.5, abs=0.01)


def test_dates_are_recognised():
    rows = [{"day": f"2024-05-{k:02}", "code": f"2024-{k}"} for k in range(1, 20)]
    assert TableFeatures().fit(rows).notes_ == ["day: date", "code: text"]


def test_columns_that_are_not_read_are_named():
    rows = [{"id": k * 7 % 20, "size": k**2, "same": 1} for k in range(20)]
    with pytest.warns(SetlearnWarning, match=r"not read: id: ignored \(an id by its name\)"):
        features = TableFeatures().fit(rows)
    assert features.transform(rows).shape == (20, 1)
    assert TableFeatures({"id": "number"}).fit_transform(rows).shape == (20, 2)
    with pytest.raises(DataError, match="X has no column to learn from: same: ignored"):
        TableFeatures().fit([{"same": 1}] * 3)


def test_it_is_a_transformer():
    features = TableFeatures({"a": "text"}, text="chars")
    assert clone(features).get_params() == features.get_params()
    learner = make_pipeline(TableFeatures(), LogisticRegression()).fit(TEXTS, [0, 1, 0, 1, 0, 1])
    assert learner.predict(["sun", "night"]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "X",
    [
        np.ones((2, 2)),
        sparse.eye_array(3, format="csr"),
        [[1.0, 2.0]],
        pd.DataFrame({"a": [1, 2], "b": [True, False]}),
        pl.DataFrame({"a": [1, 2], "b": [0.5, None]}),
    ],
    ids=lambda X: type(X).__module__,
)
def test_numbers_are_no_table(X):
    assert not is_table(X)


def test_whole_numbers_are_the_same_categories_as_floats():
    """One missing value makes pandas read a column of integers as floats."""
    features = TableFeatures({"zip": "category"}).fit(pd.DataFrame({"zip": [1, 2, 3, 4] * 6}))
    rows = features.transform(pd.DataFrame({"zip": [1, None]}))
    assert rows.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]


def test_categories_of_polars_are_declared():
    values = pl.Series(["x", "y", "x"], dtype=pl.Enum(["x", "y"]))
    assert TableFeatures().fit(pl.DataFrame({"c": values})).columns_[0].kind == "category"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("a text", "X is the single value 'a text'; pass a list"),
        ({"size": 1}, "X is the single value {'size': 1}"),
        (None, "X is the single value None"),
        ([], "X has no rows"),
        ([1, 2], "sample 0 of X is 1; pass a text for each sample"),
        (pd.DataFrame([["a", "b"]], columns=["c", "c"]), "several columns called 'c'"),
        (pd.DataFrame({"a": [1.5, np.inf, 3], "b": ["x y", "y", "z"]}), "holds inf, which is not"),
    ],
)
def test_what_is_no_table_is_refused(X, message):
    with pytest.raises(SetlearnError, match=message):
        TableFeatures().fit(X)


def test_parameters_are_checked():
    with pytest.raises(
        ParameterError, match="text must be one of subwords, tfidf, words, chars, got 'foo'"
    ):
        TableFeatures(text="foo").fit(TEXTS)
    assert TableFeatures({0: "category"}).fit([["a", 7], ["b", 2]]).columns_[0].kind == "category"


def test_columns_that_may_be_misread_give_a_warning_unless_their_kind_is_given():
    table = [{"price": f"{k},50", "size": k / 7} for k in range(12)]
    with pytest.warns(SetlearnWarning, match=r"misread: price: text \(like numbers such as '0,50'"):
        TableFeatures().fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableFeatures({"price": "text"}).fit(table)
