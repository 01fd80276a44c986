"""Plans: everything decided before anything is learned, and said."""

import os
import re
from pathlib import Path

import pytest

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.errors import DataError, ParameterError
from setlearn.files import Row, open_rows
from setlearn.records import plan_records
from setlearn.rules import TopK
from tests.records.table import rows_of

DATA = os.environ.get("SETLEARN_DATA")
WORDS = ["ox", "wolf", "cat", "dog"]
FORMS = ["ox;oxen", "wolf;wolves", "cat;cats", "dog;dogs"]


def test_a_plan_for_labels_says_what_it_decided():
    rows = rows_of(
        row_id=["a", "b", "c", "d"],
        title=["sun and sea", "the city", "the sea", "sun over the city"],
        name=["sunset", "skyline", "beach", "noon"],
        price=[3, 4, 5, 2],
        tags=["sun;sea", "city", "sea", "sun;city"],
    )
    plan = plan_records(rows, target="tags")
    assert plan.task == "labels"
    assert plan.notes == (
        'tags: labels, separated by ";" (3 different)',
        "row_id: ignored (an id by its name)",
        "title: text (by TF-IDF of words and their parts)",
        "name: text (by TF-IDF of characters)",
        "price: number",
    )
    assert [column.name for column in plan.inputs] == ["title", "name", "price"]
    assert plan.text == {"title": "subwords", "name": "chars"}
    assert plan.tokens is None
    words = plan_records(rows, target="tags", text="words")
    assert set(words.text.values()) == {"words"}
    assert "name: text (by which words occur)" in words.notes


def test_a_plan_for_sequences_says_what_it_decided():
    plan = plan_records(rows_of(word=WORDS, forms=FORMS), target="forms")
    assert plan.task == "sequences"
    assert plan.notes == (
        'forms: sequences, separated by ";" (8 different)',
        "task: sequences (8 of 8 elements occur once)",
        "elements: by characters",
        "word: text (by characters)",
    )
    assert plan.tokens == ("char", "char")


@pytest.mark.parametrize(
    ("tokens", "pair"), [("word", ("word", "word")), (("char", "word"), ("char", "word"))]
)
def test_given_tokens_win(tokens, pair):
    assert plan_records(rows_of(word=WORDS, y=FORMS), tokens=tokens).tokens == pair


def test_a_category_is_a_text_to_a_sequence_model():
    rows = rows_of(word=["ox", "cat"] * 5, y=[[f"{k}a"] for k in range(10)])
    assert plan_records(rows).notes[-1] == "word: text (by characters)"


def test_digits_are_a_text_to_a_sequence_model():
    numbers = ["1409", "27", "380", "66"]
    plan = plan_records(rows_of(number=numbers, y=FORMS))
    assert plan.notes[-1] == "number: text (by characters)"
    given = plan_records(rows_of(number=numbers, y=FORMS), kinds={"number": "number"})
    assert given.notes[-1] == "number: number (as given)"
    measured = plan_records(rows_of(number=[1409, 27, 380, 66], y=FORMS))
    assert measured.notes[-1] == "number: number"
    assert plan_records(rows_of(number=["1.5", "2"] * 2, y=FORMS)).notes[-1] == "number: number"


def test_several_texts_are_one_to_a_sequence_model():
    tenses = ["V;PST", "V;PRS"] * 2
    plan = plan_records(rows_of(lemma=WORDS, tense=tenses, y=FORMS))
    assert plan.notes[-3:] == (
        "inputs: joined into one text, in this order: lemma, tense",
        "lemma: text (by characters)",
        "tense: text (by characters)",
    )
    assert plan.tokens == ("char", "char")


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"a": WORDS, "b": [5, 3, 7, 8]}, r"a \(text\), b \(number\)"),
        ({"a": [{"k": k} for k in (5, 3, 7, 8)]}, r"a \(bag\)"),
    ],
)
def test_a_sequence_model_reads_texts_or_numbers(columns, named):
    with pytest.raises(DataError, match=rf"reads texts, .* but the inputs are {named};"):
        plan_records(rows_of(**columns, y=FORMS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"text": "ngrams", "task": "labels"},
            "text must be one of subwords, .*, got 'ngr",
        ),
        ({"tokens": "char", "task": "labels"}, "tokens is for sequences, .* got 'char'"),
        ({"text": "words"}, "text is for labels, .* got 'words'"),
        ({"tokens": "byte"}, "tokens must be .* got 'byte'"),
        ({"tokens": ("char", "word", "char")}, "tokens must be .* a pair"),
    ],
)
def test_options_that_do_not_go_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        plan_records(rows_of(word=WORDS, y=FORMS), **options)


