"""Checkpoints: an interrupted run resumes to the same weights, and damaged files are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import nn

import setlearn.networks.training_loop as training
from setlearn.errors import DataError, ParameterError
from setlearn.networks.checkpoint import read_checkpoint
from setlearn.networks.training_loop import Trainer
from setlearn.networks.training_settings import TrainingPlan
from tests.networks.small_training import assert_same_weights, line_trainer, weights_of

CHILD = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
from safetensors.torch import save_file
from small_training import line_trainer

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


ENDS_EARLY = TrainingPlan(
    batch_size=16,
    learning_rate=0.01,
    max_steps=300,
    evaluate_every=5,
    schedule="one-cycle",
    enough=-2.5,
)


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

    @pytest.mark.parametrize("plan", [None, ENDS_EARLY])
    def test_stopping_between_epochs_changes_nothing(self, tmp_path, plan):
        """Every epoch is a fine place to be stopped, not only the one the kill found."""

        class StopError(Exception):
            pass

        whole = line_trainer(plan)
        whole.fit()
        for _ in range(80):
            trainer = line_trainer(plan, checkpoint=tmp_path)
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
        monkeypatch.setattr(training, "CHECKPOINT_FORMAT", 4)
        line_trainer(checkpoint=tmp_path).fit()
        monkeypatch.undo()
        with pytest.raises(DataError, match="format 3"):
            line_trainer(checkpoint=tmp_path).fit()

    def test_a_file_is_no_folder(self, tmp_path):
        (tmp_path / "file").write_text("x")
        with pytest.raises(ParameterError, match="must be a folder"):
            line_trainer(checkpoint=tmp_path / "file").fit()
