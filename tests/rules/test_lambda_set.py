"""LambdaSet: judges choices by how they stand, whichever they are and however many there be."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.generate import Bounds, generate
from setlearn.networks import Training
from setlearn.networks.lambda_networks import N_INPUTS, LambdaOrderFree, relative_features
from setlearn.nodes import Nodes
from setlearn.rules import LambdaSet
from tests.table_scorer import TableScorer


def quick(**changes):
    training = {"learning_rate": 1e-2, "max_steps": 600}
    training.update({name: changes.pop(name) for name in {*changes} & set(training)})
    return LambdaSet(**{"training": Training(**training), "random_state": 0, **changes})


def mean_f1(true, kept):
    both, total = (true & kept).sum(axis=1), true.sum(axis=1) + kept.sum(axis=1)
    return np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1)).mean()


def up_to_the_gap(scores):
    """The choices above the widest gap of log-odds: as many as there happen to be."""
    logits = np.log(scores) - np.log1p(-scores)
    descending = -np.sort(-logits, axis=1)
    last = np.argmax(descending[:, :-1] - descending[:, 1:], axis=1)
    return logits >= np.take_along_axis(descending, last[:, None], axis=1)


@pytest.fixture(scope="module")
def near_the_top():
    """Right is what lies near the best, however good that is."""
    scores = np.random.default_rng(0).uniform(0.02, 0.98, size=(600, 5))
    return Nodes.roots(scores), scores > scores.max(axis=1, keepdims=True) ** 1.5 - 0.1


@pytest.fixture(scope="module")
def fitted(near_the_top):
    nodes, positive = near_the_top
    return quick().fit(nodes[:400], positive[:400])


class TestLearning:
    def test_it_beats_every_single_cut_and_every_single_lambda(self, fitted, near_the_top):
        nodes, positive = near_the_top[0][400:], near_the_top[1][400:]
        scores, top = nodes.probabilities, nodes.probabilities.max(axis=1, keepdims=True)
        penalties = np.linspace(0, 1, 101)
        best_cut = max(mean_f1(positive, scores > cut) for cut in penalties)
        best_lambda = max(mean_f1(positive, scores >= top - lam) for lam in penalties)
        learned = mean_f1(positive, fitted.accept(nodes))
        assert learned > 0.97
        assert learned > best_cut + 0.1
        assert learned > best_lambda + 0.02

    def test_sets_that_end_at_a_gap(self):
        """How many there are, neither score nor distance from the top can tell."""
        rng = np.random.default_rng(0)
        size, level = rng.integers(1, 4, size=1000), rng.uniform(-1, 3, size=1000)
        rank = np.arange(6)
        inside = rank < size[:, None]
        logits = level[:, None] - rank * 0.3 - np.where(inside, 0, 2.5)
        scores = 1 / (1 + np.exp(-logits - rng.normal(0, 0.05, size=logits.shape)))
        scores = rng.permuted(scores, axis=1)
        positive = up_to_the_gap(scores)
        rule = quick().fit(Nodes.roots(scores[:700]), positive[:700])
        learned = mean_f1(positive[700:], rule.accept(Nodes.roots(scores[700:])))
        cuts = np.linspace(0, 1, 101)
        assert learned > 0.97
        assert learned > max(mean_f1(positive[700:], scores[700:] > cut) for cut in cuts) + 0.05

    def test_the_cut_may_depend_on_the_depth(self):
        rng = np.random.default_rng(0)
        depth = np.arange(600) % 2
        nodes = Nodes(np.arange(600), depth, rng.uniform(size=(600, 3)))
        positive = nodes.probabilities > np.where(depth == 0, 0.25, 0.75)[:, None]
        rule = quick(min_size=0).fit(nodes[:450], positive[:450])
        assert (rule.accept(nodes[450:]) == positive[450:]).mean() > 0.93
        assert rule.n_positions_ == 2

    @pytest.mark.parametrize("n_choices", [1, 2, 300])
    def test_any_size_of_vocabulary(self, n_choices):
        scores = np.random.default_rng(0).uniform(size=(50, n_choices))
        rule = quick(max_steps=3).fit(Nodes.roots(scores), scores > 0.5)
        assert rule.accept(Nodes.roots(scores)).shape == scores.shape

    def test_what_is_learned_on_some_choices_serves_others(self):
        rng = np.random.default_rng(0)

        def near(n_choices):
            scores = rng.uniform(size=(400, n_choices))
            return scores, scores > scores.max(axis=1, keepdims=True) - 0.2

        few, more = near(4), near(9)
        rule = quick().fit(Nodes.roots(few[0]), few[1])
        assert mean_f1(more[1], rule.accept(Nodes.roots(more[0]))) > 0.9

    def test_sequences_grow(self):
        scorer = TableScorer(4, 0)
        nodes = scorer.start(200).nodes
        rule = quick(max_steps=50).fit(nodes, nodes.probabilities > 0.2)
        found = generate(scorer, rule, 5, Bounds(3, 64, 100))
        assert len(found.sample) > 0

    def test_a_single_choice_point_is_enough(self):
        rule = quick(max_steps=100, cut="tuned")
        node, right = Nodes.roots(np.array([[0.2, 0.7]])), np.array([[True, False]])
        assert np.array_equal(rule.fit(node, right).accept(node), right)


class TestOrder:
    def test_shuffled_choices_shuffle_the_answer(self, fitted):
        rng = np.random.default_rng(1)
        coarse = rng.integers(0, 5, size=(100, 5)) / 4  # with ties
        for scores in (coarse, rng.uniform(size=(100, 5)), coarse.astype(np.float32)):
            order = rng.permutation(5)
            judged = fitted.judge(Nodes.roots(scores)).probabilities
            shuffled = fitted.judge(Nodes.roots(scores[:, order])).probabilities
            assert shuffled == pytest.approx(judged[:, order], abs=1e-12)

    def test_equal_choices_are_judged_equally(self, fitted):
        [judged] = fitted.judge(Nodes.roots(np.array([[0.4, 0.8, 0.4, 0.1, 0.8]]))).probabilities
        assert judged[0] == judged[2]
        assert judged[1] == judged[4]

    def test_the_standing_by_hand(self):
        logits = torch.tensor([[1.0, -1.0, 1.0, 0.0]], dtype=torch.float64)
        seen = relative_features(logits)[0].numpy()
        p = 1 / (1 + np.exp(-logits[0].numpy()))
        assert seen.shape == (4, N_INPUTS)
        expected = {
            0: logits[0].numpy() / 4,
            1: p,
            2: [1, 1 / 4, 1, 1 / 3],
            3: np.log1p([0, 3, 0, 2]),
            4: np.log1p([0, 2, 0, 1]),
            5: np.log1p([0, 1, 0, 1]),
            6: np.log1p([1, 0, 1, 1]),
            7: np.log1p([0, p[0] + p[2] + p[3], 0, p[0] + p[2]]),
            8: np.full(4, np.log1p(p.sum())),
            9: np.full(4, 1 / 4),
        }
        for column, values in expected.items():
            assert seen[:, column] == pytest.approx(np.asarray(values))


class TestCutAndSizes:
    def test_tuned_is_no_worse_than_one_half(self):
        rng = np.random.default_rng(0)
        chance = rng.uniform(0.02, 0.5, size=(800, 6))  # honest scores, mostly under one half
        positive = rng.uniform(size=chance.shape) < chance
        train, test = Nodes.roots(chance[:500]), Nodes.roots(chance[500:])
        results = {}
        for cut in (0.5, "tuned"):
            rule = quick(cut=cut, max_steps=200).fit(train, positive[:500])
            results[cut] = mean_f1(positive[500:], rule.accept(test))
        assert 0 < rule.cut_ < 0.5
        assert results["tuned"] > results[0.5] + 0.05

    @pytest.mark.parametrize("min_size", [0, 1, 3])
    def test_at_least_min_size_are_kept(self, near_the_top, min_size):
        rule = quick(max_steps=20, cut=1.0, min_size=min_size).fit(*near_the_top)
        assert (rule.accept(near_the_top[0]).sum(axis=1) == min_size).all()

    def test_known_choices_are_in_the_answer(self, fitted, near_the_top):
        nodes = near_the_top[0]
        known = np.zeros(nodes.probabilities.shape, bool)
        known[:, 4] = True
        assert fitted.accept(Nodes.roots(nodes.probabilities, known))[:, 4].all()

    def test_no_choice_points_no_answer(self, fitted):
        assert fitted.accept(Nodes.roots(np.empty((0, 5)))).shape == (0, 5)


class TestRepeatability:
    def test_same_random_state_same_answer(self, near_the_top):
        rule = quick(max_steps=60)
        first = clone(rule).fit(*near_the_top).judge(near_the_top[0]).probabilities
        torch.rand(3)
        again = clone(rule).fit(*near_the_top).judge(near_the_top[0]).probabilities
        assert np.array_equal(again, first)

    def test_sparse_and_dense_masks_teach_the_same(self, near_the_top):
        nodes, positive = near_the_top
        rule = quick(max_steps=60, cut="tuned")
        dense = clone(rule).fit(nodes, positive)
        thin = clone(rule).fit(nodes, sparse.csr_array(positive))
        assert np.array_equal(dense.judge(nodes).probabilities, thin.judge(nodes).probabilities)
        assert dense.cut_ == thin.cut_

    def test_batching_does_not_change_the_answer(self, fitted, near_the_top):
        nodes = near_the_top[0]
        alone = np.vstack([fitted.accept(nodes[i : i + 1]) for i in range(100)])
        assert np.array_equal(alone, fitted.accept(nodes)[:100])

    def test_global_randomness_is_left_alone(self, near_the_top):
        before = torch.get_rng_state()
        quick(max_steps=5).fit(*near_the_top).accept(near_the_top[0])
        assert torch.equal(torch.get_rng_state(), before)

    def test_parameters_survive_a_clone(self):
        rule = LambdaSet(hidden=(5, 6), cut="tuned", dropout=0.3)
        assert clone(rule).get_params() == rule.get_params()


class TestModule:
    def test_it_begins_by_trusting_the_scorer(self):
        logits = torch.randn(4, 6)
        assert torch.equal(LambdaOrderFree(1)(logits, torch.zeros(4, dtype=torch.long)), logits)

    def test_deep_positions_use_the_last_embedding(self):
        network, logits = LambdaOrderFree(3).eval(), torch.randn(2, 6)
        torch.nn.init.ones_(network.judge[-1].weight)
        at = [network(logits, torch.tensor(j)) for j in ([2, 2], [5, 99], [1, 1])]
        assert torch.equal(at[0], at[1])
        assert not torch.equal(at[0], at[2])

    def test_all_weights_learn(self):
        network = LambdaOrderFree(3)
        torch.nn.init.ones_(network.judge[-1].weight)
        network(torch.randn(8, 6), torch.arange(8) % 3).square().sum().backward()
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())


class TestErrors:
    def test_before_fit(self):
        with pytest.raises(NotFittedError, match="this LambdaSet is not fitted"):
            LambdaSet().accept(Nodes.roots(np.ones((2, 4))))

    @pytest.mark.parametrize(
        "change",
        [
            {"cut": 2},
            {"min_size": -1},
            {"hidden": (0,)},
            {"embedding": 0},
            {"dropout": 1},
            {"training__validation": -1},
            {"training__batch_size": 0},
        ],
    )
    def test_parameters_out_of_range(self, change, near_the_top):
        [name] = change
        with pytest.raises(ParameterError, match=name.removeprefix("training__")):
            LambdaSet().set_params(**change).fit(*near_the_top)

    def test_bad_data(self, near_the_top):
        with pytest.raises(DataError, match="positive has shape"):
            LambdaSet().fit(near_the_top[0], near_the_top[1][:, :3])
        with pytest.raises(DataError, match="check the inputs"):
            LambdaSet().fit(Nodes.roots(np.full((50, 5), np.nan)), near_the_top[1][:50])


def test_the_reason_tells_what_the_network_thinks(fitted):
    node = Nodes.roots(np.array([[0.9, 0.9, 0.9, 0.9, 0.05]]))
    assert fitted.steps(node, list("abcde")).reason.startswith("the λ-network gives e")
