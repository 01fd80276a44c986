"""Sets of candidates that come with the input."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import setlearn
from setlearn import SetSelector
from setlearn.errors import (
    DataError,
    KindError,
    ModelError,
    ParameterError,
    UnknownLabelWarning,
)
from setlearn.metrics import mean_f1
from setlearn.records import reading_x
from setlearn.rules import ExpectedF, LambdaCNN, LambdaRNN, RiskControl, Threshold, TopK

DEEPMATH = Path(os.environ.get("SETLEARN_DATA", "")) / "deepmath.jsonl.gz"
WORDS = ["fish", "meat", "rice", "soup", "tea", "cake", "salt", "lemon"]


def orders(n, seed=0):
    """A query names some dishes; the right candidates are those it names."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        named = rng.choice(WORDS, rng.integers(0, 4), replace=False)
        listed = rng.choice(WORDS, rng.integers(1, 7), replace=False).tolist()
        X.append((f"please bring {' and '.join(named)}", listed))
        y.append({*named} & {*listed})
    return X, y


X, Y = orders(200)
NEW, TRUE = orders(60, seed=1)
ROWS = [np.random.default_rng(k).normal(size=(2 + k % 5, 3)) for k in range(80)]
CHOSEN = [set(np.flatnonzero(matrix[:, 0] > 0).tolist()) for matrix in ROWS]


@pytest.fixture(scope="module")
def selector():
    return SetSelector(random_state=0, verbose=False).fit(X, Y)


def test_it_chooses_what_the_query_asks_for(selector):
    assert mean_f1(TRUE, selector.predict(NEW)) > 0.9
    assert selector.score(NEW, TRUE) == mean_f1(TRUE, selector.predict(NEW))
    assert selector.task == "candidates"
    assert selector.elements_ is None


def test_new_candidates_are_no_problem(selector):
    [chosen] = selector.predict([("please bring beer", ["beer", "wine"])])
    assert chosen == {"beer"}


def test_no_candidates_give_the_empty_set(selector):
    assert selector.predict([("please bring fish", []), X[0]])[0] == frozenset()
    assert selector.predict([("please bring fish", [])]) == [frozenset()]
    assert selector.predict_ranked([("tea", [])], top=3) == [[]]
    assert selector.complete([("tea", [])], [set()]) == [frozenset()]
    assert selector.trace(("tea", [])).result == frozenset()


def test_the_order_and_copies_of_candidates_do_not_matter(selector):
    query, listed = "please bring tea and soup", ["tea", "salt", "soup"]
    expected = selector.predict([(query, listed)])
    assert selector.predict([(query, [*listed[::-1], "tea"])]) == expected


def test_tables_token_lists_and_numbers():
    table = pd.DataFrame(X[:60], columns=["order", "dishes"])
    assert SetSelector(rule=TopK(1), cv=2, verbose=False).fit(table, Y[:60]).predict(table)
    tokens = [(query.split(), [[c] for c in listed]) for query, listed in X]
    model = SetSelector(random_state=0, verbose=False).fit(tokens, [[[e] for e in s] for s in Y])
    new = [(query.split(), [[c] for c in listed]) for query, listed in NEW]
    assert model.score(new, [{(e,) for e in s} for s in TRUE]) > 0.9
    with pytest.raises(KindError, match="queries are texts, but were lists of tokens"):
        model.predict([("tea", [["tea"]])])
    with pytest.raises(KindError, match="candidates are texts, but were lists of tokens"):
        model.predict([(["tea"], ["tea"])])


def test_matrices(selector):
    model = SetSelector(random_state=0, verbose=False).fit(ROWS[:60], CHOSEN[:60])
    assert model.score(ROWS[60:], CHOSEN[60:]) > 0.8
    gaps = [
        np.where(np.random.default_rng(k).random(m.shape) < 0.1, np.nan, m)
        for k, m in enumerate(ROWS)
    ]
    assert SetSelector(random_state=0, verbose=False).fit(gaps, CHOSEN).predict(gaps)
    with pytest.raises(DataError, match="have 2 features per candidate, but had 3 in training"):
        model.predict([np.ones((2, 2))])
    with pytest.raises(KindError, match="a matrix with one row per candidate"):
        model.predict(X[:1])
    with pytest.raises(KindError, match="a pair"):
        selector.predict(ROWS[:1])


