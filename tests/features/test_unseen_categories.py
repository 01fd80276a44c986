"""Categories that training has not seen: one warning per call, with rows, columns and values."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from setlearn import SetClassifier, save
from setlearn.errors import UnseenCategoryWarning
from setlearn.features import TableFeatures
from setlearn.files import Row
from setlearn.persistence import read_model
from setlearn.records import record_model_for
from setlearn.rules import Threshold
from setlearn.server.served_model import Ask, ServedModel

RNG = np.random.RandomState(0)
CITIES, COLOURS = ["Oslo", "Rome", "Bonn"], ["red", "blue"]
TRAIN = pd.DataFrame(
    {
        "size": RNG.randn(60),
        "city": RNG.choice(CITIES, 60),
        "colour": RNG.choice(COLOURS, 60),
        "words": [["a", "b"], ["b"], []] * 20,
    }
)
SETS = [{"north"} if city == "Oslo" else {"south", "warm"} for city in TRAIN["city"]]
NEW = TRAIN[:9].assign(
    city=["Kyiv", "Oslo", None, "Lima", "Kyiv", np.nan, "Cairo", "Quito", "n/a"],
    colour=["red"] * 8 + ["pink"],
    words=[["never seen"]] * 9,
)


@pytest.fixture(scope="module")
def model():
    return SetClassifier(rule=Threshold("tuned"), random_state=0).fit(TRAIN, SETS)


VERBS = {
    "predict": lambda model: model.predict(NEW),
    "predict_sets": lambda model: model.predict_sets(NEW),
    "predict_proba": lambda model: model.predict_proba(NEW),
    "predict_ranked": lambda model: model.predict_ranked(NEW, top=2),
    "complete": lambda model: model.complete(NEW, [set()] * 9),
    "score": lambda model: model.score(NEW, SETS[:9]),
    "with_rule": lambda model: model.with_rule(Threshold("tuned"), NEW, SETS[:9]),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_one_warning_per_call(model, verb):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        verb(model)
    [warning] = [w.message for w in caught if isinstance(w.message, UnseenCategoryWarning)]
    assert warning.samples == (0, 3, 4, 6, 7, 8)
    assert warning.values == {"city": ("Kyiv", "Lima", "Cairo", "Quito"), "colour": ("pink",)}
    assert str(warning).startswith(
        "6 rows with categories never seen in training: city ('Kyiv', 'Lima', 'Cairo' and 1 more), "
        "colour ('pink'); they have no features"
    )
    assert caught[0].filename == __file__


def test_the_trace_of_one_row(model):
    with pytest.warns(UnseenCategoryWarning, match=r"^1 row with .* city \('Kyiv'\); "):
        model.trace(NEW.iloc[0])


def test_known_and_missing_values_give_no_warning(model):
    model.predict(TRAIN)  # warnings are errors
    model.predict(NEW.iloc[[1, 2, 5]])


def test_no_warning_in_folds_of_training():
    rare = TRAIN.assign(city=["Paris", *TRAIN["city"][1:]])
    learner = make_pipeline(TableFeatures(), LogisticRegression())
    model = SetClassifier(learner, Threshold("tuned"), random_state=0).fit(rare, SETS)
    with pytest.warns(UnseenCategoryWarning, match=r"^6 rows"):
        model.predict(NEW)


def test_models_that_read_records_warn_too(model, tmp_path):
    records = NEW.to_dict("records")
    reading, _ = record_model_for(model, Row("", records[0]))
    with pytest.warns(UnseenCategoryWarning, match="^6 rows"):
        answers = reading.predict(records)
    save(reading, tmp_path / "model")
    served = ServedModel(read_model(tmp_path / "model"))
    [answer] = served.answer([Ask(Ask.predict, records)])
    assert [frozenset(entry) for entry in answer.entries] == answers


def test_the_warnings_of_batches_are_one():
    parts = [
        UnseenCategoryWarning([0, 2], {"city": ["Lima", "Kyiv"]}),
        UnseenCategoryWarning([1], {"city": ["Kyiv"], "colour": ["pink"]}),
    ]
    together = UnseenCategoryWarning.of_batches(parts)
    assert together.values == {"city": ("Lima", "Kyiv"), "colour": ("pink",)}
    assert str(together).startswith("3 rows with")
