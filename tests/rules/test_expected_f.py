"""ExpectedF against the definition: all answers, all true sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import setlearn.rules.expected_f as expected_f
from setlearn.errors import DataError, ParameterError
from setlearn.generate import Bounds, generate
from setlearn.nodes import Examples, Nodes
from setlearn.rules import ExpectedF, set_distribution
from setlearn.rules.finished_sequences import LEAST_FOLLOWED
from setlearn.rules.set_distribution import IndependentChoices, _product, quadrature
from setlearn.sequence_lists import SequenceLists
from tests.reference import expected_f as reference
from tests.table_scorer import TableScorer

FREE = 10**9
probability = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1, width=32)
doubtful = st.sampled_from([0.25, 0.5]) | st.floats(0.01, 0.99)
betas = st.sampled_from([0.5, 1.0, 2.0])
odd_betas = st.sampled_from([1, 0.01, 0.7, np.sqrt(2), 3.0, 10.0, 1000.0])


def rows_of(element, most=7):
    return st.integers(1, most).flatmap(
        lambda width: st.lists(
            st.lists(element, min_size=width, max_size=width), min_size=1, max_size=3
        )
    )


def members(row):
    return frozenset(np.flatnonzero(row).tolist())


def check_best(kept, distribution, beta, known=frozenset()):
    """The kept set reaches the highest expected F; others may reach it too."""
    answer = members(kept)
    assert known <= answer
    reached = reference.expected_f(answer, distribution, beta)
    best = reference.best(len(kept), distribution, beta, known)
    assert reached == pytest.approx(best, abs=1e-9)


class TestIndependent:
    @settings(max_examples=150, deadline=None)
    @given(rows_of(probability), betas)
    def test_it_is_the_best_of_all_sets(self, rows, beta):
        for p, kept in zip(rows, ExpectedF(beta).accept(Nodes.roots(np.array(rows))), strict=True):
            check_best(kept, reference.independent(p), beta)

    @settings(max_examples=60, deadline=None)
    @given(rows_of(probability, most=5), odd_betas)
    def test_any_beta(self, rows, beta):
        for p, kept in zip(rows, ExpectedF(beta).accept(Nodes.roots(np.array(rows))), strict=True):
            check_best(kept, reference.independent(p), beta)

    @settings(max_examples=100, deadline=None)
    @given(rows_of(st.tuples(probability, st.booleans()), most=5), betas)
    def test_known_choices_are_certain(self, rows, beta):
        P = np.array([[p for p, _ in row] for row in rows])
        known = np.array([[k for _, k in row] for row in rows])
        for p, k, kept in zip(P, known, ExpectedF(beta).accept(Nodes.roots(P, known)), strict=True):
            distribution = reference.independent(np.where(k, 1.0, p))
            check_best(kept, distribution, beta, members(k))

    @settings(max_examples=60, deadline=None)
    @given(rows_of(doubtful, most=5), betas, st.integers(1, 7))
    def test_min_size_is_the_best_where_no_true_set_is_empty(self, rows, beta, min_size):
        rule = ExpectedF(beta, min_size=min_size)
        for p, kept in zip(rows, rule.accept(Nodes.roots(np.array(rows))), strict=True):
            distribution = reference.independent(p)
            nothing = distribution.pop(frozenset())
            distribution = {truth: w / (1 - nothing) for truth, w in distribution.items()}
            if min_size == 1:
                check_best(kept, distribution, beta)
            assert kept.sum() >= min(min_size, len(p))

    @settings(max_examples=100, deadline=None)
    @given(rows_of(probability, most=5), betas, st.data())
    def test_the_expected_f_of_any_set(self, rows, beta, data):
        P = np.array(rows[:1])
        answer = np.array(
            [data.draw(st.lists(st.booleans(), min_size=len(P[0]), max_size=len(P[0])))]
        )
        belief = IndependentChoices(Nodes.roots(P), beta)
        expected = reference.expected_f(members(answer[0]), reference.independent(P[0]), beta)
        assert belief.expected(answer)[0] == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 0.7])
    def test_many_choices_by_sums_over_counts(self, beta):
        P = np.sort(np.random.default_rng(0).uniform(size=(1, 300)) ** 8)[:, ::-1]
        [values] = np.hstack(list(IndependentChoices(Nodes.roots(P), beta).values()))
        for k in (1, 10, 40, 150, 300):
            inside, outside = counts(P[0, :k]), counts(P[0, k:])
            right, missed = np.arange(k + 1)[:, None], np.arange(301 - k)
            f = (1 + beta**2) * right / (beta**2 * (right + missed) + k)
            assert values[k - 1] == pytest.approx(inside @ f @ outside, abs=5e-12)

    def test_the_search_ends_early_and_misses_nothing(self):
        P = np.random.default_rng(0).uniform(size=(50, 200)) ** 20
        belief = IndependentChoices(Nodes.roots(P), 1.0)
        values = np.column_stack([belief.empty, *belief.values()])
        found = expected_f._best_size(belief)
        assert values[np.arange(50), found] == pytest.approx(values.max(axis=1), abs=1e-9)
        seen = []
        belief.values = lambda: (seen.append(1) or value[:, None] for value in values[:, 1:].T)
        expected_f._best_size(belief)
        assert len(seen) < 60

    def test_certain_choices(self):
        P = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
        for dtype in (np.float32, np.float64):
            assert np.array_equal(ExpectedF().accept(Nodes.roots(P.astype(dtype))), P == 1)

    def test_of_equally_good_sets_the_smaller(self):
        assert not ExpectedF().accept(Nodes.roots(np.array([[0.5]]))).any()

    def test_the_order_of_choices_and_rows_does_not_matter(self, monkeypatch):
        rng = np.random.default_rng(0)
        P = rng.uniform(size=(40, 9))
        kept = ExpectedF().accept(Nodes.roots(P))
        columns, rows = rng.permutation(9), rng.permutation(40)
        assert np.array_equal(ExpectedF().accept(Nodes.roots(P[:, columns])), kept[:, columns])
        monkeypatch.setattr(set_distribution, "BLOCK_ENTRIES", 40)
        assert np.array_equal(ExpectedF().accept(Nodes.roots(P[rows])), kept[rows])

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
    def test_nothing_to_choose(self, shape):
        assert ExpectedF().accept(Nodes.roots(np.empty(shape))).shape == shape


def counts(p):
    """How probable each number of right choices is, by adding one after the other."""
    distribution = np.ones(1)
    for chance in p:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return distribution


def with_examples(P, sets, weights, known=None):
    n = len(P)
    examples = Examples(sparse.csr_array(sets), sparse.csr_array(weights))
    return Nodes(np.arange(n), np.zeros(n, int), P, known, examples=examples)


@st.composite
def joints(draw):
    n_choices, n_sets, n = draw(st.integers(1, 5)), draw(st.integers(1, 6)), draw(st.integers(1, 3))

    def matrix(element, n_rows, n_columns):
        row = st.lists(element, min_size=n_columns, max_size=n_columns)
        return np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)))

    weight = st.sampled_from([0.0, 0.0, 1.0, 0.5]) | st.floats(0.001, 10)
    return (
        matrix(doubtful, n, n_choices),
        matrix(st.booleans(), n_sets, n_choices),
        matrix(weight, n, n_sets),
        matrix(st.sampled_from([False, False, True]), n, n_choices),
    )


class TestJoint:
    @settings(max_examples=300, deadline=None)
    @given(joints(), betas, st.booleans())
    def test_it_is_the_best_of_all_sets(self, case, beta, with_known):
        P, sets, weights, known = case
        known = known & with_known
        nodes = with_examples(P, sets, weights, known if with_known else None)
        kept = ExpectedF(beta, joint=True).accept(nodes)
        truths = [members(row) for row in sets]
        for p, w, k, row in zip(P, weights, known, kept, strict=True):
            distribution = reference.weighted(truths, w, p, members(k))
            if distribution is None:
                distribution = reference.independent(np.where(k, 1.0, p))
            check_best(row, distribution, beta, members(k))

    def test_what_marginals_cannot_know(self):
        """Either the first two or the last two: one half each, but never mixed."""
        P = np.array([[0.52, 0.52, 0.48, 0.48]])
        sets = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool)
        nodes = with_examples(P, sets, np.array([[1.0, 1.0]]))
        alone = ExpectedF(0.3).accept(nodes)
        joint = ExpectedF(0.3, joint=True).accept(nodes)
        assert joint.tolist() == [[True, True, False, False]]
        assert alone.sum() != 2

    def test_blocks_and_order_do_not_matter(self, monkeypatch):
        rng = np.random.default_rng(0)
        P, sets = rng.uniform(size=(30, 8)), rng.uniform(size=(20, 8)) < 0.3
        weights = rng.uniform(size=(30, 20)) * (rng.uniform(size=(30, 20)) < 0.2)
        kept = ExpectedF(joint=True).accept(with_examples(P, sets, weights))
        order = rng.permutation(8)
        turned = ExpectedF(joint=True).accept(with_examples(P[:, order], sets[:, order], weights))
        assert np.array_equal(turned, kept[:, order])
        monkeypatch.setattr(set_distribution, "BLOCK_ENTRIES", 100)
        assert np.array_equal(ExpectedF(joint=True).accept(with_examples(P, sets, weights)), kept)

    def test_a_row_without_weights_falls_back_to_the_marginals(self):
        P = np.array([[0.9, 0.1], [0.9, 0.1]])
        nodes = with_examples(P, np.array([[False, True]]), np.array([[0.0], [2.0]]))
        assert ExpectedF(joint=True).accept(nodes).tolist() == [[True, False], [False, True]]

    def test_certain_scores_and_extreme_weights_stay_finite(self):
        P = np.array([[0.0, 1.0, 1.0]], np.float32)
        nodes = with_examples(P, np.eye(3, dtype=bool), np.array([[1e-300, 1e-300, 1e-200]]))
        assert ExpectedF(joint=True).accept(nodes).tolist() == [[False, False, True]]

    def test_marginals_alone_will_not_do(self):
        nodes = Nodes.roots(np.array([[0.5, 0.2]]))
        with pytest.raises(DataError, match=r"needs training sets .* leave joint out"):
            ExpectedF(joint=True).accept(nodes)


class TestSequences:
    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
    @pytest.mark.parametrize("seed", range(8))
    def test_the_best_set_of_all_finished_sequences(self, seed, beta):
        scorer, n_samples = TableScorer(3, seed), 3
        found = generate(scorer, ExpectedF(beta), n_samples, Bounds(3, FREE, FREE))
        for sample in range(n_samples):
            chances = finished(scorer, sample, max_length=3)
            best = sorted(chances, reverse=True)[:8]  # more never are in the best set here
            kept = found.probability[found.sample == sample]
            assert kept == pytest.approx(best[: len(kept)])
            distribution = reference.independent(best)
            assert reference.expected_f(
                frozenset(range(len(kept))), distribution, beta
            ) == pytest.approx(reference.best(len(best), distribution, beta))

    def test_a_scorer_without_the_way(self):
        found = generate(TableScorer(4, 3), ExpectedF(), 3, Bounds(3, FREE, FREE))
        assert (found.probability >= LEAST_FOLLOWED).all()

    def test_samples_choose_for_themselves(self):
        sample = np.array([0, 0, 0, 4, 4, 7])
        membership = np.array([0.9, 0.8, 0.05, 0.45, 0.4, 0.1])
        lists = SequenceLists.of(sample, membership, 8)
        kept = lists.of_each(ExpectedF().choose(lists.nodes))
        assert kept.tolist() == [True, True, False, True, True, False]
        assert lists.of_each(ExpectedF(min_size=1).choose(lists.nodes))[-1]
        none = SequenceLists.of(sample[:0], membership[:0], 2)
        assert none.of_each(ExpectedF().choose(none.nodes)).shape == (0,)

    def test_known_choices_are_followed_only_if_they_are_probable(self):
        nodes = Nodes.roots(np.array([[0.9, 0.0001, 0.09]]), np.array([[False, True, True]]))
        assert ExpectedF().grow(nodes).tolist() == [[True, False, True]]


def finished(scorer, sample, max_length, prefix=(), before=1.0):
    """The probability of every sequence up to a length that is not improbable on its way."""
    p = scorer.probabilities(sample, prefix) * before
    found = [p[0]] if prefix and p[0] >= LEAST_FOLLOWED else []
    if len(prefix) < max_length:
        for token in range(1, len(p)):
            if p[token] >= LEAST_FOLLOWED:
                found += finished(scorer, sample, max_length, (*prefix, token), p[token])
    return found


class TestTelling:
    def test_the_reason_compares_with_and_without(self):
        steps = ExpectedF().steps(Nodes.roots(np.array([[0.9, 0.1]])), ["a", "b"])
        with_b = 0.9 * 0.9 * 2 / 3 + 0.1 * 0.1 * 2 / 3 + 0.9 * 0.1
        without = 0.9 * 0.9 + 0.9 * 0.1 * 2 / 3
        assert steps.reason == (f"with b the expected F1 is {with_b:.4g}, without it {without:.4g}")
        assert [pick.winner for pick in steps.picks if pick.kept] == [0]

    def test_the_empty_set_and_other_betas(self):
        steps = ExpectedF(0.5).steps(Nodes.roots(np.array([[0.1, 0.05]])), ["a", "b"])
        assert steps.reason.startswith("with a the expected F0.5 is")
        assert steps.reason.endswith(f"without it {0.9 * 0.95:.4g}")

    def test_a_joint_tells_its_own_figures(self):
        sets = np.array([[1, 1, 0], [0, 0, 1]], bool)
        nodes = with_examples(np.full((1, 3), 0.5), sets, np.array([[9.0, 1.0]]))
        steps = ExpectedF(joint=True).steps(nodes, list("abc"))
        assert steps.reason == "with c the expected F1 is 0.77, without it 0.9"
        assert {pick.winner for pick in steps.picks if pick.kept} == {0, 1}


class TestParameters:
    def test_there_is_nothing_to_learn(self):
        nodes = Nodes.roots(np.array([[0.2, 0.7]]))
        rule = ExpectedF()
        assert not rule.needs_fit
        assert rule.fit(nodes, np.array([[True, False]])) is rule
        with pytest.raises(DataError, match="positive has shape"):
            rule.fit(nodes, np.array([[True]]))

    @pytest.mark.parametrize("beta", [0, -1, np.inf, np.nan, "1", None, True])
    def test_bad_beta(self, beta):
        with pytest.raises(ParameterError, match="beta must be a positive number, got"):
            ExpectedF(beta).accept(Nodes.roots(np.array([[0.5]])))

    @pytest.mark.parametrize("min_size", [-1, 0.5])
    def test_bad_min_size(self, min_size):
        with pytest.raises(ParameterError, match=r"min_size must be None \(learned\) or"):
            ExpectedF(min_size=min_size).check_parameters()

    def test_bad_joint(self):
        with pytest.raises(ParameterError, match="joint must be True or False, got 'yes'"):
            ExpectedF(joint="yes").check_parameters()


@pytest.mark.parametrize("n_choices", [1, 7, 40, 983])
def test_a_row_has_the_same_value_to_the_last_bit_in_every_batch(n_choices):
    columns = np.random.default_rng(0).uniform(size=(n_choices, 9, 1))
    u = quadrature(n_choices, 1.0).u
    together = _product(columns, u)
    for n in (1, 2, 4):
        assert (_product(np.ascontiguousarray(columns[:, :n]), u) == together[:n]).all()
