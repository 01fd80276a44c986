"""Candidates as they come: spelled otherwise, in very long lists, with gaps, and hardly any."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit

from setlearn import SetClassifier, SetSelector
from setlearn.candidate_lists import read_candidate_lists
from setlearn.errors import DataError, KindError, ParameterError
from setlearn.estimators import chosen_sets
from setlearn.estimators.chosen_sets import drawn_samples
from setlearn.metrics import mean_f1
from setlearn.rules import ExpectedF, MostProbable, RiskControl, Threshold, TopK

RNG = np.random.default_rng(0)
MATRICES = [RNG.normal(size=(2 + k % 5, 3)) for k in range(80)]
CHOSEN = [set(np.flatnonzero(matrix[:, 0] > 0).tolist()) for matrix in MATRICES]


def fitted(X, y, **parameters):
    return SetSelector(rule=Threshold(0.5), random_state=0, verbose=False, **parameters).fit(X, y)


def baskets(n, seed):
    """Products by their numbers; each buyer wants some of them."""
    rng = np.random.default_rng(seed)
    wanted = {
        buyer: set(np.random.default_rng(buyer).choice(40, 15).tolist()) for buyer in range(4)
    }
    X, y = [], []
    for _ in range(n):
        buyer, listed = int(rng.integers(4)), rng.choice(40, 6, replace=False).tolist()
        X.append((f"buyer {buyer}", listed))
        y.append({number for number in listed if number in wanted[buyer]})
    return X, y


@pytest.mark.parametrize("spell", [str, float, np.int64, np.str_], ids=lambda f: f.__name__)
def test_candidates_are_recognised_however_they_are_spelled(spell):
    model = fitted(*baskets(300, 0))
    X, y = baskets(100, 1)
    assert mean_f1(y, model.predict(X)) > 0.9
    X = [(query, [spell(number) for number in listed]) for query, listed in X]
    y = [{spell(number) for number in chosen} for chosen in y]
    assert mean_f1(y, model.predict(X)) > 0.9


def test_arrays_of_candidates_give_plain_elements():
    model = SetSelector(rule=TopK(1), cv=2, verbose=False).fit(*baskets(60, 0))
    [[element]] = model.predict([("buyer 1", np.array([3, 4, 5]))])
    assert type(element) is int


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(1, test_size=0.2),
        [(np.arange(40), np.arange(40, 80))],
        PredefinedSplit([-1] * 80),
    ],
    ids=["some", "half", "none"],
)
def test_every_sample_must_be_held_out(cv):
    """Otherwise what training says about a candidate would come from its own sample."""
    with pytest.raises(ParameterError, match="samples out exactly once; pass a number of folds"):
        fitted(MATRICES, CHOSEN, cv=cv)


@pytest.mark.parametrize(
    "cv",
    [KFold(3), list(GroupKFold(3).split(np.zeros(80), groups=np.arange(80) % 7))],
    ids=["splitter", "splits"],
)
def test_other_partitions_will_do(cv):
    assert mean_f1(CHOSEN, fitted(MATRICES, CHOSEN, cv=cv).predict(MATRICES)) > 0.9


def test_memory_grows_with_the_number_of_candidates():
    model = fitted(*baskets(60, 0))
    words = [f"w{k}" for k in range(20_000)]
    lists = [(" ".join(words[:3]), [" ".join(words[5 * k : 5 * k + 5]) for k in range(4000)])]
    tracemalloc.start()
    model.predict(lists)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6  # each list once per candidate would take a gigabyte


def test_few_long_lists_are_left_out(monkeypatch):
    monkeypatch.setattr(chosen_sets, "MOST_SCORES", 5000)
    sizes = [10] * 200 + [900]
    lists = read_candidate_lists([("q", [*range(size)]) for size in sizes])
    drawn = drawn_samples(lists, np.random.RandomState(0))
    assert drawn.tolist() == list(range(200))
    monkeypatch.setattr(chosen_sets, "MOST_SCORES", 1000)
    assert len(drawn_samples(lists, np.random.RandomState(0))) == 100
    monkeypatch.setattr(chosen_sets, "MOST_ROWS", 55)
    assert len(drawn_samples(lists, np.random.RandomState(0))) == 5


def test_with_rule_draws_too(monkeypatch):
    model = fitted(MATRICES, CHOSEN)
    monkeypatch.setattr(chosen_sets, "MOST_SCORES", 120)
    nodes, positive = model.choice_points(MATRICES, CHOSEN)
    assert len(nodes) == len(positive) < 80
    assert model.with_rule(Threshold("tuned"), MATRICES, CHOSEN).predict(MATRICES[:2])


@pytest.mark.parametrize("n_known", [0, 1])
def test_features_that_are_hardly_ever_known(n_known):
    extra = [np.full((len(m), 1), np.nan) for m in MATRICES]
    for k in range(n_known):
        extra[k][0] = 1.0
    gaps = [np.hstack(both) for both in zip(MATRICES, extra, strict=True)]
    assert mean_f1(CHOSEN, fitted(gaps, CHOSEN).predict(gaps)) > 0.9


@pytest.mark.parametrize(
    "y",
    [
        [[4, 4, 3, 2, 0, 1][: len(m)] for m in MATRICES],
        [[int(k in c) for k in range(len(m))] for m, c in zip(MATRICES, CHOSEN, strict=True)],
    ],
    ids=["graded", "flags"],
)
def test_relevances_are_no_sets(y):
    with pytest.raises(KindError, match="looks like one relevance per row"):
        fitted(MATRICES, y)


def test_sets_may_come_from_a_generator():
    one, other = fitted(MATRICES, iter(CHOSEN)), fitted(iter(MATRICES), CHOSEN)
    assert one.predict(MATRICES) == other.predict(MATRICES)


def test_no_sample_has_candidates():
    with pytest.raises(DataError, match="none of 2 samples has candidates"):
        fitted([("a", []), ("b", [])], [set(), set()])


def test_hardly_any_samples_are_enough_for_a_plain_task():
    model = fitted(MATRICES[:15], CHOSEN[:15])
    assert mean_f1(CHOSEN[15:], model.predict(MATRICES[15:])) > 0.7


def test_a_classifier_of_labels_says_who_takes_candidates():
    X, y = baskets(30, 0)
    with pytest.raises(KindError, match="use SetSelector"):
        SetClassifier().fit(X, y)


@pytest.mark.parametrize("rule", [ExpectedF(joint=True), MostProbable(joint=True)], ids=repr)
def test_rules_that_need_the_same_labels_are_refused(rule):
    with pytest.raises(
        ParameterError, match="candidates differ from sample to sample; leave joint"
    ):
        SetSelector(rule=rule).fit(*baskets(30, 0))


def test_a_rule_in_the_place_of_a_learner():
    with pytest.raises(KindError, match=r"is a rule, not a learner; pass rule=RiskControl"):
        SetSelector(RiskControl(0.9)).fit(*baskets(30, 0))
