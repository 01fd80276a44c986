"""What learners of all shapes answer, in one shape."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from setlearn import SetClassifier
from setlearn.errors import DataError
from setlearn.learners import SetMixture, SigmoidNetwork
from setlearn.networks import Training
from setlearn.rules import TopK
from setlearn.scorers import MarginalScorer, SoftmaxScorer, shared_steps
from setlearn.scorers.classifiers import (
    answers_indicators,
    class_probabilities,
    fit_learner,
    label_probabilities,
    params_of_rows,
    with_seeds,
)
from setlearn.scorers.label_targets import LabelTargets
from tests.estimators.data import tagged

X, Y = tagged(40)


def targets(indicator):
    return LabelTargets(sparse.csr_array(np.asarray(indicator, dtype=bool)))


@pytest.mark.parametrize(
    ("learner", "natively"),
    [
        (DecisionTreeClassifier(), True),
        (KNeighborsClassifier(), True),
        (MLPClassifier(), True),
        (LogisticRegression(), False),
        (SVC(), False),
        (RidgeClassifier(), False),  # takes indicators, but has no probabilities for them
    ],
    ids=lambda value: type(value).__name__,
)
def test_who_takes_indicators(learner, natively):
    assert answers_indicators(learner) is natively
    scorer = MarginalScorer(learner, n_labels=4)
    if not isinstance(learner, MLPClassifier):
        scorer.fit(X, targets(Y.astype(bool)), {})
        assert hasattr(scorer, "model_") is natively


def test_labels_that_do_not_vary_get_their_smoothed_frequency():
    constant = np.column_stack([Y, np.zeros(40, int), np.ones(40, int)]).astype(bool)
    for learner in (DecisionTreeClassifier(random_state=0), LogisticRegression()):
        scorer = MarginalScorer(learner, n_labels=6).fit(X, targets(constant), {})
        P = scorer.label_scores(X)
        np.testing.assert_allclose(P[:, 4], 0.5 / 41)
        np.testing.assert_allclose(P[:, 5], 40.5 / 41)
        alone = MarginalScorer(learner, n_labels=4).fit(X, targets(Y.astype(bool)), {})
        assert (P[:, :4] == alone.label_scores(X)).all()


def test_when_no_label_varies_there_is_nothing_to_fit():
    nothing = targets(np.zeros((40, 3)))
    P = MarginalScorer(LogisticRegression(), n_labels=3).fit(X, nothing, {}).label_scores(X)
    np.testing.assert_allclose(P, np.full((40, 3), 0.5 / 41))


def test_a_sure_learner_is_never_quite_sure():
    scorer = MarginalScorer(DecisionTreeClassifier(), n_labels=4)
    P = scorer.fit(X, targets(Y.astype(bool)), {}).label_scores(X)
    assert ((P > 0) & (P < 1)).all()
    assert ((P > 0.5) == Y).all()


def test_a_list_of_columns_with_one_class_only():
    constant = np.column_stack([Y[:, :2], np.zeros(40, int), np.ones(40, int)])
    P = label_probabilities(DecisionTreeClassifier().fit(X, constant), X)
    assert (P[:, 2] == 0).all()
    assert (P[:, 3] == 1).all()


def test_softmax_gives_one_row_an_element():
    rows, columns = np.nonzero(Y)
    expected = LogisticRegression().fit(X[rows], columns).predict_proba(X)
    scorer = SoftmaxScorer(LogisticRegression(), n_labels=4)
    P = scorer.fit(X, targets(Y.astype(bool)), {}).label_scores(X)
    np.testing.assert_allclose(P, expected)


def test_softmax_with_nothing_as_a_choice():
    some = Y.astype(bool)
    some[:5] = False
    scorer = SoftmaxScorer(LogisticRegression(), n_labels=4, empty_choice=True)
    scorer.fit(X, targets(some), {})
    nodes, mask = scorer.with_right(scorer.start(X).nodes, sparse.csr_array(some))
    assert nodes.n_choices == 5
    right = mask.toarray()
    assert (right[:, :4] == some).all()
    assert (right[:, 4] == ~some.any(axis=1)).all()
    step = scorer.start(X, known=sparse.csr_array(some))
    assert step.nodes.probabilities.shape == step.nodes.known.shape == (40, 5)
    assert not step.nodes.known[:, 4].any()
    np.testing.assert_allclose(scorer.start(X).nodes.probabilities.sum(axis=1), 1)
    # Whoever knows an element knows that the set is not empty.
    assert (step.nodes.probabilities[5:, 4] == 0).all()
    assert (step.nodes.probabilities[:5, 4] > 0).all()


def test_an_element_unseen_in_training_has_no_probability():
    some = Y.astype(bool)
    some[:, 2] = False
    P = SoftmaxScorer(LogisticRegression(), n_labels=4).fit(X, targets(some), {})
    assert (P.label_scores(X)[:, 2] == 0).all()
    only = np.zeros((40, 4), bool)
    only[:, 1] = True
    P = SoftmaxScorer(LogisticRegression(), n_labels=4).fit(X, targets(only), {})
    assert P.label_scores(X).tolist() == [[0, 1, 0, 0]] * 40


def test_a_fitted_learner_whose_classes_stand_in_another_order():
    learner = LogisticRegression().fit(X, X.argmax(axis=1))
    scorer = SoftmaxScorer(learner, n_labels=4).prefit(np.array([2, 0, 3, 1]))
    moved = scorer.label_scores(X)
    assert (moved[:, [2, 0, 3, 1]] == learner.predict_proba(X)).all()


def test_a_fitted_learner_of_other_labels():
    scorer = MarginalScorer(DecisionTreeClassifier().fit(X, Y), n_labels=3).prefit()
    with pytest.raises(DataError, match="answers for 4 labels but Y has 3"):
        scorer.label_scores(X)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_learner_without_probabilities_is_calibrated(n_classes):
    y = X[:, :n_classes].argmax(axis=1)
    P = class_probabilities(fit_learner(LinearSVC(), X, y, {}), X)
    assert P.shape == (40, n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert np.mean(P.argmax(axis=1) == y) > 0.8


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_class_seen_once_is_squashed_instead(n_classes):
    y = X[:, : n_classes - 1].argmax(axis=1)
    y[0] = n_classes - 1
    model = fit_learner(LinearSVC(), X, y, {})
    assert isinstance(model, LinearSVC)
    P = class_probabilities(model, X)
    assert P.shape == (40, n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P.argmax(axis=1) == model.predict(X)).all()


def test_parameters_of_rows():
    rows = np.array([3, 3, 0])
    weights = np.arange(4.0)
    cut = params_of_rows({"w": weights, "l": [0, 1, 2, 3], "s": "abcd", "n": 4}, rows, 4)
    assert cut["w"].tolist() == [3, 3, 0]
    assert cut["l"] == [3, 3, 0]
    assert (cut["s"], cut["n"]) == ("abcd", 4)


def test_only_open_seeds_are_drawn():
    open_seed = with_seeds(DecisionTreeClassifier(), np.random.RandomState(0))
    assert open_seed.random_state == with_seeds(open_seed, np.random.RandomState(1)).random_state
    assert open_seed.random_state is not None
    again = with_seeds(DecisionTreeClassifier(), np.random.RandomState(0))
    assert again.random_state == open_seed.random_state


@pytest.mark.parametrize(
    "learner", [None, LogisticRegression(), SigmoidNetwork(training=Training(max_steps=50))]
)
@pytest.mark.parametrize("n_together", [1, 2, 3, 5, 13, 31])
def test_scores_do_not_depend_on_what_is_asked_together(learner, n_together):
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(90, 12))
    Y = X @ rng.normal(size=(12, 5)) > 0
    model = SetClassifier(learner, TopK(2), random_state=0).fit(X, Y)
    whole = model.predict_proba(X)
    parts = [model.predict_proba(X[i : i + n_together]) for i in range(0, 90, n_together)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_many_rows_are_scored_as_few_are(monkeypatch):
    monkeypatch.setattr("setlearn.scorers.labels.MOST_COPIED", 20)
    X = np.random.RandomState(0).uniform(size=(90, 12))
    model = SetClassifier(LogisticRegression(), TopK(2)).fit(X, X[:, :5] > 0.5)
    whole = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X[:27]), whole[:27])


class TestSharedSteps:
    """The steps of a pipeline before its last one are fitted once, if they use no targets."""

    @staticmethod
    def scorer(*steps, params=()):
        scorer = MarginalScorer(make_pipeline(*steps), n_labels=4)
        return scorer.fit(X, targets(Y), dict(params))

    @pytest.mark.parametrize(
        "last", [LogisticRegression(), LinearSVC(random_state=0)], ids=["scores", "margins"]
    )
    def test_answers_are_those_of_a_pipeline_per_label(self, last, monkeypatch):
        shared = self.scorer(StandardScaler(), PCA(2, random_state=0), last)
        assert [type(step).__name__ for step in shared.steps_] == ["StandardScaler", "PCA"]
        assert not any(isinstance(model, Pipeline) for model in shared.models_)
        monkeypatch.setattr(shared_steps, "PACKAGES", ())
        single = self.scorer(StandardScaler(), PCA(2, random_state=0), last)
        assert single.steps_ is None
        tolerance = 0.0 if isinstance(last, LogisticRegression) else 0.2  # folds of calibration
        np.testing.assert_allclose(
            shared.label_scores(X), single.label_scores(X), atol=tolerance, rtol=1e-9
        )

    def test_a_step_that_needs_targets_is_fitted_for_each_label(self):
        scorer = self.scorer(SelectKBest(k=1), LogisticRegression())
        assert scorer.steps_ is None
        assert len({model[0].get_support().argmax() for model in scorer.models_}) > 1

    def test_parameters_of_fit_may_be_for_any_step(self):
        weights = {"standardscaler__sample_weight": np.ones(40)}
        assert self.scorer(StandardScaler(), LogisticRegression(), params=weights).steps_ is None

    def test_a_learner_that_knows_held_out_scores_is_fitted_once(self):
        scorer = MarginalScorer(
            make_pipeline(StandardScaler(), SetMixture(5, random_state=0)), n_labels=4
        )
        nodes = scorer.fit_held_out(X, targets(Y), {}, with_examples=True)
        alone = MarginalScorer(SetMixture(5, random_state=0), n_labels=4)
        scaled = StandardScaler().fit_transform(X)
        expected = alone.fit_held_out(scaled, targets(Y), {}, with_examples=True)
        assert (nodes.probabilities == expected.probabilities).all()
        assert (scorer.label_scores(X) == alone.label_scores(scaled)).all()
        assert (scorer.examples(X).weights != alone.examples(scaled).weights).nnz == 0
        needs_targets = make_pipeline(SelectKBest(k=2), SetMixture(5, random_state=0))
        scorer = MarginalScorer(needs_targets, n_labels=4)
        assert scorer.fit_held_out(X, targets(Y), {}, with_examples=True) is None
