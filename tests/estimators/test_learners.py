"""Learners as they come, for both kinds of scores, with sets and with indicators."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from setlearn import SetClassifier
from setlearn.metrics import exact_match, mean_f1
from setlearn.rules import Margin, Threshold
from tests.estimators.data import as_sets, tagged

LEARNERS = [
    LogisticRegression(),
    RandomForestClassifier(n_estimators=20),
    ExtraTreesClassifier(n_estimators=20),
    SVC(),
    GaussianNB(),
    MultinomialNB(),
    KNeighborsClassifier(),
    GradientBoostingClassifier(n_estimators=20),
    HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5),
    MLPClassifier(),
]
MULTI_LABEL_LEARNERS = [
    OneVsRestClassifier(LogisticRegression()),
    MultiOutputClassifier(LogisticRegression()),
    ClassifierChain(LogisticRegression()),
    DecisionTreeClassifier(),
    RidgeClassifier(),
    LinearSVC(),
]


def named(learners):
    return pytest.mark.parametrize("learner", learners, ids=lambda learner: type(learner).__name__)


def best_constant_f1(indicator):
    """The F1 of the best answer that does not look at the input."""
    by_frequency = np.argsort(-indicator.sum(axis=0))
    answers = []
    for size in range(1, indicator.shape[1] + 1):
        answer = np.zeros_like(indicator)
        answer[:, by_frequency[:size]] = 1
        answers.append(mean_f1(indicator, answer))
    return max(answers)


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@named(LEARNERS)
def test_any_learner_predicts_sets_and_indicators_alike(learner, scores):
    X, Y = tagged(120)
    classifier = SetClassifier(learner, Margin(), scores=scores, cv=2, random_state=0)
    of_indicator = classifier.fit(X[:80], Y[:80]).predict(X[80:])
    of_sets = classifier.fit(X[:80], as_sets(Y[:80])).predict(X[80:])
    assert as_sets(of_indicator) == of_sets
    assert mean_f1(Y[80:], of_indicator) > best_constant_f1(Y[80:]) + 0.02
    P = classifier.predict_proba(X[80:])
    assert P.shape == (40, 4)
    if scores == "marginal":
        assert ((P > 0) & (P < 1)).all()
    else:
        np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@named([*LEARNERS[:4], GaussianNB()])
def test_empty_sets_are_learned(learner, scores):
    X = np.random.default_rng(1).random((120, 2))
    Y = (X > 0.5).astype(int)  # a quarter of the sets is empty
    classifier = SetClassifier(learner, Margin(), scores=scores, cv=3, random_state=0)
    predicted = classifier.fit(X[:80], as_sets(Y[:80])).predict(X[80:])
    truth = as_sets(Y[80:])
    assert frozenset() in truth
    found = [bool(p) for p, t in zip(predicted, truth, strict=True) if not t]
    assert sum(found) <= len(found) / 2  # most of the empty ones are answered with nothing
    assert mean_f1(truth, predicted) > 0.6


@named([*LEARNERS[:3], KNeighborsClassifier(), *MULTI_LABEL_LEARNERS])
def test_labels_that_are_never_or_always_there_in_a_fold(learner):
    X, Y = with_rare_labels()
    classifier = SetClassifier(learner, Threshold("tuned"), cv=4, random_state=0)
    predicted = classifier.fit(X, Y).predict(X)
    assert predicted[:, 4].mean() < 0.2
    assert predicted[:, 5].mean() > 0.9


@named([LogisticRegression(), RandomForestClassifier(n_estimators=10), SVC(), GaussianNB()])
def test_elements_that_are_never_there_in_a_fold(learner):
    X, Y = with_rare_labels()
    classifier = SetClassifier(learner, Margin(), scores="softmax", cv=4, random_state=0)
    predicted = classifier.fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    assert mean_f1(Y, predicted) > 0.6


def with_rare_labels():
    """The fifth label is there once and the sixth absent once: in one fold they do not vary."""
    X, Y = tagged(40)
    Y = np.column_stack([Y, np.zeros(40, int), np.ones(40, int)])
    Y[7, 4] = 1
    Y[9, 5] = 0
    return X, Y


@named(MULTI_LABEL_LEARNERS)
def test_learners_of_many_labels(learner):
    X, Y = tagged(120)
    classifier = SetClassifier(learner, Threshold(), cv=2, random_state=0).fit(X[:80], Y[:80])
    assert mean_f1(Y[80:], classifier.predict(X[80:])) > best_constant_f1(Y[80:]) + 0.02


def test_a_single_label_that_is_there_or_not():
    X, Y = tagged(60)
    truth = as_sets(Y[:, :1], ["yes"])
    for learner in (RandomForestClassifier(n_estimators=10), LogisticRegression()):
        classifier = SetClassifier(learner, Threshold(), random_state=0).fit(X, truth)
        assert classifier.predict_proba(X).shape == (60, 1)
        assert exact_match(truth, classifier.predict(X)) > 0.9


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@pytest.mark.parametrize(
    "learner",
    [None, RandomForestClassifier(n_estimators=20), GradientBoostingClassifier(n_estimators=20)],
    ids=["default", "forest", "boosting"],
)
def test_the_papers_own_example(learner, scores):
    """f(x) = the integers y with x < y ≤ 10."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (200, 1))
    Y = [frozenset(y for y in range(1, 11) if x < y) for [x] in X]
    rule = Margin() if scores == "marginal" else Margin(space="log")
    classifier = SetClassifier(learner, rule, scores=scores, cv=3, random_state=0)
    classifier.fit(X[:150], Y[:150])
    assert mean_f1(Y[150:], classifier.predict(X[150:])) > 0.9
    if learner is not None and scores == "marginal":
        assert classifier.predict([[6.5], [8.5]]) == [{7, 8, 9, 10}, {9, 10}]
        assert exact_match(Y[150:], classifier.predict(X[150:])) > 0.8
