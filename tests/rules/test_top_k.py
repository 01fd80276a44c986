"""TopK: so many, the best, and in a trace the one that comes next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn import nodes as nodes_module
from setlearn.errors import DataError, ParameterError
from setlearn.nodes import Nodes
from setlearn.rules import TopK

scores = st.integers(0, 4).map(lambda k: k / 4)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(
            st.lists(st.tuples(scores, st.booleans()), min_size=width, max_size=width),
            min_size=1,
            max_size=4,
        )
    ),
    st.integers(1, 8),
    st.booleans(),
)
def test_keeps_the_k_best_that_are_not_known(rows, k, with_known):
    P = np.array([[score for score, _ in row] for row in rows])
    known = np.array([[mark for _, mark in row] for row in rows]) & with_known
    nodes = Nodes.roots(P, known if with_known else None)
    kept = TopK(k).accept(nodes)
    for p, given_choices, row in zip(P, known, kept, strict=True):
        open_choices = [c for c in range(len(p)) if not given_choices[c]]
        best = sorted(open_choices, key=lambda c: -p[c])[:k]  # stable: ties to the earlier
        assert set(np.flatnonzero(row)) == set(np.flatnonzero(given_choices)) | set(best)
    walk = TopK(k).steps(nodes[:1], [f"choice {c}" for c in range(P.shape[1])])
    assert [pick.winner for pick in walk.picks if pick.kept] == sorted(
        np.flatnonzero(kept[0] & ~known[0]), key=lambda c: -P[0, c]
    )


def test_chunks_do_not_matter(monkeypatch):
    P = np.random.default_rng(0).random((30, 5))
    known = P > 0.8
    whole = TopK(2).accept(Nodes.roots(P, known))
    monkeypatch.setattr(nodes_module, "CHUNK_ENTRIES", 12)
    assert (TopK(2).accept(Nodes.roots(P, known)) == whole).all()
    assert (known == (P > 0.8)).all()


def test_the_reason_names_the_next():
    walk = TopK(1).steps(Nodes.roots(np.array([[0.2, 0.7]])), ["a", "b"])
    assert walk.reason == "k = 1, and a at 0.2 ranks lower"


def test_there_is_nothing_to_learn():
    nodes = Nodes.roots(np.array([[0.2, 0.7]]))
    assert not TopK(1).needs_fit
    assert TopK(1).fit(nodes, np.array([[True, False]])).accept(nodes).tolist() == [[False, True]]
    with pytest.raises(DataError, match="positive has shape"):
        TopK(1).fit(nodes, np.array([[True]]))


@pytest.mark.parametrize("k", [0, -1, 1.5, "two", None])
def test_bad_k(k):
    nodes = Nodes.roots(np.array([[0.2, 0.7]]))
    for ask in (
        lambda rule: rule.accept(nodes),
        lambda rule: rule.fit(nodes, np.array([[True, False]])),
        lambda rule: rule.check_parameters(),
    ):
        with pytest.raises(ParameterError, match="k must be a whole number of at least 1, got"):
            ask(TopK(k))
