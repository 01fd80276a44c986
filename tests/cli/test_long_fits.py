"""Fits that take long: they show how far they are, and can be interrupted."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from joblib import Parallel, delayed

import setlearn
from setlearn import progress
from setlearn.cli.interrupts import stopped_by_signals
from tests.cli.running import COMMAND, Ended, run

ROOT = Path(__file__).parents[2]
N_LABELS = 3  # of the photos; the learner is fitted once for each
NEVER = 0


class TestProgress:
    """Without a terminal, as in a log."""

    def test_long_fits_print_lines(self, photos, tmp_path, monkeypatch):
        monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
        monkeypatch.setattr(progress, "NEXT_LINE", 0.001)
        command = ("fit", photos, "--learner", "logistic", "-o", tmp_path / "model")
        ended = run(*command)
        assert ended.code == 0
        counts = [
            int(count) for count in re.findall(r"^fitting: \d+% done \((\d)/6\)", ended.err, re.M)
        ]
        assert len(set(counts)) > 2
        assert counts == sorted(counts)
        assert "fitting" not in run(*command, "--quiet").err

    def test_short_fits_print_none(self, photos, tmp_path):
        ended = run("fit", photos, "--learner", "logistic", "-o", tmp_path / "model")
        assert "fitting" not in ended.err


def interrupted_fit(photos, out, *signals, fits=NEVER, rules=NEVER, options=()):
    """Fit in a process that waits in the given fits, and gets a signal whenever it waits."""
    command = [sys.executable, "-m", "tests.cli.slow_fit", str(fits), str(rules), "fit"]
    command += [str(photos), "--learner", "logistic", "--rule", "margin", "-o", str(out), *options]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        err = ""
        for number in signals:
            err += printed_until_it_waits(process)
            process.send_signal(number)
        said, rest = process.communicate()
    return Ended(process.returncode, said, err + rest)


def printed_until_it_waits(process):
    printed = ""
    while not printed.endswith("waiting\n"):
        line = process.stderr.readline()
        assert line, printed
        printed += line
    return printed


STOPPED = "setlearn: interrupted; nothing was saved, and the same command starts again"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
class TestInterrupts:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("n_done", [0, 2])
    def test_nothing_is_left_if_little_is_done(self, photos, tmp_path, number, n_done):
        fits = n_done * N_LABELS + 1
        ended = interrupted_fit(photos, tmp_path / "model", number, fits=fits, options=["--json"])
        assert ended.code == 130
        assert ended.document["error"]["code"] == 130
        assert ended.err.splitlines()[-1] == STOPPED
        assert "Traceback" not in ended.err
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_finished_folds_are_kept(self, photos, tmp_path, number):
        model = tmp_path / "model"
        fits = (1 + 3) * N_LABELS + 1
        ended = interrupted_fit(photos, model, number, fits=fits, options=["--json"])
        assert ended.code == 0, ended.err
        moment = "after 3 of 5 folds"
        assert ended.document["interrupted"] == moment
        assert f"setlearn: warning: the fit was interrupted {moment}; " in ended.err
        assert "Traceback" not in ended.err
        assert setlearn.load(model).predict([{"text": "a boat on a wave"}]) == [{"sea"}]
        assert run("inspect", model, "--json").document["about"]["interrupted"] == moment
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    def test_a_second_signal_ends_it(self, photos, tmp_path):
        signals = (signal.SIGINT, signal.SIGINT)
        fits = (1 + 3) * N_LABELS + 1
        ended = interrupted_fit(photos, tmp_path / "model", *signals, fits=fits, rules=1)
        assert ended.code == 130
        assert "Interrupt again to stop without a model" in ended.err
        assert ended.err.splitlines()[-1] == STOPPED
        assert not list(tmp_path.iterdir())

    def test_ctrl_c_at_a_terminal_reaches_workers_too(self, photos, tmp_path):
        # In every process, also those of the folds, the first fit waits.
        slow = tmp_path / "path" / "sitecustomize.py"
        slow.parent.mkdir()
        slow.write_text("from tests.cli.slow_fit import wait_in_fits\nwait_in_fits(1)\n")
        path = os.pathsep.join([str(slow.parent), str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [*COMMAND, "fit", str(photos), "--learner", "logistic", "--jobs", "2"]
        with subprocess.Popen(
            [*command, "-o", str(tmp_path / "model")],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # with its workers a group of processes, as at a terminal
        ) as process:
            for _ in range(2):
                printed_until_it_waits(process)
            os.killpg(process.pid, signal.SIGINT)
            err = process.stderr.read()
        assert process.returncode == 130
        assert err == f"{STOPPED}\n"
        assert not (tmp_path / "model").exists()

    def test_workers_leave_signals_to_the_process_that_started_them(self):
        before = signal.getsignal(signal.SIGTERM)
        with stopped_by_signals():
            handlers = Parallel(2)(delayed(signal.getsignal)(signal.SIGINT) for _ in range(4))
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
        assert handlers == [signal.SIG_IGN] * 4
        assert signal.getsignal(signal.SIGTERM) is before

    def test_a_model_before_it_stays(self, photos, tmp_path):
        model = tmp_path / "model"
        assert run("fit", photos, "--learner", "logistic", "-o", model).code == 0
        before = {file: file.read_bytes() for file in model.iterdir()}
        assert interrupted_fit(photos, model, signal.SIGTERM, fits=1).code == 130
        assert {file: file.read_bytes() for file in model.iterdir()} == before

    def test_a_fit_that_is_not_interrupted_says_nothing(self, photos, tmp_path):
        ended = run("fit", photos, "--learner", "logistic", "-o", tmp_path / "model", "--json")
        assert ended.document["interrupted"] is None
        about = run("inspect", tmp_path / "model", "--json").document["about"]
        assert "interrupted" not in about
