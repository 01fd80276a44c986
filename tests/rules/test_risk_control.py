"""RiskControl(recall): the cut is the largest that keeps the promise, and the promise is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError, NotFittedError, ParameterError, SetlearnWarning
from setlearn.generate import Bounds, generate
from setlearn.nodes import Nodes
from setlearn.rules import RiskControl
from setlearn.trie import Sequences, Trie
from tests.rules.way_scorer import WayScorer, drawn_set

FREE = 10**9
score = st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1, width=32)


def risk(cut, P, right):
    """(n/(n+1)) R̂ + 1/(n+1), by its definition."""
    missed = [
        1 - (p[mask] >= cut).mean() if mask.any() else 0.0 for p, mask in zip(P, right, strict=True)
    ]
    return (sum(missed) + 1) / (len(P) + 1)


def recall_of(kept, right):
    found = (kept & right).sum(axis=1) / np.maximum(right.sum(axis=1), 1)
    return np.where(right.any(axis=1), found, 1.0).mean()


class TestCut:
    @settings(max_examples=300, deadline=None)
    @given(
        st.integers(1, 4).flatmap(
            lambda width: st.lists(
                st.lists(st.tuples(score, st.booleans()), min_size=width, max_size=width),
                min_size=4,
                max_size=12,
            )
        ),
        st.sampled_from([0.2, 0.5, 0.6, 0.75, 0.8]),
        st.sampled_from([np.float32, np.float64]),
    )
    def test_it_is_the_largest_that_keeps_the_promise(self, rows, recall, dtype):
        P = np.array([[p for p, _ in row] for row in rows], dtype)
        right = np.array([[mark for _, mark in row] for row in rows])
        cut = RiskControl(recall).fit(Nodes.roots(P), right).cut_
        assert risk(cut, P, right) <= 1 - recall + 1e-12
        above = P[np.greater(P, cut)].tolist()
        for larger in [*above, np.nextafter(dtype(cut), dtype(2))]:
            assert cut == 1 or risk(larger, P, right) > 1 - recall
        thin = RiskControl(recall).fit(Nodes.roots(P), sparse.csr_array(right))
        assert thin.cut_ == cut
        assert thin.n_calibration_ == len(P)

    def test_ties_are_kept_or_left_together(self):
        P = np.array([[0.5]] * 8 + [[0.7]] * 2)
        right = np.ones((10, 1), bool)
        assert RiskControl(0.8).fit(Nodes.roots(P), right).cut_ == 0.5
        assert RiskControl(0.15).fit(Nodes.roots(P), right).cut_ == 0.7

    def test_a_true_element_of_score_0_may_need_everything(self):
        P, right = np.zeros((9, 3)), np.eye(3, dtype=bool)[np.arange(9) % 3]
        rule = RiskControl(0.9).fit(Nodes.roots(P), right)
        assert rule.cut_ == 0
        assert rule.accept(Nodes.roots(P)).all()

    def test_float32_scores_at_the_cut_are_kept(self):
        P = np.random.default_rng(0).uniform(size=(99, 1)).astype(np.float32)
        rule = RiskControl(0.9).fit(Nodes.roots(P), np.ones((99, 1), bool))
        assert rule.accept(Nodes.roots(P)).sum() == 90

    def test_empty_sets_are_found_by_any_cut(self):
        P = np.full((10, 2), 0.3)
        rule = RiskControl(0.8).fit(Nodes.roots(P), np.zeros((10, 2), bool))
        assert rule.cut_ == 1
        assert not rule.accept(Nodes.roots(P)).any()

    def test_samples_that_are_scored_twice_count_once(self):
        rng = np.random.default_rng(0)
        P, right = rng.uniform(size=(50, 4)), rng.uniform(size=(50, 4)) < 0.4
        once = RiskControl(0.8).fit(Nodes.roots(P), right)
        sample = np.tile(np.arange(50), 2)
        twice = Nodes(sample, np.zeros(100, int), np.vstack([P, P]))
        rule = RiskControl(0.8).fit(twice, np.vstack([right, right]))
        assert (rule.cut_, rule.n_calibration_) == (once.cut_, 50)

    def test_known_choices_are_in_the_answer(self):
        P, known = np.array([[0.9, 0.1, 0.1]]), np.array([[False, True, False]])
        rule = RiskControl(0.5).fit(Nodes.roots(np.full((5, 3), 0.5)), np.ones((5, 3), bool))
        assert rule.accept(Nodes.roots(P, known)).tolist() == [[True, True, False]]


class TestPromise:
    """Over many draws of calibration and test data."""

    @pytest.mark.parametrize("recall", [0.7, 0.9])
    @pytest.mark.parametrize("distort", [lambda p: p, lambda p: p**6, lambda p: 1 - p])
    def test_expected_recall_of_labels(self, recall, distort):
        rng = np.random.default_rng(0)
        n, reached = 60, []
        for _ in range(200):
            chance = rng.beta(0.6, 1.4, size=(n + 300, 6))
            right = rng.uniform(size=chance.shape) < chance
            nodes = Nodes.roots(distort(chance))
            rule = RiskControl(recall).fit(nodes[:n], right[:n])
            reached.append(recall_of(rule.accept(nodes[n:]), right[n:]))
        error = np.std(reached) / np.sqrt(len(reached))
        assert np.mean(reached) >= recall - 3 * error
        # The theorem's other half: for scores without ties it is not much more than asked for.
        assert np.mean(reached) <= recall + 2 / (n + 1) + 3 * error

    def test_better_scores_make_smaller_sets(self):
        rng = np.random.default_rng(0)
        chance = rng.beta(0.5, 2, size=(2000, 8))
        right = rng.uniform(size=chance.shape) < chance
        blurred = np.clip(chance + rng.normal(0, 0.4, chance.shape), 0, 1)
        sizes = []
        for P in (chance, blurred):
            rule = RiskControl(0.8).fit(Nodes.roots(P[:1000]), right[:1000])
            sizes.append(rule.accept(Nodes.roots(P[1000:])).sum())
        assert sizes[0] < sizes[1]

    def test_expected_recall_of_sequences(self):
        """Each sequence is in the true set as often as its membership says; some sets are empty."""
        scorer, recall, n = WayScorer(4, 0), 0.8, 40
        reached = []
        for draw in range(60):
            rng = np.random.default_rng(draw)
            ids = rng.choice(400, size=2 * n, replace=False)
            sets = [drawn_set(scorer, s, rng) for s in ids]
            nodes, right = gold_nodes(scorer, ids[:n], sets[:n])
            rule = RiskControl(recall).fit(nodes, right)
            assert rule.n_calibration_ == n
            found = generate(scorer, rule, ids[n:], Bounds(3, FREE, FREE)).sequences().as_sets(n)
            shares = [
                len(found[i] & set(truth)) / len(truth) if truth else 1.0
                for i, truth in enumerate(sets[n:])
            ]
            reached.append(np.mean(shares))
        error = np.std(reached) / np.sqrt(len(reached))
        assert recall - 3 * error <= np.mean(reached) <= recall + 2 / (n + 1) + 3 * error


def gold_nodes(scorer, ids, sets):
    """The nodes of the true trees with their scores, and the right choices at each."""
    trie = Trie.of(Sequences.of([[list(seq) for seq in s] for s in sets]), len(sets))
    prefixes = []
    for node in range(len(trie)):
        above = prefixes[trie.parent[node]] if trie.parent[node] >= 0 else None
        prefixes.append(() if above is None else (*above, int(trie.token[node])))
    named = [(int(ids[s]), prefix) for s, prefix in zip(trie.sample, prefixes, strict=True)]
    return scorer._named(named, trie.sample).nodes, trie.right_choices(4)


class TestSequences:
    def test_the_cut_is_a_membership_of_a_true_sequence_and_the_largest(self):
        scorer, rng = WayScorer(4, 1), np.random.default_rng(0)
        ids = np.arange(30)
        sets = [drawn_set(scorer, s, rng) for s in ids]
        assert any(not s for s in sets)
        nodes, right = gold_nodes(scorer, ids, sets)
        cut = RiskControl(0.8).fit(nodes, right).cut_
        memberships = [
            np.array([scorer.way(s, (*sequence, 0)) for sequence in truth])
            for s, truth in zip(ids, sets, strict=True)
        ]

        def risk_at(cut):
            missed = [(m < cut).mean() if len(m) else 0.0 for m in memberships]
            return (sum(missed) + 1) / (len(ids) + 1)

        flat = np.concatenate(memberships)
        assert np.abs(flat - cut).min() < 1e-15
        assert risk_at(cut * (1 - 1e-12)) <= 0.2 < risk_at(cut * (1 + 1e-12))

    def test_the_tree_reaches_every_sequence_at_the_cut_or_above(self):
        scorer = WayScorer(3, 2)
        rule = RiskControl(0.5)
        rule.cut_ = 0.03
        found = generate(scorer, rule, np.arange(5), Bounds(4, FREE, FREE))
        everything = RiskControl(0.5)
        everything.cut_ = 0.0
        whole = generate(scorer, everything, np.arange(5), Bounds(4, FREE, FREE))
        assert len(found.sample) == (whole.probability >= 0.03).sum() > 0


class TestErrors:
    @pytest.mark.parametrize(
        ("recall", "needed"), [(0.9, 9), (0.99, 99), (0.5, 1), (0.95, 19), (0.7, 3), (2 / 3, 2)]
    )
    def test_too_few_samples(self, recall, needed):
        def fit(n):
            return RiskControl(recall).fit(Nodes.roots(np.full((n, 1), 0.5)), np.ones((n, 1), bool))

        assert fit(needed).cut_ == 0.5
        if needed > 1:
            message = f"from {needed - 1} calibration sample.*hold out at least {needed}, or ask"
            with pytest.raises(DataError, match=message):
                fit(needed - 1)

    @pytest.mark.parametrize("recall", [0, 1, -0.1, 1.1, np.nan, "0.9", True])
    def test_bad_recall(self, recall):
        for ask in (
            lambda rule: rule.check_parameters(),
            lambda rule: rule.fit(Nodes.roots(np.ones((20, 1))), np.ones((20, 1), bool)),
        ):
            with pytest.raises(ParameterError, match="recall must lie between 0 and 1"):
                ask(RiskControl(recall))

    def test_by_default_the_recall_is_nine_tenths(self):
        rng = np.random.default_rng(0)
        P, right = rng.uniform(size=(50, 4)), rng.uniform(size=(50, 4)) < 0.4
        rules = [RiskControl(), RiskControl(0.9), RiskControl(recall=0.9)]
        assert len({rule.fit(Nodes.roots(P), right).cut_ for rule in rules}) == 1
        assert not any(rule.chooses_sequences for rule in rules)

    def test_bad_data(self):
        nodes = Nodes.roots(np.ones((20, 2)))
        with pytest.raises(NotFittedError, match="this RiskControl is not fitted"):
            RiskControl().accept(nodes)
        with pytest.raises(DataError, match="positive has shape"):
            RiskControl().fit(nodes, np.ones((20, 1), bool))
        with pytest.raises(DataError, match="no choice points"):
            RiskControl().fit(nodes[:0], np.ones((0, 2), bool))


def test_the_reason_tells_score_and_cut():
    rule = clone(RiskControl(0.5))
    assert rule.needs_fit
    rule.fit(Nodes.roots(np.full((5, 2), 0.5)), np.ones((5, 2), bool))
    steps = rule.steps(Nodes.roots(np.array([[0.9, 0.25]])), ["a", "b"])
    assert steps.reason == "b at 0.25 is below the cut 0.5, which is enough for a recall of 0.5"


def test_a_recall_that_no_list_of_sequences_reaches_is_warned_of():
    rng = np.random.RandomState(0)
    X = ["".join(rng.choice(list("abcd"), 4)) for _ in range(60)]
    Y = [{x, "".join(rng.choice(list("efgh"), 4))} for x in X]  # one of two cannot be known
    with pytest.warns(SetlearnWarning, match=r"a recall of 0\.8 cannot be reached.* finds 0\.[56]"):
        SequenceSetGenerator("analogy", RiskControl(0.8), random_state=0).fit(X, Y)
