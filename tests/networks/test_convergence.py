"""A warning for trainings that ended too early, and none for ordinary ones."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from setlearn import SequenceSetGenerator
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
        assert "held-out F1 was still rising (0.700 to 0.950)" in problem

    @pytest.mark.parametrize(
        ("f1", "loss"),
        [
            ([*RISING[:12], *[0.6] * 8], FALLING),  # it has ended to rise
            ([*RISING[:15], 0.75, 0.76, 0.76, 0.77, 0.77], FALLING),  # as at the end of a schedule
            (RISING, [*FALLING[:10], *[1.0] * 10]),  # by chance: the loss does not fall
            (RISING[:5], FALLING[:5]),  # too few evaluations
            ([], []),
        ],
    )
    def test_ordinary(self, f1, loss):
        assert convergence_problem(history(f1, loss), ONE_CYCLE) is None


class TestTime:
    def test_cut_off(self):
        plan = TrainingPlan(max_steps=99, max_seconds=20)
        epochs = history([0.5] * 20, [1.0] * 20)
        epochs[-1]["out_of_time"] = True
        problem = convergence_problem(epochs, plan)
        assert problem == "training ended after 20 seconds, at step 20 of 99; raise max_seconds"

    def test_most_of_a_schedule_is_enough(self):
        plan = TrainingPlan(max_steps=30, max_seconds=20, schedule="one-cycle")
        assert convergence_problem(history([0.5] * 20, [1.0] * 20), plan) is None

    def test_stopped_early(self):
        plan = TrainingPlan(max_steps=99, max_seconds=60)
        assert convergence_problem(history([0.5] * 20, [1.0] * 20), plan) is None


class TestFit:
    def test_warns_when_time_is_short(self):
        training = Training(max_steps=100_000, max_seconds=0.3)
        model = SequenceSetGenerator(LSTM(8, 8, 8), training=training, random_state=0)
        with pytest.warns(
            ConvergenceWarning, match="of 100000; raise max_seconds of the training, or continue it"
        ):
            model.fit(X, Y)

    @pytest.mark.parametrize(("seconds", "judged"), [(10**6, [10, 13, 13]), (1e-3, [10])])
    def test_judges_as_many_samples_as_time_allows(self, seconds, judged):
        training = Training(max_steps=60, max_seconds=seconds)
        model = SequenceSetGenerator(Transformer(32, 2, 1), training=training, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, Y)
        assert [epoch["judged"] for epoch in model.history_[:3]] == judged
        assert len(model.history_) == (20 if len(judged) > 1 else 1)

    def test_does_not_warn_in_an_ordinary_run(self):
        model = SequenceSetGenerator(Transformer(32, 2, 1), random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            model.fit(X, Y)
