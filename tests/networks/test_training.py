"""The training loop: it learns, repeats itself, resumes after a kill, and complains well."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import nn

import setlearn.networks.training_loop as training
from setlearn.errors import DataError, ParameterError, SetlearnError
from setlearn.networks.checkpoint import read_checkpoint
from setlearn.networks.runtime import pick_device, seeded
from setlearn.networks.training_loop import Trainer, _optimizer, hold_out
from setlearn.networks.training_settings import TrainingPlan

N_ROWS = 100


def line_trainer(plan=None, *, seed=0, n_rows=N_ROWS, width=4, checkpoint=None, **options):
    """A small network with dropout that learns y = sum of x."""
    with seeded(1):
        x = torch.randn(n_rows, 3)
        network = nn.Sequential(
            nn.Linear(3, width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 1)
        )
    target = x.sum(dim=1, keepdim=True)

    def loss(rows):
        return nn.functional.mse_loss(network(x[rows]), target[rows])

    def merit():
        return -float(nn.functional.mse_loss(network(x), target))

    options.setdefault("evaluate", merit)
    plan = plan or TrainingPlan(batch_size=16, learning_rate=0.01, max_steps=300, evaluate_every=20)
    return Trainer(network, loss, n_rows, plan, seed=seed, checkpoint=checkpoint, **options)


def weights_of(trainer):
    return {name: weight.clone() for name, weight in trainer.network.state_dict().items()}


def assert_same_weights(left, right):
    assert left.keys() == right.keys()
    for name in left:
        assert torch.equal(left[name], right[name]), name


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
        assert type(_optimizer(parameters, TrainingPlan())) is torch.optim.Adam
        decayed = _optimizer(parameters, TrainingPlan(weight_decay=0.1))
        assert type(decayed) is torch.optim.AdamW
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


CHILD = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
from safetensors.torch import save_file
from test_training import line_trainer

torch.set_num_threads(1)
folder, result, pause = Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
trainer = line_trainer(checkpoint=folder)
loss = trainer.loss
trainer.loss = lambda rows: (time.sleep(pause), loss(rows))[1]
history = trainer.fit()
save_file(trainer.network.state_dict(), result, {"steps": str([row["step"] for row in history])})
"""


