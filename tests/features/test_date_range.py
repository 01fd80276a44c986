"""Dates outside of the range of training: kept within it, with one warning per call if far."""

import warnings

import numpy as np
import pandas as pd
import pytest

from setlearn import SetClassifier
from setlearn.errors import DateRangeWarning, UnseenCategoryWarning
from setlearn.features import TableFeatures
from setlearn.rules import Threshold
from tests.cli.running import run

DAYS = pd.date_range("2021-01-01", "2024-12-31", periods=60)
TRAIN = pd.DataFrame({"added": DAYS.strftime("%Y-%m-%d"), "city": ["Oslo", "Rome"] * 30})
SETS = [{"old"} if day.year < 2023 else {"new", "shiny"} for day in DAYS]
FAR = ["2999-01-01", "1021-01-01", "2999-01-01", "3000-01-01", "1500-06-01"]


@pytest.fixture(scope="module")
def model():
    return SetClassifier(rule=Threshold("tuned"), random_state=0).fit(TRAIN, SETS)


def table(dates):
    return pd.DataFrame({"added": dates, "city": "Oslo"})


def test_one_warning_per_call(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(table([*FAR, "2022-05-01", None]))
    [warning] = [w.message for w in caught]
    assert isinstance(warning, DateRangeWarning)
    assert warning.samples == (0, 1, 2, 3, 4)
    assert str(warning).startswith(
        "5 rows with dates far outside of the range of training: added ('2999-01-01', "
        "'1021-01-01', '3000-01-01' and 1 more); they are read as the nearest time"
    )


def test_the_time_is_kept_within_the_range_and_the_season_is_free():
    features = TableFeatures().fit(TRAIN)
    inside, far = features.transform(table(["2024-12-31", "2999-07-01"]))[:, :7]
    assert inside[0] == far[0]
    assert inside[1] == pytest.approx(1, abs=0.01)
    assert far[1] == pytest.approx(-1, abs=0.01)


def test_dates_a_little_outside_give_no_warning(model):
    model.predict(table(["2024-12-31", "2025-03-01", "2020-11-30"]))  # warnings are errors


def test_dates_and_categories_have_warnings_of_their_own(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(table(["2999-01-01"]).assign(city="Lima"))
    assert {type(w.message) for w in caught} == {DateRangeWarning, UnseenCategoryWarning}


def test_times_of_pandas_and_gaps(model):
    with pytest.warns(DateRangeWarning, match=r"^1 row .* added \('2200-01-01 00:00:00'\)"):
        model.predict(table(np.array(["2200-01-01", "NaT"], dtype="datetime64[s]")))


def test_the_command_line_counts_over_batches(tmp_path):
    train = TRAIN.assign(tags=[";".join(sorted(labels)) for labels in SETS])
    train.to_csv(tmp_path / "train.csv", index=False)
    table(["2999-01-01"] * 1500).to_csv(tmp_path / "new.csv", index=False)
    folder = tmp_path / "model"
    assert run("fit", tmp_path / "train.csv", "--out", folder, "--validation", 0).code == 0
    answered = run("predict", folder, tmp_path / "new.csv")
    assert answered.code == 0
    assert answered.err.count("warning") == 1
    assert "1500 rows with dates far outside of the range of training: added" in answered.err
