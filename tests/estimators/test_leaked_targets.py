"""A column of X that holds the targets is noticed, and ordinary columns are not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from setlearn import SetClassifier
from setlearn.errors import SetlearnWarning
from setlearn.rules import TopK

RNG = np.random.RandomState(0)
NAMES = ["sea", "night sky", "city (old)"]
Y = pd.DataFrame(RNG.rand(40, 3) < 0.4, columns=NAMES).astype(int)
SETS = [{name for name in NAMES if row[name]} for _, row in Y.iterrows()]
X = pd.DataFrame({"size": RNG.randn(40), "age": RNG.randn(40)})


def fit(X, y, learner=None):
    return SetClassifier(learner, TopK(1), random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "written",
    [
        sorted,
        tuple,
        ";".join,
        " | ".join,
        lambda tags: str(sorted(tags)),
        lambda tags: np.array([*tags]),
    ],
    ids=["list", "tuple", "semicolons", "bars", "written list", "array"],
)
@pytest.mark.parametrize("y", [SETS, Y], ids=["sets", "indicator"])
def test_a_column_with_the_tags_is_named(written, y):
    table = X.assign(tags=[written(tags) for tags in SETS])
    with pytest.warns(SetlearnWarning, match=r"a column with the targets .*: 'tags'; drop"):
        fit(table, y)


def test_empty_sets_may_be_missing_cells():
    assert set() in SETS
    table = X.assign(tags=[";".join(tags) or np.nan for tags in SETS])
    with pytest.warns(SetlearnWarning, match="'tags'"):
        fit(table, SETS)


def test_a_table_of_polars():
    table = pl.from_pandas(X).with_columns(tags=pl.Series([sorted(tags) for tags in SETS]))
    with pytest.warns(SetlearnWarning, match="'tags'"):
        fit(table, SETS)


@pytest.mark.parametrize("learner", [None, LogisticRegression()])
@pytest.mark.parametrize("y", [SETS, Y, Y.astype(bool), Y.where(RNG.rand(40, 3) < 0.9)])
def test_label_columns_are_named(y, learner):
    with pytest.warns(SetlearnWarning, match="2 columns with the targets .*: 'sea', 'city .old.'"):
        fit(pd.concat([X, Y[["sea", "city (old)"]]], axis=1), y, learner)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("tags", [";".join(tags) for tags in [*SETS[:-1], {"sea", *SETS[0]} - SETS[-1]]]),
        ("other", Y["sea"].tolist()),
        ("sea", [*Y["sea"][:-1], 1 - Y["sea"].iloc[-1]]),
        ("sea", RNG.randn(40)),
        ("text", ["the sea at night", "a city"] * 20),
        ("never", [None] * 40),
    ],
)
@pytest.mark.parametrize("y", [SETS, Y, Y.to_numpy()], ids=["sets", "frame", "array"])
def test_other_columns_are_left_alone(column, values, y):
    fit(X.assign(**{column: values}), y)  # warnings are errors


def test_columns_without_names_are_left_alone():
    fit(pd.DataFrame(Y.to_numpy()), Y.to_numpy())


def test_a_pipeline_may_leave_the_column_out():
    table = X.assign(tags=[sorted(tags) for tags in SETS])
    learner = make_pipeline(
        make_column_transformer(("passthrough", ["size", "age"])), LogisticRegression()
    )
    fit(table, SETS, learner)
