"""scikit-learn's own checks of what an estimator is, over several learners and rules."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from setlearn import SetClassifier
from setlearn.learners.set_mixture import SetMixture
from setlearn.rules import Margin, Threshold, TopK

NO_WEIGHTS = "the learner takes no weights, and says so instead of ignoring them"
UNWEIGHTED_PARTS = "not all parts of the learner are weighted: "

CANNOT_APPLY = {
    "SetMixture": {
        "check_sample_weight_equivalence_on_dense_data": UNWEIGHTED_PARTS + "scalers, trees",
        "check_sample_weight_equivalence_on_sparse_data": UNWEIGHTED_PARTS + "left-out rows",
    },
    "LogisticRegression": {},
    "RandomForestClassifier": {
        "check_sample_weight_equivalence_on_dense_data": UNWEIGHTED_PARTS + "the bootstrap",
        "check_sample_weight_equivalence_on_sparse_data": UNWEIGHTED_PARTS + "the bootstrap",
    },
    "GaussianNB": {},
    "KNeighborsClassifier": {
        "check_sample_weights_pandas_series": NO_WEIGHTS,
        "check_sample_weights_not_an_array": NO_WEIGHTS,
        "check_sample_weights_list": NO_WEIGHTS,
        "check_classifiers_one_label_sample_weights": NO_WEIGHTS,
        "check_sample_weights_shape": NO_WEIGHTS,
        "check_sample_weights_not_overwritten": NO_WEIGHTS,
        "check_sample_weight_equivalence_on_dense_data": NO_WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": NO_WEIGHTS,
    },
    "SVC": {
        "check_sample_weight_equivalence_on_dense_data": UNWEIGHTED_PARTS + "calibration folds",
        "check_sample_weight_equivalence_on_sparse_data": UNWEIGHTED_PARTS + "calibration folds",
    },
}
"""Checks that cannot apply, a learner at a time, and why. Nothing else is excused.

None of it is due to the rules: a plain 1-d y has one class a sample, so that the rule is always
"the best one"; label sets are checked in the other files.
"""

CLASSIFIERS = [
    SetClassifier(SetMixture(20), cv=2),  # the default learner, with fewer trees
    SetClassifier(LogisticRegression(), Margin(), cv=2),
    SetClassifier(RandomForestClassifier(n_estimators=10), Threshold("tuned"), cv=2),
    SetClassifier(GaussianNB(), Margin(rho=0.5), scores="softmax", cv=2),
    SetClassifier(KNeighborsClassifier(), TopK(2), cv=2),
    SetClassifier(SVC(), Margin(), cv=2),
]


def excused(classifier):
    return CANNOT_APPLY[type(classifier.estimator).__name__]


# GaussianNB takes the logarithm of the prior of a class without weight; that is its own affair.
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=excused)
def test_scikit_learn_check(estimator, check):
    check(estimator)