def test_relevances_are_asked_about():
    relevances = [
        [int(k in chosen) for k in range(len(m))] for m, chosen in zip(ROWS, CHOSEN, strict=True)
    ]
    with pytest.raises(KindError, match=r"one relevance per row; pass the set of chosen rows"):
        SetSelector().fit(ROWS, relevances)


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), RandomForestClassifier(30), LinearSVC()], ids=repr
)
def test_any_learner(learner):
    model = SetSelector(learner, cv=3, random_state=0, verbose=False).fit(X, Y)
    assert model.score(NEW, TRUE) > 0.85


def letters(query, candidates):
    """Whether the query names the candidate, and how long it is."""
    return [[float(c in query), len(c)] for c in candidates]


def test_features_of_your_own():
    model = SetSelector(features=letters, random_state=0, verbose=False).fit(X, Y)
    assert model.score(NEW, TRUE) > 0.95
    both = SetSelector(features=["texts", letters], random_state=0, verbose=False).fit(X, Y)
    assert both.scorer_.model_.n_features_in_ > model.scorer_.model_.n_features_in_
    objects = [(frozenset(q.split()), c) for q, c in X]
    assert SetSelector(features=letters, cv=2, verbose=False).fit(objects, Y).predict(objects)
    with pytest.raises(KindError, match="are no texts and no lists of tokens; pass features="):
        SetSelector().fit(objects, Y)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (lambda q, c: [[1.0]] * (len(c) + 1), "one row for each of the"),
        (lambda q, c: [1.0] * len(c), "got the shape"),
        (lambda q, c: [[float("inf")]] * len(c), "returned infinity"),
        (lambda q, c: [["a"]] * len(c), "must return a matrix of numbers"),
        (lambda q, c: [[1.0] * len(q)] * len(c), "the same number of columns"),
        ("letters", 'features must be "texts"'),
        ([], "features is an empty list"),
    ],
)
def test_other_features_are_refused(features, message):
    with pytest.raises((DataError, ParameterError), match=message):
        SetSelector(features=features).fit(X, Y)


def test_known_candidates_inform_the_others():
    """The right ones share a word with each other, and nothing with the query."""
    rng = np.random.default_rng(0)
    samples, sets = [], []
    for _ in range(300):
        topic, other = rng.choice(WORDS, 2, replace=False)
        right = [f"{topic} {k}" for k in rng.choice(99, 3, replace=False)]
        wrong = [f"{other} {k}" for k in rng.choice(99, 3, replace=False)]
        samples.append(("which", [*rng.permutation([*right, *wrong])]))
        sets.append(set(right))
    model = SetSelector(random_state=0, verbose=False).fit(samples[:200], sets[:200])
    known = [{sorted(s)[0]} for s in sets[200:]]
    rest = [s - k for s, k in zip(sets[200:], known, strict=True)]
    informed = model.complete(samples[200:], known)
    blind = [s - k for s, k in zip(model.predict(samples[200:]), known, strict=True)]
    assert mean_f1(rest, informed) > 0.9 > mean_f1(rest, blind) + 0.1
    best = model.complete_ranked(samples[200:], known, top=2)
    assert np.mean([{e for e, _ in r} == s for r, s in zip(best, rest, strict=True)]) > 0.85


def test_known_elements_must_be_candidates(selector):
    with pytest.raises(DataError, match="sample 0 of known holds 'beer', which is not among"):
        selector.complete([("tea", ["tea", "soup"])], [{"beer"}])
    with pytest.warns(UnknownLabelWarning, match=r"1 known element\(s\) such as 'beer'"):
        [others] = selector.complete([("tea", ["tea"])], [{"beer"}], unknown="ignore")
    assert others == {"tea"}


def test_rules_that_need_a_vocabulary_are_refused(selector):
    for rule in (LambdaCNN(), LambdaRNN(), Threshold("per label")):
        if rule.takes_padding:
            continue
        with pytest.raises(ParameterError, match="needs the same choices for every sample"):
            SetSelector(rule=rule).fit(X, Y)
        with pytest.raises(ParameterError, match="needs the same choices for every sample"):
            selector.with_rule(rule)


