"""Models with all that compiled code believes: trees, neighbours, support vectors, indices."""

import numpy as np
from scipy import sparse
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.learners import SigmoidNetwork
from setlearn.learners.many_labels import ManyLabels
from setlearn.learners.set_mixture import SetMixture
from setlearn.networks import Training, Transformer
from setlearn.rules import LambdaSet, Margin, TopK
from tests.estimators.data import tagged
from tests.persistence.cases import Case
from tests.persistence.small_models import WORDS, label_case, sequence_case

X, Y = tagged(40, 2)
THIN = sparse.csr_array(np.where(X > 0.3, X, 0))


def case(learner, X=X, rule=None, **parameters):
    rule = TopK(1) if rule is None else rule
    classifier = SetClassifier(learner, rule, cv=2, random_state=0, **parameters)
    return Case(lambda: classifier.fit(X, Y), X[:4])


def forgery_cases():
    """All of them, by name."""
    copying = SequenceSetGenerator(
        Transformer(4, 2, 1),
        training=Training(max_steps=5),
        max_nodes=20,
        max_size=4,
        random_state=0,
    )
    boosted = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5)
    return {
        "labels": label_case(),
        "sequences": sequence_case(),
        "transformer": Case(lambda: copying.fit(WORDS, [{x} for x in WORDS]), WORDS[:2]),
        "network": case(
            SigmoidNetwork((3,), training=Training(max_steps=5)),
            rule=LambdaSet(training=Training(max_steps=5)),
        ),
        "mixture": case(SetMixture(2), rule=Margin()),
        "many-labels": case(ManyLabels(2), THIN),
        "sparse-mixture": case(SetMixture(2), THIN),
        "forest": case(RandomForestClassifier(2)),
        "boosting": case(GradientBoostingClassifier(n_estimators=2), scores="softmax"),
        "histograms": case(boosted),
        "kd-tree": case(KNeighborsClassifier(2, algorithm="kd_tree", leaf_size=5)),
        "ball-tree": case(KNeighborsClassifier(2, algorithm="ball_tree", leaf_size=5)),
        "brute": case(KNeighborsClassifier(2, algorithm="brute"), scores="softmax"),
        "sparse-brute": case(KNeighborsClassifier(2), THIN, scores="softmax"),
        "svc": case(SVC(), scores="softmax"),
        "sparse-svc": case(SVC(), THIN, scores="softmax"),
    }
