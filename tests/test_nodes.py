"""Choice points: checked when made, cut into parts without loss."""

import numpy as np
import pytest
from scipy import sparse

from setlearn import nodes as nodes_module
from setlearn.errors import DataError
from setlearn.nodes import Nodes, best_of_each_sample, dense_mask

P = np.random.default_rng(0).random((7, 3))


def test_roots_are_one_a_sample_at_depth_0():
    nodes = Nodes.roots(P)
    assert nodes.sample.tolist() == list(range(7))
    assert nodes.depth.tolist() == [0] * 7
    assert (len(nodes), nodes.n_choices, nodes.known) == (7, 3, None)
    assert nodes.probabilities is P  # no copy


@pytest.mark.parametrize(
    "rows", [slice(2, 5), np.array([4, 0, 4]), np.arange(7) % 2 == 0], ids=["slice", "ids", "mask"]
)
def test_parts_keep_everything_together(rows):
    nodes = Nodes(np.arange(7) // 2, np.arange(7) % 2, P, P > 0.5)
    part = nodes[rows]
    for name in ("sample", "depth", "probabilities", "known"):
        assert (getattr(part, name) == getattr(nodes, name)[rows]).all()


def test_the_membership_of_some_choices_is_that_of_all():
    row, choice = np.array([6, 0, 6]), np.array([2, 1, 2])
    deep = Nodes(np.arange(7), np.ones(7, int), P, prefix_probability=P[:, 0])
    for nodes in (Nodes.roots(P), deep):
        assert (nodes.membership_of(row, choice) == nodes.membership[row, choice]).all()


@pytest.mark.parametrize("entries", [1, 6, 7, 9, 1000])
def test_chunks_cover_every_row_once(entries, monkeypatch):
    monkeypatch.setattr(nodes_module, "CHUNK_ENTRIES", entries)
    chunks = list(Nodes.roots(P).row_chunks())
    assert [row for rows in chunks for row in range(7)[rows]] == list(range(7))
    assert all(3 * (rows.stop - rows.start) <= max(3, entries) for rows in chunks)
    assert list(Nodes.roots(np.empty((0, 3))).row_chunks()) == []


def test_nodes_are_frozen():
    with pytest.raises(AttributeError):
        Nodes.roots(P).depth = np.ones(7)


def test_a_mask_is_dense_a_part_at_a_time():
    mask = P > 0.5
    for positive in (mask, sparse.csr_array(mask)):
        part = dense_mask(positive, slice(1, 4))
        assert isinstance(part, np.ndarray)
        assert part.dtype == bool
        assert (part == mask[1:4]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.arange(3), np.zeros(3, int), P[0]), r"must be a matrix.*got 1 dim.*p\[None, :\]"),
        ((np.arange(6), np.zeros(7, int), P), r"7 rows.*need 7 samples.*got \(6,\) and \(7,\)"),
        ((np.arange(7), np.zeros(8, int), P), r"got \(7,\) and \(8,\)"),
        (
            (np.arange(7), np.zeros(7, int), P, P[:2] > 0),
            r"known has shape \(2, 3\).*one entry per",
        ),
    ],
)
def test_bad_nodes(arguments, message):
    with pytest.raises(DataError, match=message):
        Nodes(*arguments)


class TestAvailable:
    available = np.arange(3) < np.arange(7)[:, None] % 4
    scores = np.where(available, P, 0)

    def nodes(self, **changes):
        return Nodes.roots(self.scores, **{"available": self.available, **changes})

    def test_by_default_every_choice_is(self):
        nodes = Nodes.roots(P)
        assert nodes.available is None
        assert not nodes.has_padding
        assert nodes.n_available.tolist() == [3] * 7
        assert nodes.masked(P) is P
        assert not Nodes.roots(P, available=P > 0).has_padding

    def test_what_padding_is(self):
        nodes = self.nodes()
        assert nodes.has_padding
        assert nodes.n_available.tolist() == [0, 1, 2, 3, 0, 1, 2]
        assert (nodes.masked(P, -2.0) == np.where(self.available, P, -2)).all()
        assert nodes.masked(P.astype(np.float32)).dtype == np.float32

    def test_parts_keep_it(self):
        assert (self.nodes()[2:5].available == self.available[2:5]).all()

    def test_an_answer_has_what_is_known_and_no_padding(self):
        known = self.available & (P > 0.5)
        kept = self.nodes(known=known).completed(np.arange(3) == np.arange(7)[:, None] % 3)
        assert kept[known].all()
        assert not kept[~self.available].any()
        assert (self.nodes(known=known).known_mask() == known).all()
        assert not self.nodes().known_mask().any()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"available": np.ones((2, 3), bool)}, r"available has shape \(2, 3\).*one entry per"),
            ({"probabilities": P}, "not available have a probability above 0.*set.*to 0"),
            ({"known": np.ones((7, 3), bool)}, "known choices are not available"),
        ],
    )
    def test_bad_padding(self, changes, message):
        with pytest.raises(DataError, match=message):
            Nodes.roots(**{"probabilities": self.scores, "available": self.available, **changes})


@pytest.mark.parametrize("n_samples", [1, 2, 3, 20])
def test_folds_keep_samples_together(n_samples):
    sample = np.random.default_rng(0).integers(n_samples, size=50)
    nodes = Nodes(sample, np.zeros(50, int), np.ones((50, 2)))
    folds = nodes.folds(np.random.RandomState(0))
    if n_samples == 1:
        assert [part.tolist() for part in folds[0]] == [list(range(50))] * 2
        return
    assert sorted(row for _, test in folds for row in test) == list(range(50))
    for train, test in folds:
        assert not set(sample[train]) & set(sample[test])
        assert len(train) + len(test) == 50


def test_the_best_of_each_sample():
    rng = np.random.default_rng(0)
    sample, score = rng.integers(5, size=60), rng.integers(4, size=60) / 4
    for count in (0, 1, 7, 100, np.array([0, 1, 2, 3, 50])):
        selected = best_of_each_sample(sample, score, count)
        for s in range(5):
            rows = np.flatnonzero(sample == s)
            wanted = sorted(rows, key=lambda row: -score[row])[: np.broadcast_to(count, 5)[s]]
            assert rows[selected[rows]].tolist() == sorted(wanted)
