"""Labels that imply others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import setlearn
from setlearn import SetClassifier
from setlearn.errors import DataError, KindError, ParameterError
from setlearn.estimators.hierarchy import Hierarchy, parents_of
from setlearn.estimators.label_space import LabelSpace
from setlearn.metrics import mean_f1
from setlearn.nodes import Nodes
from setlearn.rules import ExpectedF, Margin, RiskControl, Threshold, TopK
from setlearn.scorers.label_targets import LabelTargets

ANIMALS = {"poodle": "dog", "terrier": "dog", "dog": "animal", "cat": "animal", "oak": "plant"}
LEAVES = ["poodle", "terrier", "cat", "oak"]
rng = np.random.default_rng(0)
KIND = rng.integers(0, 4, 200)
X = np.eye(4)[KIND] + rng.normal(0, 0.3, (200, 4))
SETS = [{LEAVES[k]} for k in KIND]


def closed(labels):
    found = set(labels)
    while more := {ANIMALS[label] for label in found if label in ANIMALS} - found:
        found |= more
    return frozenset(found)


def fitted(rule=None, hierarchy=ANIMALS, y=SETS, **parameters):
    learner = parameters.pop("estimator", LogisticRegression())
    model = SetClassifier(learner, rule, hierarchy=hierarchy, random_state=0, cv=3, **parameters)
    return model.fit(X, y)


@pytest.mark.parametrize(
    "rule",
    [None, Margin(), Threshold("tuned"), ExpectedF(), TopK(2), RiskControl(0.9)],
    ids=lambda rule: type(rule).__name__,
)
def test_predicted_sets_hold_all_ancestors(rule):
    model = fitted(rule)
    assert set(model.classes_) == {*ANIMALS, *ANIMALS.values()}
    answers = model.predict(X)
    assert all(answer == closed(answer) for answer in answers)
    if rule is None:
        assert mean_f1([closed(labels) for labels in SETS], answers) > 0.9
    scores = pd.DataFrame(model.predict_proba(X), columns=model.classes_)
    assert all((scores[child] < scores[parent]).all() for child, parent in ANIMALS.items())


def test_the_default_learner_takes_one_too():
    model = fitted(estimator=None)
    assert all(answer == closed(answer) for answer in model.predict(X))
    assert model.score(X, [closed(labels) for labels in SETS]) > 0.9


def test_without_a_hierarchy_nothing_is_implied():
    assert "dog" not in fitted(hierarchy=None).classes_
    assert fitted(hierarchy={}).predict(X[:3]) == fitted(hierarchy=None).predict(X[:3])


def test_known_labels_imply_their_ancestors():
    model = fitted(Threshold(0.5))
    [others] = model.complete(X[KIND == 3][:1], [{"poodle"}])
    assert others >= {"dog", "animal", "oak", "plant"}
    assert "poodle" not in others
    trace = model.trace(X[0], known={"cat"})
    assert trace.result >= {"cat", "animal"}


def test_several_parents():
    model = fitted(hierarchy={"poodle": ["dog", "pet"], "cat": ("pet",), "dog": {"animal"}})
    assert {"dog", "pet", "animal"} <= model.predict(X[KIND == 0][:1])[0]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_columns_of_an_indicator(container):
    y = np.column_stack([KIND == 0, KIND == 1, KIND < 2, KIND == 3]).astype(int)
    y[:5, 2] = 0  # not closed
    model = fitted(Threshold("tuned"), {0: 2, 1: 2}, container(y))
    answer = model.predict(X)
    answer = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
    assert (answer[:, 2] >= np.maximum(answer[:, 0], answer[:, 1])).all()


def test_entries_that_follow_from_others_are_known():
    space = LabelSpace.read(np.eye(3))[0]
    unknown = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1]], dtype=bool))
    right = sparse.csr_array(np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0]], dtype=bool))
    _, _, targets = Hierarchy.read({0: 1, 1: 2}, space, LabelTargets(right, unknown))
    assert targets.right.toarray().tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    # The second sample lacks label 1, so it lacks label 0.
    assert targets.unknown.toarray().tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8))
def test_scores_become_consistent_and_change_only_where_they_must(seed, n_labels):
    rng = np.random.default_rng(seed)
    parents = {k: int(rng.integers(0, k)) for k in range(1, n_labels) if rng.random() < 0.7}
    scores = rng.random((5, n_labels))
    space, targets = LabelSpace.read(np.eye(n_labels))
    hierarchy, _, _ = Hierarchy.read(parents, space, targets)
    consistent = hierarchy.consistent(Nodes.roots(scores)).probabilities
    for child, parent in parents.items():
        assert (consistent[:, child] < consistent[:, parent]).all()
    again = hierarchy.consistent(Nodes.roots(consistent)).probabilities
    np.testing.assert_allclose(again, consistent, rtol=1e-7)
    kept = sparse.csr_array(rng.random((5, n_labels)) < 0.4)
    sets = hierarchy.closed(kept).toarray()
    for row, given_set in zip(sets, kept.toarray(), strict=True):
        expected = set(np.flatnonzero(given_set).tolist())
        while more := {parents[k] for k in expected if k in parents} - expected:
            expected |= more
        assert set(np.flatnonzero(row).tolist()) == expected


def test_it_is_saved(tmp_path):
    model = fitted()
    setlearn.save(model, tmp_path / "model")
    loaded = setlearn.load(tmp_path / "model")
    assert loaded.predict(X) == model.predict(X)
    assert loaded.hierarchy == ANIMALS


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"hierarchy": ["dog"]}, KindError, "must be a mapping from labels to their parents"),
        ({"hierarchy": {"a": "b", "b": "a"}}, DataError, "an ancestor of itself"),
        ({"hierarchy": {"a": "a"}}, DataError, "an ancestor of itself"),
        ({"hierarchy": {"puddle": "dog"}}, DataError, "its keys are such as 'puddle', the labels"),
        ({"hierarchy": {"a": "b"}, "y": np.eye(4)[KIND]}, DataError, "the columns of y such as 0"),
        ({"hierarchy": {0: 7}, "y": np.eye(4)[KIND]}, DataError, "7, which is no column of y"),
        ({"scores": "softmax", "rule": Margin()}, ParameterError, 'got scores="softmax"'),
        ({"y": KIND}, ParameterError, "got a plain 1-d y"),
    ],
)
def test_what_cannot_work_is_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        fitted(**parameters)


def test_true_sets_are_closed_before_they_are_compared():
    model = fitted()
    assert model.score(X, SETS) == model.score(X, [closed(labels) for labels in SETS]) > 0.9
    y = np.column_stack([KIND == 0, KIND == 1, KIND < 2]).astype(float)
    y[KIND == 0, 2] = np.nan
    of_columns = fitted(Threshold("tuned"), {0: 2, 1: 2}, y)
    assert of_columns.n_unknown_ == 0
    assert of_columns.score(X, y) > 0.8


@pytest.mark.parametrize("conditional", [False, True])
def test_what_else_includes_what_known_labels_imply(conditional):
    model = fitted(conditional=conditional)
    others = model.complete(X[:20], [{"poodle"}] * 20)
    assert all(answer | {"poodle"} == closed(answer | {"poodle"}) for answer in others)


def test_unknown_entries_and_a_hierarchy():
    y = np.column_stack([KIND == 0, KIND == 1, KIND < 2, KIND == 3]).astype(float)
    y[np.random.default_rng(1).random(y.shape) < 0.2] = np.nan
    model = fitted(None, {0: 2, 1: 2}, y, estimator=None)
    answer = model.predict(X)
    assert (answer[:, 2] >= answer[:, :2].max(axis=1)).all()
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_a_missing_parent_is_none(nothing):
    model = fitted(hierarchy={"poodle": "dog", "dog": nothing, "cat": nothing})
    assert set(model.classes_) == {*LEAVES, "dog"}


def test_labels_that_are_tuples():
    y = [{(1, "a")} if k else {(2, "b")} for k in KIND % 2]
    model = fitted(hierarchy={(1, "a"): (1, "b"), (2, "b"): [(0,), (1, "b")]}, y=y)
    assert set(model.classes_) == {(0,), (1, "a"), (1, "b"), (2, "b")}


def test_suggestions_begin_with_what_is_implied():
    model = fitted(Threshold(0.5))
    [ranking] = model.complete_ranked(X[KIND == 3][:1], [{"poodle"}], top=4)
    assert {label for label, score in ranking[:2]} == {"animal", "dog"}
    assert [score for _, score in ranking[:2]] == [1.0, 1.0]
    assert [label for label, _ in ranking[2:]] == ["plant", "oak"]


def test_it_may_be_a_series():
    parents = {"dog": "pet", "pet": None}
    assert parents_of(pd.Series(parents)) == parents_of(parents)
