"""One cut per label, against the common cut and brute force."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn import nodes as nodes_module
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.metrics import exact_match, hamming_distance, mean_f1, mean_jaccard
from setlearn.nodes import Nodes
from setlearn.rules import Threshold, label_cuts
from setlearn.rules.min_size import fill_up

RNG = np.random.default_rng(0)
# Label 0 scores too high, label 2 too low.
TRUTH = RNG.uniform(size=(600, 3))
RIGHT = RNG.uniform(size=(600, 3)) < TRUTH
SCORES = np.clip(TRUTH ** np.array([0.3, 1.0, 3.0]), 0.001, 0.999)
NODES = Nodes.roots(SCORES)


@st.composite
def scored_points(draw):
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    size = shape[0] * shape[1]
    grid = st.integers(0, 6).map(lambda k: k / 6)
    P = np.array(draw(st.lists(grid, min_size=size, max_size=size))).reshape(shape)
    right = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(shape)
    return P, right


METRICS = {
    "exact": exact_match,
    "f1": mean_f1,
    "hamming": lambda true, kept: 1 - hamming_distance(true, kept),
    "jaccard": mean_jaccard,
}


@settings(max_examples=300, deadline=None)
@given(
    scored_points(),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.sampled_from([0, 1]),
    st.sampled_from(sorted(METRICS)),
)
def test_each_cut_is_the_best_given_the_others(points, common, min_size, metric):
    P, right = points

    def value(cuts):
        always = fill_up(np.zeros(P.shape, bool), Nodes.roots(P), min_size)
        kept = always | (cuts < P)
        return METRICS[metric](right.astype(int), kept.astype(int))

    cuts = label_cuts._best_together(Nodes.roots(P), right, common, min_size, metric)
    assert value(cuts) >= value(np.full(P.shape[1], common)) - 1e-9
    for other in np.linspace(0, 1, 13):  # the last label was chosen last
        assert value(cuts) >= value(np.append(cuts[:-1], other)) - 1e-9


def test_chunks_and_sparse_masks_change_nothing(monkeypatch):
    whole = label_cuts.label_cuts(NODES, RIGHT, 0.3, 1)
    monkeypatch.setattr(nodes_module, "CHUNK_ENTRIES", 40)
    assert (label_cuts.label_cuts(NODES, RIGHT, 0.3, 1) == whole).all()
    assert (label_cuts.label_cuts(NODES, sparse.csr_array(RIGHT), 0.3, 1) == whole).all()


def test_it_needs_little_memory_beside_the_scores(monkeypatch):
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(2000, 400))
    right = sparse.random_array(scores.shape, density=0.01, rng=0).tocsr() > 0
    monkeypatch.setattr(nodes_module, "CHUNK_ENTRIES", 20_000)
    tracemalloc.start()
    label_cuts.label_cuts(Nodes.roots(scores), right, 0.5, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < scores.size  # a dense mask of all scores would need that many bytes


def test_labels_whose_scores_are_off_get_cuts_of_their_own():
    one, common = Threshold("per label").fit(NODES, RIGHT), Threshold("tuned").fit(NODES, RIGHT)
    assert one.cut_[0] > one.cut_[1] > one.cut_[2]
    f1, common_f1 = (mean_f1(RIGHT.astype(int), r.accept(NODES).astype(int)) for r in (one, common))
    assert f1 > common_f1 + 0.005


def test_labels_that_are_kept_anyway_do_not_count():
    """The best label is always kept, and right: cuts are about the others, which are wrong."""
    scores = RNG.uniform(0.1, 0.4, size=(300, 3))
    right = scores == scores.max(axis=1, keepdims=True)
    cuts = label_cuts._best_together(Nodes.roots(scores), right, 0.2, min_size=1)
    assert (scores > cuts).sum() <= right.sum()
    assert ((scores > cuts) & ~right).sum() == 0


def test_rare_labels_stay_close_to_the_common_cut():
    few = slice(0, 12)
    one, common = (Threshold(cut).fit(NODES[few], RIGHT[few]) for cut in ("per label", "tuned"))
    assert one.cut_ == pytest.approx(np.full(3, common.cut_), abs=0.05)


def test_it_explains_itself():
    rule = Threshold("per label", min_size=1).fit(NODES, RIGHT)
    assert rule.figures(NODES[:1], 2, [])["cut"] == rule.cut_[2]
    assert f"the cut {rule.cut_[0]:.4g}" in rule.reason_against(NODES[:1], 0, "a")
    assert rule.facts()["cut"].endswith(", per label")
    assert rule.accept(NODES).any(axis=1).all()
    assert (rule.adjusted(cut=0.5).accept(NODES) == Threshold(0.5, min_size=1).accept(NODES)).all()


def test_errors():
    with pytest.raises(ParameterError, match='be "tuned" or "per label", got \'each\''):
        Threshold("each").fit(NODES, RIGHT)
    with pytest.raises(NotFittedError, match="not fitted"):
        Threshold("per label").accept(NODES)
    rule = Threshold("per label").fit(NODES, RIGHT)
    with pytest.raises(DataError, match="one cut for each of 3 labels, got scores of 2"):
        rule.accept(Nodes.roots(SCORES[:, :2]))
    available = np.ones(SCORES.shape, dtype=bool)
    available[0, 0] = False
    padded = Nodes(NODES.sample, NODES.depth, SCORES * available, available=available)
    with pytest.raises(DataError, match="needs the same labels for every sample"):
        Threshold("per label").fit(padded, RIGHT & available)
