"""SetClassifier() on texts and tables, as people have them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from setlearn import SetClassifier, load, save
from setlearn.errors import DataError, KindError, SetlearnError, SetlearnWarning
from setlearn.features import TableFeatures, as_rows
from setlearn.files import Row
from setlearn.learners import SetMixture
from setlearn.records import reading_x, record_model_for
from setlearn.rules import ExpectedF, Margin, Threshold, TopK

RNG = np.random.RandomState(0)
WORDS = {"sea": "boat wave harbour ship", "city": "street tower bus square", "night": "moon stars"}


def sample():
    tags = {tag for tag in WORDS if RNG.rand() < 0.5}
    words = [word for tag in sorted(tags) for word in RNG.choice(WORDS[tag].split(), 2)]
    return " ".join([*words, *RNG.choice(["the", "a", "with", "some", "old", "new"], 3)]), tags


TEXTS, TAGS = zip(*(sample() for _ in range(120)), strict=True)
TEXTS, TAGS = list(TEXTS), list(TAGS)


@pytest.fixture(scope="module")
def tagger():
    return SetClassifier(rule=Threshold("tuned"), random_state=0).fit(TEXTS, TAGS)


def test_texts_in_sets_out(tagger):
    assert tagger.score(TEXTS[:60], TAGS[:60]) > 0.9
    assert tagger.predict(["the ship and the tower"]) == [{"sea", "city"}]
    assert tagger.predict(pd.Series(["moon"])) == tagger.predict(("moon",)) == [{"night"}]


def test_all_verbs_read_texts(tagger):
    assert tagger.trace("an old boat").result == {"sea"}
    assert tagger.complete(["ship at the square"], [{"sea"}]) == [{"city"}]
    assert tagger.predict_ranked(["moon"], top=1)[0][0][0] == "night"
    assert tagger.predict_proba(["moon", ""]).shape == (2, 3)
    other = tagger.with_rule(Threshold("tuned"), TEXTS[:50], TAGS[:50])
    assert other.predict(["moon"]) == [{"night"}]


def test_a_model_of_texts_is_saved_with_its_words(tagger, tmp_path):
    save(tagger, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(TEXTS[:9]), tagger.predict_proba(TEXTS[:9]))


@pytest.fixture(scope="module")
def table():
    kinds = ["fleet" if "sea" in tags else "other" for tags in TAGS]
    noise = pd.date_range("2024-01-01", periods=120)
    ages = np.where(["night" in tags for tags in TAGS], 80.0, 20.0)
    ages[::10] = np.nan
    return pd.DataFrame({"kind": kinds, "added": noise, "age": ages})


def test_a_table_of_all_kinds_of_columns(table):
    model = SetClassifier(random_state=0).fit(table, TAGS)
    assert model.features_.notes_ == ["kind: category (2 different)", "added: date", "age: number"]
    assert model.feature_names_in_.tolist() == ["kind", "added", "age"]
    rows = table[["age", "kind", "added"]].assign(more=3)[:20]
    assert model.predict(rows) == model.predict(table[:20])
    assert "sea" in model.trace(table[table.kind == "fleet"].iloc[0]).result
    with pytest.raises(DataError, match="record 0: there is no column 'age'"):
        model.predict(table.drop(columns="age"))


def test_scikit_learn_takes_it_along(table):
    model = SetClassifier(rule=Threshold("tuned"), cv=3, random_state=0)
    targets = np.array([[tag in tags for tag in sorted(WORDS)] for tags in TAGS], dtype=int)
    assert cross_val_score(model, TEXTS, targets, cv=2).min() > 0.6
    shuffled = KFold(2, shuffle=True, random_state=0)  # else all dates of a fold are new
    assert cross_val_score(model, table, targets, cv=shuffled).min() > 0.3
    pipeline = make_pipeline("passthrough", model).fit(TEXTS, TAGS)
    assert pipeline.predict(["moon"]) == [{"night"}]
    learner = make_pipeline(TableFeatures(), SetClassifier(rule=Threshold(0.5), random_state=0))
    assert learner.fit(table, TAGS).predict(table[:1])


@pytest.mark.parametrize(
    "learner",
    [SetMixture(20, random_state=0), make_pipeline(MaxAbsScaler(), LogisticRegression())],
    ids=["mixture", "pipeline"],
)
def test_a_pipeline_that_begins_with_table_features_finds_columns_by_name(table, learner, tmp_path):
    learner = make_pipeline(TableFeatures({"age": "category"}), learner)
    model = SetClassifier(learner, Margin(), random_state=0).fit(table, TAGS)
    assert model.features_.notes_[2].startswith("age: category")
    answers = model.predict(table)
    assert model.predict(table[["age", "kind", "added"]].assign(more=1)) == answers
    with pytest.raises(DataError, match="no column 'age'"):
        model.predict(table[["kind", "added"]])
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(table) == answers
    assert clone(model).fit(table, TAGS).predict(table) == answers


def test_another_fit_forgets_the_features(table):
    model = SetClassifier(rule=Threshold(0.5), random_state=0).fit(table, TAGS)
    assert model.fit(np.eye(120), TAGS).features_ is None
    assert not hasattr(model, "feature_names_in_")


def test_numbers_may_have_gaps(table):
    numbers = np.column_stack([table.age, table.kind == "fleet"])
    model = SetClassifier(random_state=0).fit(numbers, TAGS)
    assert model.score(numbers, TAGS) > 0.5
    frame = pd.DataFrame(numbers, columns=["age", "fleet"])
    assert SetClassifier(random_state=0).fit(frame, TAGS).predict(frame) == model.predict(numbers)


def test_rows_of_files_and_requests_are_read_by_name(table):
    model = SetClassifier(rule=Threshold("tuned"), random_state=0).fit(table, TAGS)
    rows = as_rows(table[:9].assign(more="?"))
    reading, _ = record_model_for(model, rows[0])
    assert reading.predict(rows) == model.predict(table[:9])
    assert reading_x(model).predict([{"kind": "fleet", "age": None, "added": "2024-02-01"}])
    assert reading.input_layout().names == ["kind", "added", "age"]


def test_texts_of_files_and_requests_may_have_any_name(tagger):
    assert reading_x(tagger).predict(["moon", {"x": "moon"}]) == [{"night"}] * 2
    reading, _ = record_model_for(tagger, Row("", {"title": "moon"}))
    assert reading.predict([{"title": "moon"}]) == [{"night"}]


@pytest.mark.parametrize("kind", [list, pd.Series, lambda x: np.array(x, dtype=object)])
def test_some_texts_may_be_missing(kind):
    model = SetClassifier(rule=Threshold(0.5), random_state=0)
    assert model.fit(kind([*TEXTS[:-1], None]), TAGS).predict(kind(["moon", None]))[0] == {"night"}


def test_rows_may_be_lists_or_dicts(table):
    rows = table[["kind", "age"]].to_dict("records")
    by_name = SetClassifier(rule=Threshold("tuned"), random_state=0).fit(rows, TAGS)
    by_place = clone(by_name).fit([list(row.values()) for row in rows], TAGS)
    assert by_name.predict(rows) == by_place.predict([list(row.values()) for row in rows])
    assert by_name.trace(rows[0]).result == by_name.predict(rows[:1])[0]


@pytest.mark.parametrize("X", ["sun", [], None, [1, 2]], ids=repr)
def test_single_texts_and_other_mistakes_are_refused(tagger, X):
    with pytest.raises(SetlearnError, match="X "):
        tagger.predict(X)


def test_a_fit_on_texts_forgets_the_columns(table):
    model = SetClassifier(rule=Threshold(0.5), random_state=0).fit(table, TAGS)
    assert model.fit(TEXTS, TAGS).input_layout().names is None
    pipeline = make_pipeline(TableFeatures(), LogisticRegression(max_iter=1000))
    model = SetClassifier(pipeline, Threshold(0.5)).fit(table, TAGS).fit(TEXTS, TAGS)
    assert not hasattr(model, "feature_names_in_")


def test_whole_sets_of_a_table_are_known_to_rules(table):
    model = SetClassifier(random_state=0).fit(table, TAGS)
    joint = model.with_rule(ExpectedF(joint=True, min_size=None), table[:60], TAGS[:60])
    assert joint.predict(table[:5])


def test_a_learner_for_numbers_says_what_to_put_before_it():
    with pytest.raises(DataError, match=r"LogisticRegression could not .*TableFeatures\(\)"):
        SetClassifier(LogisticRegression(), Threshold(0.5)).fit(TEXTS, TAGS)


def test_trees_read_the_numbers_beside_a_short_text():
    """Sets that depend on a cut through numbers are learned as well as without the text."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.uniform(size=200),
            "age": rng.uniform(size=200),
            "note": rng.choice(["good as new", "some scratches here", "needs work soon"], 200),
            "seller": [f"shop in street {k % 17} of town {k % 23}" for k in range(200)],
        }
    )
    sets = [
        {name for name, is_in in zip("ab", (s > 0.5, (s > 0.3) != (a > 0.6)), strict=True) if is_in}
        for s, a in zip(table["size"], table["age"], strict=True)
    ]
    model = SetClassifier(random_state=0).fit(table[:150], sets[:150])
    assert model.scorer_.model_.forest_ is not None
    assert model.score(table[150:], sets[150:]) > 0.65


