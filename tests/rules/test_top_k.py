"""TopK: the k best choices or sequences, and in a trace the one that comes next."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn import nodes as nodes_module
from setlearn.errors import DataError, ParameterError
from setlearn.generate import Bounds, Watch, generate
from setlearn.nodes import Nodes
from setlearn.rules import TopK
from setlearn.trie import Sequences, Trie
from tests.reference.sequences import path_probability
from tests.table_scorer import TableScorer

FREE = 10**9

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
    steps = TopK(k).steps(nodes[:1], [f"choice {c}" for c in range(P.shape[1])])
    assert [pick.winner for pick in steps.picks if pick.kept] == sorted(
        np.flatnonzero(kept[0] & ~known[0]), key=lambda c: -P[0, c]
    )


def test_chunks_do_not_matter(monkeypatch):
    P = np.random.default_rng(0).random((30, 5))
    known = P > 0.8
    whole = TopK(2).accept(Nodes.roots(P, known))
    monkeypatch.setattr(nodes_module, "CHUNK_ENTRIES", 12)
    assert (TopK(2).accept(Nodes.roots(P, known)) == whole).all()
    assert (known == (P > 0.8)).all()


class TestNothing:
    """The choice that stands for the empty set."""

    def nodes(self, *rows, known=None):
        return replace(Nodes.roots(np.array(rows), known), nothing=3)

    def test_it_is_the_answer_where_it_ranks_first_and_takes_no_place_elsewhere(self):
        nodes = self.nodes([0.3, 0.1, 0.2, 0.4], [0.4, 0.1, 0.2, 0.3], [0.3, 0.3, 0.1, 0.3])
        expected = {
            1: [[0, 0, 0, 1], [1, 0, 0, 0], [1, 0, 0, 0]],
            2: [[0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]],
            9: [[0, 0, 0, 1], [1, 1, 1, 0], [1, 1, 1, 0]],
        }
        for k, kept in expected.items():
            np.testing.assert_array_equal(TopK(k).accept(nodes), np.array(kept, bool))

    def test_it_is_compared_with_what_is_not_known(self):
        known = np.array([[True, False, False, False]] * 2)
        nodes = self.nodes([0.6, 0.1, 0.3, 0.0], [0.0, 0.1, 0.2, 0.7], known=known)
        kept = TopK(1).accept(nodes)
        assert kept.tolist() == [[True, False, True, False], [True, False, False, True]]

    def test_the_trace_says_so(self):
        names = ["a", "b", "c", "(nothing)"]
        steps = TopK(2).steps(self.nodes([0.4, 0.1, 0.2, 0.3]), names)
        assert [pick.winner for pick in steps.picks] == [0, 2, 3]
        assert [pick.figures["rank"] for pick in steps.picks] == [1, 2, 2]
        assert steps.reason == (
            "(nothing) means an empty set, and is an answer only where it ranks first"
        )
        steps = TopK(2).steps(self.nodes([0.3, 0.1, 0.2, 0.4]), names)
        assert [pick.winner for pick in steps.picks] == [3, 0]
        assert steps.reason == "the empty set ranks first, and a lower"


def test_the_reason_names_the_next():
    steps = TopK(1).steps(Nodes.roots(np.array([[0.2, 0.7]])), ["a", "b"])
    assert steps.reason == "k = 1, and a at 0.2 ranks lower"


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


def all_sequences(n_choices, max_length):
    """Every sequence of tokens up to a length."""
    tokens = range(1, n_choices)
    return [s for length in range(1, max_length + 1) for s in product(tokens, repeat=length)]


def best_by_enumeration(scorer, sample, k, max_length, known=()):
    """The probabilities of all possible sequences that are not known, the k best first."""
    scores = {
        sequence: path_probability(lambda prefix: scorer.probabilities(sample, prefix), sequence)
        for sequence in all_sequences(scorer.n_choices, max_length)
    }
    others = {s: p for s, p in scores.items() if s not in known and p > 0}
    return scores, sorted(others.values(), reverse=True)[:k]


class TestSequences:
    # Shapes in which no level has more prefixes than the beam is wide: the search is exact.
    shapes = st.sampled_from([(2, 5), (3, 3), (3, 4), (4, 2), (5, 2)])

    def check(self, generated, scorer, n_samples, k, max_length, known=None):
        for sample, sequences in enumerate(generated.sequences().as_sets(n_samples)):
            given = () if known is None else known[sample]
            scores, best = best_by_enumeration(scorer, sample, k, max_length, given)
            assert sorted((scores[s] for s in sequences), reverse=True) == pytest.approx(best)
            assert not sequences & set(given)
            mine = generated.probability[generated.sample == sample]
            assert mine == pytest.approx(best)

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, 10**6), shapes, st.integers(1, 6), st.sampled_from([None, 8]))
    def test_the_k_best_of_all(self, seed, shape, k, levels):
        n_choices, max_length = shape
        scorer = TableScorer(n_choices, seed, levels)
        generated = generate(scorer, TopK(k), 3, Bounds(max_length, FREE, FREE))
        self.check(generated, scorer, 3, k, max_length)

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, 10**6), shapes, st.integers(1, 6), st.data())
    def test_the_k_best_beside_known_ones(self, seed, shape, k, data):
        n_choices, max_length = shape
        sequence = st.sampled_from(all_sequences(n_choices, max_length))
        known = data.draw(st.lists(st.sets(sequence, max_size=5), min_size=2, max_size=2))
        trie = Trie.of(Sequences.of([[list(s) for s in sorted(given)] for given in known]), 2)
        scorer = NeverEmpty(n_choices, seed)
        generated = generate(scorer, TopK(k), 2, Bounds(max_length, FREE, FREE), known=trie)
        self.check(generated, scorer, 2, k, max_length, known)

    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 10**6), st.integers(7, 9))
    def test_a_wide_tree_needs_a_wide_beam(self, seed, k):
        scorer = TableScorer(4, seed)
        generated = generate(scorer, TopK(k), 2, Bounds(3, FREE, FREE))
        self.check(generated, scorer, 2, k, 3)

    def test_the_beam_bounds_the_work(self):
        watch = Watch()
        generated = generate(TableScorer(30, 1), TopK(2), 4, Bounds(6, 64, FREE), watch=watch)
        assert np.bincount(generated.sample).tolist() == [2, 2, 2, 2]
        for level in watch.levels[1:]:
            assert np.bincount(level.nodes.sample, minlength=4).max() <= 16

    @pytest.mark.parametrize("n_known", [15, 16, 20, 40, 62, 63, 64])
    @pytest.mark.parametrize("k", [1, 3])
    def test_known_ones_take_no_place_in_the_beam(self, n_known, k):
        scorer = SixTokens(3, 0)
        every = sorted(product((1, 2), repeat=6), key=lambda s: s.count(2))
        known = [every[:n_known], []]
        trie = Trie.of(Sequences.of([[list(s) for s in given] for given in known]), 2)
        bounds = Bounds(6, FREE, TopK(k).least_nodes(6, n_known))
        generated = generate(scorer, TopK(k), 2, bounds, known=trie)
        self.check(generated, scorer, 2, k, 6, known)
        assert not generated.truncated.any()

    def test_a_budget_too_small_for_what_is_known_is_flagged(self):
        every = sorted(product((1, 2), repeat=6), key=lambda s: s.count(2))
        trie = Trie.of(Sequences.of([[list(s) for s in every[:40]]]), 1)
        generated = generate(SixTokens(3, 0), TopK(1), 1, Bounds(6, FREE, 20), known=trie)
        assert generated.sequences().as_sets(1) == [set()]
        assert generated.truncated.all()

    def test_what_cannot_win_is_not_followed_and_not_called_cut_off(self):
        class Ends(TableScorer):
            def probabilities(self, sample, prefix):
                return np.array([0.1, 0.5, 0.4]) if not prefix else np.array([0.9, 0.05, 0.05])

        watch = Watch()
        generated = generate(Ends(3, 0), TopK(2), 1, Bounds(9, FREE, FREE), watch=watch)
        assert generated.sequences().as_sets(1) == [{(1,), (2,)}]
        assert len(watch.levels) == 2
        assert not generated.truncated.any()

    def test_a_bound_that_may_cut_off_a_better_one_is_flagged(self):
        class GoesOn(TableScorer):
            def probabilities(self, sample, prefix):
                return np.array([0.1, 0.9, 0.0])

        generated = generate(GoesOn(3, 0), TopK(1), 1, Bounds(2, FREE, FREE))
        assert generated.sequences().as_sets(1) == [{(1,)}]
        assert generated.truncated.all()


class SixTokens(TableScorer):
    """Every sequence has six tokens, and each token is 1 rather than 2."""

    def probabilities(self, sample, prefix):
        return np.array([0.0, 0.6, 0.4] if len(prefix) < 6 else [1.0, 0.0, 0.0])


class NeverEmpty(TableScorer):
    """Does not end at the root: known sequences set that probability to 0 anyway."""

    def probabilities(self, sample, prefix):
        p = super().probabilities(sample, prefix).copy()
        if not prefix:
            p[0] = 0
        return p
