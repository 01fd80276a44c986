"""From rows to sets: small fits of every kind of input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.errors import (
    DataError,
    KindError,
    ParameterError,
    SetlearnError,
    UnknownLabelWarning,
)
from setlearn.estimators.base import SetPredictor
from setlearn.features import as_rows
from setlearn.files import Row, open_rows, write_rows
from setlearn.networks import LSTM, Training
from setlearn.records import plan_records, reading_x, record_model_for
from setlearn.rules import Margin, Threshold, TopK
from tests.records.table import rows_of

PLAIN = SetClassifier(LogisticRegression(C=100), rule=Threshold(0.5))
TITLES = ["sun over the sea", "a city at night", "sun on the city", "the sea at night"] * 5
TAGS = ["sun;sea", "city;night", "sun;city", "sea;night"] * 5


def generator(plan):
    return SequenceSetGenerator(
        LSTM(16, 16, 32),
        tokens=plan.tokens,
        training=Training(learning_rate=0.01, max_steps=120, validation=0),
        random_state=0,
    )


@pytest.fixture(scope="module")
def tagger():
    rows = rows_of(title=TITLES, tags=TAGS)
    return plan_records(rows).fit(rows, PLAIN)


def test_texts_to_tags(tagger):
    assert tagger.task == "labels"
    assert tagger.classes_.tolist() == ["city", "night", "sea", "sun"]
    assert isinstance(tagger.rule_, Threshold)
    expected = [frozenset(tags.split(";")) for tags in TAGS]
    rows = rows_of(title=TITLES, tags=TAGS)
    assert tagger.predict(rows) == expected == tagger.true_sets(rows)


def test_rows_records_and_bare_values_are_read_alike(tagger):
    row = Row("a.csv, line 2", {"title": TITLES[0], "unread": [1]})
    answers = tagger.predict([row, row.record, TITLES[0]])
    assert answers == [{"sun", "sea"}] * 3


def test_a_table_is_read_row_by_row(tagger):
    pandas = pytest.importorskip("pandas")
    assert tagger.predict(pandas.DataFrame({"title": TITLES[:2], "n": [1, 2]})) == [
        {"sun", "sea"},
        {"city", "night"},
    ]


def test_a_model_ranks_completes_and_tells(tagger):
    [ranked] = tagger.predict_ranked([TITLES[0]])
    assert {label for label, _ in ranked} == {"sun", "sea"}
    assert tagger.complete([TITLES[0]], [{"sun"}]) == [{"sea"}]
    assert tagger.trace(TITLES[0], {"sun"}).result == {"sun", "sea"}
    assert tagger.trace({"title": TITLES[0]}).result == {"sun", "sea"}


@pytest.mark.parametrize(
    ("records", "error", "message"),
    [
        (
            "a text",
            KindError,
            "expected a list of records, got the single value 'a text'; put it in a list",
        ),
        ({"title": "a"}, KindError, "got the single value {'title': 'a'}"),
        (Row("here", {}), KindError, "got the single value Row"),
        (3, KindError, "got the single value 3;"),
        ([], DataError, "X holds 0 samples; pass at least one"),
        (
            [{"titel": "a"}],
            DataError,
            "^record 0: there is no column 'title'; did you mean 'titel'",
        ),
        (["a", ["b"]], DataError, r"^record 1: column 'title' holds \['b'\], which is not a text"),
    ],
)
def test_what_is_no_record_is_refused(tagger, records, error, message):
    with pytest.raises(error, match=message):
        tagger.predict(records)


def test_there_must_be_records_to_learn_from():
    message = "there are 0 records to learn from; pass at least one"
    with pytest.raises(DataError, match=message):
        plan_records([])
    rows = rows_of(a=[1, 0] * 5, y=["p", "q"] * 5)
    with pytest.raises(DataError, match=message):
        plan_records(rows).fit([], PLAIN)


def test_bare_values_need_a_single_column():
    rows = rows_of(a=[1, 0] * 5, b=[3, 5] * 5, y=["p", "q"] * 5)
    model = plan_records(rows).fit(rows, PLAIN)
    assert model.predict([{"a": 1, "b": 3}]) == [{"p"}]
    with pytest.raises(KindError, match=r"^record 0 is 1; pass a dict with the columns a, b"):
        model.predict([1])
    with pytest.raises(KindError, match=r"^record 0 is 'a'; pass a dict with all columns"):
        plan_records(["a"])


def test_mixed_columns_to_labels_by_way_of_a_file(tmp_path):
    path = tmp_path / "photos.csv"
    records = [
        {"width": 10 + k % 2, "colour": "red" if k % 3 else "blue", "note": note, "tags": tags}
        for k, (note, tags) in enumerate(zip(TITLES * 3, TAGS * 3, strict=True))
    ]
    write_rows(path, records)
    rows = list(open_rows(path))
    plan = plan_records(rows, target="tags")
    assert [column.kind for column in plan.inputs] == ["number", "category", "category"]
    model = plan_records(rows, target="tags", kinds={"note": "text"}).fit(rows[:40], PLAIN)
    held_out = rows[40:]
    assert model.predict(held_out) == model.true_sets(held_out)


def test_vectors_to_labels_with_the_default_learner():
    X = np.random.default_rng(0).random((40, 3))
    records = [{"x": x, "y": np.flatnonzero(x > 0.5).tolist()} for x in X]
    model = plan_records(records).fit(records, SetClassifier(cv=2, random_state=0))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(X[:2]) == model.predict(records[:2])
    assert model.predict([[0.95, 0.95, 0.02]]) == [{0, 1}]


def test_bags_to_labels():
    records = [{"x": {k % 4: 1.0, 9: 0.5}, "labels": [k % 4]} for k in range(40)]
    model = plan_records(records).fit(records, PLAIN)
    assert model.predict([{2: 1.0, 9: 0.5}, {"x": {3: 1.0, 9: 0.5}}]) == [{2}, {3}]


def test_flags_to_labels():
    rows = rows_of(x=[1, 5, 2, 6] * 5, t_a=["1", "0"] * 10, t_b=["no", "yes"] * 10)
    model = plan_records(rows, target="t_*").fit(rows, PLAIN)
    assert model.predict([1, 6]) == [{"t_a"}, {"t_b"}]


def test_texts_to_sequences():
    rows = rows_of(word=["ab", "cd", "ef"], forms=["ab;ba", "cd;dc", "ef;fe"])
    plan = plan_records(rows, target="forms")
    model = plan.fit(rows, generator(plan))
    assert model.task == "sequences"
    assert not hasattr(model, "classes_")
    assert model.predict(["ab", {"word": "cd"}, rows[2]]) == model.true_sets(rows)
    assert model.complete(["ab"], [{"ab"}]) == [{"ba"}]
    assert model.trace("ab").result == {"ab", "ba"}


def test_sets_are_read_as_answers_spell_them():
    rows = rows_of(x=["p q", "q p"], y=["a  b", "b  a c"])
    plan = plan_records(rows, task="sequences", separator="", tokens="word")
    model = plan.fit(rows, generator(plan))
    assert model.true_sets(rows) == [{"a b"}, {"b a c"}] == model.predict(rows)


@pytest.mark.parametrize(
    ("x", "bare"),
    [([["p", "q"], ["q", "r"], ["r"]], ["p", "q"]), ([[0.0, 1], [5, 2], [9, 9]], [0.0, 1])],
    ids=["tokens", "vectors"],
)
def test_tokens_and_vectors_to_sequences(x, bare):
    rows = rows_of(x=x, y=[[["a", "b"]], [["b"], ["c"]], []])
    plan = plan_records(rows)
    model = plan.fit(rows, generator(plan))
    assert model.predict(rows) == [{("a", "b")}, {("b",), ("c",)}, set()]
    assert model.predict([bare]) == [{("a", "b")}]
    assert model.trace(bare).result == {("a", "b")}


def test_a_plan_is_fitted_on_a_copy_of_the_model():
    rows = rows_of(title=TITLES, tags=TAGS)
    model = SetClassifier(LogisticRegression(), rule=Threshold(0.5))
    plan_records(rows).fit(rows, model)
    with pytest.raises(SetlearnError, match="not fitted"):
        model.predict([[1]])


class TestContractOfPredictors:
    def test_it_is_a_set_predictor(self, tagger):
        assert isinstance(tagger, SetPredictor)
        assert tagger.elements_ == tagger.choice_names() == ["city", "night", "sea", "sun"]
        assert tagger.predict_sets(TITLES[:2]) == tagger.predict(TITLES[:2])
        assert tagger.facts()["task"] == "sets of labels"
        assert tagger.input_layout().names == ["title"]
        assert tagger.score(rows_of(title=TITLES, tags=TAGS)) == 1
        assert tagger.score(TITLES[:2], [{"sun", "sea"}, {"sun"}]) == 0.5

    def test_another_rule_that_needs_no_fit(self, tagger):
        other = tagger.with_rule(TopK(1))
        assert [len(answer) for answer in other.predict(TITLES)] == [1] * len(TITLES)
        assert (other.reader, other.targets) == (tagger.reader, tagger.targets)
        assert isinstance(tagger.rule_, Threshold)

    def test_a_rule_is_fitted_on_records_and_their_own_sets(self, tagger):
        rows = rows_of(title=TITLES, tags=TAGS)
        fitted = tagger.with_rule(Margin(), rows)
        given = tagger.with_rule(Margin(), TITLES, [set(tags.split(";")) for tags in TAGS])
        assert fitted.rule_.lam_ == given.rule_.lam_
        nodes, positive = tagger.choice_points(rows)
        assert len(nodes) == positive.shape[0] == len(rows)
        with pytest.raises(ParameterError):
            tagger.with_rule(Margin())

    def test_true_sets_that_are_nowhere(self, tagger):
        with pytest.raises(DataError, match=r"no column 'tags'.*; add them, or pass y"):
            tagger.with_rule(Margin(), [{"title": title} for title in TITLES])

    def test_top_and_unknown_reach_the_model(self, tagger):
        [ranking] = tagger.predict_ranked([TITLES[0]], top=3)
        assert len(ranking) == 3
        with pytest.raises(DataError, match="never seen in training"):
            tagger.complete([TITLES[0]], [{"dragon"}])
        with pytest.warns(UnknownLabelWarning):
            assert tagger.complete([TITLES[0]], [{"dragon"}], unknown="ignore") == [{"sun", "sea"}]
        with pytest.warns(UnknownLabelWarning):
            tagger.trace(TITLES[0], {"dragon"}, unknown="ignore")


class TestModelsWithoutColumns:
    @pytest.mark.parametrize("as_sparse", [False, True])
    def test_answers_are_sets_also_after_a_fit_on_an_indicator(self, as_sparse):
        X = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 5)
        model = reading_x(PLAIN.fit(X, sparse.csr_array(X) if as_sparse else X))
        assert model.predict([[1, 0], [1, 1], [0, 0]]) == [{0}, {0, 1}, set()]
        known = [{0}, {0}, set()]
        assert model.complete([[1, 0], [1, 1], [0, 0]], known) == [set(), {1}, set()]

    def test_a_model_with_columns_is_returned_as_it_is(self, tagger):
        assert reading_x(tagger) is tagger
        row = Row("line 2", {"title": "a"})
        assert record_model_for(tagger, row) == (tagger, [])
        with pytest.raises(ParameterError, match="this one reads title; leave them out"):
            record_model_for(tagger, row, ["title"])

    def test_columns_that_do_not_fit(self):
        X = np.eye(3)[[0, 1, 2, 0]]
        model = clone(PLAIN).fit(X, [{"a"}, {"b"}, {"a", "b"}, {"a"}])
        with pytest.raises(
            DataError, match=r"line 2: .* 3 numbers, but there are 2 columns \(p, q"
        ):
            record_model_for(model, Row("line 2", {"p": 1, "q": 2}))


def test_names_of_columns_are_strings():
    assert as_rows([{0: 1.5}]) == [Row("record 0", {"0": 1.5})]


def test_lemmas_and_tenses_to_forms():
    """A file of inflected forms as people have it: one column each for lemma, tense and form."""
    stems = ["walk", "talk", "jump", "kick", "melt", "rain", "snow", "lick", "bark", "yell"] * 2
    endings = {"V;PST": "ed", "V;PRS": "s"}
    tenses = ["V;PST"] * 10 + ["V;PRS"] * 10
    forms = [stem + endings[tense] for stem, tense in zip(stems, tenses, strict=True)]
    rows = rows_of(lemma=stems, tense=tenses, form=forms)
    plan = plan_records(rows, target="form", task="sequences")
    model = plan.fit(rows, SequenceSetGenerator("analogy", tokens=plan.tokens, random_state=0))
    asked = [{"lemma": "milk", "tense": tense} for tense in endings]
    assert model.predict(asked) == [{"milked"}, {"milks"}]
    assert model.input_layout().names == ["lemma", "tense"]
    with pytest.raises(DataError, match="there is no column 'tense'"):
        model.predict([{"lemma": "milk"}])
    with pytest.raises(KindError, match="pass a dict with the columns lemma, tense"):
        model.predict(["milk V;PST"])