def test_the_features_of_texts_go_into_trees_of_scikit_learn():
    texts = [f"word{k % 5} number{k % 3}" for k in range(60)]
    sets = [{k % 5} for k in range(60)]
    learner = make_pipeline(TableFeatures(), ExtraTreesClassifier(10, random_state=0))
    assert SetClassifier(learner, Threshold(0.5)).fit(texts, sets).score(texts, sets) > 0.9


def test_the_odd_one_among_texts_is_named():
    model = SetClassifier(rule=Threshold(0.5), random_state=0)
    model.fit(["red car", "blue boat"] * 4, [{"car"}, {"boat"}] * 4)
    with pytest.raises(KindError, match="sample 1 of X is 3; others are texts"):
        model.predict(["red car", 3])


def test_ids_among_numbers_are_warned_of():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(60), "size": rng.normal(size=60)})
    with pytest.warns(SetlearnWarning, match="ids by their names: id; they are learned from"):
        SetClassifier(LogisticRegression(), TopK(1)).fit(frame, frame[["size"]] > 0)


def test_ranges_of_numbers_and_months_are_categories():
    rng = np.random.default_rng(0)
    size = rng.uniform(size=120)
    months = pd.period_range("2024-01", periods=4, freq="M")
    frame = pd.DataFrame({"size": pd.cut(size, 3), "month": rng.choice(months, 120)})
    features = TableFeatures().fit(frame)
    assert [column.kind for column in features.columns_] == ["category", "category"]
    assert "month_2024-03" in features.get_feature_names_out()


def test_a_lazy_frame_must_be_collected():
    frame = pytest.importorskip("polars").LazyFrame({"a": [1.0, 2.0]})
    with pytest.raises(KindError, match=r"pass X\.collect\(\)"):
        SetClassifier().fit(frame, [{"x"}, {"y"}])
