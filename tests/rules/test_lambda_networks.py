"""The λ-networks as rules: they separate what one λ cannot, and are reproducible."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone

import setlearn.rules.lambda_network as lambda_network
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.networks import Training
from setlearn.networks.lambda_networks import LambdaConvolution, LambdaRecurrence
from setlearn.nodes import Nodes, log_odds
from setlearn.rules.lambda_cnn import LambdaCNN
from setlearn.rules.lambda_rnn import LambdaRNN
from setlearn.rules.lambda_set import LambdaSet

KINDS = [LambdaCNN, LambdaRNN]


def quick(kind, **changes):
    training = {"learning_rate": 1e-2, "max_steps": 600}
    training.update({name: changes.pop(name) for name in {*changes} & set(training)})
    return kind(**{"training": Training(**training), "random_state": 0, **changes})


def mean_f1(true, kept):
    both, total = (true & kept).sum(axis=1), true.sum(axis=1) + kept.sum(axis=1)
    return np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1)).mean()


@pytest.fixture(scope="module")
def base_rates():
    """Labels of different base rates: the right cut rises from choice to choice."""
    scores = np.random.default_rng(0).uniform(0.02, 0.98, size=(600, 5))
    return Nodes.roots(scores), scores > np.linspace(0.15, 0.85, 5)


@pytest.fixture(scope="module", params=KINDS)
def fitted(request, base_rates):
    nodes, positive = base_rates
    return quick(request.param).fit(nodes[:400], positive[:400])


class TestLearning:
    def test_it_beats_every_single_cut_and_every_single_lambda(self, fitted, base_rates):
        nodes, positive = base_rates[0][400:], base_rates[1][400:]
        scores, top = nodes.probabilities, nodes.probabilities.max(axis=1, keepdims=True)
        penalties = np.linspace(0, 1, 101)
        best_cut = max(mean_f1(positive, scores > cut) for cut in penalties)
        best_lambda = max(mean_f1(positive, scores >= top - lam) for lam in penalties)
        learned = mean_f1(positive, fitted.accept(nodes))
        assert learned > 0.93
        assert learned > max(best_cut, best_lambda) + 0.1

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_cut_may_depend_on_the_depth(self, kind):
        rng = np.random.default_rng(0)
        depth = np.arange(600) % 2
        nodes = Nodes(np.arange(600), depth, rng.uniform(size=(600, 3)))
        positive = nodes.probabilities > np.where(depth == 0, 0.25, 0.75)[:, None]
        rule = quick(kind, min_size=0).fit(nodes[:450], positive[:450])
        assert (rule.accept(nodes[450:]) == positive[450:]).mean() > 0.93
        assert rule.n_positions_ == 2

    def test_the_cut_may_depend_on_the_other_scores(self):
        """The first score says which of the others' halves is right: no cut a choice can."""
        scores = np.random.default_rng(0).uniform(size=(1000, 3))
        high = scores[:, :1] > 0.5
        positive = np.hstack([high, (scores[:, 1:] > 0.3) & high | (scores[:, 1:] > 0.9)])
        rule = quick(LambdaCNN, min_size=0).fit(Nodes.roots(scores[:800]), positive[:800])
        assert (rule.accept(Nodes.roots(scores[800:])) == positive[800:]).mean() > 0.95

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("n_choices", [1, 2, 300])
    def test_any_size_of_vocabulary(self, kind, n_choices):
        scores = np.random.default_rng(0).uniform(size=(50, n_choices))
        rule = quick(kind, max_steps=3).fit(Nodes.roots(scores), scores > 0.5)
        assert rule.accept(Nodes.roots(scores)).shape == scores.shape

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_single_choice_point_is_enough(self, kind):
        rule = quick(kind, max_steps=100, cut="tuned")
        node, right = Nodes.roots(np.array([[0.2, 0.7]])), np.array([[True, False]])
        rule.fit(node, right)
        assert rule.history_[-1]["held_out"] is None
        assert np.array_equal(rule.accept(node), right)

    def test_whole_samples_are_held_out(self, monkeypatch):
        parts = []
        original = lambda_network._held_out_merit

        def spy(network, nodes, positive, rows):
            parts.append(set(nodes.sample[rows]))
            return original(network, nodes, positive, rows)

        monkeypatch.setattr(lambda_network, "_held_out_merit", spy)
        scores = np.random.default_rng(0).uniform(size=(300, 2))
        nodes = Nodes(np.repeat(np.arange(100), 3), np.tile([0, 1, 2], 100), scores)
        quick(LambdaCNN, max_steps=2).fit(nodes, scores > 0.5)
        assert len(parts[0]) == 20


