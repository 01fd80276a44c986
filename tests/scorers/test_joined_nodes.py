"""Batches of nodes are joined with all that scorers say of them."""

import numpy as np

from setlearn.nodes import Nodes, joined_nodes

SCORES = np.array([[0.6, 0.4, 0.0]])
AVAILABLE = np.array([[True, True, False]])


def test_what_no_part_has_is_not_there():
    joined = joined_nodes([Nodes.roots(SCORES), Nodes.roots(SCORES)])
    assert joined.available is None
    assert joined.prefix_probability is None
    assert joined.probabilities.tolist() == [*SCORES.tolist(), *SCORES.tolist()]


def test_padding_stays_padding():
    joined = joined_nodes([Nodes.roots(SCORES), Nodes.roots(SCORES, available=AVAILABLE)])
    assert joined.available.tolist() == [[True, True, True], [True, True, False]]


def test_roots_need_no_way():
    one, depth = np.array([0]), np.array([1])
    below = Nodes(one, depth, SCORES, prefix_probability=np.array([0.5]))
    assert joined_nodes([Nodes.roots(SCORES), below]).prefix_probability.tolist() == [1.0, 0.5]
