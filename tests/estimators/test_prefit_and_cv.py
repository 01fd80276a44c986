"""Where the scores that a rule learns from come from: held-out parts, or a fitted learner."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from setlearn import SetClassifier
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.nodes import Nodes
from setlearn.rules import Margin, TopK
from tests.estimators.data import as_sets, tagged

X, Y = tagged(60)
LABELS = ["air", "earth", "fire", "water"]
SETS = as_sets(Y, LABELS)
ROWS, COLUMNS = np.nonzero(Y)  # one row an element
STRINGS = np.array(LABELS)[COLUMNS]


def test_the_rule_learns_from_held_out_scores():
    splitter = KFold(3, shuffle=True, random_state=0)
    learner = LogisticRegression()
    held_out = np.column_stack(
        [cross_val_predict(learner, X, y, cv=splitter, method="predict_proba")[:, 1] for y in Y.T]
    )
    expected = Margin().fit(Nodes.roots(held_out), Y.astype(bool))
    classifier = SetClassifier(learner, Margin(), cv=splitter).fit(X, SETS)
    assert classifier.rule_.lam_ == pytest.approx(expected.lam_, abs=1e-12)
    assert classifier.rule_.objective_ == pytest.approx(expected.objective_)
    full = np.column_stack([learner.fit(X, y).predict_proba(X)[:, 1] for y in Y.T])
    np.testing.assert_allclose(classifier.predict_proba(X), full)


def test_splits_may_be_given_in_many_ways():
    splitter = KFold(3)
    splits = list(splitter.split(X))
    masks = [tuple(np.isin(np.arange(60), part) for part in split) for split in splits]
    lam = SetClassifier(LogisticRegression(), Margin(), cv=splitter).fit(X, SETS).rule_.lam_
    for cv in (splits, iter(splits), masks, [(a.tolist(), b.tolist()) for a, b in splits]):
        assert SetClassifier(LogisticRegression(), Margin(), cv=cv).fit(X, SETS).rule_.lam_ == lam


def test_a_splitter_may_leave_samples_out_or_test_them_twice():
    once = ShuffleSplit(1, test_size=0.2, random_state=0)
    [(train, test)] = once.split(X)
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=once).fit(X, SETS)
    scores = np.column_stack(
        [LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1] for y in Y.T]
    )
    expected = Margin().fit(Nodes.roots(scores), Y[test].astype(bool)).lam_
    assert classifier.rule_.lam_ == pytest.approx(expected, abs=1e-12)
    often = ShuffleSplit(6, test_size=0.5, random_state=0)
    assert 0 < SetClassifier(LogisticRegression(), Margin(), cv=often).fit(X, SETS).rule_.lam_ < 1


def test_more_folds_than_samples_leave_one_out():
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=99, random_state=0).fit(
        X[:12], SETS[:12]
    )
    leave_one_out = SetClassifier(LogisticRegression(), Margin(), cv=KFold(12)).fit(
        X[:12], SETS[:12]
    )
    assert classifier.rule_.lam_ == pytest.approx(leave_one_out.rule_.lam_)


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(n_estimators=10, random_state=0),
        OneVsRestClassifier(LogisticRegression()),
        FrozenEstimator(OneVsRestClassifier(LogisticRegression()).fit(X, Y)),
    ],
    ids=["list of columns", "matrix", "frozen"],
)
def test_a_fitted_learner_of_many_labels(learner):
    learner = learner.fit(X, Y)
    classifier = SetClassifier(learner, Margin(), cv="prefit").fit(X, SETS)
    answer = learner.predict_proba(X)
    P = np.column_stack([p[:, 1] for p in answer]) if isinstance(answer, list) else answer
    np.testing.assert_allclose(classifier.predict_proba(X), P, atol=1e-12)
    rule = Margin().fit(Nodes.roots(classifier.predict_proba(X)), Y.astype(bool))
    assert classifier.rule_.lam_ == rule.lam_
    assert classifier.classes_.tolist() == LABELS
    assert classifier.scorer_.estimator is learner


def test_a_fitted_learner_of_one_row_an_element():
    learner = LogisticRegression().fit(X[ROWS], STRINGS)
    classifier = SetClassifier(learner, Margin(), scores="softmax", cv="prefit").fit(X, SETS)
    assert (classifier.predict_proba(X) == learner.predict_proba(X)).all()
    assert classifier.score(X, SETS) > 0.8
    # Y need not show every label that the learner knows.
    half = SetClassifier(learner, Margin(), scores="softmax", cv="prefit")
    half.fit(X, [labels - {"air"} for labels in SETS])
    assert half.classes_.tolist() == LABELS
    assert "air" in frozenset().union(*half.complete(X, [{"water"}] * 60))


def test_a_fitted_learner_and_a_table_in_another_order():
    learner = LogisticRegression().fit(X[ROWS], STRINGS)
    table = pd.DataFrame(Y, columns=LABELS)[["water", "air", "fire", "earth"]]
    classifier = SetClassifier(learner, Margin(), scores="softmax", cv="prefit").fit(X, table)
    assert classifier.classes_.tolist() == ["water", "air", "fire", "earth"]
    np.testing.assert_array_equal(
        classifier.predict_proba(X), learner.predict_proba(X)[:, [3, 0, 2, 1]]
    )
    assert classifier.score(X, table) > 0.8


def test_a_fitted_learner_and_an_indicator_with_a_column_that_it_lacks():
    learner = LogisticRegression().fit(X[ROWS], COLUMNS)
    wide = np.column_stack([Y, np.zeros(60, int)])
    classifier = SetClassifier(learner, Margin(), scores="softmax", cv="prefit").fit(X, wide)
    assert (classifier.predict_proba(X)[:, 4] == 0).all()
    assert classifier.predict(X).shape == (60, 5)


def test_a_fitted_ordinary_classifier():
    y = np.array(LABELS)[X.argmax(axis=1)]
    learner = LogisticRegression().fit(X, y)
    assert (
        SetClassifier(learner, Margin(), cv="prefit").fit(X, y).predict(X) == learner.predict(X)
    ).all()


@pytest.mark.parametrize(
    ("learner", "targets", "scores", "error", "message"),
    [
        (LogisticRegression(), SETS, "softmax", NotFittedError, "this LogisticRegression is not;"),
        (LogisticRegression(), SETS, "marginal", SklearnNotFittedError, "fit it first"),
        (SVC().fit(X[ROWS], STRINGS), SETS, "softmax", DataError, "SVC has no predict_proba; cal"),
        (
            LogisticRegression().fit(X[ROWS], COLUMNS),
            SETS,
            "softmax",
            DataError,
            "4 label.s. that the fitted estimator does not know, such as 'air'; fit it on all",
        ),
        (
            LogisticRegression().fit(X[ROWS], STRINGS),
            Y,
            "softmax",
            DataError,
            "knows the class 'air', which is no column of Y; fit it on column numbers",
        ),
        (
            OneVsRestClassifier(LogisticRegression()).fit(X, Y),
            as_sets(Y[:, :3]),
            "marginal",
            DataError,
            'answers for 4 labels but Y has 3; with cv="prefit" the labels must be',
        ),
    ],
)
def test_fitted_learners_that_do_not_fit(learner, targets, scores, error, message):
    with pytest.raises(error, match=message):
        SetClassifier(learner, Margin(), scores=scores, cv="prefit").fit(X, targets)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be at least 2 folds.*got 1"),
        (0, "cv must be at least 2 folds.*got 0"),
        ("pre-fit", "cv='pre-fit' cannot split 60 samples"),
        (KFold(99), "cannot split 60 samples.*99"),
        (StratifiedKFold(2), "StratifiedKFold.*neither classes nor groups"),
        (2.5, "cv=2.5 cannot split"),
    ],
)
def test_bad_cv(cv, message):
    with pytest.raises(ParameterError, match=message):
        SetClassifier(LogisticRegression(), Margin(), cv=cv).fit(X, SETS)


def test_a_rule_that_learns_nothing_needs_no_folds():
    classifier = SetClassifier(LogisticRegression(), TopK(2), cv=None).fit(X[:3], SETS[:3])
    assert all(len(labels) == 2 for labels in classifier.predict(X))


def test_splits_that_hold_nothing_out():
    with pytest.raises(DataError, match="no choice points to learn from"):
        SetClassifier(LogisticRegression(), Margin(), cv=[(np.arange(60), np.arange(0))]).fit(
            X, SETS
        )
