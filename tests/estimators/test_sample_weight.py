"""Sample weights reach the learner, or are refused; they are never dropped."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from setlearn import SetClassifier
from setlearn.errors import DataError, ParameterError
from setlearn.rules import Margin, TopK
from tests.estimators.data import as_sets, tagged

X, Y = tagged(60)
SETS = as_sets(Y)
WEIGHTS = np.random.default_rng(5).integers(0, 4, 60)


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@pytest.mark.parametrize("learner", [LogisticRegression(tol=1e-10, max_iter=1000), GaussianNB()])
def test_whole_weights_are_repetitions(learner, scores):
    rows = np.repeat(np.arange(60), WEIGHTS)
    classifier = SetClassifier(learner, TopK(2), scores=scores)
    weighted = classifier.fit(X, SETS, sample_weight=WEIGHTS).predict_proba(X)
    repeated = classifier.fit(X[rows], [SETS[row] for row in rows]).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)


def test_a_negative_weight_is_named():
    weights = np.ones(60)
    weights[7] = -1
    with pytest.raises(DataError, match="sample_weight is -1 for sample 7; weights must not"):
        SetClassifier(LogisticRegression(), TopK(2)).fit(X, SETS, sample_weight=weights)


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())),
        SVC(),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=["learner", "pipeline", "nested", "calibrated", "calibrated pipeline"],
)
def test_weights_decide_between_contradicting_samples(learner, scores):
    twice = np.concatenate([X, X])
    contradicting = [{"right", k % 3} for k in range(60)] + [{"wrong", k % 3} for k in range(60)]
    classifier = SetClassifier(learner, TopK(1), scores=scores, random_state=0)
    for believed, weights in (("right", [10.0, 1.0]), ("wrong", [1.0, 10.0])):
        classifier.fit(twice, contradicting, sample_weight=np.repeat(weights, 60))
        answers = [labels == {believed} for labels in classifier.predict(X)]
        assert np.mean(answers) > 0.9


class Careful(ClassifierMixin, BaseEstimator):
    """A learner that learns nothing but checks that every row comes with its own weight."""

    def fit(self, X, y, sample_weight):
        np.testing.assert_allclose(X[:, 0], sample_weight)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
def test_every_fold_gets_the_weights_of_its_rows(scores):
    classifier = SetClassifier(Careful(), Margin(), scores=scores, cv=3, random_state=0)
    classifier.fit(X, SETS, sample_weight=X[:, 0])
    assert classifier.predict(X)


def test_routing_reaches_the_learner():
    plain = SetClassifier(LogisticRegression(), TopK(2)).fit(X, SETS, sample_weight=WEIGHTS)
    with config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=True)
        routed = SetClassifier(learner, TopK(2)).fit(X, SETS, sample_weight=WEIGHTS)
        scaled = StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=True)
        inside = make_pipeline(scaled, learner)
        in_learner = SetClassifier(inside, TopK(2)).fit(X, SETS, sample_weight=WEIGHTS)
        around = make_pipeline(scaled, SetClassifier(learner, TopK(2)))
        around.fit(X, SETS, sample_weight=WEIGHTS)
        for classifier in (routed, in_learner, around):
            np.testing.assert_allclose(classifier.predict_proba(X), plain.predict_proba(X))


def test_routing_asks_what_to_do_with_weights():
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(UnsetMetadataPassedError, match="sample_weight"),
    ):
        SetClassifier(LogisticRegression(), TopK(2)).fit(X, SETS, sample_weight=WEIGHTS)


def test_further_fit_parameters_reach_the_learner():
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    direct = SetClassifier(learner, Margin(), cv=2, random_state=0).fit(
        X, SETS, sample_weight=WEIGHTS
    )
    named = SetClassifier(learner, Margin(), cv=2, random_state=0)
    named.fit(X, SETS, logisticregression__sample_weight=WEIGHTS)
    assert (direct.predict_proba(X) == named.predict_proba(X)).all()
    assert direct.rule_.lam_ == named.rule_.lam_


@pytest.mark.parametrize(
    "learner",
    [KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())],
    ids=["learner", "pipeline"],
)
def test_a_learner_without_weights_says_so(learner):
    message = "sample_weight was passed but KNeighborsClassifier takes none; leave it out or use"
    with pytest.raises(ParameterError, match=message):
        SetClassifier(learner).fit(X, SETS, sample_weight=WEIGHTS)


def test_a_fitted_learner_says_so():
    learner = GaussianNB().fit(X, X.argmax(axis=1))
    classifier = SetClassifier(learner, Margin(), scores="softmax", cv="prefit")
    with pytest.raises(ParameterError, match='sample_weight was passed, but with cv="prefit"'):
        classifier.fit(X, SETS, sample_weight=WEIGHTS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight.*\(3,\).*\(60,\)"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.ones((60, 2)), "[Ss]ample.?weights? must be 1D"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(DataError, match=message):
        SetClassifier(LogisticRegression()).fit(X, SETS, sample_weight=weights)
