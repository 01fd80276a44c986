"""Metrics of sets as scorers: the best model has the highest score, also for distances."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from tests.estimators.data import as_sets, tagged

from setlearn import SetClassifier
from setlearn.metrics import exact_match, hamming_distance, mean_f1, set_scorer
from setlearn.rules import Threshold

X, Y = tagged(60)
SETS = as_sets(Y, "abcd")


@pytest.mark.parametrize("metric", [mean_f1, exact_match, hamming_distance])
def test_the_better_rule_wins(metric):
    rules = [Threshold(0.01), Threshold(0.5)]
    search = GridSearchCV(
        SetClassifier(LogisticRegression()),
        {"rule": rules},
        cv=KFold(2),
        scoring=set_scorer(metric),
    )
    assert search.fit(X, SETS).best_params_["rule"].cut == 0.5


def test_the_sign_can_be_given():
    model = SetClassifier(LogisticRegression(), Threshold(0.5)).fit(X, SETS)
    distance = hamming_distance(SETS, model.predict(X))
    assert set_scorer(hamming_distance)(model, X, SETS) == -distance
    assert set_scorer(hamming_distance, greater_is_better=True)(model, X, SETS) == distance
    assert np.sign(distance) == 1
