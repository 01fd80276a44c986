"""A fit that is killed again and again, at any moment, ends at the same weights.

``SETLEARN_KILLS=100 pytest tests/cli/test_killed_fit.py`` kills more often than the usual run.
"""

import multiprocessing
import os
import random
import signal
import time
from functools import partial

import pytest

from setlearn import SequenceSetGenerator
from setlearn.cli.fit_options import SavingOptions
from setlearn.cli.fitting import fit_and_save
from setlearn.errors import ModelError
from setlearn.features import as_rows
from setlearn.networks import LSTM, Training
from setlearn.persistence.folder import read_folder
from setlearn.records import plan_records
from tests.cli.files import word_forms

KILLS = int(os.environ.get("SETLEARN_KILLS", "10"))
EPOCHS = 3

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are forked and killed")


def fit(out):
    """What ``setlearn fit --resume`` does, with a network small enough for many epochs."""
    rows = as_rows(word_forms(16))
    plan = plan_records(rows, target="forms", task="sequences")
    model = SequenceSetGenerator(
        LSTM(4, 4, 4), tokens=plan.tokens, training=Training(max_steps=50 * EPOCHS), random_state=0
    )
    fit_and_save(plan, rows, model, SavingOptions(out, resume=True), quiet=True)


def weights_in(folder):
    """The weights of the model there, if there is one; what is there must be whole."""
    try:
        return read_folder(folder)[1]["weights.safetensors"]
    except ModelError as error:
        if "does not exist" not in str(error):
            raise
        return None


def fit_killed_until_it_ends(out, moments):
    """Fit in processes that are killed after some seconds each; give how many were."""
    forked = multiprocessing.get_context("fork")  # which spares each the seconds of its imports
    for n_killed, moment in enumerate(moments):
        process = forked.Process(target=fit, args=(out,))
        process.start()
        process.join(moment)
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        if process.exitcode == 0:
            return n_killed
        assert process.exitcode == -signal.SIGKILL
        weights_in(out)
    raise AssertionError("there is always one more moment")


def test_sigkill_at_any_moment_changes_nothing(tmp_path):
    fit(tmp_path / "right")  # which also imports what forked processes need
    right = weights_in(tmp_path / "right")
    assert right is not None
    started = time.monotonic()
    fit(tmp_path / "right")
    an_epoch = (time.monotonic() - started) / EPOCHS
    rng, n_killed = random.Random(0), 0
    # Long enough that some reach their next checkpoint, short enough that most do not go far.
    moments = iter(partial(rng.uniform, 0.0, 1.5 * an_epoch), None)
    while n_killed < KILLS:
        # Into the same folder: a model of an earlier run must stay whole until it is replaced.
        n_killed += fit_killed_until_it_ends(tmp_path / "killed", moments)
        assert weights_in(tmp_path / "killed") == right
        assert not (tmp_path / "killed.checkpoint").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "right"]
