"""The training loop: it learns, is deterministic, and reports mistakes clearly."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from setlearn.errors import DataError, ParameterError, SetlearnError
from setlearn.networks.optimizers import PlainAdam, PlainAdamW
from setlearn.networks.runtime import pick_device, seeded
from setlearn.networks.training_loop import Trainer, _optimizer
from setlearn.networks.training_settings import TrainingPlan, hold_out
from tests.networks.small_training import N_ROWS, assert_same_weights, line_trainer, weights_of


class TestFit:
    def test_it_learns(self):
        history = line_trainer().fit()
        assert -history[-1]["held_out"] < 0.3 * -history[0]["held_out"]

    def test_history_tells_each_epoch(self):
        history = line_trainer().fit()
        assert [row["epoch"] for row in history] == list(range(1, len(history) + 1))
        # 7 batches a pass, so three passes make the 20 steps between evaluations.
        assert [row["step"] for row in history] == [*range(21, 300, 21), 300]
        assert all(row["seconds"] > 0 and math.isfinite(row["loss"]) for row in history)

    def test_without_evaluation_it_runs_to_the_last_step(self):
        history = line_trainer(evaluate=None).fit()
        assert history[-1]["step"] == 300
        assert history[-1]["held_out"] is None

    def test_the_best_weights_are_kept(self):
        merits = iter([1.0, 3.0, 2.0, 2.5, 2.9])
        seen = []

        def merit():
            seen.append(weights_of(trainer))
            return next(merits)

        plan = TrainingPlan(batch_size=16, patience=3, evaluate_every=1)
        trainer = line_trainer(plan, evaluate=merit)
        history = trainer.fit()
        assert len(history) == 5  # patience of 3 after the second
        assert_same_weights(weights_of(trainer), seen[1])
        assert not trainer.network.training

    @pytest.mark.parametrize(
        ("scores", "losses"),
        [
            ([1.0] * 15 + [0.9] + [1.0] * 24, [1.0] * 40),  # enough twice at the 18th
            ([0.4] * 5 + [0.5] * 35, [1.0] * 12 + [1.3] * 28),  # no better since the 6th
        ],
    )
    def test_a_schedule_ends_soon_if_more_steps_are_of_no_use(self, scores, losses):
        figures = iter(
            {"held_out": score, "held_out_loss": loss}
            for score, loss in zip(scores, losses, strict=True)
        )
        plan = TrainingPlan(
            batch_size=50, max_steps=80, evaluate_every=2, schedule="one-cycle", enough=0.95
        )
        trainer = line_trainer(plan, evaluate=lambda: next(figures))
        history = trainer.fit()
        # The rate falls to zero in a tenth of the steps.
        assert [epoch["step"] for epoch in history] == list(range(2, 46, 2))
        assert trainer._optimizer.param_groups[0]["lr"] < 0.1 * plan.learning_rate

    @pytest.mark.parametrize(("n_judged", "n_evaluations"), [(99, 40), (100, 20)])
    def test_a_few_samples_do_not_end_a_schedule(self, n_judged, n_evaluations):
        plan = TrainingPlan(
            batch_size=50, max_steps=80, evaluate_every=2, schedule="one-cycle", enough=0.95
        )
        figures = {"held_out": 1.0, "held_out_loss": 0.0, "judged": n_judged}
        assert len(line_trainer(plan, evaluate=lambda: figures).fit()) == n_evaluations

    def test_a_schedule_goes_on_while_held_out_samples_are_better_understood(self):
        """Even if the loss has risen long since: figures of a task that is understood late."""
        scores = iter([0.5] * 11 + [0.6] * 11 + [0.7] * 11 + [0.8] * 7)
        plan = TrainingPlan(
            batch_size=50, max_steps=80, evaluate_every=2, schedule="one-cycle", enough=0.95
        )
        losses = iter([1.0] * 5 + [1.5] * 35)
        trainer = line_trainer(
            plan, evaluate=lambda: {"held_out": next(scores), "held_out_loss": next(losses)}
        )
        assert len(trainer.fit()) == 40

    def test_evaluation_is_in_eval_mode_without_gradients(self):
        def merit():
            assert not trainer.network.training
            assert not torch.is_grad_enabled()
            return 0.0

        trainer = line_trainer(evaluate=merit)
        trainer.fit()

    def test_every_row_is_seen_once_a_pass(self):
        seen = []
        trainer = line_trainer(
            TrainingPlan(batch_size=30, max_steps=4, evaluate_every=1), evaluate=None
        )
        loss = trainer.loss
        trainer.loss = lambda rows: (seen.extend(rows.tolist()), loss(rows))[1]
        trainer.fit()
        assert sorted(seen) == list(range(N_ROWS))
        assert seen != sorted(seen)

    def test_weight_decay_chooses_adamw(self):
        parameters = [nn.Parameter(torch.ones(1))]
        assert type(_optimizer(parameters, TrainingPlan())) is PlainAdam
        decayed = _optimizer(parameters, TrainingPlan(weight_decay=0.1))
        assert type(decayed) is PlainAdamW
        assert decayed.defaults["weight_decay"] == 0.1


class TestClipping:
    def gradient_norm(self, clip, monkeypatch):
        norms = []
        trainer = line_trainer(TrainingPlan(max_steps=1, clip=clip), evaluate=None)
        loss = trainer.loss
        trainer.loss = lambda rows: 1e3 * loss(rows)
        step = trainer._optimizer.step
        parameters = list(trainer.network.parameters())

        def spy():
            norms.append(math.sqrt(sum(float(p.grad.square().sum()) for p in parameters)))
            step()

        monkeypatch.setattr(trainer._optimizer, "step", spy)
        trainer.fit()
        return norms[0]

    def test_the_gradient_that_reaches_the_optimizer_is_clipped(self, monkeypatch):
        assert self.gradient_norm(0.5, monkeypatch) == pytest.approx(0.5, rel=1e-4)

    def test_infinity_turns_it_off(self, monkeypatch):
        assert self.gradient_norm(math.inf, monkeypatch) > 100


class TestRandomness:
    def test_same_seed_same_weights(self):
        first, second = line_trainer(), line_trainer()
        first.fit()
        torch.rand(7)  # the state of the world must not matter
        second.fit()
        assert_same_weights(weights_of(first), weights_of(second))

    def test_another_seed_other_weights(self):
        first, second = line_trainer(), line_trainer(seed=1)
        first.fit()
        second.fit()
        assert any(
            not torch.equal(a, b)
            for a, b in zip(weights_of(first).values(), weights_of(second).values(), strict=True)
        )

    def test_global_randomness_is_left_alone(self):
        torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
        line_trainer().fit()
        assert torch.equal(torch.get_rng_state(), torch_before)
        assert np.array_equal(np.random.get_state()[1], numpy_before)

    def test_seeded_puts_the_state_back_after_an_error(self):
        before = torch.get_rng_state()
        with pytest.raises(RuntimeError, match="size"), seeded(3):
            torch.rand(2) + torch.rand(3)
        assert torch.equal(torch.get_rng_state(), before)

    def test_seeded_repeats(self):
        with seeded(3):
            first = torch.rand(2)
        with seeded(3):
            assert torch.equal(torch.rand(2), first)


class TestErrors:
    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_a_loss_that_is_no_number_stops(self, value):
        trainer = line_trainer()
        loss = trainer.loss
        trainer.loss = lambda rows: loss(rows) * value
        before = weights_of(trainer)
        with pytest.raises(DataError, match=r"check the inputs.*learning_rate \(now 0.01\)"):
            trainer.fit()
        assert_same_weights(before, weights_of(trainer))

    def test_a_held_out_score_that_is_no_number_stops(self):
        with pytest.raises(DataError, match="held-out score is nan"):
            line_trainer(evaluate=lambda: math.nan).fit()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("batch_size", 0),
            ("batch_size", 1.5),
            ("max_steps", True),
            ("patience", -1),
            ("evaluate_every", 0),
            ("learning_rate", 0),
            ("learning_rate", math.nan),
            ("weight_decay", -0.1),
            ("clip", 0),
        ],
    )
    def test_a_plan_that_cannot_be_is_refused(self, name, value):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            TrainingPlan(**{name: value})

    def test_no_rows(self):
        with pytest.raises(ParameterError, match="n_rows must be"):
            Trainer(nn.Linear(1, 1), lambda rows: rows, 0, TrainingPlan(), seed=0)


class TestPickDevice:
    def test_auto_is_always_usable(self):
        torch.zeros(1, device=pick_device("auto"))

    def test_cpu(self):
        assert pick_device("cpu") == torch.device("cpu")

    @pytest.mark.parametrize("name", ["cuda:99", "gpu", "meta"])
    def test_a_missing_device_is_told(self, name):
        with pytest.raises(SetlearnError, match=f"device '{name}' cannot be used here"):
            pick_device(name)


class TestHoldOut:
    def test_no_group_is_split(self):
        groups = np.repeat(np.arange(100), 3)
        fit_rows, held_rows = hold_out(groups, 0.2, np.random.RandomState(0))
        assert len(held_rows) == 60
        assert not set(groups[fit_rows]) & set(groups[held_rows])
        assert sorted([*fit_rows, *held_rows]) == list(range(300))

    def test_too_few_to_spare(self):
        fit_rows, held_rows = hold_out(np.arange(20), 0.2, np.random.RandomState(0))
        assert (len(fit_rows), len(held_rows)) == (20, 0)

    def test_a_part_is_less_than_all(self):
        with pytest.raises(ParameterError, match="validation"):
            hold_out(np.arange(20), 1.0, np.random.RandomState(0))
