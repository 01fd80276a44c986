"""A save that is killed, or that is read in the middle, never shows."""

import multiprocessing
import os
import random
import time

import pytest

import setlearn
from tests.persistence.saving_loop import save_for_ever
from tests.persistence.small_models import label_case, quiet_answers

N_KILLS = 100
N_LOADS = 150
WARM = ["setlearn.estimators.set_classifier", "setlearn.persistence.models", "skops.io"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a forkserver needs a POSIX system")


class Saver:
    """Starts processes that save two models in turn, and knows what either answers."""

    def __init__(self, folder):
        self.model = folder / "model"
        self.sources = [folder / "A", folder / "B"]
        self.case = label_case()
        for seed, source in enumerate(self.sources):
            setlearn.save(label_case(seed).fit(), source)
        self.truths = [quiet_answers(setlearn.load(s), self.case) for s in self.sources]
        assert self.truths[0] != self.truths[1]
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(WARM)

    def start(self):
        ready, child = self.context.Pipe(duplex=False)
        process = self.context.Process(
            target=save_for_ever, args=(self.model, self.sources, child), daemon=True
        )
        process.start()
        child.close()  # so that a process that dies at once is noticed
        assert ready.recv()
        return process

    def check(self):
        assert quiet_answers(setlearn.load(self.model), self.case) in self.truths

    def leftovers(self):
        return [entry.name for entry in self.model.parent.iterdir() if entry.name[0] == "."]


def test_a_killed_save_leaves_the_old_model_or_the_new_one(tmp_path):
    saver, rng = Saver(tmp_path), random.Random(0)
    setlearn.save(setlearn.load(saver.sources[0]), saver.model)
    for _ in range(N_KILLS):
        process = saver.start()
        time.sleep(rng.uniform(0, 0.08))
        process.kill()
        process.join()
        saver.check()
        # Each save sweeps up behind those that were killed.
        assert len(saver.leftovers()) <= 3
    setlearn.save(setlearn.load(saver.sources[1]), saver.model)
    saver.check()
    assert saver.leftovers() == []


def test_a_model_can_be_loaded_while_it_is_replaced(tmp_path):
    saver = Saver(tmp_path)
    setlearn.save(setlearn.load(saver.sources[0]), saver.model)
    process = saver.start()
    for _ in range(N_LOADS):
        saver.check()
    assert process.is_alive()
    process.kill()
    process.join()


def test_a_save_under_way_is_not_swept_up(tmp_path):
    from setlearn.persistence.folder import unfinished_folder

    saver = Saver(tmp_path)
    dead = tmp_path / ".model.saving-0123"
    dead.mkdir()
    with unfinished_folder(saver.model) as mine:
        assert not dead.exists()
        (mine / "file").write_text("still being written")
        setlearn.save(setlearn.load(saver.sources[0]), saver.model)
        assert (mine / "file").exists()
    assert saver.leftovers() == []
