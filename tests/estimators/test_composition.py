"""SetClassifier among scikit-learn's own: pipelines, searches, tables, texts, sparse data."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from setlearn import SetClassifier, nodes
from setlearn.metrics import mean_f1
from setlearn.rules import Margin, Threshold, TopK
from tests.estimators.data import as_sets, tagged

X, Y = tagged(60)
LABELS = ["air", "earth", "fire", "water"]
SETS = as_sets(Y, LABELS)
CLASSIFIER = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0)


def test_at_the_end_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), clone(CLASSIFIER)).fit(X, SETS)
    alone = clone(CLASSIFIER).fit(StandardScaler().fit_transform(X), SETS)
    scaled = pipeline[0].transform(X)
    assert pipeline.predict(X) == alone.predict(scaled)
    assert (pipeline.predict_proba(X) == alone.predict_proba(scaled)).all()
    assert pipeline.score(X, SETS) == alone.score(scaled, SETS)


@pytest.mark.parametrize(
    "targets",
    [SETS, np.array([*SETS, None], dtype=object)[:-1], Y, Y.tolist(), pd.DataFrame(Y)],
    ids=["sets", "array of sets", "indicator", "rows", "table"],
)
@pytest.mark.parametrize(
    "grid",
    [
        {"rule__rho": [0.0, 0.5]},
        {"rule__lam": [0.0, 0.4, 1.0]},
        {"estimator__C": [1e-4, 10.0]},
        {"rule": [TopK(4), Threshold("tuned")]},
    ],
    ids=lambda grid: next(iter(grid)),
)
def test_grid_search_reaches_rule_and_learner(grid, targets):
    search = GridSearchCV(CLASSIFIER, grid, cv=2, error_score="raise").fit(X, targets)
    [(name, candidates)] = grid.items()
    by_hand = []
    for value in candidates:
        candidate = clone(CLASSIFIER).set_params(**{name: value})
        by_hand.append(cross_val_score(candidate, X, targets, cv=2).mean())
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert str(search.best_params_[name]) == str(candidates[int(np.argmax(by_hand))])


def test_grid_search_finds_what_is_better():
    grid = {"rule__lam": [0.0, 1.0]}  # the best label alone, or all of them
    one = [{LABELS[k]} for k in X.argmax(axis=1)]
    assert GridSearchCV(CLASSIFIER, grid, cv=2).fit(X, one).best_params_ == {"rule__lam": 0.0}
    every = [set(LABELS)] * 59 + [{"air"}]
    assert GridSearchCV(CLASSIFIER, grid, cv=2).fit(X, every).best_params_ == {"rule__lam": 1.0}


def test_sparse_targets_in_cross_validation():
    thin, dense = (
        GridSearchCV(CLASSIFIER, {"rule__rho": [0.0, 0.5]}, cv=3).fit(X, targets).best_score_
        for targets in (sparse.csr_array(Y), Y)
    )
    assert thin == dense
    predicted = cross_val_predict(CLASSIFIER, X, Y, cv=3)
    assert predicted.shape == Y.shape
    assert mean_f1(Y, predicted) > 0.8


def test_clone_and_parameters():
    classifier = SetClassifier(LogisticRegression(C=3.0), Margin(rho=0.25), cv=2)
    copied = clone(classifier.fit(X, SETS))
    assert not hasattr(copied, "rule_")
    assert copied.get_params()["rule__rho"] == 0.25
    assert copied.get_params()["estimator__C"] == 3.0
    copied.set_params(rule__rho=0.5, estimator__C=1.0, scores="softmax")
    assert (copied.rule.rho, copied.estimator.C, copied.scores) == (0.5, 1.0, "softmax")
    assert (classifier.rule.rho, classifier.estimator.C) == (0.25, 3.0)
    assert is_classifier(copied)


def test_fit_leaves_what_it_was_given_alone():
    learner, rule = LogisticRegression(), Margin()
    SetClassifier(learner, rule, cv=2, random_state=0).fit(X, SETS)
    assert not hasattr(learner, "coef_")
    assert not hasattr(rule, "lam_")
    assert (learner.random_state, X.flags.writeable) == (None, True)


def test_a_table_of_numbers_keeps_its_names():
    table = pd.DataFrame(X, columns=list("pqrs"))
    classifier = clone(CLASSIFIER).fit(table, SETS)
    assert classifier.feature_names_in_.tolist() == list("pqrs")
    assert classifier.n_features_in_ == 4
    assert classifier.predict(table) == clone(CLASSIFIER).fit(X, SETS).predict(X)
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(table[["q", "p", "r", "s"]])


def test_a_learner_that_picks_columns_by_name():
    kinds = np.where(X[:, 0] > 0.5, "hot", "cold")
    table = pd.DataFrame(X[:, 1:], columns=list("qrs")).assign(kind=kinds)
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), ("passthrough", ["q", "r"]))
    classifier = SetClassifier(make_pipeline(columns, LogisticRegression()), Threshold(), cv=2)
    classifier.fit(table, SETS)
    assert classifier.feature_names_in_.tolist() == ["q", "r", "s", "kind"]
    hot = [("air" in labels) for labels in classifier.predict(table)]
    assert np.mean(hot == (kinds == "hot")) > 0.95


@pytest.mark.parametrize(
    "as_given", [list, tuple, np.array, pd.Series], ids=["list", "tuple", "array", "Series"]
)
@pytest.mark.parametrize("scores", ["marginal", "softmax"])
def test_texts(scores, as_given):
    words = ["red", "green", "big", "small", "fast"]
    rng = np.random.default_rng(0)
    sets = [frozenset(rng.choice(words, size=rng.integers(1, 4), replace=False)) for _ in range(60)]
    texts = as_given([" ".join(["it is", *sorted(labels)]) for labels in sets])
    learner = make_pipeline(TfidfVectorizer(), LogisticRegression(C=100))
    classifier = SetClassifier(learner, Margin(), scores=scores, cv=2, random_state=0).fit(
        texts, sets
    )
    assert classifier.score(texts, sets) > 0.9
    assert not hasattr(classifier, "n_features_in_")
    assert classifier.predict(["it is small and fast"]) == [{"small", "fast"}]


def test_texts_with_a_learner_that_must_be_calibrated():
    texts, sets = ["a b", "b c", "a c", "a b c"] * 6, [{"x"}, {"y"}, {"x", "y"}, {"x", "z"}] * 6
    classifier = SetClassifier(make_pipeline(TfidfVectorizer(token_pattern="."), LinearSVC()), cv=2)
    assert classifier.set_params(random_state=0).fit(texts, sets).score(texts, sets) > 0.8


def test_mappings_for_a_dict_vectorizer():
    rows = [{"warm": x, "kind": "a" if x > 0.5 else "b"} for x in X[:, 0]]
    learner = make_pipeline(DictVectorizer(), LogisticRegression())
    classifier = SetClassifier(learner, Threshold(), cv=2).fit(rows, as_sets(Y[:, :1]))
    assert classifier.score(rows, as_sets(Y[:, :1])) > 0.9


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_inputs_answer_as_dense_ones(container):
    thin = clone(CLASSIFIER).fit(container(X), SETS)
    assert thin.n_features_in_ == 4
    assert thin.predict(container(X)) == clone(CLASSIFIER).fit(X, SETS).predict(X)


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@pytest.mark.parametrize("rule", [Margin(), Margin(rho=0.3), Threshold("tuned")], ids=str)
def test_wide_sparse_data_are_never_made_dense_as_a_whole(rule, scores, monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 3000), density=0.01, rng=rng, format="csr")
    Y = sparse.csr_array((rng.random((200, 40)) < 0.05) | (np.arange(40) == 3)).astype(np.int8)
    learner = SGDClassifier(loss="log_loss", max_iter=5, tol=None)
    densified = spy_on_densifying(monkeypatch)
    monkeypatch.setattr(nodes, "CHUNK_ENTRIES", 400)  # ten rows at a time
    classifier = SetClassifier(learner, rule, scores=scores, cv=2, random_state=0)
    predicted = classifier.fit(X, Y).predict(X)
    assert sparse.issparse(predicted)
    assert classifier.score(X, Y) > 0
    assert densified  # the spy does see what it is to see
    assert max(rows * columns for rows, columns in densified) <= 400


def spy_on_densifying(monkeypatch):
    """Record the shape of every sparse matrix that anybody makes dense."""
    shapes = []

    def watched(method):
        def densify(matrix, *args, **kwargs):
            shapes.append(matrix.shape)
            return method(matrix, *args, **kwargs)

        return densify

    kinds = {kind for kind in vars(sparse).values() if isinstance(kind, type)}
    bases = {base for kind in kinds if issubclass(kind, sparse.sparray) for base in kind.__mro__}
    for kind in kinds | bases:
        for name in {"toarray", "todense"} & set(vars(kind)):
            monkeypatch.setattr(kind, name, watched(getattr(kind, name)))
    return shapes


def test_a_learner_that_only_takes_dense_data_gets_it_from_a_pipeline():
    dense = FunctionTransformer(lambda part: part.toarray(), accept_sparse=True)
    learner = make_pipeline(dense, LogisticRegression())
    thin = SetClassifier(learner, Margin(), cv=2, random_state=0).fit(sparse.csr_array(X), SETS)
    assert thin.predict(sparse.csr_array(X)) == clone(CLASSIFIER).fit(X, SETS).predict(X)