def test_a_declared_category_may_be_the_target():
    rows = rows_of(size=[3, 5, 4, 7], shape=[1, 2, 1, 2], sort=["a", "b", "a", "b"])
    plan = plan_records(rows, target="sort", declared=["shape", "sort"])
    assert plan.notes[1:] == ("size: number", "shape: category (declared as such)")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"age": None, "tags": None}, None),
        ({"age": "NA", "bag": {}}, None),
        ({"age": "old"}, "line 9: column 'age' holds 'old', which is not a finite number"),
        ({"tags": {"a": 1}}, "line 9: 'tags' holds {'a': 1}"),
        ({"title": ["a"]}, r"line 9: column 'title' holds \['a'\], which is not a text"),
        ({"x": [1, "b"]}, r"line 9: column 'x' holds \[1, 'b'\], which is not a list of numbers"),
        ({"bag": {"k": "b"}}, "line 9: 'k' in column 'bag' has the value 'b'"),
        ({"words": 5}, "line 9: column 'words' holds 5, which is not a list of texts"),
        ({"unread": object()}, None),
    ],
)
def test_the_problem_with_a_row_is_told(change, problem):
    record = {
        "age": 5,
        "title": "the sea",
        "x": [1, 2],
        "bag": {"k": 1},
        "words": ["a", "b"],
        "unread": 1,
        "tags": ["a"],
    }
    plan = plan_records([record] * 3, inputs=[*record][:5], kinds={"title": "text"})
    message = plan.problem_with(Row("line 9", {**record, **change}))
    assert message is None if problem is None else re.match(problem, message)


def test_a_row_without_a_column_has_a_problem():
    plan = plan_records(rows_of(age=[3, 5, 4], tags=["a", "b", "a"]))
    assert "no column 'age'" in plan.problem_with(Row("line 9", {"tags": "a"}))


def test_without_inputs_the_reasons_are_told():
    with pytest.raises(
        DataError, match=r"there is no column to predict from.*: n: ignored \(numbers the rows\);"
    ):
        plan_records(rows_of(n=[0, 1], y=["a", "a"]))
    with pytest.raises(DataError, match="the target is the only column"):
        plan_records(rows_of(y=["a", "a"]))


def test_the_default_learner_knows_which_features_are_no_words():
    texts, tags = [f"the sea {k}" for k in range(40)], [f"{k % 2};{k % 3}" for k in range(40)]
    rows = rows_of(price=[k % 7 for k in range(40)], text=texts, tags=tags)
    plan = plan_records(rows, target="tags")
    model = plan.fit(rows, SetClassifier(rule=TopK(1), random_state=0)).model
    assert model.scorer_.model_.view_.kept.tolist() == [0]
    words = plan_records(rows, target="tags", inputs=["text"])
    assert words.fit(rows, SetClassifier(rule=TopK(1))).model.scorer_.model_.view_ is None


def test_the_model_must_suit_the_task():
    rows = rows_of(word=WORDS, y=FORMS)
    with pytest.raises(ParameterError, match="sequences, but a SetClassifier predicts labels"):
        plan_records(rows).fit(rows, SetClassifier())
    with pytest.raises(ParameterError, match="labels, but a SequenceSetGenerator predicts seq"):
        plan_records(rows, task="labels").fit(rows, SequenceSetGenerator())


@pytest.mark.skipif(not DATA, reason="SETLEARN_DATA names no data folder")
@pytest.mark.parametrize(
    ("name", "task", "kind", "tokens"),
    [
        ("cmudict_multi.jsonl.gz", "sequences", "text", ("char", "word")),
        ("mm_bindings_ql.jsonl.gz", "sequences", "text", ("word", "word")),
        ("lemminflect.jsonl.gz", "sequences", "text", ("char", "char")),
        ("kg_umls.jsonl.gz", "labels", "text", None),
        ("babi_qa8.jsonl.gz", "labels", "text", None),
        ("yeast.npz", "labels", "vector", None),
        ("arff/Corel5k-test-sparse.arff", "labels", "bag", None),
        ("arff/flags-train.arff", "labels", "number", None),
    ],
)
def test_guesses_are_right_for_real_data(name, task, kind, tokens):
    rows = open_rows(Path(DATA) / name)
    plan = plan_records(rows, target=rows.target)
    assert (plan.task, plan.inputs[0].kind, plan.tokens) == (task, kind, tokens)


def test_dates_are_texts_for_sequences():
    days = [f"{day:02}.0{month}.2024" for day in (1, 9, 17, 28) for month in (1, 5)]
    rows = [{"day": day, "iso": "-".join(day.split(".")[::-1]), "n": 1} for day in days]
    plan = plan_records(rows, target="iso", task="sequences", inputs=["day"])
    assert [column.kind for column in plan.columns] == ["text", "ignored"]
    with pytest.raises(DataError, match=r"the inputs are day \(date\)"):
        plan_records(rows, target="iso", task="sequences", inputs=["day"], kinds={"day": "date"})
