"""What only shows in a process of its own: pipes, signals, full disks, terminals."""

import os
import pty
import re
import signal
import subprocess
import time

import joblib
import pytest

from tests.cli.files import word_forms, write_jsonl
from tests.cli.running import COMMAND, run, run_process

ESCAPE = "\x1b"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and devices of POSIX")


def test_rows_through_pipes(tagger, photos):
    ended = run_process("predict", tagger, "-", stdin=photos.read_bytes())
    assert ended.code == 0
    assert ended.out == run("predict", tagger, photos).out
    assert ended.err == "standard input looks like csv, and is read as such\n"


def test_a_closed_pipe_is_quiet(tagger, photos):
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as closed:
        for command in (("predict", tagger, photos), ("--help",)):
            ended = run_process(*command, stdout=closed)
            assert ended.err == ""


@pytest.mark.parametrize("verb", ["inspect", "predict"])
def test_a_closed_standard_output_is_quiet(tagger, photos, verb):
    command = [*COMMAND, verb, tagger, *([photos] if verb == "predict" else [])]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *map(str, command)]
    ended = subprocess.run(closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


class TestNoRoom:
    @pytest.mark.parametrize("asked", [("predict",), ("predict", "--json"), ("--help",)])
    def test_on_standard_output(self, tagger, photos, asked):
        verb, *options = asked
        files = () if verb == "--help" else (tagger, photos)
        with open("/dev/full", "wb") as full:
            ended = run_process(verb, *files, *options, stdout=full)
        assert ended.code == 1
        [line] = ended.err.splitlines()
        assert line.startswith("setlearn: ")
        assert "No space left on device" in line

    def test_for_answers(self, tagger, photos):
        ended = run("predict", tagger, photos, "--out", "/dev/full")
        assert ended.code == 1
        assert "/dev/full cannot be written: No space left on device; free some space" in ended.err

    @pytest.mark.parametrize("task", ["labels", "sequences"])
    def test_for_a_model(self, photos, words, tmp_path, temporary_folder, task):
        data, options = {
            "labels": (photos, ("--learner", "logistic")),
            "sequences": (
                words,
                ("--target", "forms", "--max-steps", "2", "--task", task, "--network", "lstm"),
            ),
        }[task]
        fit = [*COMMAND, "fit", data, "-o", tmp_path / "model", *options]
        limited = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *map(str, fit)]
        ended = subprocess.run(limited, capture_output=True, text=True, check=False)
        assert ended.returncode == 1
        last = ended.stderr.splitlines()[-1]
        assert last.startswith("setlearn: ")
        assert "File too large" in last
        assert "Traceback" not in ended.stderr
        assert not (tmp_path / "model").exists()
        for place in (tmp_path, temporary_folder):
            for rescued in place.glob("model.rescue-*"):
                joblib.load(rescued / "model.joblib")  # all of it, or there would be no folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_says_how_to_go_on(tmp_path, number):
    data = write_jsonl(tmp_path / "words.jsonl", word_forms(16))
    fit = (*COMMAND, "fit", str(data), "--target", "forms", "--task", "sequences", "--json")
    fit += ("--network", "lstm", "--max-steps", "100000", "-o", str(tmp_path / "model"))
    with subprocess.Popen(
        fit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tmp_path / "model.checkpoint" / "checkpoint.safetensors").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == 130
    assert '"code": 130' in out
    last = err.splitlines()[-1]
    assert last.startswith("setlearn: interrupted; ")
    assert "add --resume to the same command to continue" in last
    assert "Traceback" not in err
    assert not (tmp_path / "model").exists()
    without = run(*fit[3:])
    assert without.code == 2
    assert "add --resume to continue it" in without.err


def shown_at_a_terminal(*arguments, **environment):
    """All that a command writes to a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    ):
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 4096):
                shown += part
        except OSError:  # how Linux says that nobody writes any more
            pass
        os.close(leader)
    return shown.decode()


def test_a_fit_shows_a_bar_at_a_terminal(photos, tmp_path):
    fit = ("fit", photos, "--learner", "logistic", "-o", tmp_path / "model")
    shown = shown_at_a_terminal(*fit)
    assert re.search(r"fitting .* \d/6 ", shown)
    assert "fitting" not in shown_at_a_terminal(*fit, "--quiet")


def test_no_escape_codes_where_none_are_wanted(tagger, tmp_path):
    for command in (("inspect", tagger), ("--help",), ("fit", "--fast")):
        shown = shown_at_a_terminal(*command, NO_COLOR="1")
        assert shown
        assert ESCAPE not in shown
    piped = run_process("predict", tmp_path / "nothing", "x.csv", FORCE_COLOR="1")
    assert piped.err
    assert ESCAPE not in piped.err
