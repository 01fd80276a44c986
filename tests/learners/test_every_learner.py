"""All exported learners, and one from outside the package, pass the same checks."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

import setlearn.learners
from setlearn.errors import ParameterError
from setlearn.learners import SetMixture, SigmoidNetwork, learner_named, learner_names
from tests.checks.learners import CHECKS, exported_learners


class SmoothedNeighbours(ClassifierMixin, BaseEstimator):
    """A learner from outside: the weighted mean of training rows, by their distance."""

    def __init__(self, width=1.0, *, random_state=None):
        self.width = width
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(self, X, y, multi_output=True)
        self.indicator_ = y.ndim == 2
        self.classes_ = np.arange(y.shape[1]) if self.indicator_ else np.unique(y)
        self.rows_ = X.copy()
        self.right_ = y.astype(float) if self.indicator_ else y[:, None] == self.classes_
        self.weight_ = np.ones(len(X)) if sample_weight is None else np.array(sample_weight)
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        distance = np.abs(X[:, None] - self.rows_).sum(axis=2)
        weight = self.weight_ * np.exp(-distance / self.width) + 1e-9
        mean = (weight[:, :, None] * self.right_).sum(axis=1) / weight.sum(axis=1)[:, None]
        return 0.98 * mean + 0.01 if self.indicator_ else mean

    def predict(self, X):
        P = self.predict_proba(X)
        return (P > 0.5).astype(int) if self.indicator_ else self.classes_[P.argmax(axis=1)]


LEARNERS = [*exported_learners(), SmoothedNeighbours(random_state=0)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learner(learner, check):
    check(learner)


class TestNames:
    def test_short_names_are_declared_by_the_learners(self):
        assert learner_names() == [
            "forest",
            "logistic",
            "many-labels",
            "mixture",
            "neighbours",
            "network",
        ]
        assert isinstance(learner_named("mixture"), SetMixture)
        assert isinstance(learner_named("network"), SigmoidNetwork)

    @pytest.mark.parametrize("name", learner_names())
    def test_named_learners_learn_from_dense_and_sparse_rows(self, name):
        X = np.random.default_rng(0).normal(size=(30, 3))
        y = X[:, 0] > 0
        learner = learner_named(name)
        assert is_classifier(learner)
        if name == "network":
            learner.set_params(training__max_steps=20)
        for container in (np.asarray, sparse.csr_array):
            assert learner.fit(container(X), y).predict_proba(container(X)).shape == (30, 2)

    @pytest.mark.parametrize("name", ["svm", "SetMixture", ""])
    def test_other_names_are_refused_with_a_list(self, name):
        with pytest.raises(
            ParameterError,
            match=f"learner must be one of forest, logistic, many-labels, mix.*got '{name}'",
        ):
            learner_named(name)

    def test_a_learner_that_the_package_exports_has_its_short_name(self, monkeypatch):
        kind = type("NearRows", (SmoothedNeighbours,), {"short_name": "near"})
        exported = [*setlearn.learners.__all__, "NearRows"]
        monkeypatch.setattr(setlearn.learners, "__all__", exported)
        module = type(sys)("setlearn.learners.near_rows")
        module.NearRows = kind
        monkeypatch.setitem(sys.modules, module.__name__, module)
        assert "near" in learner_names()
        assert isinstance(learner_named("near"), kind)


def test_importing_the_package_imports_neither_torch_nor_slow_parts_of_scikit_learn():
    code = (
        "import sys, setlearn.learners as n; dir(n); "
        "assert not {'torch', 'sklearn.linear_model', 'sklearn.ensemble'} & set(sys.modules); "
        "n.learner_names(); n.SigmoidNetwork(); n.SequenceSigmoidNetwork(); n.SetMixture(); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
