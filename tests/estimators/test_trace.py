"""The story of one set: true to predict, readable, and ready for JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from setlearn import SetClassifier
from setlearn.rules import Margin, Threshold, TopK
from tests.estimators.data import as_sets, tagged

LABELS = ["air", "earth", "fire", "water"]
RULES = [
    Margin(),
    Margin(rho=0.5),
    Margin(0.2, space="log"),
    Margin(0.0, min_size=3),
    Threshold(),
    Threshold("tuned", min_size=None),
    TopK(2),
]


def fitted(rule=None, *, scores="marginal", empty_sets=False):
    X, Y = tagged(60, empty_sets=empty_sets)
    classifier = SetClassifier(LogisticRegression(), rule, scores=scores, cv=2, random_state=0)
    return classifier.fit(X, as_sets(Y, LABELS)), X


@pytest.mark.parametrize("empty_sets", [False, True])
@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_trace_ends_where_predict_does(rule, scores, empty_sets):
    classifier, X = fitted(rule, scores=scores, empty_sets=empty_sets)
    for row, predicted in zip(X[:12], classifier.predict(X[:12]), strict=True):
        trace = classifier.trace(row)
        assert trace.result == predicted
        document = trace.to_dict()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert set(document["result"]) == predicted
        memory = document["steps"][-1]["memory"] if document["steps"] else []
        assert set(memory) - {"(nothing)"} == predicted
        assert [step["winner"] for step in document["steps"] if step["kept"]] == memory
        assert document["reason"] == trace.reason != ""


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_known_labels_are_in_the_memory_from_the_start(rule):
    classifier, X = fitted(rule)
    for row in X[:8]:
        trace = classifier.trace(row, known={"air", "fire"})
        [others] = classifier.complete([row], [{"air", "fire"}])
        assert trace.known == {"air", "fire"}
        assert trace.result == others | {"air", "fire"}
        document = trace.to_dict()
        assert document["known"] == ["air", "fire"]
        assert all(step["memory"][:2] == ["air", "fire"] for step in document["steps"])
        assert not {step["winner"] for step in document["steps"] if step["kept"]} & trace.known


@pytest.mark.parametrize("known", [["air"], ("air",), frozenset({"air"}), {"air": 1}.keys()])
def test_known_labels_in_any_container(known):
    classifier, X = fitted()
    assert classifier.trace(X[0], known).known == {"air"}


def test_margin_tells_penalties_and_who_repeats():
    classifier, X = fitted(Margin())
    trace = classifier.trace(X[0])
    P = classifier.predict_proba(X[:1])[0]
    seen = []
    for step in trace.steps:
        expected = [classifier.rule_.lam_ * (k in seen) for k in range(4)]
        np.testing.assert_allclose(step.penalties, expected)
        np.testing.assert_allclose(step.scores, P - expected)
        assert step.winner == step.scores.argmax()
        assert step.kept == (step.winner not in seen)
        seen.append(step.winner)
    assert not trace.steps[-1].kept
    assert LABELS[trace.steps[-1].winner] in trace.reason
    assert "repeats" in trace.reason


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_text_is_a_table_with_every_winner_and_the_reason(rule):
    classifier, X = fitted(rule)
    trace = classifier.trace(X[0])
    text = str(trace)
    lines = text.splitlines()
    decides = {"Margin": ["score", "penalty"], "TopK": ["probability", "rank"]}
    columns = decides.get(type(rule).__name__, ["probability", "cut"])
    assert lines[0].split() == ["step", "winner", *columns, "memory", "Z"]
    assert ("score - penalty" in text) == isinstance(rule, Margin)
    for number, step in enumerate(trace.steps, 1):
        cells = lines[1 + number].split()
        assert cells[:3] == [str(number), LABELS[step.winner], f"{step.scores[step.winner]:.4f}"]
        figure = step.figures[columns[1]]
        assert cells[3] == (str(figure) if isinstance(figure, int) else f"{figure:.4f}")
        assert (step.penalties is None) == (trace.to_dict()["steps"][0]["penalties"] is None)
        assert ("kept" in cells and "not" not in cells) == step.kept
    assert f"stopped: {trace.reason}" in text
    assert all(label in text for label in LABELS)
    assert all(line == line.rstrip() for line in lines)


def test_many_labels_are_cut_short_in_the_text_alone():
    X, Y = tagged(30, 25)
    classifier = SetClassifier(GaussianNB(), TopK(1)).fit(X, Y)
    trace = classifier.trace(X[0])
    assert str(trace).endswith("… and 5 more labels with lower scores")
    assert len(trace.to_dict()["labels"]) == 25


def test_an_empty_set_says_why():
    X, Y = tagged(80, 2, empty_sets=True)
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0).fit(X, Y)
    trace = classifier.trace([0.01, 0.01])
    assert trace.result == frozenset()
    assert "below the floor" in trace.reason
    assert trace.to_dict()["steps"] == []
    assert f"stopped: {trace.reason}" in str(trace)
    paper = SetClassifier(
        LogisticRegression(), Margin(), scores="softmax", cv=2, random_state=0
    ).fit(X, Y)
    assert paper.trace([0.01, 0.01]).to_dict()["steps"][0]["winner"] == "(nothing)"


def test_labels_that_json_lacks_are_written_out():
    X, Y = tagged(40)
    labels = [(1, "a"), True, float("inf"), frozenset({2})]
    classifier = SetClassifier(LogisticRegression(), TopK(4)).fit(X, as_sets(Y, labels))
    document = json.loads(json.dumps(classifier.trace(X[0]).to_dict(), allow_nan=False))
    assert sorted(document["labels"], key=str) == [True, [1, "a"], "frozenset({2})", "inf"]


def test_columns_are_numbers_in_json():
    X, Y = tagged(40)
    document = SetClassifier(LogisticRegression(), TopK(1)).fit(X, Y).trace(X[0]).to_dict()
    assert document["labels"] == [0, 1, 2, 3]
    assert json.loads(json.dumps(document)) == document


def test_a_text():
    texts = ["red round fruit", "yellow long fruit", "red fast car", "yellow car"] * 6
    sets = [set(text.split()) for text in texts]
    classifier = SetClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)), cv=2)
    classifier.set_params(random_state=0).fit(texts, sets)
    trace = classifier.trace("red car")
    assert trace.result == classifier.predict(["red car"])[0]
    assert classifier.trace(["red car"]).result == trace.result


def test_a_row_of_a_table():
    X, Y = tagged(40)
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=["x", "y"] * 20)
    learner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"),
        LogisticRegression(),
    )
    classifier = SetClassifier(learner, Margin(), cv=2, random_state=0).fit(table, Y)
    expected = frozenset(np.flatnonzero(classifier.predict(table[:1])[0]).tolist())
    assert classifier.trace(table.iloc[0]).result == expected
    assert classifier.trace(table[:1]).result == expected


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_a_sparse_row(container):
    X, Y = tagged(40)
    X = container(X)
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0).fit(
        X, as_sets(Y)
    )
    assert classifier.trace(X[[0]]).result == classifier.predict(X[[0]])[0]
    assert classifier.trace(X.tocsr()[0]).result == classifier.predict(X[[0]])[0]


def test_a_single_row_of_two_dimensions_or_one():
    classifier, X = fitted()
    assert classifier.trace(X[:1]).result == classifier.trace(X[0].tolist()).result