def start_child(folder, result, pause):
    source = Path(training.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    arguments = [str(Path(__file__).parent), str(folder), str(result), str(pause)]
    return subprocess.Popen([sys.executable, "-c", CHILD, *arguments], env=environment)


class TestCheckpoint:
    def test_a_killed_run_resumes_to_the_same_weights(self, tmp_path):
        folder, result = tmp_path / "run", tmp_path / "result.safetensors"
        file = folder / training.CHECKPOINT_NAME
        child = start_child(folder, result, 0.01)
        try:
            deadline = time.monotonic() + 60
            stamps = set()
            while len(stamps) < 3 and time.monotonic() < deadline:  # three different checkpoints
                if file.exists():
                    stamps.add(file.stat().st_mtime_ns)
                time.sleep(0.005)
            child.send_signal(signal.SIGKILL)
        finally:
            child.kill()
            child.wait()
        assert child.returncode == -signal.SIGKILL
        assert not result.exists()
        reached = read_checkpoint(folder)[1]["step"]
        assert 0 < reached < 300

        assert start_child(folder, result, 0).wait(timeout=60) == 0
        whole = line_trainer()
        history = whole.fit()
        assert_same_weights(load_file(result), weights_of(whole))
        with safe_open(result, framework="pt") as resumed:
            assert resumed.metadata()["steps"] == str([row["step"] for row in history])

    def test_stopping_between_epochs_changes_nothing(self, tmp_path):
        """Every epoch is a fine place to be stopped, not only the one the kill found."""

        class StopError(Exception):
            pass

        whole = line_trainer()
        whole.fit()
        for _ in range(40):
            trainer = line_trainer(checkpoint=tmp_path)
            epoch, left = trainer._epoch, [2]

            def one_then_stop(tick, epoch=epoch, left=left):
                left[0] -= 1
                if left[0] == 0:
                    raise StopError
                return epoch(tick)

            trainer._epoch = one_then_stop
            try:
                trainer.fit()
                break
            except StopError:
                continue
        assert_same_weights(weights_of(trainer), weights_of(whole))

    def test_a_finished_run_answers_at_once(self, tmp_path):
        first, second = line_trainer(checkpoint=tmp_path), line_trainer(checkpoint=tmp_path)
        history = first.fit()
        second.loss = None
        assert second.fit() == history
        assert_same_weights(weights_of(first), weights_of(second))

    @pytest.mark.parametrize("save_every", [1, 3, 7])
    def test_a_run_that_ends_within_an_epoch_goes_on_there(self, tmp_path, monkeypatch, save_every):
        whole = line_trainer()
        history = whole.fit()
        monkeypatch.setattr(training, "SAVE_EVERY", save_every)
        for crash_at in (2 * save_every, 5 * save_every + 1):
            trainer = line_trainer(checkpoint=tmp_path)
            step = trainer._step

            def until_the_crash(rows, trainer=trainer, step=step, crash_at=crash_at):
                if trainer._step_count == crash_at:
                    raise KeyboardInterrupt
                return step(rows)

            trainer._step = until_the_crash
            with pytest.raises(KeyboardInterrupt):
                trainer.fit()
            kept = read_checkpoint(tmp_path)[1]["step"]
            assert crash_at - kept < save_every
        resumed = line_trainer(checkpoint=tmp_path)
        assert [(e["step"], e["loss"]) for e in resumed.fit()] == [
            (e["step"], e["loss"]) for e in history
        ]
        for name, weight in whole.network.state_dict().items():
            assert torch.equal(weight, resumed.network.state_dict()[name])

    def test_no_half_written_file_is_left(self, tmp_path):
        line_trainer(checkpoint=tmp_path).fit()
        assert [path.name for path in tmp_path.iterdir()] == [training.CHECKPOINT_NAME]

    def test_tied_weights_can_be_saved(self, tmp_path):
        layer = nn.Linear(3, 3)
        network = nn.Sequential(layer, nn.ReLU(), layer)
        x = torch.ones(4, 3)
        trainer = Trainer(
            network,
            lambda rows: network(x[rows]).square().mean(),
            4,
            TrainingPlan(max_steps=5),
            seed=0,
            checkpoint=tmp_path,
        )
        trainer.fit()
        assert (tmp_path / training.CHECKPOINT_NAME).exists()

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"seed": 5}, "seed was 0, is 5"),
            ({"n_rows": 50}, "n_rows was 100, is 50"),
            ({"width": 6}, r"shape of 0.weight was \[4, 3\], is \[6, 3\]"),
            ({"plan": TrainingPlan(learning_rate=0.5)}, "learning_rate was 0.01, is 0.5"),
            ({"evaluate": None}, "held_out was True, is False"),
            ({"facts": {"data": "b"}}, "data was absent, is b"),
        ],
    )
    def test_another_run_is_refused(self, tmp_path, change, what):
        line_trainer(checkpoint=tmp_path).fit()
        with pytest.raises(ParameterError, match=what):
            line_trainer(checkpoint=tmp_path, **change).fit()

    @pytest.mark.parametrize("damage", ["empty", "cut off", "flipped", "text", "bare"])
    def test_a_corrupt_file_is_told(self, tmp_path, damage):
        line_trainer(checkpoint=tmp_path).fit()
        file = tmp_path / training.CHECKPOINT_NAME
        content = bytearray(file.read_bytes())
        if damage == "flipped":
            content[-20] ^= 1
        file.write_bytes(
            {
                "empty": b"",
                "cut off": bytes(content[: len(content) // 2]),
                "flipped": bytes(content),
                "text": b"not a checkpoint at all, but long enough to look like one",
                "bare": save({"a": torch.ones(1)}),
            }[damage]
        )
        with pytest.raises(DataError, match=r"cannot be read.*delete it"):
            line_trainer(checkpoint=tmp_path).fit()

    def test_a_format_of_the_future_is_told(self, tmp_path, monkeypatch):
        monkeypatch.setattr(training, "CHECKPOINT_FORMAT", 2)
        line_trainer(checkpoint=tmp_path).fit()
        monkeypatch.undo()
        with pytest.raises(DataError, match="format 2"):
            line_trainer(checkpoint=tmp_path).fit()

    def test_a_file_is_no_folder(self, tmp_path):
        (tmp_path / "file").write_text("x")
        with pytest.raises(ParameterError, match="must be a folder"):
            line_trainer(checkpoint=tmp_path / "file").fit()


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
