"""conditional=True: what is known informs the rest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from setlearn import SetClassifier, load, save
from setlearn.errors import ParameterError
from setlearn.estimators.completion import ConditionalScores, random_parts
from setlearn.metrics import mean_f1
from setlearn.nodes import Nodes
from setlearn.rules import ExpectedF, Margin, Threshold, TopK
from tests.estimators.data import as_sets


def in_pairs(n_samples=240, seed=0):
    """Labels 0 and 1 go together, and so do 2 and 3; the inputs hardly tell which pair it is."""
    rng = np.random.default_rng(seed)
    second = rng.random(n_samples) < 0.5
    Y = np.where(second[:, None], [0, 0, 1, 1], [1, 1, 0, 0])
    return (second + rng.normal(scale=3, size=n_samples))[:, None], Y


X, Y = in_pairs()
KNOWN = random_parts(Y.astype(bool), np.random.RandomState(0)).astype(int)
REST = Y & ~KNOWN


def fitted(rule=None, *, X=X, Y=Y, learner=None, **parameters):
    learner = learner or LogisticRegression()
    return SetClassifier(learner, rule, cv=3, random_state=0, **parameters).fit(X, Y)


@pytest.mark.parametrize(
    "rule", [None, ExpectedF(), Margin(), Threshold("tuned"), Threshold(0.5)], ids=str
)
def test_known_labels_tell_the_others(rule):
    plain, informed = fitted(rule), fitted(rule, conditional=True)
    new_X, new_Y = in_pairs(seed=1)
    known = random_parts(new_Y.astype(bool), np.random.RandomState(1)).astype(int)
    found = informed.complete(new_X, known)
    rest = new_Y & ~known
    assert mean_f1(rest, found) > mean_f1(rest, plain.complete(new_X, known)) + 0.1
    assert mean_f1(rest, found) > 0.9
    assert not (found & known).any()


@pytest.mark.parametrize("rule", [None, Margin(), ExpectedF()], ids=str)
def test_nothing_else_changes(rule):
    plain, informed = fitted(rule), fitted(rule, conditional=True)
    assert (plain.predict(X) == informed.predict(X)).all()
    assert (plain.predict_proba(X) == informed.predict_proba(X)).all()
    assert (informed.complete(X, np.zeros_like(Y)) == informed.predict(X)).all()


def test_it_stops_when_nothing_is_left():
    assert not fitted(conditional=True).complete(X, Y).any()


def test_it_answers_in_kind_and_row_by_row():
    informed = fitted(conditional=True)
    together = informed.complete(X[:6], KNOWN[:6])
    for row in range(6):
        assert (informed.complete(X[[row]], KNOWN[[row]]) == together[row]).all()
    thin = fitted(conditional=True, Y=sparse.csr_array(Y)).complete(X[:6], KNOWN[:6])
    assert isinstance(thin, sparse.csr_array)
    assert (thin.toarray() == together).all()
    sets = fitted(conditional=True, Y=as_sets(Y)).complete(X[:6], as_sets(KNOWN[:6]))
    assert sets == as_sets(together)


def test_any_kind_of_inputs():
    texts = ["up " * int(x > 0.5) + "down" for [x] in X]
    reader = make_pipeline(CountVectorizer(), LogisticRegression())
    for inputs, learner in [
        (texts, reader),
        (sparse.csr_array(X), None),
        (pd.DataFrame(X, columns=["x"]), None),
    ]:
        informed = fitted(conditional=True, X=inputs, learner=learner)
        assert mean_f1(REST, informed.complete(inputs, KNOWN)) > 0.9


def test_a_fitted_learner():
    learner = RandomForestClassifier(10, min_samples_leaf=20, random_state=0).fit(X[:120], Y[:120])
    informed = SetClassifier(learner, cv="prefit", conditional=True, random_state=0)
    informed.fit(X[120:], Y[120:])
    assert mean_f1(REST, informed.complete(X, KNOWN)) > 0.9


def test_the_trace_tells_of_what_is_left():
    informed = fitted(conditional=True, Y=as_sets(Y))
    trace = informed.trace(X[0], known={0})
    assert trace.known == {0}
    assert trace.result == {0} | informed.complete(X[:1], [{0}])[0] == {0, 1}
    assert informed.trace(X[0]).result == informed.predict(X[:1])[0]


def test_the_same_seed_gives_the_same_answer():
    one, two = (fitted(conditional=True, n_jobs=n).complete(X, KNOWN) for n in (1, 2))
    assert (one == two).all()


def test_refitting_without_it_forgets_it():
    classifier = fitted(conditional=True)
    assert classifier.completion_ is not None
    classifier.set_params(conditional=False).fit(X, Y)
    assert classifier.completion_ is None


def test_all_parts_but_the_empty_one_are_equally_frequent():
    right = np.ones((3510, 3), bool)
    right[:10] = False
    part = random_parts(right, np.random.RandomState(0))
    assert not part[:10].any()
    counts = np.bincount(part[10:] @ [1, 2, 4], minlength=8)
    assert counts[0] == 0
    assert (np.abs(counts[1:] - 500) < 100).all()


def test_held_out_scores_come_from_forests_that_have_not_seen_the_sample():
    """There is nothing to learn, so only who has seen a sample knows more than chance."""
    rng = np.random.RandomState(0)
    right, scores = rng.random_sample((60, 20)) < 0.5, rng.random_sample((60, 20))
    right[~right.any(axis=1), 0] = True
    nodes = Nodes(np.arange(60), np.zeros(60, int), scores, random_parts(right, rng))
    informed = ConditionalScores(0).fit(nodes, right)
    informed.pool_ = None  # the forests alone
    left = ~nodes.known

    def gap(answered):
        return (
            answered.probabilities[left & right].mean()
            - answered.probabilities[left & ~right].mean()
        )

    assert gap(informed.left(nodes)) > 0.1
    assert abs(gap(informed.left_held_out(nodes))) < 0.05


def test_nothing_is_lost_where_known_labels_say_nothing():
    """The scores are right, and labels are independent of each other given the scores."""
    rng = np.random.RandomState(0)
    scores = rng.random_sample((400, 8))
    right = rng.random_sample((400, 8)) < scores
    right[~right.any(axis=1), 0] = True
    nodes = Nodes(np.arange(400), np.zeros(400, int), scores, random_parts(right, rng))
    left = ~nodes.known[:100]
    informed = ConditionalScores(0).fit(nodes[100:], right[100:]).left(nodes[:100])
    # Half of the right labels are known, so those that are left are right less often.
    expected = scores[:100] / (2 - scores[:100])
    assert np.abs(informed.probabilities - expected)[left].mean() < 0.05
    assert informed.probabilities[~left].max() < 1e-6


def test_another_rule_needs_no_further_forest(monkeypatch):
    informed = fitted(Margin(), conditional=True)
    monkeypatch.delattr(ConditionalScores, "fit")
    for samples in ((), in_pairs(seed=2)):
        other = informed.with_rule(Threshold("tuned"), *samples)
        assert mean_f1(REST, other.complete(X, KNOWN)) > 0.9


def test_models_with_a_single_forest_can_still_be_read(tmp_path):
    model = fitted(Margin(), conditional=True)
    scores = model.completion_.scores
    scores.forests_, scores.pool_ = scores.forests_[:1], None
    answers = model.complete(X, KNOWN)
    [scores.forest_] = scores.forests_
    del scores.forests_, scores.pool_
    save(model, tmp_path / "old")
    loaded = load(tmp_path / "old")
    assert (loaded.complete(X, KNOWN) == answers).all()
    other = loaded.with_rule(Threshold("tuned"), *in_pairs(seed=2))
    assert mean_f1(REST, other.complete(X, KNOWN)) > 0.9


@pytest.mark.parametrize(
    ("parameters", "y"),
    [({"scores": "softmax"}, Y), ({}, X[:, 0] > 0)],
    ids=["softmax", "plain y"],
)
def test_wrong_combinations(parameters, y):
    with pytest.raises(ParameterError, match=r"conditional=True needs.*got.*leave it out"):
        SetClassifier(LogisticRegression(), TopK(1), conditional=True, **parameters).fit(X, y)


def test_suggestions_depend_on_what_is_known():
    known = [{0}, {1}, {2}, {3}, set()]
    informed = fitted(conditional=True).complete_ranked(X[:5], known, top=1)
    assert [ranking[0][0] for ranking in informed[:4]] == [1, 0, 3, 2]
    assert informed[4] == fitted().predict_ranked(X[4:5], top=1)[0]
    rows = [dict(ranking) for ranking in fitted().complete_ranked(X[:5], known, top=4)]
    alone = [dict(ranking) for ranking in fitted().predict_ranked(X[:5], top=4)]
    assert all(row.items() <= scores.items() for row, scores in zip(rows, alone, strict=True))
