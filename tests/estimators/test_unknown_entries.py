"""An indicator with NaN: such entries are neither right nor wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

import setlearn
from setlearn import SetClassifier
from setlearn.errors import DataError, ParameterError
from setlearn.learners.set_mixture import SetMixture
from setlearn.metrics import label_report, mean_f1, set_report
from setlearn.rules import Auto, LambdaCNN, Margin, Threshold
from tests.estimators.data import tagged

X, Y = tagged(160)
PARTLY = Y.astype(float)
PARTLY[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
PARTLY[7] = np.nan  # nothing at all is known of this sample


def fitted(learner, y, **parameters):
    return SetClassifier(learner, random_state=0, verbose=False, **parameters).fit(X, y)


def test_rows_of_lists_may_have_gaps():
    lists = [[None if np.isnan(v) else int(v) for v in row] for row in PARTLY]
    one, other = fitted(None, lists), fitted(None, PARTLY)
    assert one.n_unknown_ == other.n_unknown_
    assert (one.predict_proba(X) == other.predict_proba(X)).all()


def test_masked_entries_are_unknown():
    masked = np.ma.masked_array(Y, np.isnan(PARTLY))
    one, other = fitted(None, masked), fitted(None, PARTLY)
    assert one.n_unknown_ == other.n_unknown_ > 0
    assert (one.predict_proba(X) == other.predict_proba(X)).all()
    assert set_report(masked, Y) == set_report(PARTLY, Y)
    hidden = np.ma.masked_array(np.where(X > 0.7, 99.0, X), X > 0.7)
    gaps = np.where(X > 0.7, np.nan, X)
    one, other = fitted(None, Y), fitted(None, Y)
    assert (one.predict_proba(hidden) == other.predict_proba(gaps)).all()
    with pytest.raises(DataError, match="NaN"):
        fitted(LogisticRegression(), Y).predict(hidden)


@pytest.mark.parametrize("cv", [2, KFold(2)], ids=["number", "splitter"])
@pytest.mark.parametrize(
    "learner",
    [SetMixture(20), LogisticRegression(), ExtraTreesClassifier(10)],
    ids=lambda x: type(x).__name__,
)
def test_unknown_entries_do_not_matter(learner, cv):
    """A model of what is known is close to one of everything, and counts the rest."""
    model = fitted(learner, PARTLY, rule=Threshold("tuned"), cv=cv)
    assert model.n_unknown_ == np.isnan(PARTLY).sum()
    assert model.facts()["unknown entries"] == model.n_unknown_
    answer = model.predict(X)
    assert answer.dtype == float
    assert set(np.unique(answer)) <= {0.0, 1.0}
    assert mean_f1(Y, answer) > 0.8
    taken_for_no = fitted(learner, np.nan_to_num(PARTLY), rule=Threshold(0.5), cv=cv)
    assert model.predict_proba(X).mean() > taken_for_no.predict_proba(X).mean()


def test_each_label_is_fitted_on_the_samples_that_know_it():
    model = fitted(LogisticRegression(), PARTLY, rule=Threshold(0.5))
    for label in range(4):
        known = ~np.isnan(PARTLY[:, label])
        alone = LogisticRegression().fit(X[known], PARTLY[known, label])
        expected = alone.predict_proba(X)[:, 1]
        np.testing.assert_allclose(model.predict_proba(X)[:, label], expected, atol=1e-6)


def test_weights_go_to_the_same_samples():
    weight = np.random.default_rng(1).uniform(0.1, 3, len(X))
    model = SetClassifier(LogisticRegression(), Threshold(0.5)).fit(X, PARTLY, sample_weight=weight)
    known = ~np.isnan(PARTLY[:, 2])
    alone = LogisticRegression().fit(X[known], PARTLY[known, 2], sample_weight=weight[known])
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 2], alone.predict_proba(X)[:, 1], atol=1e-6
    )


def test_labels_that_are_known_together_are_fitted_together():
    half = Y.astype(float)
    half[:60] = np.nan
    model = fitted(None, half)
    assert hasattr(model.scorer_, "model_")
    alone = SetClassifier(random_state=0, verbose=False).fit(X[60:], Y[60:])
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-6)
    nodes, _ = model.choice_points()
    assert set(nodes.sample) == set(range(60, 160))


def test_rules_see_only_what_is_known():
    model = fitted(None, PARTLY, rule=Margin())
    nodes, right = model.choice_points()
    assert len(nodes) == 159
    assert (nodes.available == ~np.isnan(PARTLY[nodes.sample])).all()
    assert (nodes.probabilities[~nodes.available] == 0).all()
    assert (right.toarray() == (PARTLY[nodes.sample] == 1)).all()
    # The same samples, given by hand.
    again = model.with_rule(Margin(), X, PARTLY)
    assert again.rule_.lam_ > 0


@pytest.mark.parametrize(
    "container",
    [
        sparse.csr_array,
        sparse.csc_matrix,
        pd.DataFrame,
        lambda y: pd.DataFrame(y).astype("Int64"),
        lambda y: pd.DataFrame(np.where(np.isnan(y), None, y)),
        lambda y: pl.DataFrame(y, schema=["a", "b", "c", "d"]),
    ],
    ids=["csr", "csc", "pandas", "pandas NA", "objects", "polars"],
)
def test_other_containers_are_read_alike(container):
    expected = fitted(LogisticRegression(), PARTLY, rule=Threshold("tuned"))
    model = fitted(LogisticRegression(), container(PARTLY), rule=Threshold("tuned"))
    assert model.n_unknown_ == expected.n_unknown_
    assert (model.predict_proba(X) == expected.predict_proba(X)).all()
    assert model.rule_.cut_ == expected.rule_.cut_


def test_metrics_leave_unknown_entries_out():
    true = np.array([[1, np.nan, 0], [0, 1, np.nan]])
    predicted = np.array([[1, 1, 0], [0, 1, 1]])
    assert mean_f1(true, predicted) == 1.0
    assert mean_f1(sparse.csr_array(true), sparse.csr_array(predicted)) == 1.0
    report = set_report(true, predicted)
    assert (report.n_unknown, report.exact_match, report.mean_predicted_size) == (2, 1.0, 1.0)
    assert "unknown entries           2  left out" in str(report)
    assert "unknown" not in str(set_report(predicted, predicted))
    assert all(row.precision == 1 for row in label_report(true, predicted).labels)


def test_a_prediction_cannot_be_unknown():
    with pytest.raises(DataError, match="Y_pred holds nan"):
        mean_f1(np.ones((1, 2)), np.array([[1, np.nan]]))


def test_scikit_learn_can_validate_it():
    scores = cross_val_score(SetClassifier(LogisticRegression(), Margin()), X, PARTLY, cv=KFold(3))
    assert scores.min() > 0.6


def test_a_model_is_saved_with_its_parts(tmp_path):
    model = fitted(None, PARTLY)
    loaded = setlearn.load(setlearn.save(model, tmp_path / "model") or tmp_path / "model")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.n_unknown_ == model.n_unknown_


def test_a_label_that_is_always_unknown_is_refused():
    nothing = PARTLY.copy()
    nothing[:, 1] = np.nan
    with pytest.raises(DataError, match="the label 1 is unknown for every sample in Y"):
        fitted(None, nothing)


def test_known_labels_alone_are_refused():
    """Nothing says which samples do not have a label."""
    only_right = np.where(PARTLY == 1, 1.0, np.nan)
    with pytest.raises(DataError, match=r"every known entry of Y is 1.*write 0 where"):
        fitted(None, only_right)


@pytest.mark.parametrize(
    "parameters",
    [
        {"scores": "softmax", "rule": Margin()},
        {"conditional": True},
        {"rule": LambdaCNN()},
        {"rule": Threshold("per label")},
    ],
    ids=str,
)
def test_what_needs_to_know_everything_says_so(parameters):
    with pytest.raises(ParameterError, match=r"entries of y are unknown .* needs to know all"):
        fitted(None, PARTLY, **parameters)


def test_auto_leaves_out_rules_that_need_to_know_everything():
    model = fitted(LogisticRegression(), PARTLY, rule=Auto())
    assert "Threshold(cut='per label', min_size=None)" not in model.rule_scores_


@pytest.mark.parametrize("rule", [LambdaCNN(), Threshold("per label")], ids=repr)
def test_another_rule_must_take_them_too(rule):
    model = fitted(LogisticRegression(), PARTLY)
    with pytest.raises(ParameterError, match=r"some entries of y are unknown.*leave it out"):
        model.with_rule(rule)
