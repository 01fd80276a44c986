"""The floor of Margin, against the plainest way to apply and to choose one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import setlearn
from setlearn import SetClassifier
from setlearn import nodes as nodes_module
from setlearn.errors import ParameterError
from setlearn.metrics import mean_f1
from setlearn.nodes import Nodes
from setlearn.rules import Auto, Margin, choice_floor
from tests.estimators.data import tagged
from tests.reference import labels as reference

score = st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1, width=32)


@st.composite
def scored_points(draw):
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    size = shape[0] * shape[1]
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    P = np.array(draw(st.lists(score, min_size=size, max_size=size)), dtype).reshape(shape)
    marks = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(shape)
    return P, marks


def sets_of(mask):
    return [set(np.flatnonzero(row).tolist()) for row in mask]


def floored(p, kept, floor, min_size, known=frozenset()):
    """What is left of a set: known choices, those above the floor, and the best ones."""
    left = {k for k in kept if p[k] > floor} | known
    others = sorted(set(range(len(p))) - left, key=lambda k: (-p[k], k))
    return left | set(others[: max(0, min_size - len(left))])


@settings(max_examples=600, deadline=None)
@given(scored_points(), score, score, st.integers(0, 3), st.booleans())
def test_only_the_best_are_kept_at_or_below_it(case, lam, floor, min_size, with_known):
    P, known = case
    known = known & with_known
    kept = Margin(lam, min_size=min_size, choice_floor=floor).accept(Nodes.roots(P, known))
    for p, row, given_ in zip(P, sets_of(kept), sets_of(known), strict=True):
        paper = reference.algorithm_1(p, P.dtype.type(lam), given_)
        # A floor of 0 is none, even for choices with a score of 0.
        assert row == floored(p, paper, floor or -1, min_size, given_)


@settings(max_examples=300, deadline=None)
@given(scored_points(), score)
def test_a_given_lambda_has_no_floor(case, lam):
    P, right = case
    nodes = Nodes.roots(P)
    fitted = Margin(lam).fit(nodes, right)
    assert fitted.choice_floor_ == 0
    if fitted.min_size_:
        paper = [reference.algorithm_1(p, P.dtype.type(lam)) for p in P]
        assert sets_of(Margin(lam, min_size=1).accept(nodes)) == paper


@settings(max_examples=400, deadline=None)
@given(scored_points(), st.sampled_from([0, 1, 2]), st.booleans())
def test_the_best_floor_is_the_best_of_all(case, min_size, in_chunks):
    """With more choice points than any number of them, so that a gain counts as clear."""
    P, right = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice_floor, "ENOUGH", 1)
        patch.setattr(choice_floor, "CLEAR", 0.0)
        if in_chunks:
            patch.setattr(nodes_module, "CHUNK_ENTRIES", 7)
        rule = Margin(min_size=min_size).fit(Nodes.roots(P), right)
        thin = Margin(min_size=min_size).fit(Nodes.roots(P), sparse.csr_array(right))
    assert thin.choice_floor_ == rule.choice_floor_
    paper = Margin(min_size=min_size, choice_floor=0).fit(Nodes.roots(P), right)
    assert (rule.lam_, rule.floor_) == (paper.lam_, paper.floor_)
    before = sets_of(paper.accept(Nodes.roots(P)))

    def f1_with(floor):
        pairs = zip(P, before, strict=True)
        return mean_f1(sets_of(right), [floored(p, kept, floor, min_size) for p, kept in pairs])

    best = max(f1_with(floor) for floor in [-1.0, *P.ravel().tolist()])
    assert mean_f1(sets_of(right), sets_of(rule.accept(Nodes.roots(P)))) == pytest.approx(best)


@settings(max_examples=300, deadline=None)
@given(scored_points(), st.sampled_from([None, 0, 1, 2]))
def test_with_few_samples_it_loses_no_right_choice(case, min_size):
    P, right = case
    rule = Margin(min_size=min_size).fit(Nodes.roots(P), right)
    paper = Margin(min_size=min_size, choice_floor=0).fit(Nodes.roots(P), right)
    kept, before = rule.accept(Nodes.roots(P)), paper.accept(Nodes.roots(P))
    assert (kept & right == before & right).all()
    assert (kept <= before).all()


def low_scores(n=300, seed=0):
    """One label is right; in every third sample no score is high."""
    rng = np.random.default_rng(seed)
    P = rng.uniform(0.01, 0.1, size=(n, 8))
    label = rng.integers(8, size=n)
    P[np.arange(n), label] = np.where(np.arange(n) % 3 == 0, 0.12, rng.uniform(0.6, 0.9, n))
    right = np.zeros(P.shape, bool)
    right[np.arange(n), label] = True
    second = (label + 1) % 8
    twice = np.arange(n) % 3 == 1
    right[twice, second[twice]] = True
    P[twice, second[twice]] = rng.uniform(0.4, 0.55, twice.sum())
    return P, right


def test_where_all_scores_are_low_not_everything_is_kept():
    P, right = low_scores()
    rule, paper = (Margin(choice_floor=f).fit(Nodes.roots(P), right) for f in (None, 0))
    assert rule.lam_ == paper.lam_ > 0.02
    assert 0.1 <= rule.choice_floor_ < 0.4
    node = Nodes.roots(np.array([[0.02, 0.01, 0.015, 0.0, 0.01, 0.01, 0.01, 0.01]]))
    assert paper.accept(node).all()
    assert sets_of(rule.accept(node)) == [{0}]
    steps = rule.steps(node, list("abcdefgh"))
    assert steps.reason == f"c with probability 0.015 is below the floor {rule.choice_floor_:.4g}"
    assert [(pick.winner, pick.kept, pick.memory) for pick in steps.picks] == [
        (0, True, (0,)),
        (2, False, (0,)),
    ]
    assert rule.reason_against(node, 2, "c") == steps.reason
    high = Nodes.roots(P[1:2])
    assert "the best score" in rule.reason_against(high, int(P[1].argmin()), "x")


def test_a_gain_that_may_be_chance_only_gives_a_safe_floor():
    P, right = low_scores(90)  # too few to be sure
    rule = Margin().fit(Nodes.roots(P), right)
    kept = Margin(choice_floor=0).fit(Nodes.roots(P), right).accept(Nodes.roots(P))
    best = P.argmax(axis=1)
    kept[np.arange(len(P)), best] = False  # which are kept anyway
    assert rule.choice_floor_ == P[kept & right].min() / 2


def test_known_labels_fill_the_set():
    P, right = low_scores()
    rule = Margin().fit(Nodes.roots(P), right)
    scores = np.full((1, 8), 0.02)
    known = np.zeros((1, 8), bool)
    known[0, 3] = True
    assert sets_of(rule.accept(Nodes.roots(scores, known))) == [{3}]
    assert "below the floor" in rule.steps(Nodes.roots(scores, known), list("abcdefgh")).reason


def test_another_lambda_leaves_the_floor():
    P, right = low_scores()
    rule = Margin().fit(Nodes.roots(P), right)
    wide = rule.adjusted(lam=1.0)
    assert wide.choice_floor_ == rule.choice_floor_
    assert (
        wide.accept(Nodes.roots(P)) <= (rule.choice_floor_ < P) | (P.max(1)[:, None] == P)
    ).all()
    without = rule.adjusted(choice_floor=0)
    paper = Margin(choice_floor=0).fit(Nodes.roots(P), right)
    assert (without.accept(Nodes.roots(P)) == paper.accept(Nodes.roots(P))).all()


def test_it_is_a_fact_if_there_is_one():
    P, right = low_scores()
    rule = Margin().fit(Nodes.roots(P), right)
    assert rule.facts() == {"floor": rule.choice_floor_, "λ": rule.lam_, "min_size": 1}
    assert rule.learned_numbers() == {"floor": rule.choice_floor_, "λ": rule.lam_}
    assert "floor" not in Margin(choice_floor=0).fit(Nodes.roots(P), right).facts()
    [score] = Auto([Margin()], random_state=0).fit(Nodes.roots(P), right).scores_.values()
    assert set(score.learned) == {"floor", "λ"}


def test_prefixes_of_sequences_have_none():
    P, right = low_scores()
    depth = np.arange(len(P)) % 2
    assert Margin().fit(Nodes(np.arange(len(P)), depth, P), right).choice_floor_ == 0


def test_it_is_a_probability_on_the_log_scale_too():
    P, right = low_scores()
    rule = Margin(space="log").fit(Nodes.roots(P), right)
    assert 0 <= rule.choice_floor_ < 0.6
    node = Nodes.roots(np.array([[0.5, 0.4, 0.3, 0.0, 0.0]]))
    given_ = Margin(2.0, space="log", min_size=1, choice_floor=0.35)
    assert sets_of(given_.accept(node)) == [{0, 1}]
    reason = given_.steps(node, list("abcde")).reason
    assert reason == "c with probability 0.3 is below the floor 0.35"


def test_a_saved_model_has_it(tmp_path):
    X, Y = tagged(120)
    classifier = SetClassifier(rule=Margin(), cv=2, random_state=0).fit(X, Y)
    assert classifier.rule_.choice_floor_ > 0
    setlearn.save(classifier, tmp_path / "model")
    again = setlearn.load(tmp_path / "model")
    assert again.rule_.choice_floor_ == classifier.rule_.choice_floor_
    assert again.facts()["floor"] == classifier.rule_.choice_floor_


@pytest.mark.parametrize("wrong", [-0.1, 1.5, "low", float("nan")])
def test_bad_values(wrong):
    with pytest.raises(ParameterError, match=r"choice_floor must be None .* lie in \[0, 1\], got"):
        Margin(0.2, min_size=1, choice_floor=wrong).accept(Nodes.roots(np.array([[0.5]])))
