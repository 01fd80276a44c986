"""Choice points: checked when made, cut into parts without loss."""

import numpy as np
import pytest
from scipy import sparse

from setlearn import nodes as nodes_module
from setlearn.errors import DataError
from setlearn.nodes import Nodes, dense_mask

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