def test_lists_of_one_length_are_no_fixed_choices():
    """No cut may belong to a place in the list, and other lists may have other lengths."""
    same = [(query, (listed * 6)[:1] + [f"other {k}" for k in range(4)]) for query, listed in X]
    chosen = [s & {listed[0]} for s, (_, listed) in zip(Y, same, strict=True)]
    model = SetSelector(random_state=0, verbose=False).fit(same, chosen)
    assert not any("per label" in name for name in model.rule_scores_)
    assert len(model.predict(NEW)) == len(NEW)


def test_a_recall_is_kept():
    noisy = [
        {c for c in listed if (c in s) != (hash(c) % 7 == k % 9)}
        for k, ((_, listed), s) in enumerate(zip(X, Y, strict=True))
    ]
    model = SetSelector(rule=RiskControl(0.9), random_state=0, verbose=False).fit(X, noisy)
    kept = model.predict(NEW)
    recall = [len(a & b) / len(b) if b else 1.0 for a, b in zip(kept, TRUE, strict=True)]
    assert np.mean(recall) > 0.85


@pytest.mark.parametrize(
    ("arguments", "y", "message"),
    [
        ({}, [set() for _ in X], "no candidate is in the sets of y"),
        ({}, [set(c) for _, c in X], "all candidates are in the sets of y"),
        ({}, Y[1:], "X has 200 samples but y has 199 sets"),
        ({}, [{"beer"}, *Y[1:]], "sample 0 of y holds 'beer', which is not among"),
        ({"cv": 1}, Y, "cv must be at least 2 folds"),
        ({"cv": "prefit"}, Y, "cv must be a number of folds"),
        ({"rule": "margin"}, Y, 'rule must be "auto" or one of setlearn.rules'),
        ({"estimator": LogisticRegression}, Y, "pass an instance"),
    ],
)
def test_bad_arguments(arguments, y, message):
    with pytest.raises((DataError, KindError, ParameterError), match=message):
        SetSelector(**arguments).fit(X, y)


def test_it_is_saved_without_the_texts_of_candidates(selector, tmp_path):
    setlearn.save(selector, tmp_path / "model")
    loaded = setlearn.load(tmp_path / "model")
    assert loaded.predict_ranked(NEW) == selector.predict_ranked(NEW)
    known = [set(list(s)[:1]) for s in TRUE]
    assert loaded.complete(NEW, known) == selector.complete(NEW, known)
    assert not any(b"lemon" in p.read_bytes() for p in (tmp_path / "model").iterdir())
    own = SetSelector(features=letters, rule=TopK(1), cv=2, verbose=False).fit(X, Y)
    with pytest.raises(ModelError):
        setlearn.save(own, tmp_path / "own")


def test_records_have_a_query_and_candidates(selector):
    records = [{"query": query, "candidates": listed, "other": 1} for query, listed in NEW]
    model = reading_x(selector)
    assert model.predict(records) == selector.predict(NEW)
    known = [{"query": "tea", "candidates": ["tea", "soup"], "chosen": ["tea"]}]
    assert model.score(known) == selector.score([("tea", ["tea", "soup"])], [{"tea"}])
    with pytest.raises(DataError, match="there is no column 'candidates'"):
        model.predict([{"query": "tea"}])
    with pytest.raises(DataError, match=r"'candidates' holds .* cannot be an element of a set"):
        model.predict([{"query": "tea", "candidates": {"a": 1}}])
    matrices = SetSelector(rule=TopK(1), cv=2, verbose=False).fit(ROWS, CHOSEN)
    with pytest.raises(DataError, match="reads a matrix of features for each sample"):
        reading_x(matrices)


@pytest.mark.skipif(not DEEPMATH.is_file(), reason="SETLEARN_DATA has no deepmath.jsonl.gz")
def test_premises_of_conjectures():
    """A short version of the example: 1000 conjectures, and a better F1 than keeping all."""
    with gzip.open(DEEPMATH, "rt") as file:
        formulas = json.loads(next(file))["formulas"]
        rows = [json.loads(next(file)) for _ in range(1000)]
    inputs = [(row["query"], [formulas[k] for k in row["candidates"]]) for row in rows]
    needed = [{formulas[k] for k in row["chosen"]} for row in rows]
    model = SetSelector(rule=ExpectedF(), random_state=0, verbose=False)
    model.fit(inputs[:800], needed[:800])
    everything = mean_f1(needed[800:], [set(candidates) for _, candidates in inputs[800:]])
    assert model.score(inputs[800:], needed[800:]) > everything + 0.03
