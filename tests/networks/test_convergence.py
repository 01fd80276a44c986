"""A warning for trainings that ended too early, and none for ordinary ones."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from setlearn import SequenceSetGenerator
from setlearn.estimators.scorer_sources import NewNetwork
from setlearn.estimators.sequence_problem import SampleSplit
from setlearn.networks import LSTM, Training, Transformer
from setlearn.networks.convergence import convergence_problem
from setlearn.networks.training_settings import TrainingPlan

X = [a + b for a in "abcdefgh" for b in "abcdefgh"]
Y = [{x, x[::-1]} for x in X]


def history(f1, loss):
    return [
        {"step": k + 1, "held_out_f1": a, "held_out_loss": b, "seconds": 1.0}
        for k, (a, b) in enumerate(zip(f1, loss, strict=True))
    ]


RISING = [k / 20 for k in range(20)]
FALLING = [2 - k / 10 for k in range(20)]
ONE_CYCLE = TrainingPlan(max_steps=20, schedule="one-cycle")


class TestTrend:
    @pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
    def test_still_rising(self, schedule):
        plan = TrainingPlan(max_steps=20, schedule=schedule)
        problem = convergence_problem(history(RISING, FALLING), plan)
        assert "the F1 on held-out samples was still rising (0.700 to 0.950)" in problem

    def test_training_samples_are_not_called_held_out(self):
        epochs = [{**epoch, "held_out_seen": True} for epoch in history(RISING, FALLING)]
        assert "the F1 on training samples was" in convergence_problem(epochs, ONE_CYCLE)

    @pytest.mark.parametrize(
        ("f1", "loss"),
        [
            ([*RISING[:12], *[0.6] * 8], FALLING),  # it has ended to rise
            ([*RISING[:15], 0.75, 0.76, 0.76, 0.77, 0.77], FALLING),  # as at the end of a schedule
            (RISING, [*FALLING[:10], *[1.0] * 10]),  # by chance: the loss does not fall
            ([*RISING[:18], 0.99, 1.0], FALLING),  # there is nothing left to learn
            (RISING[:5], FALLING[:5]),  # too few evaluations
            ([], []),
        ],
    )
    def test_ordinary(self, f1, loss):
        assert convergence_problem(history(f1, loss), ONE_CYCLE) is None


def out_of_time(f1, loss):
    epochs = history(f1, loss)
    epochs[-1]["out_of_time"] = True
    return epochs


class TestTime:
    plan = TrainingPlan(max_steps=99, max_seconds=20.5)

    def test_cut_off(self):
        problem = convergence_problem(out_of_time([0.5] * 20, FALLING), self.plan)
        assert problem == "training ended after 20.5 seconds, at step 20 of 99; raise max_seconds"

    @pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
    def test_what_is_all_right_is_not_cut_off(self, schedule):
        plan = TrainingPlan(max_steps=99, max_seconds=20, schedule=schedule)
        assert convergence_problem(out_of_time([0.5, 1.0, 1.0], [3, 2, 1]), plan) is None
        assert convergence_problem(out_of_time([0.5, 0.6, 1.0], [3, 2, 1]), plan)

    def test_what_has_settled_is_not_cut_off(self):
        settled = out_of_time([0.5] * 20, [*FALLING[:8], *[1.1] * 12])
        assert convergence_problem(settled, TrainingPlan(max_steps=80, max_seconds=20)) is None
        # With fewer steps than that nobody knows: some tasks are understood late.
        assert convergence_problem(settled, TrainingPlan(max_steps=81, max_seconds=20))

    def test_most_of_a_schedule_is_enough(self):
        plan = TrainingPlan(max_steps=30, max_seconds=20, schedule="one-cycle")
        assert convergence_problem(out_of_time([0.5] * 20, [1.0] * 20), plan) is None

    def test_stopped_early(self):
        plan = TrainingPlan(max_steps=99, max_seconds=60)
        assert convergence_problem(history([0.5] * 20, [1.0] * 20), plan) is None


class TestSteps:
    """A schedule that is too short for the data: its figures settle at the end like any others."""

    f1 = (*RISING[:14], *[0.7] * 6)
    loss = (*FALLING[:14], *[0.6] * 6)

    def test_too_few(self):
        problem = convergence_problem(history(self.f1, self.loss), ONE_CYCLE, 41)
        assert problem == (
            "training ended after 20 steps, with an F1 of 0.700 on held-out samples and a loss "
            "that was still falling (1 to 0.6 in the second half), and about 41 steps suit so "
            "many samples; raise max_steps"
        )

    def test_enough(self):
        assert convergence_problem(history(self.f1, self.loss), ONE_CYCLE, 40) is None

    def test_what_has_settled(self):
        settled = history([0.5] * 20, [*FALLING[:8], *[1.1] * 12])
        assert convergence_problem(settled, ONE_CYCLE, 1000) is None

    def test_what_was_ended_early_by_its_figures(self):
        plan = TrainingPlan(max_steps=50, schedule="one-cycle")
        assert convergence_problem(history(self.f1, self.loss), plan, 50) is None


class TestFit:
    def test_warns_when_time_is_short(self):
        training = Training(max_steps=100_000, max_seconds=0.3)
        model = SequenceSetGenerator(LSTM(8, 8, 8), training=training, random_state=0)
        with pytest.warns(
            ConvergenceWarning, match="of 100000; raise max_seconds of the training, or continue it"
        ):
            model.fit(X, Y)

    @pytest.mark.parametrize(("seconds", "n_judged"), [(10**6, 13), (1e-3, 10)])
    def test_judges_as_many_samples_as_time_allows(self, seconds, n_judged):
        training = Training(max_steps=60, max_seconds=seconds)
        model = SequenceSetGenerator(Transformer(32, 2, 1), training=training, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, Y)
        assert {epoch["judged"] for epoch in model.history_} == {n_judged}
        assert len(model.history_) == (20 if seconds > 1 else 1)

    def test_all_evaluations_of_a_short_time_judge_the_same_samples(self):
        training = Training(max_seconds=1, validation=0.9)
        model = SequenceSetGenerator(Transformer(32, 2, 1), training=training, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit([x + x for x in X], Y)
        assert len({epoch["judged"] for epoch in model.history_}) == 1

    @pytest.mark.parametrize("max_steps", [8, 30, 79, 150, 1299])
    def test_not_more_evaluations_than_promised(self, max_steps):
        source, split = NewNetwork(Transformer()), SampleSplit(np.arange(90), np.arange(90, 99))
        for seconds, most in ((None, 40), (9.0, 20)):
            training = Training(max_steps=max_steps, max_seconds=seconds)
            plan = source._training_plan(training, split)
            assert -(-max_steps // plan.evaluate_every) <= most

    def test_warns_when_steps_are_few(self):
        model = SequenceSetGenerator(
            Transformer(32, 2, 1), training=Training(max_steps=20), random_state=0
        )
        with pytest.warns(ConvergenceWarning, match="after 20 steps.*about 880 steps suit.*raise"):
            model.fit(X, Y)

    def test_does_not_warn_of_few_steps_that_were_enough(self):
        model = SequenceSetGenerator(
            Transformer(32, 2, 1), training=Training(max_steps=100), random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            model.fit(X, [{"yes"} if "a" in x else {"no"} for x in X])
        assert model.history_[-1]["held_out_f1"] == 1

    def test_does_not_warn_in_an_ordinary_run(self):
        model = SequenceSetGenerator(Transformer(32, 2, 1), random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            model.fit(X, Y)
