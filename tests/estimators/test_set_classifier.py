"""SetClassifier's verbs: each answers in the kind that fit was given, and they agree."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from setlearn import SetClassifier
from setlearn.errors import UnknownLabelWarning
from setlearn.metrics import mean_f1
from setlearn.rules import Margin, Threshold, TopK
from tests.estimators.data import as_sets, tagged
from tests.reference import labels as reference

LABELS = ["air", "earth", "fire", "water"]
X, Y = tagged(80)
SETS = as_sets(Y, LABELS)
FITTED = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0).fit(X, SETS)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8, np.float32])
def test_a_dense_indicator_is_answered_in_its_dtype(dtype):
    predicted = clone(FITTED).fit(X, Y.astype(dtype)).predict(X)
    assert isinstance(predicted, np.ndarray)
    assert (predicted.dtype, predicted.shape) == (np.dtype(dtype), Y.shape)
    assert as_sets(predicted, LABELS) == FITTED.predict(X)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_a_sparse_indicator_is_answered_in_its_container(container):
    predicted = clone(FITTED).fit(X, container(Y.astype(np.int32))).predict(X)
    assert type(predicted) is container
    assert predicted.dtype == np.int32
    assert as_sets(predicted.toarray(), LABELS) == FITTED.predict(X)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param([set(labels) for labels in SETS], id="sets"),
        pytest.param([sorted(labels) for labels in SETS], id="lists"),
        pytest.param([tuple(labels) for labels in SETS], id="tuples"),
        pytest.param(tuple(SETS), id="in a tuple"),
        pytest.param(pd.Series(SETS, index=range(80, 0, -1)), id="in a Series"),
        pytest.param(np.array([*SETS, None], dtype=object)[:-1], id="in an object array"),
        pytest.param(dict(enumerate(SETS)).values(), id="in a view"),
    ],
)
def test_sets_may_be_written_in_many_ways(given):
    predicted = clone(FITTED).fit(X, given).predict(X)
    assert all(type(labels) is frozenset for labels in predicted)
    assert predicted == FITTED.predict(X)


def test_a_generator_of_sets_is_read_once():
    assert clone(FITTED).fit(X, (labels for labels in SETS)).predict(X) == FITTED.predict(X)


def test_rows_of_zeros_and_ones_are_an_indicator_as_in_scikit_learn():
    classifier = clone(FITTED).fit(X, Y.tolist())
    assert (classifier.predict(X) == clone(FITTED).fit(X, Y).predict(X)).all()
    assert classifier.score(X, Y.tolist()) == classifier.score(X, Y)
    known = Y[:3].tolist()
    assert not (classifier.complete(X[:3], known) & np.array(known)).any()


def test_lists_of_0_and_1_are_sets_to_a_classifier_of_sets():
    classifier = clone(FITTED).fit(X, as_sets(Y))
    others = classifier.complete(X[:2], [[0, 1], [1, 0]])
    assert others == classifier.complete(X[:2], [{0, 1}, {0, 1}])
    assert classifier.score(X[:2], [[0, 1], [1, 0]]) == classifier.score(X[:2], [{0, 1}, {0, 1}])


def test_a_table_of_labels_names_the_classes():
    table = pd.DataFrame(Y, columns=["water", "air", "fire", "earth"])
    classifier = clone(FITTED).fit(X, table)
    assert classifier.classes_.tolist() == ["water", "air", "fire", "earth"]
    assert (classifier.predict(X) == clone(FITTED).fit(X, Y).predict(X)).all()
    assert classifier.score(X, table) == mean_f1(Y, classifier.predict(X))
    [ranked] = classifier.predict_ranked(X[:1])
    assert {label for label, _ in ranked} <= set(table.columns)


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "ü", "-"],
        [3, 1, -2, 10],
        [(1, 2), (1, 10), (0, 0), (2, 2)],
        [(1,), (1, 2), (), ("a",)],
        ["a", 1, ("a", 1), 2.5],
        [frozenset("ab"), frozenset("a"), frozenset("b"), frozenset()],
        [0.5, 1.5, -1.0, float("inf")],
        [2**70, 2**70 + 1, 0, 1],
        [True, False, "True", 2],
        [b"a", b"b", b"c", b"d"],
        np.array(["x", "y", "z", "w"]),
        np.arange("2020-01-01", "2020-01-05", dtype="datetime64[D]").astype("datetime64[ns]"),
    ],
    ids=lambda labels: type(labels[0]).__name__,
)
def test_labels_of_any_kind_come_back_as_they_were(labels):
    predicted = clone(FITTED).fit(X, as_sets(Y, labels)).predict(X)
    assert {label for answer in predicted for label in answer} == set(labels)
    position = {label: k for k, label in enumerate(labels)}
    assert sorted(sorted(position[label] for label in answer) for answer in predicted) == sorted(
        sorted(LABELS.index(label) for label in answer) for answer in FITTED.predict(X)
    )


def test_scores_and_sets_agree():
    P = FITTED.predict_proba(X)
    assert P.shape == Y.shape
    kept = [{LABELS[k] for k in reference.algorithm_1(p, FITTED.rule_.lam_)} for p in P]
    assert FITTED.predict(X) == kept


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sets(st.sampled_from(LABELS)), min_size=1, max_size=4), st.integers(0, 70))
def test_complete_is_algorithm_1_from_the_known_labels(known, first):
    rows = X[first : first + len(known)]
    others = FITTED.complete(rows, known)
    for p, given_labels, found in zip(FITTED.predict_proba(rows), known, others, strict=True):
        memory = {LABELS.index(label) for label in given_labels}
        Z = reference.algorithm_1(p, FITTED.rule_.lam_, memory)
        assert found == {LABELS[k] for k in Z - memory}
        assert not found & given_labels


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
@pytest.mark.parametrize("rule", [Margin(rho=0.5), Threshold("tuned"), TopK(2)], ids=str)
def test_complete_never_repeats_and_answers_in_kind(rule, scores):
    X, Y = tagged(60, empty_sets=True)
    classifier = SetClassifier(LogisticRegression(), rule, scores=scores, cv=2, random_state=0)
    given_rows = Y[:20]
    dense = classifier.fit(X, Y).complete(X[:20], given_rows)
    assert not (dense & given_rows).any()
    thin = classifier.fit(X, sparse.csr_array(Y)).complete(X[:20], sparse.csr_array(given_rows))
    assert isinstance(thin, sparse.csr_array)
    assert (thin.toarray() == dense).all()
    sets = classifier.fit(X, as_sets(Y)).complete(X[:20], as_sets(given_rows))
    assert sets == as_sets(dense)
    nothing = [set()] * 20
    assert classifier.complete(X[:20], nothing) == classifier.predict(X[:20])


def test_known_labels_let_nothing_in_that_was_out():
    known = [{label} for label in LABELS]
    for row in X[:10]:
        [alone] = FITTED.predict([row])
        for others in FITTED.complete([row] * len(LABELS), known):
            assert others <= alone


def test_unknown_labels_among_the_known_ones_are_counted():
    ignoring = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0)
    ignoring.fit(X, SETS)
    given = [{"mud", "air"}, {"mud", "rock"}, set()]
    with pytest.warns(UnknownLabelWarning, match=r"3 element\(s\).*'mud'.*ignored") as caught:
        others = ignoring.complete(X[:3], given, unknown="ignore")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert others == ignoring.complete(X[:3], [{"air"}, set(), set()])
    with pytest.warns(UnknownLabelWarning, match=r"1 element\(s\).*'mud'"):
        trace = ignoring.trace(X[0], {"mud", "air"}, unknown="ignore")
    assert trace.known == {"air"}


def test_ranked_lists_the_set_best_first():
    P = FITTED.predict_proba(X)
    for p, labels, ranked in zip(P, FITTED.predict(X), FITTED.predict_ranked(X), strict=True):
        assert {label for label, _ in ranked} == labels
        scores = [score for _, score in ranked]
        assert scores == sorted(scores, reverse=True)
        assert all(score == p[LABELS.index(label)] for label, score in ranked)


@pytest.mark.parametrize("top", [1, 3, 9])
@pytest.mark.parametrize("scores", ["marginal", "softmax"])
def test_top_lists_that_many_whatever_the_rule_keeps(top, scores):
    X, Y = tagged(60, empty_sets=True)
    classifier = SetClassifier(LogisticRegression(), Margin(), scores=scores, cv=2, random_state=0)
    ranked = classifier.fit(X, as_sets(Y)).predict_ranked(X, top=top)
    best = np.sort(classifier.predict_proba(X), axis=1)[:, ::-1][:, :top]
    assert [[score for _, score in row] for row in ranked] == best.tolist()


def test_softmax_scores_sum_to_one_unless_nothing_is_a_choice():
    softmax = SetClassifier(LogisticRegression(), Margin(), scores="softmax", cv=2, random_state=0)
    np.testing.assert_allclose(softmax.fit(X, SETS).predict_proba(X).sum(axis=1), 1)
    some_empty = [frozenset(), *SETS[1:]]
    P = softmax.fit(X, some_empty).predict_proba(X)
    assert P.shape == (80, 4)
    assert (P.sum(axis=1) < 1).all()


def test_nothing_takes_no_place_among_the_k_best():
    X, Y = tagged(60)
    X, sets = np.vstack([X, np.zeros((30, 4))]), as_sets(Y, LABELS) + [frozenset()] * 30
    model = SetClassifier(LogisticRegression(), TopK(2), scores="softmax", cv=2, random_state=0)
    P = model.fit(X, sets).predict_proba(X)
    nothing_leads = 1 - P.sum(axis=1) > P.max(axis=1)
    assert 0 < nothing_leads.sum() < len(X)
    assert [len(answer) for answer in model.predict(X)] == np.where(nothing_leads, 0, 2).tolist()
    for row in np.flatnonzero(~nothing_leads):
        best = model.predict_ranked(X[[row]], top=2)[0]
        assert model.predict(X[[row]]) == [{label for label, _ in best}]
    known = [{label} for label in LABELS]
    assert all(len(others) == 2 for others in model.complete(X[:4], known))
    nodes, _ = model.choice_points(X, sets)
    assert nodes.nothing == len(LABELS)


@pytest.mark.parametrize("scores", ["marginal", "softmax"])
def test_the_same_seed_gives_the_same_answer_whatever_n_jobs(scores):
    learner = RandomForestClassifier(n_estimators=5)
    one = SetClassifier(learner, Margin(), scores=scores, cv=2, n_jobs=1, random_state=3).fit(
        X, SETS
    )
    again = SetClassifier(learner, Margin(), scores=scores, cv=2, n_jobs=1, random_state=3).fit(
        X, SETS
    )
    two = SetClassifier(learner, Margin(), scores=scores, cv=2, n_jobs=2, random_state=3).fit(
        X, SETS
    )
    other = SetClassifier(learner, Margin(), scores=scores, cv=2, random_state=4).fit(X, SETS)
    for same in (again, two):
        assert (one.predict_proba(X) == same.predict_proba(X)).all()
        assert one.rule_.lam_ == same.rule_.lam_
    assert (one.predict_proba(X) != other.predict_proba(X)).any()


def test_a_seed_given_to_the_learner_is_respected():
    learner = RandomForestClassifier(n_estimators=5, random_state=7)
    one = SetClassifier(learner, TopK(1), random_state=0).fit(X, SETS)
    two = SetClassifier(learner, TopK(1), random_state=1).fit(X, SETS)
    assert (one.predict_proba(X) == two.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_float32_scores_walk_as_they_are_accepted():
    learner = MLPClassifier(hidden_layer_sizes=(8,), max_iter=50)
    classifier = SetClassifier(learner, Margin(rho=0.3), cv=2, random_state=0)
    classifier.fit(X.astype(np.float32), SETS)
    assert classifier.predict_proba(X.astype(np.float32)).dtype == np.float32
    for row in X.astype(np.float32)[:20]:
        trace = classifier.trace(row)
        assert {LABELS[k] for k in trace.steps[-1].memory} == trace.result


def test_a_plain_y_makes_an_ordinary_classifier():
    y = np.array(LABELS)[X.argmax(axis=1)]
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=2).fit(X, y)
    alone = LogisticRegression().fit(X, y)
    assert (classifier.predict(X) == alone.predict(X)).all()
    assert classifier.score(X, y) == alone.score(X, y)
    np.testing.assert_allclose(classifier.predict_proba(X), alone.predict_proba(X))
    [others] = classifier.complete(X[:1], [{classifier.predict(X[:1])[0]}])
    assert len(others) == 1


def test_score_counts_labels_never_seen_in_training_as_missed():
    truth = [labels | {"mud"} for labels in SETS]
    assert FITTED.score(X, truth) == mean_f1(truth, FITTED.predict(X)) < FITTED.score(X, SETS)
    weights = np.r_[1.0, np.zeros(79)]
    assert FITTED.score(X, SETS, weights) == mean_f1(SETS[:1], FITTED.predict(X[:1]))


def test_verbose_says_nothing_without_a_terminal(capsys):
    clone(FITTED).set_params(verbose=True).fit(X, SETS)
    assert capsys.readouterr() == ("", "")


def test_labels_that_all_samples_have():
    model = SetClassifier(random_state=0, verbose=False).fit(X, np.ones((len(X), 3), dtype=int))
    assert (model.predict(X[:2]) == 1).all()


@pytest.mark.parametrize("n_rows", [300, 1500])
def test_scores_do_not_depend_on_the_batch(n_rows):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, 4))
    model = SetClassifier(rule=Threshold(0.5), random_state=0).fit(rows, rows[:, :3] > 0)
    together = model.predict_proba(rows)
    assert (together[:20] == model.predict_proba(rows[:20])).all()
    assert (together[7:8] == model.predict_proba(rows[7:8])).all()
