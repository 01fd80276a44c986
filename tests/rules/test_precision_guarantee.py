"""RiskControl(precision): cuts pass tests from the highest down, and the promise is kept."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from setlearn import SequenceSetGenerator, SetClassifier, load, save
from setlearn.errors import DataError, ParameterError, SetlearnWarning
from setlearn.estimators.candidate_lists import candidate_lists
from setlearn.generate import Bounds, generate
from setlearn.metrics import mean_precision
from setlearn.nodes import Nodes
from setlearn.rules import Margin, RiskControl
from setlearn.rules.precision_guarantee import NOTHING_KEPT, hoeffding_bentkus, total_losses
from setlearn.trie import Sequences, Trie
from tests.estimators.data import as_sets, tagged
from tests.reference import learn_then_test as reference
from tests.rules.way_scorer import WayScorer, drawn_set

score = st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1, width=32)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.tuples(score, st.booleans(), st.booleans()), min_size=width, max_size=width),
        min_size=4,
        max_size=14,
    )
)
nothing_is_kept = pytest.mark.filterwarnings("ignore:a precision of .* cannot be guaranteed")


def precision_of(kept, right):
    """The mean over samples of the share that is right; that of nothing is 1."""
    share = (kept & right).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
    return np.where(kept.any(axis=1), share, 1.0).mean()


class TestCut:
    @nothing_is_kept
    @settings(max_examples=400, deadline=None)
    @given(
        tables,
        st.sampled_from([(0.2, 0.5), (0.3, 0.9), (0.5, 0.8), (0.6, 0.7), (0.8, 0.4)]),
        st.sampled_from([np.float32, np.float64]),
    )
    def test_it_is_that_of_the_literal_procedure(self, rows, promise, dtype):
        precision, confidence = promise
        table = np.array(rows)
        available = table[:, :, 2] > 0
        P = np.where(available, table[:, :, 0], 0).astype(dtype)
        right = (table[:, :, 1] > 0) & available
        sets = [set(np.flatnonzero(row).tolist()) for row in right]
        expected = reference.lowest_cut(P.tolist(), sets, precision, confidence)
        rule = RiskControl(precision=precision, confidence=confidence)
        for nodes in (Nodes.roots(P), Nodes.roots(P, available=available)):
            for mask in (right, sparse.csr_array(right)):
                cut = clone(rule).fit(nodes, mask).cut_
                assert cut == (NOTHING_KEPT if expected is None else expected)

    def test_it_is_the_same_from_a_coarse_start_and_in_chunks(self, monkeypatch):
        """Of many scores some are tested first, and rows are read a few at a time."""
        rng = np.random.default_rng(0)
        P = rng.beta(0.5, 2, size=(300, 20))
        P[150:] = np.round(P[150:], 2)
        right = rng.uniform(size=P.shape) < P
        sets = [set(np.flatnonzero(row).tolist()) for row in right]
        for precision in (0.4, 0.7, 0.9):
            cuts = [reference.lowest_cut(P.tolist(), sets, precision, 0.9)]
            for coarse, entries in ((2000, 10**6), (10, 130), (1, 20)):
                monkeypatch.setattr("setlearn.rules.precision_guarantee.MOST_COARSE", coarse)
                monkeypatch.setattr("setlearn.nodes.CHUNK_ENTRIES", entries)
                cuts.append(RiskControl(precision=precision).fit(Nodes.roots(P), right).cut_)
            assert len(set(cuts)) == 1

    @given(st.integers(1, 40), st.data())
    def test_p_values(self, n, data):
        losses = data.draw(st.lists(st.fractions(0, 1, max_denominator=6), min_size=n, max_size=n))
        risk = data.draw(st.sampled_from([0.05, 0.1, 0.5, 0.8]))
        total = np.array([float(sum(losses, Fraction(0)))])
        assert hoeffding_bentkus(total, n, risk) == pytest.approx(reference.p_value(losses, risk))

    def test_losses_rise_and_fall(self):
        """That is why each cut needs a test: here all right choices come last."""
        P, right = np.array([[0.9, 0.6, 0.3]]), np.array([[False, True, True]])
        cuts = np.array([1.0, 0.9, 0.6, 0.5, 0.2])
        losses = total_losses(Nodes.roots(P), right, cuts)
        assert losses.tolist() == pytest.approx([0, 1, 1 / 2, 1 / 2, 1 / 3])

    def test_a_cut_below_one_that_fails_is_not_taken(self):
        """At 0.3 and above 80% are right, but at 0.6 and above nothing is."""
        P = np.tile([[0.6, 0.3, 0.3, 0.3, 0.3]], (1000, 1))
        right = np.tile([[False, True, True, True, True]], (1000, 1))
        with pytest.warns(SetlearnWarning, match="cannot be guaranteed"):
            rule = RiskControl(precision=0.7).fit(Nodes.roots(P), right)
        assert rule.cut_ == NOTHING_KEPT

    def test_samples_that_are_scored_twice_count_once(self):
        rng = np.random.default_rng(0)
        P = rng.uniform(size=(50, 4))
        right = rng.uniform(size=(50, 4)) < P
        once = RiskControl(precision=0.6).fit(Nodes.roots(P), right)
        sample = np.tile(np.arange(50), 2)
        twice = Nodes(sample, np.zeros(100, int), np.vstack([P, P]))
        rule = RiskControl(precision=0.6).fit(twice, np.vstack([right, right]))
        assert (rule.cut_, rule.n_calibration_) == (once.cut_, 50)

    def test_the_choice_of_nothing_is_no_element(self):
        """A set of it alone is empty, and has nothing wrong in it."""
        rng = np.random.default_rng(0)
        P = rng.dirichlet(np.ones(3), size=200)
        right = rng.uniform(size=P.shape) < P
        nodes = replace(Nodes.roots(P), nothing=2)
        rule = RiskControl(precision=0.6).fit(nodes, right)
        without = Nodes.roots(P[:, :2])
        assert rule.cut_ == RiskControl(precision=0.6).fit(without, right[:, :2]).cut_
        assert rule.cut_ < RiskControl(precision=0.6).fit(Nodes.roots(P), right).cut_

    def test_impossible_choices_are_never_kept(self):
        P, right = np.tile([[0.5, 0.0]], (30, 1)), np.ones((30, 2), bool)
        rule = RiskControl(precision=0.5).fit(Nodes.roots(P), right)
        assert rule.cut_ == 0.5
        assert rule.accept(Nodes.roots(P))[0].tolist() == [True, False]


LABELS = {
    "calibrated": lambda p: p,
    "far too low": lambda p: p**6,
    "few levels": lambda p: np.round(p * 20) / 20,
    "upside down": lambda p: 1 - p,
}


def most_right(nodes, right, precision):
    """The right choices at the lowest cut that is precise enough, as are all cuts above it."""
    cuts = np.unique(nodes.probabilities[nodes.probabilities > 0])[::-1]
    too_low = total_losses(nodes, right, cuts) > (1 - precision) * len(nodes)
    cut = cuts[np.argmax(too_low)] if too_low.any() else 0
    return (right & (nodes.probabilities > cut)).sum()


class TestPromise:
    """Over many draws of calibration samples from a population in which everything is known."""

    @staticmethod
    def check(nodes, right, *, precision, confidence, n=150):
        """It is kept in most of 200 fits, and at not much cost: most of what could be is kept."""
        rng = np.random.default_rng(0)
        reached, found = [], []
        for _ in range(200):
            drawn = rng.integers(len(nodes), size=n)
            rule = RiskControl(precision=precision, confidence=confidence)
            rule.fit(replace(nodes[drawn], sample=np.arange(n)), right[drawn])
            kept = rule.accept(nodes)
            reached.append(precision_of(kept, right))
            found.append((kept & right).sum())
        share = 1 - confidence
        below = np.mean(np.array(reached) < precision)
        assert below <= share + 3 * np.sqrt(share * (1 - share) / 200)
        assert np.mean(found) >= 0.6 * most_right(nodes, right, precision) - 1

    @nothing_is_kept
    @pytest.mark.parametrize("scores", LABELS)
    @pytest.mark.parametrize(("precision", "confidence"), [(0.7, 0.9), (0.9, 0.8)])
    def test_labels(self, scores, precision, confidence):
        rng = np.random.default_rng(1)
        chance = rng.beta(0.6, 1.4, size=(3000, 6))
        right = rng.uniform(size=chance.shape) < chance
        nodes = Nodes.roots(LABELS[scores](chance))
        self.check(nodes, right, precision=precision, confidence=confidence)

    def test_candidates(self):
        """Lists of different lengths, some of them empty."""
        rng = np.random.default_rng(2)
        available = np.arange(8) < rng.integers(0, 9, size=(3000, 1))
        chance = np.where(available, rng.beta(0.6, 1.4, size=(3000, 8)), 0)
        right = rng.uniform(size=chance.shape) < chance
        nodes = Nodes.roots(chance, available=available)
        self.check(nodes, right, precision=0.8, confidence=0.9)

    def test_sequences(self):
        nodes, right = population(WayScorer(4, 0), np.arange(400))[2:]
        self.check(nodes, right, precision=0.6, confidence=0.9)

    def test_the_mean_precision_of_calibration_samples_would_not_keep_it(self):
        """So the tests above can fail: a cut that looks good enough is too low half of the time."""
        rng = np.random.default_rng(1)
        chance = rng.beta(0.6, 1.4, size=(3000, 6))
        right = rng.uniform(size=chance.shape) < chance
        cuts = np.linspace(0.99, 0.01, 99)
        losses = np.array([1 - precision_of(chance >= cut, right) for cut in cuts])
        below = []
        for _ in range(200):
            drawn = rng.integers(3000, size=100)
            seen = total_losses(Nodes.roots(chance[drawn]), right[drawn], cuts) / 100
            below.append(losses[np.flatnonzero(seen <= 0.3)[-1]] > 0.3)
        assert np.mean(below) > 0.1 + 3 * np.sqrt(0.09 / 200)

    def test_more_samples_and_less_confidence_keep_more(self):
        rng = np.random.default_rng(0)
        P = rng.beta(0.5, 1, size=(4000, 5))
        nodes, right = Nodes.roots(P), rng.uniform(size=P.shape) < P

        def cut(n, confidence=0.9):
            return RiskControl(precision=0.8, confidence=confidence).fit(nodes[:n], right[:n]).cut_

        assert cut(4000) < cut(400) < cut(40)
        assert cut(400, 0.5) < cut(400, 0.9) < cut(400, 0.999)


def population(scorer, ids):
    """Drawn sets of sequences as trees, and the lists of probable sequences with what is right."""
    rng = np.random.default_rng(0)
    sets = [drawn_set(scorer, s, rng) for s in ids]
    trie = Trie.of(Sequences.of([[list(seq) for seq in s] for s in sets]), len(sets))
    bounds = Bounds(3, 10**6, 10**6)
    return trie, bounds, *candidate_lists(scorer, [(np.arange(len(ids)), ids)], trie, bounds)


class TestSequences:
    @nothing_is_kept
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("cut", [1e-4, 1e-3, 0.01, 0.1, 0.4, NOTHING_KEPT])
    def test_what_is_generated_is_what_was_tested(self, seed, cut):
        """The tree that the cut prunes holds the sequences of the lists at the cut or above."""
        scorer, ids = WayScorer(4, seed), np.arange(60)
        trie, bounds, nodes, _ = population(scorer, ids)
        rule = RiskControl(precision=0.6)
        rule.cut_ = cut
        grown = generate(scorer, rule, ids, bounds)
        assert len(grown.sample) == rule.accept(nodes).sum()
        kept = np.sort(nodes.probabilities[rule.accept(nodes)])
        np.testing.assert_allclose(np.sort(grown.probability), kept)
        others = generate(scorer, rule, ids, bounds, known=trie)
        assert (others.probability >= cut).all()
        for found, known, rest in zip(
            grown.sequences().as_sets(60),
            trie.as_sets(),
            others.sequences().as_sets(60),
            strict=True,
        ):
            assert found - known <= rest
            assert not rest & known

    def test_true_sequences_that_were_not_found_are_not_kept(self):
        """They are in the lists with probability 0, and right: they must not improve a cut."""
        scorer, ids = WayScorer(4, 0), np.arange(100)
        *_, nodes, right = population(scorer, ids)
        missed = right & (nodes.probabilities == 0)
        assert missed.any()
        rule = RiskControl(precision=0.01).fit(nodes, right)
        assert rule.cut_ == nodes.probabilities[nodes.probabilities > 0].min()
        assert rule.cut_ == RiskControl(precision=0.01).fit(nodes, right & ~missed).cut_

    def test_reasons_against_prefixes(self):
        rule = RiskControl(precision=0.6)
        rule.cut_ = 1e-4
        nodes = Nodes.roots(np.array([[0.5, 5e-4, 5e-5]]))
        places = np.array([0, 0]), np.array([1, 2])
        assert rule.reasons_not_followed(nodes, *places, ["a", "b"]) == [
            "with its prefix a has probability 0.0005, and the tree follows 0.001 or more",
            "b at 5e-05 is below the cut 0.0001, the lowest one that guarantees a precision of 0.6 "
            "with confidence 0.9",
        ]

    def test_a_generator(self, tmp_path):
        X, Y = words_with_forms(500)
        train, new = slice(0, 250), slice(250, 500)
        rule = RiskControl(precision=0.85)
        model = SequenceSetGenerator("analogy", rule, random_state=0).fit(X[train], Y[train])
        assert model.rule_.n_calibration_ == len(model.held_out_) == 50
        assert precise(model.predict(X[new]), Y[new]) >= 0.85
        strict = model.with_rule(RiskControl(precision=0.95), X[new], Y[new])
        assert strict.rule_.n_calibration_ == 250
        assert strict.rule_.cut_ > model.rule_.cut_
        again = model.with_rule(rule)
        assert again.rule_.cut_ == model.rule_.cut_
        trace = str(strict.trace(X[0]))
        assert f"is below the cut {strict.rule_.cut_:.4g}, the lowest one that guarantees" in trace
        [found] = model.predict(X[:1])
        [rest] = model.complete(X[:1], [{X[0] + "s"}])
        assert rest == found - {X[0] + "s"}
        save(strict, tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert loaded.rule_.cut_ == strict.rule_.cut_
        assert loaded.predict(X[new]) == strict.predict(X[new])

    def test_too_few_held_out_samples_are_told_before_training(self):
        X, Y = words_with_forms(60)
        asked = SequenceSetGenerator("lstm", RiskControl(precision=0.9), random_state=0)
        message = r"a precision of 0\.9 with confidence 0\.9 cannot be guaranteed from 12.*least 22"
        with pytest.raises(DataError, match=message):
            asked.fit(X, Y)


def words_with_forms(n):
    """Words with one form that is certain, one that follows from the last letter, one by chance."""
    rng = np.random.RandomState(0)
    X = ["".join(rng.choice(list("abcdefghijklmnop"), 4)) for _ in range(n)]
    Y = [
        {x + "s"} | ({x + "ed"} if x[-1] < "h" else set()) | ({x + "ing"} if chance else set())
        for x, chance in zip(X, rng.random_sample(n) < 0.4, strict=True)
    ]
    return X, Y


def precise(found, true):
    return np.mean([len(f & y) / len(f) if f else 1.0 for f, y in zip(found, true, strict=True)])


class TestLabels:
    def test_a_classifier(self, tmp_path):
        X, Y = tagged(900, 5)
        names = list("abcde")
        forest = RandomForestClassifier(20, random_state=0).fit(X[:300], Y[:300])
        sets = as_sets(Y, names)
        model = SetClassifier(forest, RiskControl(precision=0.8), cv="prefit")
        with pytest.raises(DataError, match=r"from 10 calibration sample.*hold out at least 11"):
            model.fit(X[300:310], Y[300:310])
        model.fit(X[300:600], Y[300:600])
        kept = model.predict(X[600:])
        assert precision_of(kept.astype(bool), Y[600:].astype(bool)) >= 0.8
        # The metric counts an empty prediction as wrong, unless the true set is empty too.
        assert mean_precision(Y[600:], kept) <= precision_of(kept.astype(bool), Y[600:] > 0)
        named = SetClassifier(GaussianNB(), Margin(), cv=2).fit(X[:300], sets[:300])
        named = named.with_rule(RiskControl(precision=0.8))
        assert "the lowest one that guarantees a precision of 0.8 with" in str(named.trace(X[0]))
        [rest] = named.complete(X[:1], [{"a"}])
        assert rest == named.predict(X[:1])[0] - {"a"}
        save(named, tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert repr(loaded.rule_) == "RiskControl(precision=0.8)"
        assert loaded.predict(X) == named.predict(X)

    def test_too_few_samples_are_told_before_training(self):
        class Untrained(RandomForestClassifier):
            def fit(self, X, y, sample_weight=None):
                raise AssertionError("it was trained")

        X, Y = tagged(20, 3)
        with pytest.raises(DataError, match="hold out at least 22, or ask for less precision or"):
            SetClassifier(Untrained(), RiskControl(precision=0.9)).fit(X, Y)


class TestErrors:
    @pytest.mark.parametrize("precision", [0.1, 0.5, 0.9, 0.99])
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
    def test_as_many_samples_as_needed(self, precision, confidence):
        rule = RiskControl(precision=precision, confidence=confidence)
        needed = min(n for n in range(1, 999) if precision**n <= (1 - confidence) * (1 + 1e-9))
        rule.check_samples(needed)
        with pytest.raises(DataError, match=f"from {needed - 1} .*hold out at least {needed}, or"):
            rule.check_samples(needed - 1)
        nodes = Nodes.roots(np.full((needed, 1), 0.5))
        assert rule.fit(nodes, np.ones((needed, 1), bool)).cut_ == 0.5
        assert math.isclose(hoeffding_bentkus(np.zeros(1), needed, 0.1)[0], 0.9**needed)

    @pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, np.nan, "0.9", True])
    @pytest.mark.parametrize("name", ["precision", "confidence"])
    def test_out_of_range(self, name, value):
        rule = RiskControl(**{"precision": 0.9, name: value})
        with pytest.raises(ParameterError, match=f"{name} must lie between 0 and 1"):
            rule.check_parameters()
        with pytest.raises(ParameterError, match=f"{name} must lie between 0 and 1"):
            rule.fit(Nodes.roots(np.ones((50, 1))), np.ones((50, 1), bool))

    def test_not_both(self):
        with pytest.raises(ParameterError, match=r"recall=0\.8 and precision=0\.9 were both given"):
            RiskControl(0.8, precision=0.9).check_parameters()

    def test_scores_that_are_too_bad(self):
        nodes = Nodes.roots(np.full((40, 2), 0.7))
        wrong = np.zeros((40, 2), bool)
        with pytest.warns(SetlearnWarning, match=r"0\.9 with .* the rule keeps nothing; ask for"):
            rule = RiskControl(precision=0.9).fit(nodes, wrong)
        assert not rule.accept(Nodes.roots(np.ones((3, 2)))).any()
        reason = rule.steps(nodes[:1], ["a", "b"]).reason
        assert reason == (
            "a at 0.7 is below the cut 2, which nothing reaches, as no other cut guarantees "
            "a precision of 0.9 with confidence 0.9"
        )
        assert rule.facts() == {"cut": 2.0}
