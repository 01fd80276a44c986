"""Label models of every kind that users save: labels, rules, learners, scores."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from setlearn import SetClassifier
from setlearn.learners import ManyLabels, SequenceSigmoidNetwork, SigmoidNetwork
from setlearn.learners.set_mixture import SetMixture
from setlearn.networks import Training
from setlearn.rules import (
    Auto,
    ExpectedF,
    LambdaCNN,
    LambdaRNN,
    LambdaSet,
    Margin,
    MostProbable,
    RiskControl,
    Threshold,
    TopK,
)
from tests.estimators.data import as_sets, tagged
from tests.persistence.cases import Case

X, Y = tagged(60, empty_sets=True)
PROBES = np.vstack([X[:5], np.random.default_rng(9).random((5, 4))])
KNOWN = [{0}, set(), {1, 2}, {3}, {0}, set(), {1}, {2}, {3}, {0, 1}]
TEXTS = [" ".join(f"word{k}" for k in np.flatnonzero(row)) or "nothing" for row in Y]
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.where(X[:, 0] > 0.5, "red", "blue"))
SMALL = {"training": Training(max_steps=20), "random_state": 0}


def case(learner=None, rule=None, *, X=X, Y=None, probes=PROBES, known=None, **parameters):
    sets = as_sets(globals()["Y"]) if Y is None else Y
    parameters = {"cv": 2, "random_state": 0, **parameters}
    rule = TopK(2) if rule is None else rule
    return Case(lambda: SetClassifier(learner, rule, **parameters).fit(X, sets), probes, known)


def of_labels(labels):
    return [frozenset(labels[k] for k in one) for one in as_sets(Y)], [
        {labels[k] for k in one} for one in KNOWN
    ]


def label_kinds():
    kinds = {
        "str": ["a", "ä|b", "-", "😀\n."],
        "int": [-1, 0, 2**70, 7],
        "tuple": [(1, "a"), (1, ("b", None)), (), (2.5,)],
        "mixed": ["a", 1, 2.5, (True, 2)],
        "frozenset": [frozenset(), frozenset({1}), frozenset({1, 2}), frozenset({(1, 2)})],
        "float": [0.1, 2.5, -1e300, float("inf")],
        "strange strings": ["!tuple", "!object", "inf", "\ud800"],
    }
    for name, labels in kinds.items():
        sets, known = of_labels(labels)
        yield f"labels {name}", case(LogisticRegression(), Y=sets, known=known)
    for dtype in (int, bool, float, np.uint8):
        indicator = Y.astype(dtype)
        yield f"indicator {np.dtype(dtype)}", case(LogisticRegression(), Y=indicator, known=Y[:10])
    for layout in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
        for form in ("array", "matrix"):
            container = getattr(sparse, f"{layout}_{form}")
            yield f"indicator {layout}_{form}", case(LogisticRegression(), Y=container(Y))
    frame = pd.DataFrame(Y, columns=["a", "b", "c", "d"])
    yield "indicator frame", case(LogisticRegression(), Y=frame, known=Y[:10])
    for name, classes in {"str": np.array(["x", "yy", "z", "w"]), "int": np.arange(4)}.items():
        yield f"classes {name}", case(LogisticRegression(), Y=classes[X.argmax(axis=1)])
        yield f"classes {name} default", case(SetMixture(5), Y=classes[X.argmax(axis=1)])


def rules():
    found = [
        *(Margin(), Margin(space="log"), Margin(0.2, min_size=1), Margin(min_size=0)),
        *(Threshold(), Threshold("tuned"), Threshold(min_size=None), TopK(3)),
        *(ExpectedF(), ExpectedF(2.0, min_size=1), RiskControl(0.6)),
        RiskControl(precision=0.3, confidence=0.8),
        *(LambdaCNN(**SMALL), LambdaRNN(**SMALL), LambdaSet(**SMALL)),
        *(Auto(), Auto([TopK(1), Threshold("tuned")]), Auto(metric="exact")),
        *(MostProbable(), Threshold("per label", metric="hamming")),
    ]
    for rule in found:
        yield f"rule {rule}", case(GaussianNB(), rule, known=KNOWN)
    for rule in (Margin(), LambdaSet(**SMALL)):
        name = f"conditional {rule}"
        yield name, case(GaussianNB(), rule, known=KNOWN, conditional=True)
    for rule in (Margin(), ExpectedF(joint=True), MostProbable(joint=True), "auto"):
        yield f"mixture {rule}", case(SetMixture(5), rule, known=KNOWN)
    yield "softmax", case(LogisticRegression(), Margin(), scores="softmax", known=KNOWN)
    yield "softmax default", case(None, Margin(space="log"), scores="softmax", known=KNOWN)
    yield "softmax LambdaSet", case(GaussianNB(), LambdaSet(**SMALL), scores="softmax", known=KNOWN)


def learners():
    logistic = LogisticRegression()
    found = [
        *(RandomForestClassifier(5), ExtraTreesClassifier(5), DecisionTreeClassifier()),
        *(GradientBoostingClassifier(n_estimators=4), AdaBoostClassifier(n_estimators=3)),
        HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
        *(KNeighborsClassifier(3, algorithm=a) for a in ("kd_tree", "ball_tree", "brute")),
        KNeighborsClassifier(3, weights="distance", metric="manhattan", algorithm="brute"),
        *(SVC(), SVC(kernel="linear"), LinearSVC(), RidgeClassifier(), SGDClassifier()),
        *(GaussianNB(), MLPClassifier((4,), solver="lbfgs"), GaussianProcessClassifier()),
        *(
            BaggingClassifier(DecisionTreeClassifier(), 3, max_features=2),
            ClassifierChain(logistic),
        ),
        VotingClassifier([("a", GaussianNB()), ("b", logistic)], voting="soft"),
        StackingClassifier([("a", GaussianNB())], logistic, cv=2),
        *(CalibratedClassifierCV(GaussianNB(), cv=2), GridSearchCV(logistic, {"C": [1, 9]}, cv=2)),
        *(make_pipeline(StandardScaler(), SVC()), make_pipeline(SelectKBest(k=2), GaussianNB())),
        make_pipeline(StandardScaler(), SigmoidNetwork((4,), training=Training(max_steps=20))),
        SigmoidNetwork((4,), training=Training(max_steps=20)),
        SigmoidNetwork((), training=Training(max_steps=20)),
    ]
    for number, learner in enumerate(found):
        yield f"learner {number} {type(learner).__name__}", case(learner, Margin(), known=KNOWN)
    yield "isotonic", case(CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2))
    yield "softmax GradientBoosting", case(found[3], scores="softmax")
    yield "softmax HistGradientBoosting", case(found[5], scores="softmax")
    yield "softmax SVC", case(SVC(), scores="softmax")
    yield (
        "prefit",
        Case(
            lambda: SetClassifier(
                RandomForestClassifier(3, random_state=0).fit(X, Y), cv="prefit"
            ).fit(X, Y),
            PROBES,
        ),
    )
    yield "KFold", case(logistic, Margin(), cv=KFold(3, shuffle=True, random_state=1))
    yield "RandomState", case(SetMixture(3), Margin(), random_state=np.random.RandomState(0))


def inputs():
    thin = sparse.csr_array(np.where(X > 0.5, X, 0))
    for name, learner in {
        "mixture": SetMixture(3),
        "many labels": ManyLabels(),
        "KNN": KNeighborsClassifier(3),
        "SVC": SVC(),
        "network": SigmoidNetwork((4,), training=Training(max_steps=20)),
    }.items():
        yield f"sparse {name}", case(learner, Margin(), X=thin, probes=thin[:8])
    words = make_pipeline(TfidfVectorizer(), LogisticRegression())
    yield "texts", case(words, Margin(), X=TEXTS, probes=[*TEXTS[:4], "word1 unseen"])
    mixed = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )
    frame = make_pipeline(mixed, LogisticRegression())
    yield "frame", case(frame, Margin(), X=TABLE, probes=TABLE[:5])
    named = X[:, :2], TABLE[["a", "b"]]
    yield "default", case(None, "auto", X=named[0], probes=PROBES[:, :2], known=KNOWN)
    yield "named", case(SetMixture(3), Margin(), X=named[1], probes=named[1][:5])
    many = np.random.default_rng(0).random((5200, 2))
    yield "many rows", case(SetMixture(2), TopK(1), X=many, Y=(many > 0.5), probes=many[:9])
    yield "many labels", case(ManyLabels(), "auto", known=KNOWN)
    steps = make_pipeline(TfidfVectorizer(), ManyLabels(3))
    yield "many labels of texts", case(steps, ExpectedF(), X=TEXTS, probes=TEXTS[:5])
    sequences = SequenceSigmoidNetwork(training=Training(max_steps=20))
    yield "sequence network", case(sequences, Margin(), X=TEXTS, probes=TEXTS[:5])


def label_cases():
    """All of them, by name."""
    return dict([*label_kinds(), *rules(), *learners(), *inputs()])
