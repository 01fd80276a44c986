"""SetClassifier() as it comes: its learner and the choice of its rule."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from setlearn import SetClassifier
from setlearn.errors import ParameterError
from setlearn.learners.set_mixture import SetMixture
from setlearn.rules import Auto, ExpectedF, Margin, Threshold, TopK
from tests.estimators.data import as_sets, tagged

X, Y = tagged(100)
QUICK = SetMixture(20)


def one_of_four(n_samples):
    """Each sample has just one label, which is hard to tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 4))
    best = (X + rng.normal(size=X.shape)).argmax(axis=1)
    return X, np.eye(4, dtype=int)[best]


def test_nothing_need_be_said():
    classifier = SetClassifier(random_state=0).fit(X[:70], as_sets(Y[:70]))
    assert isinstance(classifier.scorer_.model_, SetMixture)
    assert repr(classifier.rule_) in classifier.rule_scores_
    assert classifier.score(X[70:], as_sets(Y[70:])) > 0.8
    assert classifier.trace(X[70]).result == classifier.predict(X[70:71])[0]


@pytest.mark.parametrize("rule", [None, "auto", Auto()], ids=str)
def test_auto_has_three_spellings(rule):
    named = SetClassifier(LogisticRegression(), rule, cv=2, random_state=0).fit(X, Y)
    assert list(named.rule_scores_) == [
        "Margin()",
        "Threshold(cut='tuned', min_size=None)",
        "Threshold(cut='per label', min_size=None)",
        "ExpectedF(min_size=None)",
        "ExpectedF(calibrate=True, min_size=None)",
    ]
    assert max(named.rule_scores_, key=named.rule_scores_.get) == repr(named.rule_)


def test_a_given_rule_is_taken_as_it_is():
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0).fit(X, Y)
    assert isinstance(classifier.rule_, Margin)
    assert classifier.rule_scores_ is None


def test_sets_that_go_together_are_learned_from_examples():
    X, Y = one_of_four(250)
    classifier = SetClassifier(QUICK, cv=3, random_state=0).fit(X[:150], Y[:150])
    assert "ExpectedF(joint=True, min_size=None)" in classifier.rule_scores_
    joint = SetClassifier(QUICK, ExpectedF(joint=True), cv=3, random_state=0).fit(X[:150], Y[:150])
    alone = SetClassifier(QUICK, ExpectedF(), cv=3, random_state=0).fit(X[:150], Y[:150])
    assert joint.score(X[150:], Y[150:]) > alone.score(X[150:], Y[150:])
    again = alone.with_rule(ExpectedF(joint=True))
    assert again.predict_sets(X[150:]) == joint.predict_sets(X[150:])


def test_examples_are_found_only_for_rules_that_look_at_them():
    plain = SetClassifier(QUICK, Threshold(), cv=2, random_state=0).fit(X, Y)
    assert plain._score(X).examples is None
    joint = SetClassifier(QUICK, ExpectedF(joint=True), cv=2, random_state=0).fit(X, Y)
    examples = joint._score(X[:5]).examples
    assert examples.weights.shape == (5, examples.sets.shape[0])


def test_examples_hold_labels_that_are_always_or_never_there():
    constant = np.column_stack([np.ones(100, int), Y, np.zeros(100, int)])
    joint = SetClassifier(QUICK, ExpectedF(joint=True), random_state=0).fit(X, constant)
    predicted = joint.predict(X)
    assert predicted[:, 0].all()
    assert not predicted[:, -1].any()


def test_texts_as_sparse_rows():
    rows = sparse.random_array((80, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    truth = (rows[:, :3].toarray() > 0) | np.eye(3, dtype=bool)[np.arange(80) % 3]
    classifier = SetClassifier(cv=2, random_state=0).fit(rows, truth)
    assert any("joint" in name for name in classifier.rule_scores_)
    assert classifier.predict(rows).shape == (80, 3)


def test_softmax_has_a_learner_of_its_own():
    classifier = SetClassifier(scores="softmax", cv=2, random_state=0).fit(X, as_sets(Y))
    assert isinstance(classifier.scorer_.model_, Pipeline)
    assert classifier.score(X, as_sets(Y)) > 0.8


def test_a_plain_y():
    y = X.argmax(axis=1)
    classifier = SetClassifier(random_state=0).fit(X[:70], y[:70])
    assert isinstance(classifier.rule_, TopK)
    assert classifier.score(X[70:], y[70:]) > 0.7
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


def test_the_same_seed_gives_the_same_answer():
    one, two = (SetClassifier(QUICK, cv=2, n_jobs=n, random_state=0).fit(X, Y) for n in (1, 2))
    assert one.rule_scores_ == two.rule_scores_
    assert (one.predict_proba(X) == two.predict_proba(X)).all()


@pytest.mark.parametrize(
    "classifier",
    [
        SetClassifier(LogisticRegression(), ExpectedF(joint=True)),
        SetClassifier(rule=ExpectedF(joint=True), scores="softmax"),
        SetClassifier(rule=ExpectedF(joint=True), conditional=True),
    ],
    ids=["learner", "softmax", "conditional"],
)
def test_a_joint_without_examples_is_told_before_anything_is_fitted(classifier):
    with pytest.raises(ParameterError, match=r"needs training sets with weights.*without joint"):
        classifier.fit(X, Y)
