"""Threshold against brute force over all cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from setlearn import nodes as nodes_module
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.metrics import exact_match, hamming_distance, mean_f1, mean_jaccard
from setlearn.nodes import Nodes
from setlearn.rules import Threshold, threshold

coarse = st.integers(0, 8).map(lambda k: k / 8)
fine = st.floats(0, 1, width=32)
# Neighbours among floats, between which no cut fits.
near = st.integers(0, 3).map(
    lambda k: float(np.float32(0.5)) + k * float(np.spacing(np.float32(0.5)))
)


@st.composite
def scored_points(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    grid = draw(st.sampled_from([coarse, fine, near]))
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    size = shape[0] * shape[1]
    P = np.array(draw(st.lists(grid, min_size=size, max_size=size)), dtype).reshape(shape)
    right = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(shape)
    return P, right


METRICS = {
    "exact": exact_match,
    "f1": mean_f1,
    "hamming": lambda true, kept: 1 - hamming_distance(true, kept, n_labels=6),
    "jaccard": mean_jaccard,
}


def sets_of(mask):
    return [set(np.flatnonzero(row).tolist()) for row in mask]


def value_at(cut, P, right, min_size, metric="f1"):
    """The metric of a cut by the plainest means: keep, fill up, compare sets."""
    predicted = []
    for p in P:
        kept = {k for k in range(len(p)) if p[k] > cut}
        best_first = sorted(range(len(p)), key=lambda k: -p[k])
        predicted.append(kept | set(best_first[:min_size]))
    return METRICS[metric](sets_of(right), predicted)


@settings(max_examples=400, deadline=None)
@given(scored_points(), st.sampled_from([0, 1, 2, None]), st.sampled_from(sorted(METRICS)))
def test_tuned_is_the_best_of_all_cuts(case, min_size, metric):
    P, right = case
    nodes = Nodes.roots(P)
    rule = Threshold("tuned", min_size=min_size, metric=metric).fit(nodes, right)
    least = int(right.any(axis=1).all()) if min_size is None else min_size
    assert rule.min_size_ == least
    # Only the scores themselves matter: between two of them all cuts keep the same.
    best = max(value_at(cut, P, right, least, metric) for cut in [0.0, 1.0, *P.ravel().tolist()])
    reached = METRICS[metric](sets_of(right), sets_of(rule.accept(nodes)))
    assert reached == pytest.approx(best, abs=1e-9)
    assert 0 <= rule.cut_ <= 1
    thin = clone(rule).fit(nodes, sparse.csr_array(right))
    assert thin.cut_ == rule.cut_
    wide = np.concatenate([P, np.zeros((len(P), 2), P.dtype)], axis=1)
    padded = Nodes.roots(wide, available=np.arange(wide.shape[1]) < P.shape[1] + 0 * wide)
    wide_right = np.concatenate([right, np.zeros((len(P), 2), bool)], axis=1)
    assert clone(rule).fit(padded, wide_right).cut_ == rule.cut_


def test_another_metric_gives_another_cut():
    """Doubtful choices raise the mean F1, but sets with them are rarely exactly right."""
    rng = np.random.default_rng(0)
    scores = np.column_stack([np.full((500, 1), 0.9), np.full((500, 3), 0.43)])
    scores += rng.uniform(0, 0.02, scores.shape)
    right = rng.uniform(size=scores.shape) < scores
    cuts = {m: Threshold("tuned", metric=m).fit(Nodes.roots(scores), right).cut_ for m in METRICS}
    assert cuts["f1"] < 0.435
    assert min(cuts["exact"], cuts["hamming"]) > 0.445


@settings(max_examples=300, deadline=None)
@given(scored_points(), coarse, st.sampled_from([0, 1, 3]), st.booleans())
def test_accept_keeps_what_exceeds_the_cut(case, cut, min_size, with_known):
    P, known = case
    nodes = Nodes.roots(P, known if with_known else None)
    before = P.copy(), known.copy()
    kept = Threshold(cut, min_size=min_size).accept(nodes)
    expected = (cut < P) | (known & with_known)
    assert (kept >= expected).all()
    short = expected.sum(axis=1) < min_size
    assert (kept[~short] == expected[~short]).all()
    assert (kept[short].sum(axis=1) == min(min_size, P.shape[1])).all()
    for p, row, sure in zip(P[short], kept[short], expected[short], strict=True):
        filled = row & ~sure
        assert p[filled].min(initial=2) >= p[~row].max(initial=-1)
    assert (before[0] == P).all()
    assert (known == before[1]).all()


def test_chunks_do_not_change_the_cut(monkeypatch):
    rng = np.random.default_rng(0)
    P, right = rng.random((50, 7)), rng.random((50, 7)) < 0.3
    whole = Threshold("tuned").fit(Nodes.roots(P), right).cut_
    monkeypatch.setattr(nodes_module, "CHUNK_ENTRIES", 20)
    assert Threshold("tuned").fit(Nodes.roots(P), right).cut_ == whole


def test_very_many_scores_are_thinned_out_with_little_loss(monkeypatch):
    rng = np.random.default_rng(0)
    right = rng.random((400, 20)) < 0.3
    P = np.clip(0.3 * rng.random(right.shape) + 0.4 * right, 0, 1)
    exact = Threshold("tuned").fit(Nodes.roots(P), right)
    monkeypatch.setattr(threshold, "MOST_CUTS", 64)
    rough = Threshold("tuned").fit(Nodes.roots(P), right)
    assert value_at(rough.cut_, P, right, 0) > value_at(exact.cut_, P, right, 0) - 0.02


def test_the_reason_tells_score_and_cut():
    nodes = Nodes.roots(np.array([[0.9, 0.25]]))
    steps = Threshold(0.5).steps(nodes, ["a", "b"])
    assert steps.reason == "b at 0.25 does not exceed the cut 0.5"
    assert [(pick.winner, pick.kept, pick.memory) for pick in steps.picks] == [
        (0, True, (0,)),
        (1, False, (0,)),
    ]
    assert Threshold(0.1).steps(nodes, ["a", "b"]).reason == "every choice is in the set"


def test_what_is_left_open_is_learned():
    assert not Threshold(0.5).needs_fit
    assert Threshold("tuned").needs_fit
    assert Threshold(0.5, min_size=None).needs_fit


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cut": -0.1}, r'cut must lie in \[0, 1\] or be "tuned" or "per label", got -0.1'),
        ({"cut": 1.1}, "got 1.1"),
        ({"cut": float("nan")}, "got nan"),
        ({"cut": "best"}, "got 'best'"),
        ({"cut": True}, "got True"),
        ({"cut": None}, "got None"),
        ({"min_size": -1}, "min_size must be None .* or a whole number of at least 0, got -1"),
        ({"min_size": 0.5}, "min_size must be"),
    ],
)
def test_bad_parameters(parameters, message):
    nodes = Nodes.roots(np.array([[0.5, 0.5]]))
    for ask in (
        lambda rule: rule.fit(nodes, np.array([[True, False]])),
        lambda rule: rule.accept(nodes),
        lambda rule: rule.check_parameters(),
    ):
        with pytest.raises(ParameterError, match=message):
            ask(Threshold(**parameters))


def test_bad_data():
    nodes = Nodes.roots(np.array([[0.5, 0.5]]))
    with pytest.raises(NotFittedError, match="this Threshold is not fitted; call fit"):
        Threshold("tuned").accept(nodes)
    with pytest.raises(DataError, match="positive has shape"):
        Threshold("tuned").fit(nodes, np.array([[True]]))
    with pytest.raises(DataError, match="no choice points"):
        Threshold("tuned").fit(Nodes.roots(np.empty((0, 2))), np.empty((0, 2), bool))