class TestCut:
    def test_tuned_is_no_worse_than_one_half(self):
        rng = np.random.default_rng(0)
        chance = rng.uniform(0.02, 0.5, size=(800, 6))  # honest scores, mostly under one half
        positive = rng.uniform(size=chance.shape) < chance
        train, test = Nodes.roots(chance[:500]), Nodes.roots(chance[500:])
        results = {}
        for cut in (0.5, "tuned"):
            rule = quick(LambdaCNN, cut=cut, max_steps=200).fit(train, positive[:500])
            results[cut] = mean_f1(positive[500:], rule.accept(test))
        assert 0 < rule.cut_ < 0.5
        assert results["tuned"] > results[0.5] + 0.05

    def test_a_given_cut_is_used(self, fitted, base_rates):
        strict = clone(fitted).set_params(cut=0.99, training__max_steps=100).fit(*base_rates)
        assert strict.cut_ == 0.99
        assert strict.accept(base_rates[0]).sum() < fitted.accept(base_rates[0]).sum()


class TestSetSizes:
    def test_min_size_is_learned(self, base_rates):
        nodes, positive = base_rates
        some_empty = positive & (np.arange(len(nodes)) > 5)[:, None]
        full = positive | (np.arange(5) == 0)
        rule = quick(LambdaCNN, max_steps=2)
        assert clone(rule).fit(nodes, some_empty).min_size_ == 0
        assert clone(rule).fit(nodes, full).min_size_ == 1
        assert clone(rule).set_params(min_size=3).fit(nodes, full).min_size_ == 3

    @pytest.mark.parametrize("min_size", [0, 1, 3])
    def test_at_least_min_size_are_kept(self, base_rates, min_size):
        nodes, positive = base_rates
        rule = quick(LambdaCNN, max_steps=20, cut=1.0, min_size=min_size).fit(nodes, positive)
        kept = rule.accept(nodes)
        assert (kept.sum(axis=1) == min_size).all()
        if min_size == 1:  # the one that the network, not the scorer, finds best
            assert np.array_equal(
                kept.argmax(axis=1), rule.judge(nodes).probabilities.argmax(axis=1)
            )

    def test_known_choices_are_in_the_answer(self, fitted, base_rates):
        nodes = base_rates[0]
        known = np.zeros(nodes.probabilities.shape, bool)
        known[:, 4] = True
        kept = fitted.accept(Nodes(nodes.sample, nodes.depth, nodes.probabilities, known))
        assert kept[:, 4].all()
        free = fitted.accept(nodes)
        several = free.sum(axis=1) > 1
        assert np.array_equal(kept[several, :4], free[several, :4])

    def test_no_choice_points_no_answer(self, fitted):
        assert fitted.accept(Nodes.roots(np.empty((0, 5)))).shape == (0, 5)


class TestRepeatability:
    @pytest.mark.parametrize("kind", KINDS)
    def test_same_random_state_same_answer(self, kind, base_rates):
        rule = quick(kind, max_steps=60)
        first = clone(rule).fit(*base_rates).judge(base_rates[0]).probabilities
        torch.rand(3)
        assert np.array_equal(
            clone(rule).fit(*base_rates).judge(base_rates[0]).probabilities, first
        )

    @pytest.mark.parametrize("kind", KINDS)
    def test_sparse_and_dense_masks_teach_the_same(self, kind, base_rates):
        nodes, positive = base_rates
        rule = quick(kind, max_steps=60, cut="tuned")
        dense = clone(rule).fit(nodes, positive)
        thin = clone(rule).fit(nodes, sparse.csr_array(positive))
        assert np.array_equal(dense.judge(nodes).probabilities, thin.judge(nodes).probabilities)
        assert dense.cut_ == thin.cut_

    def test_batching_does_not_change_the_answer(self, fitted, base_rates, monkeypatch):
        nodes = base_rates[0]
        whole = fitted.accept(nodes)
        alone = np.vstack([fitted.accept(nodes[i : i + 1]) for i in range(100)])
        assert np.array_equal(alone, whole[:100])
        monkeypatch.setattr(lambda_network, "BLOCK_ENTRIES", 35)
        monkeypatch.setattr("setlearn.nodes.CHUNK_ENTRIES", 60)
        assert np.array_equal(fitted.accept(nodes), whole)

    def test_global_randomness_is_left_alone(self, base_rates):
        before = torch.get_rng_state()
        rule = quick(LambdaCNN, max_steps=5).fit(*base_rates)
        rule.accept(base_rates[0])
        assert torch.equal(torch.get_rng_state(), before)

    @pytest.mark.parametrize("kind", KINDS)
    def test_parameters_survive_a_clone(self, kind):
        rule = kind(
            hidden=(5, 6) if kind is LambdaCNN else 5,
            cut="tuned",
            training=Training(validation=0.3),
        )
        assert repr(clone(rule)) == repr(rule)
        assert clone(rule).get_params()["training__validation"] == 0.3


