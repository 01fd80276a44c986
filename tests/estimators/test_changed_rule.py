"""A rule or a hierarchy that was changed after fit is refused, and nothing else is."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression

from setlearn import SetClassifier, load, save
from setlearn.errors import ParameterError
from setlearn.networks import Training
from setlearn.rules import Auto, ExpectedF, LambdaSet, Margin, Threshold, TopK

X, Y = make_multilabel_classification(n_samples=80, n_features=6, n_classes=4, random_state=0)


def fitted(rule, **parameters):
    learner = LogisticRegression(max_iter=500)
    return SetClassifier(learner, rule=rule, random_state=0, **parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TopK(np.int64(1)), TopK(np.int64(3))),
        (Margin(lam=np.array([0.1]), min_size=1), Margin(lam=np.array([0.9]), min_size=1)),
        (Auto([Margin(), Threshold()]), Auto([Margin(), Threshold(0.4)])),
        (Threshold(), Margin()),
    ],
    ids=repr,
)
def test_a_changed_rule_is_refused(before, after, tmp_path):
    for model in (fitted(before), loaded(fitted(before), tmp_path)):
        model.predict(X)
        with pytest.raises(ParameterError, match=r"rule was changed.*with_rule"):
            model.set_params(rule=after).predict(X)


def loaded(model, tmp_path):
    save(model, tmp_path / "model")
    return load(tmp_path / "model")


def test_a_change_inside_the_rule_is_refused():
    rule = Threshold()
    model = fitted(rule)
    rule.cut = 0.3
    with pytest.raises(ParameterError, match="rule was changed"):
        model.predict(X)


def test_how_scikit_learn_prints_does_not_matter(tmp_path):
    model = fitted(Auto([Margin(), Threshold()]))
    save(model, tmp_path / "model")
    with sklearn.config_context(print_changed_only=False):
        assert (model.predict(X) == load(tmp_path / "model").predict(X)).all()


@pytest.mark.parametrize("rule", [Margin(), Threshold("tuned")])
def test_completion_under_another_rule_is_that_of_a_fit(rule):
    known = [frozenset([int(np.argmax(row))]) for row in Y]
    direct = fitted(rule, conditional=True)
    other = fitted(Margin(), conditional=True).with_rule(rule)
    assert (other.predict(X) == direct.predict(X)).all()
    assert (other.complete(X, known) == direct.complete(X, known)).all()


def test_completion_cannot_use_whole_sets():
    model = SetClassifier(rule=Margin(), conditional=True, random_state=0).fit(X, Y)
    with pytest.raises(ParameterError, match="conditional=False"):
        model.with_rule(ExpectedF(joint=True))


@pytest.mark.parametrize("rule", [LambdaSet(training=Training(max_steps=20)), Auto()], ids=repr)
def test_another_rule_is_fitted_as_if_it_had_been_there_from_the_start(rule):
    direct, other = fitted(rule), fitted(Margin()).with_rule(rule)
    nodes = direct.choice_points()[0]
    np.testing.assert_array_equal(nodes.probabilities, other.choice_points()[0].probabilities)
    assert direct.rule_scores_ == other.rule_scores_
    np.testing.assert_array_equal(direct.rule_.accept(nodes), other.rule_.accept(nodes))


def test_what_a_rule_needs_is_asked_of_the_scores_that_were_fitted():
    model = fitted(Margin(), scores="softmax").set_params(scores="marginal")
    with pytest.raises(ParameterError, match="shares of 1"):
        model.with_rule(ExpectedF())


TREE = {"a": "b", "c": ["b", "d"], "d": float("nan")}
SETS = [{name for name, value in zip("abcd", row, strict=True) if value} for row in Y]


def with_hierarchy():
    learner = LogisticRegression(max_iter=500)
    return SetClassifier(learner, TopK(1), hierarchy=deepcopy(TREE)).fit(X, SETS)


@pytest.mark.parametrize("after", [None, {}, {"a": "c"}, TREE | {"d": "a"}], ids=repr)
def test_a_changed_hierarchy_is_refused(after, tmp_path):
    for model in (with_hierarchy(), loaded(with_hierarchy(), tmp_path)):
        with pytest.raises(
            ParameterError, match=r"hierarchy was changed to .* after fit.*call fit"
        ):
            model.set_params(hierarchy=after).predict(X)
    with pytest.raises(ParameterError, match="hierarchy was changed"):
        fitted(TopK(1)).set_params(hierarchy={0: 1}).predict(X)


def test_a_change_inside_the_hierarchy_is_refused():
    model = with_hierarchy()
    model.hierarchy["c"].remove("d")
    with pytest.raises(ParameterError, match="hierarchy was changed"):
        model.complete(X, [set()] * len(X))
    with pytest.raises(ParameterError, match="hierarchy was changed"):
        model.with_rule(TopK(2))


def test_the_same_hierarchy_written_in_another_way_is_none_other():
    model = with_hierarchy()
    answers = model.predict(X)
    assert pickle.loads(pickle.dumps(model)).predict(X) == answers  # nan is no longer itself
    assert (
        model.set_params(hierarchy={"c": {"d", "b"}, "a": ("b",), "d": None}).predict(X) == answers
    )
    assert model.set_params(hierarchy={"a": "c"}).fit(X, SETS).predict(X) != answers