class TestTelling:
    def test_reason_against(self, fitted):
        node = Nodes.roots(np.array([[0.9, 0.9, 0.9, 0.9, 0.05]]))
        reason = fitted.reason_against(node, 4, "rain")
        probability = fitted.judge(node).probabilities[0, 4]
        assert f"gives rain a probability of {probability:.4g}" in reason
        assert "does not exceed the cut 0.5" in reason
        assert fitted.steps(node, list("abcde")).reason.startswith("the λ-network gives e")

    @pytest.mark.parametrize(
        ("probability", "logit"), [(0, -12), (1, 12), (0.5, 0), (1e-30, -12), (0.75, np.log(3))]
    )
    def test_log_odds(self, probability, logit):
        for dtype in (np.float32, np.float64):
            assert log_odds(np.array([probability], dtype=dtype)) == pytest.approx([logit])


class TestErrors:
    def test_another_number_of_choices(self, fitted):
        with pytest.raises(DataError, match="fitted on 5 choices, got 4"):
            fitted.accept(Nodes.roots(np.ones((2, 4))))

    @pytest.mark.parametrize("kind", KINDS)
    def test_before_fit(self, kind):
        with pytest.raises(NotFittedError, match="is not fitted"):
            kind().accept(Nodes.roots(np.ones((2, 4))))

    @pytest.mark.parametrize(
        ("kind", "change"),
        [
            (LambdaCNN, {"cut": 2}),
            (LambdaCNN, {"min_size": -1}),
            (LambdaCNN, {"kernel_size": 4}),
            (LambdaCNN, {"channels": 0}),
            (LambdaCNN, {"hidden": (0,)}),
            (LambdaCNN, {"dropout": 1}),
            (LambdaCNN, {"training__validation": -1}),
            (LambdaCNN, {"training__device": "cuda"}),
            (LambdaCNN, {"training__checkpoint": "folder"}),
            (LambdaRNN, {"hidden": 0}),
            (LambdaRNN, {"training__batch_size": 0}),
        ],
    )
    def test_parameters_out_of_range(self, kind, change, base_rates):
        [name] = change
        with pytest.raises(ParameterError, match=name.removeprefix("training__")):
            kind().set_params(**change).fit(*base_rates)

    def test_shapes_that_do_not_agree(self, base_rates):
        with pytest.raises(DataError, match="positive has shape"):
            LambdaCNN().fit(base_rates[0], base_rates[1][:, :3])

    def test_scores_that_are_no_numbers(self, base_rates):
        nodes = Nodes.roots(np.full((50, 5), np.nan))
        with pytest.raises(DataError, match="check the inputs"):
            LambdaCNN().fit(nodes, base_rates[1][:50])


class TestTraining:
    @pytest.mark.parametrize(
        ("kind", "numbers"),
        [
            (LambdaCNN, (64, 1e-3, 4000, 10)),
            (LambdaRNN, (64, 1e-3, 4000, 10)),
            (LambdaSet, (128, 3e-3, 1000, 10)),
        ],
    )
    def test_what_suits_each(self, kind, numbers):
        plan = kind()._training_plan()
        assert (plan.batch_size, plan.learning_rate, plan.max_steps, plan.patience) == numbers
        assert plan.schedule == "constant"

    @pytest.mark.parametrize("kind", [*KINDS, LambdaSet])
    def test_a_new_network_takes_the_weights_of_the_old(self, kind, base_rates):
        rule = quick(kind, max_steps=2).fit(*base_rates)
        fresh = rule.new_network().double()
        fresh.load_state_dict(rule.network_.state_dict())
        rule_probabilities = rule.judge(base_rates[0]).probabilities
        rule.network_ = fresh.eval()
        assert np.array_equal(rule.judge(base_rates[0]).probabilities, rule_probabilities)

    def test_nothing_held_out(self, base_rates):
        rule = LambdaSet(training=Training(max_steps=2, validation=0)).fit(*base_rates)
        assert rule.history_[-1]["held_out"] is None

    def test_another_type(self, base_rates):
        with pytest.raises(ParameterError, match=r"must be a setlearn\.networks\.Training"):
            LambdaCNN(training={"max_steps": 5}).fit(*base_rates)


class TestModules:
    @pytest.mark.parametrize("make", [lambda: LambdaConvolution(6, 3), lambda: LambdaRecurrence(3)])
    def test_deep_positions_use_the_last_embedding(self, make):
        network, logits = make().eval(), torch.randn(2, 6)
        assert torch.equal(
            network(logits, torch.tensor([2, 2])), network(logits, torch.tensor([5, 99]))
        )
        assert not torch.equal(
            network(logits, torch.tensor([1, 1])), network(logits, torch.tensor([2, 2]))
        )

    def test_all_weights_of_the_convolution_learn(self):
        network = LambdaConvolution(6, 3)
        network(torch.randn(8, 6), torch.arange(8) % 3).square().sum().backward()
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())
